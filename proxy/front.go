package proxy

import (
	"encoding/binary"
	"fmt"
	"net"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
)

// frontConn stands between go-mysql's server and a client that logs in. The
// library announces a fixed set of capabilities; the greeting that leaves here
// announces what the backend has.
type frontConn struct {
	net.Conn
	greeting   backend.Greeting
	id         uint32 // of the connection, as the client is told
	advertised uint32
	password   string // sent by the client, where its own account is used
	greeted    bool
	salt       []byte
	budget     int // bytes that may still come before the login is done
	loggedIn   bool
}

// maxLogin bounds what a client may send before it is known: a handshake
// response with its attributes, TLS records and a certificate chain around it.
const maxLogin = 256 << 10

func newFrontConn(c net.Conn, g backend.Greeting, id uint32) *frontConn {
	return &frontConn{Conn: c, greeting: g, id: id, budget: maxLogin}
}

// Read refuses more than any login takes.
func (c *frontConn) Read(b []byte) (int, error) {
	if c.budget <= 0 && !c.loggedIn {
		return 0, fmt.Errorf("a login of more than %d bytes", maxLogin)
	}
	if c.loggedIn {
		return c.Conn.Read(b)
	}
	n, err := c.Conn.Read(b[:min(len(b), c.budget)])
	c.budget -= n
	return n, err
}

// Write patches the first packet, the greeting.
func (c *frontConn) Write(b []byte) (int, error) {
	if !c.greeted {
		c.greeted = true
		if err := c.patch(b); err != nil {
			return 0, err
		}
	} else {
		c.noteSalt(b)
	}
	return c.Conn.Write(b)
}

// patch puts the session's id, and the backend's capabilities and status, into a HandshakeV10 packet
// (MySQL manual, Protocol::HandshakeV10).
func (c *frontConn) patch(b []byte) error {
	const threadID, salt1, low, status, high, salt2 = 0, 4, 13, 16, 18, 31
	at := headerSize + 1 + len(c.greeting.Version) + 1
	if len(b) < at+salt2+12 {
		return fmt.Errorf("greeting of %d bytes", len(b))
	}
	g := b[at:]
	offered := uint32(binary.LittleEndian.Uint16(g[low:])) | uint32(binary.LittleEndian.Uint16(g[high:]))<<16
	c.advertised = offered&mysql.CLIENT_SSL | backend.Relayable&(c.greeting.Capabilities|required)
	binary.LittleEndian.PutUint32(g[threadID:], c.id)
	binary.LittleEndian.PutUint16(g[low:], uint16(c.advertised))
	binary.LittleEndian.PutUint16(g[high:], uint16(c.advertised>>16))
	binary.LittleEndian.PutUint16(g[status:], c.greeting.Status)
	c.salt = append(append(c.salt[:0], g[salt1:salt1+8]...), g[salt2:salt2+12]...)
	return nil
}

// noteSalt remembers the new salt of an AuthSwitchRequest, with which the client
// encrypts its password from then on. Over TLS it is not seen, nor needed.
func (c *frontConn) noteSalt(b []byte) {
	const plugin = "\xfe" + mysql.AUTH_CACHING_SHA2_PASSWORD + "\x00"
	if len(b) < headerSize+len(plugin)+20 || string(b[headerSize:headerSize+len(plugin)]) != plugin {
		return
	}
	c.salt = append(c.salt[:0], b[headerSize+len(plugin):headerSize+len(plugin)+20]...)
}

// required are the flags that the library's own handshake needs, whatever the
// backend says.
const required = mysql.CLIENT_LONG_PASSWORD | mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_SECURE_CONNECTION |
	mysql.CLIENT_PLUGIN_AUTH | mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA | mysql.CLIENT_CONNECT_WITH_DB |
	mysql.CLIENT_CONNECT_ATTRS

// RemoteAddr names the client's host alone: it stands in the library's text of
// error 1045, where MySQL has no port.
func (c *frontConn) RemoteAddr() net.Addr { return hostAddr{c.Conn.RemoteAddr()} }

type hostAddr struct{ net.Addr }

func (a hostAddr) String() string {
	host, _, err := net.SplitHostPort(a.Addr.String())
	if err != nil {
		return "localhost" // a Unix socket
	}
	return host
}
