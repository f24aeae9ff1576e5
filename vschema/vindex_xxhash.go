package vschema

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// xxhashVindex is the XXH64 of the value's text.
type xxhashVindex struct{}

func (xxhashVindex) Columns() int { return 1 }
func (xxhashVindex) Cost() int    { return 1 }

func (xxhashVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	var scratch [maxDigits]byte
	return appendXXHash(dst, values[0].bytes(scratch[:])), nil
}

// appendXXHash appends the hash as Vitess writes it: the least significant byte first.
func appendXXHash(dst KeyspaceID, b []byte) KeyspaceID {
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(b))
}
