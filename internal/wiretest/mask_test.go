package wiretest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
)

// mask says what of an answer is not compared.
type mask int

const (
	hideNumbers mask = 1 << iota // numbers in texts, such as counters and ids
	onlyEnds                     // all packets but the first and the last, and the last one's number
	onlyKinds                    // what packets hold; repeated kinds count once
)

// recorded is a packet as it is compared.
type recorded struct {
	sequence byte
	size     int    // of the payload as it came, 0 when masked
	head     string // the payload's beginning, masked
	sum      string // of the rest of a long payload
}

// keptHead is how much of a long payload is kept for the reader.
const keptHead = 4096

// databaseName is what stands in the place of the run's database: it is as long.
const databaseName = "test_============"

// record masks a packet.
func (r *run) record(p packet, m mask) recorded {
	rec := recorded{sequence: p.sequence, size: len(p.payload)}
	if len(p.payload) > keptHead {
		sum := sha256.Sum256(p.payload)
		rec.head, rec.sum = string(p.payload[:64]), string(sum[:4])
		return rec
	}
	b := bytes.ReplaceAll(p.payload, []byte(r.database), []byte(databaseName))
	if namesStatement(b) {
		b = numbers.ReplaceAll(b, []byte("N"))
		rec.size = 0
	}
	if m&hideNumbers != 0 {
		b, rec.size = maskNumbers(b), 0
	}
	rec.head = string(b)
	return rec
}

// namesStatement reports whether an error's text holds a prepared statement's id.
func namesStatement(b []byte) bool {
	const unknownStatement, noOpenCursor = 1243, 1421
	if len(b) < 9 || b[0] != 0xff {
		return false
	}
	errno := binary.LittleEndian.Uint16(b[1:])
	return errno == unknownStatement || errno == noOpenCursor
}

func (r *run) recordAll(packets []packet, m mask) []recorded {
	var all []recorded
	switch {
	case m&onlyKinds != 0:
		for _, p := range packets {
			kind := recorded{head: kindOf(p.payload)}
			if len(all) == 0 || all[len(all)-1] != kind {
				all = append(all, kind)
			}
		}
		return all
	case m&onlyEnds != 0 && len(packets) > 2:
		last := r.record(packets[len(packets)-1], m)
		last.sequence = 0
		return []recorded{r.record(packets[0], m), last}
	}
	for _, p := range packets {
		all = append(all, r.record(p, m))
	}
	return all
}

func kindOf(payload []byte) string {
	switch first(payload) {
	case 0x00:
		return "OK or event"
	case 0xff:
		return fmt.Sprintf("ERR %d", binary.LittleEndian.Uint16(payload[1:]))
	case 0xfe:
		return "EOF"
	}
	return "other"
}

var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// maskNumbers replaces numbers in a text, and in each value of a row of texts.
func maskNumbers(b []byte) []byte {
	var row []byte
	for rest := b; len(rest) > 0; {
		n, size := lengthEncoded(rest)
		if size == 0 || uint64(len(rest)-size) < n {
			return numbers.ReplaceAll(b, []byte("N"))
		}
		row = append(row, numbers.ReplaceAll(rest[size:size+int(n)], []byte("N"))...)
		row = append(row, '|')
		rest = rest[size+int(n):]
	}
	return row
}
