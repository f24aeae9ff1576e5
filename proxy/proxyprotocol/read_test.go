package proxyprotocol

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
)

// v2 makes a header of version 2.
func v2(command, family byte, body string) string {
	b := append([]byte(v2Signature), command, family)
	return string(binary.BigEndian.AppendUint16(b, uint16(len(body)))) + body
}

var (
	v4Block   = "\xc0\x00\x02\x01\x0a\x00\x00\x01\x30\x39\x0c\xea" // 192.0.2.1:12345 to 10.0.0.1:3306
	v6Address = "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11)
	v6Block   = v6Address + "\x01" + v6Address + "\x02" + "\x30\x39\x0c\xea"
)

var headers = []struct{ name, header, client, err string }{
	{"v1 TCP4", "PROXY TCP4 192.0.2.1 10.0.0.1 12345 3306\r\n", "192.0.2.1:12345", ""},
	{"v1 TCP6", "PROXY TCP6 2001:db8::1 2001:db8::2 0 65535\r\n", "[2001:db8::1]:0", ""},
	{"v1 UNKNOWN", "PROXY UNKNOWN\r\n", "", ""},
	{"v1 UNKNOWN, longest", "PROXY UNKNOWN " + strings.Repeat("x", v1Max-16) + "\r\n", "", ""},
	{"v1 UNKNOWN, longer", "PROXY UNKNOWN " + strings.Repeat("x", v1Max-15) + "\r\n", "", "longer than 107 bytes"},
	{"v1 without CR", "PROXY TCP4 192.0.2.1 10.0.0.1 12345 3306\n", "", "not ended by CR LF"},
	{"v1 without port", "PROXY TCP4 192.0.2.1 10.0.0.1 12345\r\n", "", "malformed"},
	{"v1 with more", "PROXY TCP4 192.0.2.1 10.0.0.1 12345 3306 1\r\n", "", "malformed"},
	{"v1 two blanks", "PROXY  TCP4 192.0.2.1 10.0.0.1 12345 3306\r\n", "", "malformed"},
	{"v1 UDP4", "PROXY UDP4 192.0.2.1 10.0.0.1 12345 3306\r\n", "", "malformed"},
	{"v1 family and address", "PROXY TCP4 2001:db8::1 10.0.0.1 12345 3306\r\n", "", "no address of TCP4"},
	{"v1 other way round", "PROXY TCP6 192.0.2.1 10.0.0.1 12345 3306\r\n", "", "no address of TCP6"},
	{"v1 server's address", "PROXY TCP4 192.0.2.1 nowhere 12345 3306\r\n", "", "no address of TCP4"},
	{"v1 zone", "PROXY TCP6 fe80::1%eth0 2001:db8::2 12345 3306\r\n", "", "no address of TCP6"},
	{"v1 port of 17 bits", "PROXY TCP4 192.0.2.1 10.0.0.1 65536 3306\r\n", "", "no address of TCP4"},
	{"v1 port with zero", "PROXY TCP4 192.0.2.1 10.0.0.1 012 3306\r\n", "", "no address of TCP4"},
	{"v1 port with sign", "PROXY TCP4 192.0.2.1 10.0.0.1 +12 3306\r\n", "", "no address of TCP4"},
	{"v1 cut", "PROXY TCP4 192.0", "", "unexpected EOF"},
	{"nothing", "", "", "EOF"},
	{"cut at once", "PRO", "", "unexpected EOF"},
	{"no header", "\x20\x00\x00\x01\x85\xa6\x03\x00\x00\x00\x00\x01", "", "neither version"},
	{"small letters", "proxy TCP4 192.0.2.1 10.0.0.1 12345 3306\r\n", "", "neither version"},
	{"v2 TCP4", v2(0x21, 0x11, v4Block), "192.0.2.1:12345", ""},
	{"v2 TCP4 with TLVs", v2(0x21, 0x11, v4Block+"\x01\x00\x02h2"), "192.0.2.1:12345", ""},
	{"v2 TCP6", v2(0x21, 0x21, v6Block), "[2001:db8::1]:12345", ""},
	{"v2 mapped", v2(0x21, 0x21, strings.Repeat("\x00", 10)+"\xff\xff\xc0\x00\x02\x01"+v6Address+"\x02"+"\x30\x39\x0c\xea"), "192.0.2.1:12345", ""},
	{"v2 UNIX", v2(0x21, 0x31, strings.Repeat("s", 216)), "", ""},
	{"v2 unspecified", v2(0x21, 0x00, ""), "", ""},
	{"v2 LOCAL", v2(0x20, 0x00, ""), "", ""},
	{"v2 LOCAL with addresses", v2(0x20, 0x11, v4Block), "", ""},
	{"v2 LOCAL with anything", v2(0x20, 0xee, "xyz"), "", ""},
	{"v2 too few", v2(0x21, 0x11, v4Block[:11]), "", "too few"},
	{"v2 too few of TCP6", v2(0x21, 0x21, v4Block), "", "too few"},
	{"v2 UDP", v2(0x21, 0x12, v4Block), "", "family and transport 0x12"},
	{"v2 known family, unknown transport", v2(0x21, 0x13, v4Block), "", "family and transport 0x13"},
	{"v2 of version 1", v2(0x11, 0x11, v4Block), "", "version and command 0x11"},
	{"v2 unknown command", v2(0x22, 0x11, v4Block), "", "version and command 0x22"},
	{"v2 too large", v2(0x21, 0x11, strings.Repeat("x", v2Max+1)), "", "more than 4096"},
	{"v2 cut", v2(0x21, 0x11, v4Block)[:20], "", "unexpected EOF"},
	{"v2 cut early", v2(0x21, 0x11, v4Block)[:13], "", "unexpected EOF"},
	{"v2 other signature", "\r\n\r\n\x00\r\nQUIT\r\x21\x11\x00\x0c" + v4Block, "", "neither version"},
}

func TestRead(t *testing.T) {
	for _, tt := range headers {
		t.Run(tt.name, func(t *testing.T) {
			const after = "what follows"
			stream := tt.header
			if !strings.HasSuffix(tt.err, "EOF") {
				stream += after
			}
			r := strings.NewReader(stream)
			client, err := Read(iotest.OneByteReader(r))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := netip.AddrPort{}
			if tt.client != "" {
				want = netip.MustParseAddrPort(tt.client)
			}
			if client != want {
				t.Errorf("client %v, want %v", client, want)
			}
			if rest, _ := io.ReadAll(r); string(rest) != after {
				t.Errorf("%q is left, want %q", rest, after)
			}
		})
	}
}

// FuzzRead holds that no bytes make the reader panic, that it reads a
// header to its end and not further, and that it needs nothing behind it.
func FuzzRead(f *testing.F) {
	for _, h := range headers {
		f.Add([]byte(h.header + "x"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		client, err := Read(r)
		header := data[:len(data)-r.Len()]
		if len(header) > v2HeaderSize+v2Max {
			t.Errorf("%d bytes read", len(header))
		}
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(header))
		if err != nil || again != client {
			t.Errorf("%q alone gives %v and %v, want %v", header, again, err, client)
		}
		if _, err := Read(bytes.NewReader(header[:len(header)-1])); err == nil {
			t.Errorf("%q is a header, and one without its last byte too", header)
		}
	})
}
