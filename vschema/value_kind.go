package vschema

// IsNumber says whether the value is a whole number of a numeric type.
func (v Value) IsNumber() bool { return v.kind == signedValue || v.kind == unsignedValue }

// IsBits says whether the value is a hexadecimal or bit literal.
func (v Value) IsBits() bool { return v.kind == bitsValue }

// AppendText appends the value as text, nothing for NULL.
func (v Value) AppendText(dst []byte) []byte {
	var scratch [maxDigits]byte
	return append(dst, v.bytes(scratch[:])...)
}

// Bytes returns the bytes of a Text or Bits value, which are not to be changed, and nil for others.
func (v Value) Bytes() []byte { return v.text }
