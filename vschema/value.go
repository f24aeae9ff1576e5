package vschema

import (
	"bytes"
	"strconv"
)

// Value is one SQL value that a vindex maps: NULL, a whole number or bytes. The zero Value is NULL.
//
// Vitess keeps every value as text, and so do the vindexes over bytes: the number 1 and the text '1' are the same to
// them, '01' and '1' are not. Decimals, floats, dates and times are given as the Text that MySQL writes for them.
type Value struct {
	kind   valueKind
	number uint64 // of a signed value: its two's complement
	text   []byte
}

type valueKind uint8

const (
	nullValue valueKind = iota
	signedValue
	unsignedValue
	textValue
	bitsValue
)

// Null is SQL's NULL.
func Null() Value { return Value{} }

// Int is a whole number of a signed type, or a literal that fits into one: the vindex hash takes negative numbers of
// these only.
func Int(n int64) Value { return Value{kind: signedValue, number: uint64(n)} }

// Uint is a whole number of an unsigned type, or a literal above the greatest int64.
func Uint(n uint64) Value { return Value{kind: unsignedValue, number: n} }

// Text is a string of characters or bytes, or a number written with a point or an exponent. The Value refers to text,
// which is to stay as it is while the Value is used.
func Text(text []byte) Value { return Value{kind: textValue, text: text} }

// Bits is a hexadecimal or bit literal by its bytes. Vindexes over numbers do not take it, as in Vitess.
func Bits(bits []byte) Value { return Value{kind: bitsValue, text: bits} }

// IsNull says whether the value is NULL.
func (v Value) IsNull() bool { return v.kind == nullValue }

// maxShown is how many bytes of a value an error shows.
const maxShown = 64

// String returns the value as an error shows it: NULL, a number, or the quoted beginning of a text.
func (v Value) String() string {
	switch v.kind {
	case nullValue:
		return "NULL"
	case signedValue, unsignedValue:
		return string(v.bytes(nil))
	}
	if len(v.text) > maxShown {
		return strconv.Quote(string(v.text[:maxShown])) + "..."
	}
	return strconv.Quote(string(v.text))
}

// maxDigits is the length of the longest whole number of 64 bits, its sign included.
const maxDigits = 20

// bytes returns the value as text, empty for NULL. Numbers are written into scratch.
func (v Value) bytes(scratch []byte) []byte {
	switch v.kind {
	case signedValue:
		return strconv.AppendInt(scratch[:0], int64(v.number), 10)
	case unsignedValue:
		return strconv.AppendUint(scratch[:0], v.number, 10)
	}
	return v.text
}

// uint64 returns the value as a whole number that is not negative. Text may have leading zeros, and spaces and tabs
// around the digits: what Vitess's fastparse.ParseUint64 takes.
func (v Value) uint64() (uint64, bool) {
	switch v.kind {
	case signedValue:
		return v.number, int64(v.number) >= 0
	case unsignedValue:
		return v.number, true
	case textValue:
		return parseUint(bytes.Trim(v.text, " \t"))
	}
	return 0, false
}

func parseUint(digits []byte) (n uint64, ok bool) {
	const maxUint64 = 1<<64 - 1
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		digit := uint64(c - '0')
		if n > (maxUint64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, len(digits) > 0
}
