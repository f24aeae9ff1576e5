package backend

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Greeting is what a server says of itself before authentication
// (Protocol::HandshakeV10 of the MySQL manual).
type Greeting struct {
	Version      string
	ThreadID     uint32
	Capabilities uint32
	Charset      uint8
	Status       uint16
	AuthPlugin   string
}

var errMalformedGreeting = errors.New("the server's greeting is malformed")

// parseGreeting reads the payload of a HandshakeV10 packet.
func parseGreeting(p []byte) (Greeting, error) {
	var g Greeting
	if len(p) < 1 || p[0] != 10 {
		return g, errMalformedGreeting
	}
	p = p[1:]
	end := bytes.IndexByte(p, 0)
	// thread id 4, scramble 8, filler 1, capabilities 2, charset 1, status 2,
	// capabilities 2, scramble length 1, reserved 10
	if end < 0 || len(p) < end+1+31 {
		return g, errMalformedGreeting
	}
	g.Version = string(p[:end])
	p = p[end+1:]
	g.ThreadID = binary.LittleEndian.Uint32(p)
	g.Capabilities = uint32(binary.LittleEndian.Uint16(p[13:])) | uint32(binary.LittleEndian.Uint16(p[18:]))<<16
	g.Charset = p[15]
	g.Status = binary.LittleEndian.Uint16(p[16:])
	rest := max(int(p[20])-8, 13)
	if p = p[31:]; len(p) > rest {
		g.AuthPlugin, _, _ = cutNUL(p[rest:])
	}
	return g, nil
}

func cutNUL(b []byte) (string, []byte, bool) {
	before, after, found := bytes.Cut(b, []byte{0})
	return string(before), after, found
}

// greetingConn remembers the first packet that the server sends: the client
// library that does the handshake keeps most of it to itself.
type greetingConn struct {
	net.Conn
	first []byte
}

// maxGreeting bounds what is remembered; a greeting is about 100 bytes.
const maxGreeting = 1024

func (c *greetingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if missing := maxGreeting - len(c.first); missing > 0 {
		c.first = append(c.first, b[:min(n, missing)]...)
	}
	return n, err
}

func (c *greetingConn) greeting() (Greeting, error) {
	return parseGreeting(c.payload())
}

// payload is that of the first packet, as far as it is remembered.
func (c *greetingConn) payload() []byte {
	if len(c.first) < 4 {
		return nil
	}
	length := int(c.first[0]) | int(c.first[1])<<8 | int(c.first[2])<<16
	return c.first[4:min(len(c.first), 4+length)]
}

// refusal is the error that a server sends in the place of a greeting, such as
// 1040; nil when it sent none. It has no SQLSTATE yet, which the library takes
// to be there.
func (c *greetingConn) refusal() *mysql.MyError {
	p := c.payload()
	if len(p) < 3 || p[0] != mysql.ERR_HEADER {
		return nil
	}
	text := string(p[3:])
	if strings.HasPrefix(text, "#") && len(text) > 6 {
		text = text[6:]
	}
	return mysql.NewError(binary.LittleEndian.Uint16(p[1:]), text)
}
