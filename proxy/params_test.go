package proxy

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/parser"
)

func textParam(s string) param {
	return param{typ: uint16(mysql.MYSQL_TYPE_VAR_STRING), value: append([]byte{byte(len(s))}, s...)}
}

func TestParamID(t *testing.T) {
	double := func(f float64) param {
		return param{typ: uint16(mysql.MYSQL_TYPE_DOUBLE), value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
	}
	open := parser.Slot{State: parser.Open}
	explicit := func(n int64) parser.Slot { return parser.Slot{State: parser.Explicit, Value: n, HasValue: true} }
	unknown := parser.Slot{State: parser.Unknown}
	tests := []struct {
		name string
		p    param
		want parser.Slot
	}{
		{"NULL bit", param{null: true}, open},
		{"NULL type", param{typ: uint16(mysql.MYSQL_TYPE_NULL)}, open},
		{"zero", idParam(0), open},
		{"seven", idParam(7), explicit(7)},
		{"minus one", idParam(-1), explicit(-1)},
		{"2^64-1 unsigned", param{typ: 0x8000 | uint16(mysql.MYSQL_TYPE_LONGLONG), value: idParam(-1).value}, parser.Slot{State: parser.Explicit, Value: -1}},
		{"tiny", param{typ: uint16(mysql.MYSQL_TYPE_TINY), value: []byte{0xff}}, explicit(-1)},
		{"unsigned tiny", param{typ: 0x8000 | uint16(mysql.MYSQL_TYPE_TINY), value: []byte{0xff}}, explicit(255)},
		{"short zero", param{typ: uint16(mysql.MYSQL_TYPE_SHORT), value: []byte{0, 0}}, open},
		{"0.4", double(0.4), open},
		{"-0.4", double(-0.4), open},
		{"0.6", double(0.6), explicit(1)},
		{"text 0", textParam("0"), open},
		{"text  00", textParam(" 00"), open},
		{"text 0.4", textParam("0.4"), open},
		{"text 12", textParam("12"), explicit(12)},
		{"sent ahead", param{typ: uint16(mysql.MYSQL_TYPE_BLOB), long: true}, unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.p.slot(parser.Mode{Strict: true}, false)
			if got.State != tt.want.State || got.HasValue && got.Value != tt.want.Value {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	zero := idParam(0)
	if got := zero.slot(parser.Mode{NoAutoValueOnZero: true}, false); got.State != parser.Explicit {
		t.Errorf("with NO_AUTO_VALUE_ON_ZERO: zero is %+v, want explicit", got)
	}
}

// What is written for the backend reads back as it was.
func TestExecuteRoundTrip(t *testing.T) {
	date := param{typ: uint16(mysql.MYSQL_TYPE_DATE), value: []byte{4, 0xe8, 7, 1, 2}}
	want := []param{idParam(1 << 40), {typ: uint16(mysql.MYSQL_TYPE_LONG), null: true}, textParam("text"), date,
		{typ: uint16(mysql.MYSQL_TYPE_BLOB), value: append([]byte{0xfc, 0x2c, 0x01}, make([]byte, 300)...)},
		{typ: uint16(mysql.MYSQL_TYPE_TINY), value: []byte{1}}, idParam(2), idParam(3), textParam("ninth")}
	for _, attributes := range []bool{false, true} {
		for i := range want {
			want[i].name = nil
			if attributes {
				want[i].name = []byte("\x01n")
			}
		}
		b := appendExecute(nil, 7, 0, want, attributes)
		r := paramReader{b: b, at: 10}
		count := uint64(len(want))
		if attributes {
			count = r.number()
		}
		got := r.readParams(count, attributes, nil, nil)
		if r.bad || r.at != len(b) {
			t.Fatalf("attributes %v: bad=%v, read %d of %d bytes", attributes, r.bad, r.at, len(b))
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(param{})); diff != "" {
			t.Errorf("attributes %v (-want +got):\n%s", attributes, diff)
		}
	}
}

// A second execution may leave the types out.
func TestReadParamsBound(t *testing.T) {
	r := paramReader{b: []byte{0, 0, 5, 0, 0, 0, 0, 0, 0, 0}}
	got := r.readParams(1, false, []param{idParam(9)}, nil)
	if r.bad || len(got) != 1 || got[0].slot(parser.Mode{}, false).Value != 5 {
		t.Errorf("got %+v, bad=%v", got, r.bad)
	}
	r = paramReader{b: []byte{0, 0, 5, 0, 0, 0, 0, 0, 0, 0}}
	if r.readParams(1, false, nil, nil); !r.bad {
		t.Error("a packet without types was accepted where none are known")
	}
}

func FuzzReadParams(f *testing.F) {
	f.Add(appendExecute(nil, 7, 0, []param{idParam(1), textParam("a")}, false)[10:], uint64(2), false)
	f.Add(appendExecute(nil, 7, 0, []param{idParam(1), textParam("a")}, true)[11:], uint64(2), true)
	f.Add([]byte{}, uint64(1<<40), true)
	f.Fuzz(func(t *testing.T, b []byte, count uint64, named bool) {
		r := paramReader{b: b}
		for _, p := range r.readParams(count, named, nil, map[uint16]bool{3: true}) {
			if !r.bad {
				p.slot(parser.Mode{}, false)
			}
		}
		if !r.bad && r.at > len(b) {
			t.Errorf("read %d of %d bytes", r.at, len(b))
		}
	})
}

func FuzzTextBegin(f *testing.F) {
	f.Add([]byte("\x00\x01SELECT 1"))
	f.Add([]byte("\x01\x01\x00\x01\x08\x00\x01n\x05\x00\x00\x00\x00\x00\x00\x00SELECT 1"))
	s := &session{capabilities: mysql.CLIENT_QUERY_ATTRIBUTES}
	f.Fuzz(func(t *testing.T, b []byte) {
		payload := append([]byte{mysql.COM_QUERY}, b...)
		if begin := s.textBegin(payload); begin > len(payload) {
			t.Errorf("text begins at %d of %d", begin, len(payload))
		}
	})
}

// Query attributes stand behind the parameters, and are none.
func TestKeyBeforeQueryAttributes(t *testing.T) {
	s := &session{capabilities: mysql.CLIENT_QUERY_ATTRIBUTES}
	st := &statement{params: 1, next: &nextPlan{keyed: true, keyParam: true, count: 1}}
	text := func(value, name string) param {
		return param{typ: uint16(mysql.MYSQL_TYPE_VAR_STRING), name: append([]byte{byte(len(name))}, name...), value: append([]byte{byte(len(value))}, value...)}
	}
	if err := s.readNext(st, appendExecute(nil, 7, 8, []param{text("user-42", ""), text("00-4bf92f", "traceparent")}, true)); err != nil {
		t.Fatal(err)
	}
	if st.next.key != "user-42" {
		t.Errorf("got the key %q, want user-42", st.next.key)
	}
}
