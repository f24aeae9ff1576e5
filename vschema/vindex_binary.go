package vschema

// binaryVindex is the bytes of the value's text themselves.
type binaryVindex struct{}

func (binaryVindex) Columns() int { return 1 }
func (binaryVindex) Cost() int    { return 0 }

func (binaryVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	var scratch [maxDigits]byte
	return append(dst, values[0].bytes(scratch[:])...), nil
}
