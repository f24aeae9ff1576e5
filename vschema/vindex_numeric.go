package vschema

import "encoding/binary"

// numericVindex is the number itself.
type numericVindex struct{}

func (numericVindex) Columns() int { return 1 }
func (numericVindex) Cost() int    { return 0 }

func (numericVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	n, ok := values[0].uint64()
	if !ok {
		return dst, notNumber(0, values[0])
	}
	return binary.BigEndian.AppendUint64(dst, n), nil
}
