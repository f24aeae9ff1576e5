package generate

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/seqgate/seqgate/vschema"
)

// Form is how a column holds an id that is no number.
type Form uint8

// The forms of ids.
const (
	Dashed Form = iota + 1 // of a UUID: 36 characters
	Hex                    // 32 of a UUID, 24 of an ObjectID
	Binary                 // 16 bytes, or 12
)

// FormFor returns the form in which a column of this type, as information_schema has it, holds the ids of a generator. The
// error says which columns do.
func FormFor(t vschema.GeneratorType, columnType string) (Form, error) {
	name, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(columnType)), "(")
	digits, _, _ := strings.Cut(rest, ")")
	length, _ := strconv.Atoi(digits) // 0 for a type without
	size, kinds := 16, "CHAR(36), VARCHAR(36), CHAR(32), VARCHAR(32), BINARY(16) or MariaDB's UUID"
	if t == vschema.ObjectID {
		size, kinds = 12, "CHAR(24), VARCHAR(24) or BINARY(12)"
	}
	text := name == "char" || name == "varchar"
	switch {
	case t != vschema.ObjectID && (name == "uuid" || text && length >= 36):
		return Dashed, nil
	case text && length >= 2*size:
		return Hex, nil
	case name == "binary" && length == size, name == "varbinary" && length >= size:
		return Binary, nil
	}
	return 0, fmt.Errorf("a %s holds no %s: make it %s", columnType, t, kinds)
}

// Size returns the length of each id of a generator in a form.
func (f Form) Size(t vschema.GeneratorType) int {
	size := 16
	if t == vschema.ObjectID {
		size = 12
	}
	switch f {
	case Dashed:
		return 36
	case Hex:
		return 2 * size
	}
	return size
}

// AppendTexts appends n ids of a generator whose ids are no numbers to dst, in a form that FormFor gave: each is as long as
// the others. The error is that of the system's random numbers.
func (s *Set) AppendTexts(dst []byte, n int64, t vschema.GeneratorType, form Form) ([]byte, error) {
	dst = slices.Grow(dst, int(n)*form.Size(t))
	for range n {
		if t == vschema.ObjectID {
			id := s.objectIDs.next(time.Now())
			dst = form.append(dst, id[:])
			continue
		}
		id, err := newUUID(t)
		if err != nil {
			return dst, fmt.Errorf("make a %s: %w", t, err)
		}
		dst = form.append(dst, id[:])
	}
	return dst, nil
}

// append appends the bytes of an id in its form.
func (f Form) append(dst, id []byte) []byte {
	switch f {
	case Hex:
		return hex.AppendEncode(dst, id)
	case Dashed:
		from := 0
		for i, to := range [...]int{4, 6, 8, 10, 16} { // RFC 9562, section 4
			if i > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, id[from:to])
			from = to
		}
		return dst
	}
	return append(dst, id...)
}

func newUUID(t vschema.GeneratorType) (uuid.UUID, error) {
	if t == vschema.UUID7 {
		return uuid.NewV7()
	}
	return uuid.NewRandom()
}

// objectIDs makes MongoDB's ObjectIDs: 4 bytes of seconds, 5 random ones of the process, 3 that count (MongoDB manual,
// "ObjectId"). Seconds and count are one number that never goes back: where the count of a second is used up, or the clock
// was set back, the ids of the following second are given.
type objectIDs struct {
	process [5]byte
	last    atomic.Int64 // seconds<<24 | count
}

const countBits = 24

func newObjectIDs() *objectIDs {
	o := &objectIDs{}
	var random [8]byte
	binary.BigEndian.PutUint64(random[:], rand.Uint64())
	copy(o.process[:], random[:])
	return o
}

func (o *objectIDs) next(now time.Time) [12]byte {
	for {
		last := o.last.Load()
		position := max(last+1, now.Unix()<<countBits)
		if o.last.CompareAndSwap(last, position) {
			return o.id(position)
		}
	}
}

func (o *objectIDs) id(position int64) (id [12]byte) {
	var count [4]byte
	binary.BigEndian.PutUint32(id[:4], uint32(position>>countBits))
	copy(id[4:9], o.process[:])
	binary.BigEndian.PutUint32(count[:], uint32(position))
	copy(id[9:], count[1:])
	return id
}
