package handshake

import (
	"bytes"
	"encoding/hex"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A greeting of MariaDB 10.11, with its extended flags, and one of MySQL 9.7.
const (
	mariaDBGreeting = "0a352e352e352d31302e31312e31392d4d617269614442000700000041424344454647480" + "0fef7080200ff811500000000000" + "01d000000" + "494a4b4c4d4e4f5051525354006d7973716c5f6e61746976655f70617373776f726400"
	mysqlGreeting   = "0a392e372e34000800000041424344454647480" + "0ffffff0200ffdf1500000000000000000000" + "494a4b4c4d4e4f50515253540063616368696e675f736861325f70617373776f726400"
)

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestGreeting(t *testing.T) {
	for _, test := range []struct {
		name, payload string
		want          Greeting
	}{
		{"MariaDB", mariaDBGreeting, Greeting{Version: "5.5.5-10.11.19-MariaDB", ThreadID: 7, Salt: []byte("ABCDEFGHIJKLMNOPQRST"),
			Capabilities: 0x1d81fff7fe, Charset: 8, Status: 2, Plugin: "mysql_native_password"}},
		{"MySQL", mysqlGreeting, Greeting{Version: "9.7.4", ThreadID: 8, Salt: []byte("ABCDEFGHIJKLMNOPQRST"),
			Capabilities: 0xdfffffff, Charset: 255, Status: 2, Plugin: "caching_sha2_password"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			payload := unhex(t, test.payload)
			got, err := ParseGreeting(payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if written := got.Append(nil); !bytes.Equal(written, payload) {
				t.Errorf("written\n%x, want\n%x", written, payload)
			}
			const other = uint64(0x00000004_81aff7fe)
			if err := SetCapabilities(payload, other); err != nil {
				t.Fatal(err)
			}
			if got, err := ParseGreeting(payload); err != nil || got.Capabilities != other {
				t.Errorf("after SetCapabilities: %#x, %v", got.Capabilities, err)
			}
		})
	}
}

func TestGreetingMalformed(t *testing.T) {
	whole := unhex(t, mysqlGreeting)
	for n := range len(whole) - len("caching_sha2_password") - 1 - 1 {
		if _, err := ParseGreeting(whole[:n]); err == nil {
			t.Errorf("%d bytes of a greeting are read as one", n)
		}
	}
	if _, err := ParseGreeting(append([]byte{9}, whole[1:]...)); err == nil {
		t.Error("protocol version 9 is read")
	}
}

var wholeResponse = Response{Capabilities: 0x0fffffff &^ Zstd, MaxPacket: 1 << 24, Charset: 45, User: "app", Proof: []byte("12345678901234567890"),
	Database: "main", Plugin: "caching_sha2_password", Attributes: []byte("\x04_pid\x0212")}

func TestResponse(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Response)
	}{
		{"all", func(*Response) {}},
		{"no database", func(r *Response) { r.Capabilities &^= ConnectWithDB; r.Database = "" }},
		{"no attributes", func(r *Response) { r.Capabilities &^= ConnectAttrs; r.Attributes = nil }},
		{"length in one byte", func(r *Response) { r.Capabilities &^= LenencProof }},
		{"MariaDB's flags", func(r *Response) { r.Capabilities = r.Capabilities&^LongPassword | 5<<32 }},
		{"long proof", func(r *Response) { r.Proof = bytes.Repeat([]byte("p"), 300) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := wholeResponse
			test.change(&want)
			payload := want.Append(nil)
			got, err := ParseResponse(payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Response{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if same := got.Rewrite(payload, got.Capabilities, got.Database); !bytes.Equal(same, payload) {
				t.Errorf("rewritten with nothing changed:\n%x, want\n%x", same, payload)
			}
		})
	}
}

func TestRewriteResponse(t *testing.T) {
	payload := append(wholeResponse.Append(nil), 7)
	payload[3] |= byte(Zstd >> 24)
	r, err := ParseResponse(payload)
	if err != nil || r.ZstdLevel != 7 {
		t.Fatalf("level %d, %v", r.ZstdLevel, err)
	}
	want := wholeResponse
	want.Database = "other_name"
	want.Capabilities &^= Compress
	got, err := ParseResponse(r.Rewrite(payload, r.Capabilities&^Zstd&^Compress, "other_name"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Response{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseAttributes(t *testing.T) {
	got := ParseAttributes([]byte("\x01a\x02bc\x00\x01x\x05cut"))
	if diff := cmp.Diff(map[string]string{"a": "bc", "": "x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A peer that announces much and sends little costs little.
func TestReceiveTooLong(t *testing.T) {
	for _, test := range []struct {
		name string
		sent []byte
	}{
		{"too long", []byte{0xff, 0xff, 0xff, 0}},
		{"cut", []byte{0, 0, 3, 0, 'x'}},
		{"cut header", []byte{1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			here, there := net.Pipe()
			go func() {
				_, _ = there.Write(test.sent) // the reader may have gone by then
				_ = there.Close()
			}()
			c := Conn{here}
			if p, err := c.Receive(); err == nil {
				t.Errorf("read %d bytes", len(p.Payload))
			}
			_ = here.Close()
		})
	}
}

// Each packet that a side may begin a login with is read without a panic, and as the same after it was written anew.
func FuzzHandshake(f *testing.F) {
	checks := []func(t *testing.T, b []byte, database string, flags uint64){checkResponse, checkGreeting, checkChangeUser}
	add := func(check int, b []byte) {
		for _, database := range []string{"", "other"} {
			f.Add(uint8(check), b, database, uint64(0x0fffffff))
			f.Add(uint8(check), b, database, uint64(0))
		}
		f.Add(uint8(check), b[:len(b)/2], "other", uint64(0x0fffffff))
	}
	for _, change := range []func(*Response){
		func(*Response) {}, func(r *Response) { r.Capabilities &^= ConnectWithDB; r.Database = "" }, func(r *Response) { r.Capabilities &^= ConnectAttrs; r.Attributes = nil },
		func(r *Response) { r.Capabilities &^= LenencProof }, func(r *Response) { r.Capabilities = r.Capabilities&^LongPassword | 5<<32 },
		func(r *Response) { r.Capabilities &^= PluginAuth; r.Plugin = "" }, func(r *Response) { r.Proof = bytes.Repeat([]byte("p"), 300) }, func(r *Response) { r.User, r.Proof = "", nil },
	} {
		r := wholeResponse
		change(&r)
		add(0, r.Append(nil))
	}
	add(0, []byte("\x0d\xa6\x0f\x00")) // before 4.1
	add(0, append(append(wholeResponse.Append(nil), 7), 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f))
	for _, greeting := range []string{mariaDBGreeting, mysqlGreeting} {
		add(1, unhex(f, greeting))
	}
	for _, change := range []string{
		"\x11app\x00\x00main\x00\x2d\x00mysql_native_password\x00\x00", "\x11app\x00\x14abcdefghijklmnopqrstmain\x00\x2d\x00caching_sha2_password\x00\x06\x04_pid\x00",
		"\x11\x00\x00\x00", "\x11app\x00", "\x11app\x00\xffabc", "\x11app\x00\x00main\x00\x2d", "\x11app\x00\x00main\x00\x2d\x00p\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		add(2, []byte(change))
	}
	f.Fuzz(func(t *testing.T, check uint8, b []byte, database string, flags uint64) {
		ParseAttributes(b)
		_, _, _ = ParseSwitch(b)
		checks[int(check)%len(checks)](t, b, database, flags)
	})
}

func checkResponse(t *testing.T, b []byte, database string, _ uint64) {
	r, err := ParseResponse(b)
	if err != nil || bytes.ContainsRune([]byte(database), 0) {
		return
	}
	if same := r.Rewrite(b, r.Capabilities, r.Database); !bytes.Equal(same, b) {
		t.Fatalf("rewritten with nothing changed: %x", same)
	}
	again, err := ParseResponse(r.Rewrite(b, r.Capabilities, database))
	if err != nil {
		t.Fatalf("rewritten: %v", err)
	}
	if r.Has(ConnectWithDB) {
		r.Database = database
	}
	if diff := cmp.Diff(r, again, cmpopts.IgnoreUnexported(Response{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("rewritten (-want +got):\n%s", diff)
	}
}

func checkGreeting(t *testing.T, b []byte, _ string, _ uint64) {
	g, err := ParseGreeting(b)
	if err != nil {
		return
	}
	if err := SetCapabilities(b, g.Capabilities); err != nil {
		t.Fatal(err)
	}
	again, err := ParseGreeting(b)
	if diff := cmp.Diff(g, again); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
}

func checkChangeUser(t *testing.T, b []byte, database string, flags uint64) {
	u, err := ParseChangeUser(b, flags)
	if err != nil || strings.ContainsRune(database, 0) {
		return
	}
	again, err := ParseChangeUser(u.Rewrite(b, database), flags)
	if err != nil || again.Database != database || again.User != u.User || again.Plugin != u.Plugin || !bytes.Equal(again.Proof, u.Proof) {
		t.Fatalf("rewritten: %+v, %v; was %+v", again, err, u)
	}
}
