package handshake

import (
	"bytes"
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Response is a client's answer to a greeting: HandshakeResponse41
// ("Protocol::HandshakeResponse41" page of the MySQL manual).
type Response struct {
	Capabilities uint64 // MariaDB's own are the upper 32
	MaxPacket    uint32
	Charset      uint8
	User         string
	Proof        []byte
	Database     string
	Plugin       string
	Attributes   []byte // as they came: pairs of length-encoded strings
	ZstdLevel    byte

	database, databaseEnd int // where its name stands in the payload
}

// Has reports whether the client has all of these capability flags.
func (r *Response) Has(flags uint64) bool { return r.Capabilities&flags == flags }

// maxAttributes is how many bytes of connection attributes servers take.
const maxAttributes = 1<<16 - 1

const (
	responseHead = 32
	// atResponseExtended is where MariaDB's flags stand in the head.
	atResponseExtended = 28
)

// IsSSLRequest reports whether a payload is the head of a response alone, after
// which the client goes over to TLS.
func IsSSLRequest(b []byte) bool {
	return len(b) == responseHead && uint64(binary.LittleEndian.Uint32(b))&SSL != 0
}

// SSLRequest returns the payload that announces TLS for a response.
func SSLRequest(response []byte) []byte { return append([]byte(nil), response[:responseHead]...) }

// ParseResponse reads the payload of a handshake response. On an error the
// capabilities are set as far as they came.
func ParseResponse(b []byte) (Response, error) {
	var r Response
	if len(b) < 4 {
		return r, ErrMalformed
	}
	r.Capabilities = uint64(binary.LittleEndian.Uint32(b))
	if len(b) < responseHead || !r.Has(Protocol41) {
		return r, ErrMalformed
	}
	if !r.Has(LongPassword) {
		r.Capabilities |= uint64(binary.LittleEndian.Uint32(b[atResponseExtended:])) << 32
	}
	r.MaxPacket = binary.LittleEndian.Uint32(b[4:])
	r.Charset = b[8]
	at := cursor{b: b, at: responseHead}
	r.User = at.terminated()
	r.Proof = at.proof(&r)
	if r.Has(ConnectWithDB) {
		r.database = at.at
		r.Database = at.terminated()
		r.databaseEnd = at.at
	}
	if r.Has(PluginAuth) {
		r.Plugin = at.terminated()
	}
	if r.Has(ConnectAttrs) {
		r.Attributes = at.lengthEncoded()
		at.bad = at.bad || len(r.Attributes) > maxAttributes
	}
	if r.Has(Zstd) && at.at < len(b) {
		r.ZstdLevel = b[at.at]
	}
	if at.bad {
		return r, ErrMalformed
	}
	return r, nil
}

// Rewrite returns the payload that r was read from, with other capability flags and
// another database. What the flags leave out at the end is left out.
func (r *Response) Rewrite(payload []byte, flags uint64, database string) []byte {
	b := append([]byte(nil), payload...)
	binary.LittleEndian.PutUint32(b, uint32(flags))
	if flags&LongPassword == 0 {
		binary.LittleEndian.PutUint32(b[atResponseExtended:], uint32(flags>>32))
	}
	if r.Has(Zstd) && flags&Zstd == 0 && r.ZstdLevel != 0 {
		b = b[:len(b)-1]
	}
	if database != r.Database && r.databaseEnd > r.database {
		tail := append([]byte(database+"\x00"), b[r.databaseEnd:]...)
		b = append(b[:r.database], tail...)
	}
	return b
}

// Append appends the payload of a response with the given proof.
func (r *Response) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Capabilities))
	dst = binary.LittleEndian.AppendUint32(dst, r.MaxPacket)
	dst = append(dst, r.Charset)
	dst = append(dst, make([]byte, 19)...)
	extended := uint32(r.Capabilities >> 32)
	if r.Has(LongPassword) {
		extended = 0
	}
	dst = binary.LittleEndian.AppendUint32(dst, extended)
	dst = append(append(dst, r.User...), 0)
	switch {
	case r.Has(LenencProof):
		dst = mysql.AppendLengthEncodedInteger(dst, uint64(len(r.Proof)))
		dst = append(dst, r.Proof...)
	default:
		dst = append(append(dst, byte(len(r.Proof))), r.Proof...)
	}
	if r.Has(ConnectWithDB) {
		dst = append(append(dst, r.Database...), 0)
	}
	if r.Has(PluginAuth) {
		dst = append(append(dst, r.Plugin...), 0)
	}
	if r.Has(ConnectAttrs) {
		dst = mysql.AppendLengthEncodedInteger(dst, uint64(len(r.Attributes)))
		dst = append(dst, r.Attributes...)
	}
	return dst
}

// ParseAttributes takes connection attributes apart. Malformed ones end the list.
func ParseAttributes(b []byte) map[string]string {
	all := make(map[string]string)
	for at := (cursor{b: b}); at.at < len(b); {
		name, value := at.lengthEncoded(), at.lengthEncoded()
		if at.bad {
			break
		}
		all[string(name)] = string(value)
	}
	return all
}

// cursor reads a payload from its beginning. Once something did not fit, bad is set.
type cursor struct {
	b   []byte
	at  int
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.b)-c.at) {
		c.bad = true
		return nil
	}
	c.at += int(n)
	return c.b[c.at-int(n) : c.at]
}

// terminated reads a string up to a NUL.
func (c *cursor) terminated() string {
	if c.bad {
		return ""
	}
	end := bytes.IndexByte(c.b[c.at:], 0)
	if end < 0 {
		c.bad = true
		return ""
	}
	text := c.take(uint64(end) + 1)
	return string(text[:end])
}

func (c *cursor) lengthEncoded() []byte {
	if c.bad || c.at >= len(c.b) {
		c.bad = true
		return nil
	}
	size := uint64(1)
	switch c.b[c.at] {
	case 0xfb, 0xff:
		c.bad = true
		return nil
	case 0xfc:
		size = 3
	case 0xfd:
		size = 4
	case 0xfe:
		size = 9
	}
	head := c.take(size)
	if c.bad {
		return nil
	}
	n, _, _ := mysql.LengthEncodedInt(head)
	return c.take(n)
}

// proof reads the client's proof of its password, in the form that its flags say.
func (c *cursor) proof(r *Response) []byte {
	switch {
	case r.Has(LenencProof | SecureConnection):
		return c.lengthEncoded()
	case r.Has(LenencProof):
		c.bad = true // servers read it each in their own way
		return nil
	case r.Has(SecureConnection):
		if n := c.take(1); n != nil {
			return c.take(uint64(n[0]))
		}
		return nil
	}
	// Servers read a length or up to a NUL. Without a proof that is the same.
	if proof := c.terminated(); proof != "" {
		c.bad = true
	}
	return nil
}
