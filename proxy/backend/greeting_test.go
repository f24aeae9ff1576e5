package backend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A MariaDB 10.11 greeting, as it came over the wire.
var mariaDBGreeting = "\x0a5.5.5-10.11.19-MariaDB\x00\x1e\x00\x00\x00abcdefgh\x00\xfe\xf7\x2d\x02\x00\xff\x81\x15" +
	"\x00\x00\x00\x00\x00\x00\x1d\x00\x00\x00ijklmnopqrst\x00mysql_native_password\x00"

func TestParseGreeting(t *testing.T) {
	got, err := parseGreeting([]byte(mariaDBGreeting))
	if err != nil {
		t.Fatal(err)
	}
	want := Greeting{
		Version: "5.5.5-10.11.19-MariaDB", ThreadID: 30, Capabilities: 0x81fff7fe,
		Charset: 45, Status: 2, AuthPlugin: "mysql_native_password",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("greeting (-want +got):\n%s", diff)
	}
}

func TestParseGreetingMalformed(t *testing.T) {
	for n := range len(mariaDBGreeting) - len("mysql_native_password\x00") - 13 {
		if _, err := parseGreeting([]byte(mariaDBGreeting[:n])); err == nil {
			t.Errorf("a greeting cut after %d bytes was accepted", n)
		}
	}
}

func TestRefusal(t *testing.T) {
	const text = "Too many connections"
	c := &greetingConn{first: append([]byte{byte(3 + len(text)), 0, 0, 0, 0xff, 0x10, 0x04}, text...)}
	got := c.refusal()
	if got == nil || got.Code != 1040 || got.State != "08004" || got.Message != text {
		t.Errorf("got %+v", got)
	}
	if got := (&greetingConn{first: append([]byte{78, 0, 0, 0}, mariaDBGreeting...)}).refusal(); got != nil {
		t.Errorf("a greeting is taken for the error %v", got)
	}
}

func FuzzParseGreeting(f *testing.F) {
	f.Add([]byte(mariaDBGreeting))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := parseGreeting(b)
		if err == nil && len(g.Version) > len(b) {
			t.Errorf("version %q is longer than the greeting", g.Version)
		}
	})
}
