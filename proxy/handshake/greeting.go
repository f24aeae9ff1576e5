package handshake

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Greeting is what a server says of itself before authentication: HandshakeV10
// ("Protocol::HandshakeV10" page of the MySQL manual).
type Greeting struct {
	Version  string
	ThreadID uint32
	Salt     []byte // that proofs of the password begin with; 20 bytes
	// Capabilities are the flags of both servers: MariaDB's own, which it tells in
	// a place that MySQL leaves empty, are the upper 32.
	Capabilities uint64
	Charset      uint8
	Status       uint16
	Plugin       string
}

// ErrMalformed tells of a packet that is not what the login needs.
var ErrMalformed = errors.New("malformed packet in a login")

// Offsets behind the version's end.
const (
	atThreadID = 0
	atSalt     = 4
	atLow      = 13
	atCharset  = 15
	atStatus   = 16
	atHigh     = 18
	atSaltSize = 20
	atExtended = 27
	atRest     = 31
)

const saltSize = 20

// ParseGreeting reads the payload of a greeting.
func ParseGreeting(b []byte) (Greeting, error) {
	g, tail, err := splitGreeting(b)
	if err != nil {
		return g, err
	}
	g.ThreadID = binary.LittleEndian.Uint32(tail[atThreadID:])
	g.Capabilities = uint64(binary.LittleEndian.Uint16(tail[atLow:])) | uint64(binary.LittleEndian.Uint16(tail[atHigh:]))<<16
	if g.Capabilities&LongPassword == 0 {
		g.Capabilities |= uint64(binary.LittleEndian.Uint32(tail[atExtended:])) << 32
	}
	g.Charset = tail[atCharset]
	g.Status = binary.LittleEndian.Uint16(tail[atStatus:])
	g.Salt = append(append(g.Salt, tail[atSalt:atSalt+8]...), tail[atRest:atRest+saltSize-8]...)
	if rest := max(int(tail[atSaltSize])-8, 13); len(tail) > atRest+rest {
		name, _, _ := bytes.Cut(tail[atRest+rest:], []byte{0})
		g.Plugin = string(name)
	}
	return g, nil
}

// splitGreeting returns what stands behind the version.
func splitGreeting(b []byte) (g Greeting, tail []byte, err error) {
	end := bytes.IndexByte(b, 0)
	if end < 1 || b[0] != 10 || len(b) < end+1+atRest+saltSize-8 {
		return g, nil, ErrMalformed
	}
	g.Version = string(b[1:end])
	return g, b[end+1:], nil
}

// SetCapabilities writes other flags into the payload of a greeting.
func SetCapabilities(b []byte, flags uint64) error {
	_, tail, err := splitGreeting(b)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint16(tail[atLow:], uint16(flags))
	binary.LittleEndian.PutUint16(tail[atHigh:], uint16(flags>>16))
	if flags&LongPassword == 0 {
		binary.LittleEndian.PutUint32(tail[atExtended:], uint32(flags>>32))
	}
	return nil
}

// Append appends the payload of the greeting to dst.
func (g Greeting) Append(dst []byte) []byte {
	dst = append(append(append(dst, 10), g.Version...), 0)
	dst = binary.LittleEndian.AppendUint32(dst, g.ThreadID)
	dst = append(append(dst, g.Salt[:8]...), 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities))
	dst = append(dst, g.Charset)
	dst = binary.LittleEndian.AppendUint16(dst, g.Status)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities>>16))
	dst = append(dst, saltSize+1)
	dst = append(dst, make([]byte, 6)...)
	extended := uint32(g.Capabilities >> 32)
	if g.Capabilities&LongPassword != 0 {
		extended = 0
	}
	dst = binary.LittleEndian.AppendUint32(dst, extended)
	dst = append(append(dst, g.Salt[8:saltSize]...), 0)
	return append(append(dst, g.Plugin...), 0)
}
