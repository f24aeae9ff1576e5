package handshake

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
)

// HeaderSize is that of a packet: 3 bytes of length, 1 of sequence number.
const HeaderSize = 4

// MaxPayload is the longest payload that a login has, in bytes: connection attributes
// alone may take 64 KiB, as may the ticket of an authentication by Kerberos.
const MaxPayload = 80 << 10

// TooLargeError is that of a packet of a login that announces more than [MaxPayload].
// Nothing of its payload was read.
type TooLargeError struct{ Announced int } // in bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("a packet of %d bytes in a login", e.Announced)
}

// Packet is one packet of a login.
type Packet struct {
	Sequence byte
	Payload  []byte
}

// Conn reads and writes the packets of a login. It reads no byte beyond the
// packet that was asked for, so that what follows can be read from the connection
// itself.
type Conn struct {
	net.Conn
}

// Receive reads one packet. What a peer announces costs nothing before it came. With
// an error the packet has its sequence number, if that came. Errors: *TooLargeError,
// and those of the connection.
func (c *Conn) Receive() (Packet, error) { return c.ReceiveIn(func(int) {}) }

// piece is how much of a packet is made room for at a time.
const piece = 1 << 10

// ReceiveIn is Receive with take called for what is held of the packet while the rest of
// it is waited for: as many bytes as have come, in pieces.
func (c *Conn) ReceiveIn(take func(bytes int)) (Packet, error) {
	var header [HeaderSize]byte
	if _, err := io.ReadFull(c.Conn, header[:]); err != nil {
		return Packet{}, err
	}
	length := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	if length > MaxPayload {
		return Packet{Sequence: header[3]}, &TooLargeError{length}
	}
	var pieces [][]byte
	for left := length; left > 0; {
		b := make([]byte, min(left, piece))
		take(len(b))
		if _, err := io.ReadFull(c.Conn, b); err != nil {
			return Packet{Sequence: header[3]}, unexpected(err)
		}
		pieces = append(pieces, b)
		left -= len(b)
	}
	switch len(pieces) {
	case 0:
		return Packet{header[3], []byte{}}, nil
	case 1:
		return Packet{header[3], pieces[0]}, nil
	}
	return Packet{header[3], bytes.Join(pieces, nil)}, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Send writes packets of a login, all at once.
func (c *Conn) Send(packets ...Packet) error {
	var b []byte
	for _, p := range packets {
		n := len(p.Payload)
		b = append(b, byte(n), byte(n>>8), byte(n>>16), p.Sequence)
		b = append(b, p.Payload...)
	}
	_, err := c.Write(b)
	return err
}

// Encrypted reports whether the connection has gone over to TLS.
func (c *Conn) Encrypted() bool {
	_, ok := c.Conn.(*tls.Conn)
	return ok
}

// Secure reports whether a password may be sent as it is: over TLS, or a socket
// of this machine.
func (c *Conn) Secure() bool {
	return c.Encrypted() || c.LocalAddr().Network() == "unix"
}
