package vschema

import (
	"crypto/cipher"
	"crypto/des"
	"encoding/binary"
)

// hashVindex encrypts a whole number of 64 bits by DES with a key of zeros, as a bijection that spreads ids evenly.
type hashVindex struct{}

func (hashVindex) Columns() int { return 1 }
func (hashVindex) Cost() int    { return 1 }

func (hashVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	v := values[0]
	if v.kind == signedValue {
		return appendHash(dst, v.number), nil
	}
	n, ok := v.uint64()
	if !ok {
		return dst, notNumber(0, v)
	}
	return appendHash(dst, n), nil
}

// nullKey is the cipher of the key of eight zeros.
var nullKey = mustDES(make([]byte, des.BlockSize))

func mustDES(key []byte) cipher.Block {
	block, err := des.NewCipher(key)
	if err != nil {
		panic(err) // only of a key of another length
	}
	return block
}

// appendHash encrypts in place: a buffer of its own would be allocated for every id.
func appendHash(dst KeyspaceID, n uint64) KeyspaceID {
	dst = binary.BigEndian.AppendUint64(dst, n)
	block := dst[len(dst)-8:]
	nullKey.Encrypt(block, block)
	return dst
}
