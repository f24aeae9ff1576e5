package vschema

import (
	"encoding/binary"
	"math/bits"
)

// reverseBitsVindex is the number with its bits in reverse order, so that consecutive ids lie far apart.
type reverseBitsVindex struct{}

func (reverseBitsVindex) Columns() int { return 1 }
func (reverseBitsVindex) Cost() int    { return 1 }

func (reverseBitsVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	n, ok := values[0].uint64()
	if !ok {
		return dst, notNumber(0, values[0])
	}
	return binary.BigEndian.AppendUint64(dst, bits.Reverse64(n)), nil
}
