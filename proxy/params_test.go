package proxy

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/param"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

func textParam(s string) wire.Param {
	return wire.Param{Type: uint16(mysql.MYSQL_TYPE_VAR_STRING), Value: append([]byte{byte(len(s))}, s...)}
}

func TestParamID(t *testing.T) {
	double := func(f float64) wire.Param {
		return wire.Param{Type: uint16(mysql.MYSQL_TYPE_DOUBLE), Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
	}
	open := parser.Slot{State: parser.Open}
	explicit := func(n int64) parser.Slot { return parser.Slot{State: parser.Explicit, Value: n, HasValue: true} }
	unknown := parser.Slot{State: parser.Unknown}
	tests := []struct {
		name string
		p    wire.Param
		want parser.Slot
	}{
		{"NULL bit", wire.Param{Null: true}, open},
		{"NULL type", wire.Param{Type: uint16(mysql.MYSQL_TYPE_NULL)}, open},
		{"zero", wire.IDParam(0), open},
		{"seven", wire.IDParam(7), explicit(7)},
		{"minus one", wire.IDParam(-1), explicit(-1)},
		{"2^64-1 unsigned", wire.Param{Type: 0x8000 | uint16(mysql.MYSQL_TYPE_LONGLONG), Value: wire.IDParam(-1).Value}, parser.Slot{State: parser.Explicit, Value: -1}},
		{"tiny", wire.Param{Type: uint16(mysql.MYSQL_TYPE_TINY), Value: []byte{0xff}}, explicit(-1)},
		{"unsigned tiny", wire.Param{Type: 0x8000 | uint16(mysql.MYSQL_TYPE_TINY), Value: []byte{0xff}}, explicit(255)},
		{"short zero", wire.Param{Type: uint16(mysql.MYSQL_TYPE_SHORT), Value: []byte{0, 0}}, open},
		{"0.4", double(0.4), open},
		{"-0.4", double(-0.4), open},
		{"0.6", double(0.6), explicit(1)},
		{"text 0", textParam("0"), open},
		{"text  00", textParam(" 00"), open},
		{"text 0.4", textParam("0.4"), open},
		{"text 12", textParam("12"), explicit(12)},
		{"sent ahead", wire.Param{Type: uint16(mysql.MYSQL_TYPE_BLOB), Long: true}, unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := param.Slot(&tt.p, parser.Mode{Strict: true}, false)
			if got.State != tt.want.State || got.HasValue && got.Value != tt.want.Value {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	zero := wire.IDParam(0)
	if got := param.Slot(&zero, parser.Mode{NoAutoValueOnZero: true}, false); got.State != parser.Explicit {
		t.Errorf("with NO_AUTO_VALUE_ON_ZERO: zero is %+v, want explicit", got)
	}
}

// What is written for the backend reads back as it was.
func TestExecuteRoundTrip(t *testing.T) {
	date := wire.Param{Type: uint16(mysql.MYSQL_TYPE_DATE), Value: []byte{4, 0xe8, 7, 1, 2}}
	want := []wire.Param{wire.IDParam(1 << 40), {Type: uint16(mysql.MYSQL_TYPE_LONG), Null: true}, textParam("text"), date,
		{Type: uint16(mysql.MYSQL_TYPE_BLOB), Value: append([]byte{0xfc, 0x2c, 0x01}, make([]byte, 300)...)},
		{Type: uint16(mysql.MYSQL_TYPE_TINY), Value: []byte{1}}, wire.IDParam(2), wire.IDParam(3), textParam("ninth")}
	for _, attributes := range []bool{false, true} {
		for i := range want {
			want[i].Name = nil
			if attributes {
				want[i].Name = []byte("\x01n")
			}
		}
		b := wire.AppendExecute(nil, 7, 0, want, attributes)
		r := wire.ParamReader{Data: b, At: 10}
		count := uint64(len(want))
		if attributes {
			count = r.Number()
		}
		got := r.ReadParams(count, attributes, nil, nil)
		if r.Bad || r.At != len(b) {
			t.Fatalf("attributes %v: bad=%v, read %d of %d bytes", attributes, r.Bad, r.At, len(b))
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(wire.Param{})); diff != "" {
			t.Errorf("attributes %v (-want +got):\n%s", attributes, diff)
		}
	}
}

// A second execution may leave the types out.
func TestReadParamsBound(t *testing.T) {
	r := wire.ParamReader{Data: []byte{0, 0, 5, 0, 0, 0, 0, 0, 0, 0}}
	got := r.ReadParams(1, false, []wire.Param{wire.IDParam(9)}, nil)
	if r.Bad || len(got) != 1 || param.Slot(&got[0], parser.Mode{}, false).Value != 5 {
		t.Errorf("got %+v, bad=%v", got, r.Bad)
	}
	r = wire.ParamReader{Data: []byte{0, 0, 5, 0, 0, 0, 0, 0, 0, 0}}
	if r.ReadParams(1, false, nil, nil); !r.Bad {
		t.Error("a packet without types was accepted where none are known")
	}
}

func FuzzReadParams(f *testing.F) {
	f.Add(wire.AppendExecute(nil, 7, 0, []wire.Param{wire.IDParam(1), textParam("a")}, false)[10:], uint64(2), false)
	f.Add(wire.AppendExecute(nil, 7, 0, []wire.Param{wire.IDParam(1), textParam("a")}, true)[11:], uint64(2), true)
	f.Add([]byte{}, uint64(1<<40), true)
	f.Fuzz(func(t *testing.T, b []byte, count uint64, named bool) {
		r := wire.ParamReader{Data: b}
		for _, p := range r.ReadParams(count, named, nil, map[uint16]bool{3: true}) {
			if !r.Bad {
				param.Slot(&p, parser.Mode{}, false)
			}
		}
		if !r.Bad && r.At > len(b) {
			t.Errorf("read %d of %d bytes", r.At, len(b))
		}
	})
}

func FuzzTextBegin(f *testing.F) {
	f.Add([]byte("\x00\x01SELECT 1"))
	f.Add([]byte("\x01\x01\x00\x01\x08\x00\x01n\x05\x00\x00\x00\x00\x00\x00\x00SELECT 1"))
	s := newSession(new(clientConn), &serverConn{serverState: serverState{Session: backend.Session{Capabilities: uint64(mysql.CLIENT_QUERY_ATTRIBUTES)}}})
	f.Fuzz(func(t *testing.T, b []byte) {
		payload := append([]byte{mysql.COM_QUERY}, b...)
		if begin := s.TextBegin(payload); begin > len(payload) {
			t.Errorf("text begins at %d of %d", begin, len(payload))
		}
	})
}

// Query attributes stand behind the parameters, and are none.
func TestKeyBeforeQueryAttributes(t *testing.T) {
	s := newSession(new(clientConn), &serverConn{serverState: serverState{Session: backend.Session{Capabilities: uint64(mysql.CLIENT_QUERY_ATTRIBUTES)}}})
	st := &statement{params: 1, next: &plan.NextValues{Keyed: true, KeyParam: true, Count: 1}}
	text := func(value, name string) wire.Param {
		return wire.Param{Type: uint16(mysql.MYSQL_TYPE_VAR_STRING), Name: append([]byte{byte(len(name))}, name...), Value: append([]byte{byte(len(value))}, value...)}
	}
	if err := s.readNext(st, wire.AppendExecute(nil, 7, 8, []wire.Param{text("user-42", ""), text("00-4bf92f", "traceparent")}, true)); err != nil {
		t.Fatal(err)
	}
	if st.next.Key != "user-42" {
		t.Errorf("got the key %q, want user-42", st.next.Key)
	}
}

// Whatever a bulk holds: what is sent in its place has as many rows, an id of the
// block in each place that was open, and all else as it came.
func FuzzBulk(f *testing.F) {
	const types = "\xfd\x00\x01\x00\xfd\x00"
	f.Add([]byte("\x80\x00"+types+"\x00\x01a\x00\x00\x00\x01b\x01\x00\x07\x02"), false)
	f.Add([]byte("\x80\x00\xfd\x00\xfd\x00\xfd\x00\x00\x01a\x00\x0210\x00\x01b\x01\x01\x01"), true)
	f.Add([]byte("\x80\x00\xfd\x00\x08\x80\x05\x00\x00\x01a\x00\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true)
	f.Fuzz(func(t *testing.T, b []byte, onZero bool) {
		// INSERT INTO t (u, id) VALUES (?, ?), (?, NULL), (5, 'literal')
		st := &statement{id: 1, filled: 2, params: 3, fill: &plan.Fill{Binding: &catalog.Binding{Column: "id", Unsigned: onZero, Max: math.MaxInt64}, Wrap: true},
			slots: []parser.Slot{{State: parser.Param, Param: 1}, {State: parser.Open, Param: 3}, {State: parser.Explicit, Param: 3, Value: 5, HasValue: true}}}
		s := newSession(new(clientConn), new(serverConn))
		s.State.Mode.NoAutoValueOnZero = onZero
		p := st.execution()
		in, err := st.readBulk(append([]byte{comStmtBulkExecute, 1, 0, 0, 0}, b...))
		if err != nil || s.openBulk(st, &p, in) != nil {
			return
		}
		p.First = 1000
		out := &bulk{types: st.filledTypes(&p, in.types)}
		n := 0
		_ = in.each(func(row []wire.Param) error {
			out.rows, n = s.appendFilledRow(out.rows, st, &p, row, n)
			return nil
		})
		if int64(n) != p.Open {
			t.Fatalf("%d ids written, %d taken", n, p.Open)
		}
		var rows [][]wire.Param
		if err := out.each(func(row []wire.Param) error { rows = append(rows, slices.Clone(row)); return nil }); err != nil {
			t.Fatalf("what is sent cannot be read: %v", err)
		}
		if len(rows)*len(st.slots) != p.Rows {
			t.Fatalf("%d rows, want %d", len(rows)*len(st.slots), p.Rows)
		}
		id := p.First
		_ = in.each(func(row []wire.Param) error {
			got := rows[0]
			rows = rows[1:]
			want := slices.Clone(row)
			if s.decide(&p, st.slots[0], row).State == parser.Open {
				want[1] = generatedAs(row[1], id)
				id++
			}
			want = append(want, wire.IDParam(id)) // the last of the filled statement
			id++
			for i, w := range want {
				if w = widenedAs(w, got[i].Type); w.Mark != got[i].Mark || !bytes.Equal(w.Value, got[i].Value) {
					t.Errorf("parameter %d is %x, want %x", i, got[i].Value, w.Value)
				}
			}
			return nil
		})
	})
}

// widenedAs widens an integer where one is read as it was sent.
func widenedAs(p wire.Param, typ uint16) wire.Param {
	if byte(typ) != mysql.MYSQL_TYPE_LONGLONG {
		return p
	}
	return p.Widened()
}

// Values whose length servers do not agree on are not read: what comes behind them
// would be another statement than the server's.
func TestParamsOfDoubtfulLength(t *testing.T) {
	for _, typ := range []byte{mysql.MYSQL_TYPE_NULL, mysql.MYSQL_TYPE_YEAR, mysql.MYSQL_TYPE_INT24} {
		r := wire.ParamReader{Data: append([]byte{0, 1, typ, 0}, 1, 2, 3, 4, 5)}
		if r.ReadParams(1, false, nil, nil); !r.Bad {
			t.Errorf("type %d is read", typ)
		}
	}
}
