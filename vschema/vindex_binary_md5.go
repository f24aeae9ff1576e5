package vschema

import "crypto/md5"

// binaryMD5Vindex is the MD5 of the value's text.
type binaryMD5Vindex struct{}

func (binaryMD5Vindex) Columns() int { return 1 }
func (binaryMD5Vindex) Cost() int    { return 1 }

func (binaryMD5Vindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	var scratch [maxDigits]byte
	return appendMD5(dst, values[0].bytes(scratch[:])), nil
}

func appendMD5(dst KeyspaceID, b []byte) KeyspaceID {
	sum := md5.Sum(b)
	return append(dst, sum[:]...)
}
