//go:build !slim

package demoengine

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// rawConn is a client at the level of packets, for what drivers do not show.
type rawConn struct {
	net.Conn
	greeting []byte
}

// dialRaw logs in as root without a password, with the database main.
func dialRaw(t *testing.T, e *Engine) *rawConn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", e.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &rawConn{Conn: conn}
	c.greeting = c.read(t)
	// CONNECT_WITH_DB | PROTOCOL_41 | SECURE_CONNECTION, 16 MiB packets, utf8mb4, 23 zero bytes
	login := binary.LittleEndian.AppendUint32(nil, 0x8|0x200|0x8000)
	login = binary.LittleEndian.AppendUint32(login, 1<<24)
	login = append(append(login, 45), make([]byte, 23)...)
	c.write(t, 1, append(login, "root\x00\x00main\x00"...))
	if answer := c.read(t); answer[0] != 0 {
		t.Fatalf("login: got packet %q, want OK", answer)
	}
	return c
}

// query returns a function that runs a statement and reads its answer; errors are answers too.
func query(statement string) func(t *testing.T, c *rawConn) {
	return func(t *testing.T, c *rawConn) {
		t.Helper()
		first := c.command(t, 0x03, statement)
		if first[0] == 0x00 || first[0] == 0xff {
			return
		}
		for ends := 0; ends < 2; { // the EOF after the columns, and that after the rows
			if p := c.read(t); p[0] == 0xfe && len(p) < 9 {
				ends++
			}
		}
	}
}

// command sends a command and returns the first packet of the answer.
func (c *rawConn) command(t *testing.T, command byte, payload string) []byte {
	t.Helper()
	c.write(t, 0, append([]byte{command}, payload...))
	return c.read(t)
}

func (c *rawConn) write(t *testing.T, sequence byte, payload []byte) {
	t.Helper()
	header := binary.LittleEndian.AppendUint32(nil, uint32(len(payload))|uint32(sequence)<<24)
	if _, err := c.Write(append(header, payload...)); err != nil {
		t.Fatal(err)
	}
}

func (c *rawConn) read(t *testing.T) []byte {
	t.Helper()
	header := make([]byte, 4)
	if _, err := io.ReadFull(c, header); err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, binary.LittleEndian.Uint32(header)&0xffffff)
	if _, err := io.ReadFull(c, payload); err != nil {
		t.Fatal(err)
	}
	return payload
}

// A proxy shows its clients what this greeting offers.
func TestGreeting(t *testing.T) {
	g := dialRaw(t, newEngine(t)).greeting
	version := g[1 : len("8.0.31")+1]
	rest := g[len("8.0.31")+2+4+8+1:] // connection id, first part of the challenge, filler
	capabilities := uint32(binary.LittleEndian.Uint16(rest)) | uint32(binary.LittleEndian.Uint16(rest[5:]))<<16
	const (
		foundRows, localFiles, multiStatements, multiResults = 1 << 1, 1 << 7, 1 << 16, 1 << 17
		pluginAuth, deprecateEOF                             = 1 << 19, 1 << 24
	)
	want := uint32(foundRows | localFiles | multiStatements | multiResults | pluginAuth | deprecateEOF)
	if string(version) != "8.0.31" || capabilities&want != want {
		t.Errorf("greeting: got version %q, capabilities %#x, want 8.0.31 and at least %#x", version, capabilities, want)
	}
	if status := binary.LittleEndian.Uint16(rest[3:]); status != 2 {
		t.Errorf("status: got %#x, want 0x2 (autocommit)", status)
	}
	t.Logf("capabilities %#x, charset %d, plugin %q", capabilities, rest[2], g[len(g)-22:])
}
