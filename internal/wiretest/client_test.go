package wiretest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

const (
	headerSize = 4         // 3 bytes of length, 1 of sequence number
	maxPayload = 1<<24 - 1 // a packet of this length is continued by the next one
)

// packet is one packet as it came over the wire.
type packet struct {
	sequence byte
	payload  []byte
}

// client is one connection, to a server or to seqgate.
type client struct {
	net.Conn
	read     *bufio.Reader
	patience time.Duration // how long an answer may take

	greeting  greeting
	flags     uint64   // capabilities in use, MariaDB's extended ones in the upper half
	stmts     []uint32 // ids of the statements prepared, as the server numbered them
	malformed error    // what is wrong with an OK packet that came
	dead      bool     // closed, or given up: nothing more is read
}

// defaultPatience is far more than any answer takes, also on a machine busy with other tests.
const defaultPatience = 15 * time.Second

// stmtID gives the id of the n-th statement prepared, counted from 1. The servers number statements as they like.
func (c *client) stmtID(n uint32) uint32 {
	switch {
	case n == latestStmt:
		return n
	case n >= 1 && int(n) <= len(c.stmts):
		return c.stmts[n-1]
	}
	return 1<<30 | n // that of no statement
}

// latestStmt stands for the statement prepared last, to MariaDB.
const latestStmt = 0xffffffff

func (c *client) has(flag uint64) bool { return c.flags&flag != 0 }

// frame puts payload into packets, the first with the given sequence number.
func frame(sequence byte, payload []byte) []byte {
	b := make([]byte, 0, len(payload)+headerSize*(1+len(payload)/maxPayload))
	for {
		n := min(len(payload), maxPayload)
		b = append(b, byte(n), byte(n>>8), byte(n>>16), sequence)
		b = append(b, payload[:n]...)
		if n < maxPayload {
			return b
		}
		payload = payload[n:]
		sequence++
	}
}

// next reads one packet. A packet that continues another comes as one of its own.
func (c *client) next() (packet, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return packet{}, err
	}
	var header [headerSize]byte
	if _, err := io.ReadFull(c.read, header[:]); err != nil {
		return packet{}, err
	}
	p := packet{sequence: header[3], payload: make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)}
	_, err := io.ReadFull(c.read, p.payload)
	return p, err
}

const noAnswer = "no answer"

// ending says in words how reading ended, alike for all ways in which a connection ends.
func ending(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return noAnswer
	}
	return "closed"
}

// lengthEncoded reads a length-encoded number; size is 0 when b does not begin with one.
func lengthEncoded(b []byte) (n uint64, size int) {
	width := map[byte]int{0xfc: 2, 0xfd: 3, 0xfe: 8}
	switch {
	case len(b) == 0 || b[0] == 0xfb || b[0] == 0xff:
		return 0, 0
	case b[0] < 0xfb:
		return uint64(b[0]), 1
	case len(b) < 1+width[b[0]]:
		return 0, 0
	}
	var wide [8]byte
	copy(wide[:], b[1:1+width[b[0]]])
	return binary.LittleEndian.Uint64(wide[:]), 1 + width[b[0]]
}

// appendLengthEncoded appends a length-encoded string.
func appendLengthEncoded(dst []byte, s string) []byte {
	switch n := len(s); {
	case n < 0xfb:
		dst = append(dst, byte(n))
	case n < 1<<16:
		dst = append(dst, 0xfc, byte(n), byte(n>>8))
	default:
		dst = append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return append(dst, s...)
}
