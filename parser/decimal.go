package parser

import "bytes"

// maxExponent is the largest power of ten that decimals are scaled by. Beyond
// it the servers do not agree.
const maxExponent = 100

// decimal is an unsigned decimal number as its text has it: whole.fraction
// times ten to the exponent.
type decimal struct {
	whole, fraction []byte
	exponent        int
	hasExponent     bool
}

// scanDecimal reads the longest decimal number that text begins with, and
// returns what follows it. It reports false when there is none.
func scanDecimal(text []byte) (d decimal, rest []byte, ok bool) {
	d.whole, rest = scanDigits(text)
	if len(rest) > 0 && rest[0] == '.' {
		d.fraction, rest = scanDigits(rest[1:])
	}
	if len(d.whole) == 0 && len(d.fraction) == 0 {
		return decimal{}, text, false
	}
	if len(rest) == 0 || rest[0]|0x20 != 'e' {
		return d, rest, true
	}
	exponent := rest[1:]
	sign := 1
	if len(exponent) > 0 && (exponent[0] == '+' || exponent[0] == '-') {
		if exponent[0] == '-' {
			sign = -1
		}
		exponent = exponent[1:]
	}
	digits, after := scanDigits(exponent)
	if len(digits) == 0 {
		return d, rest, true
	}
	d.exponent, d.hasExponent = sign*smallInt(digits), true
	return d, after, true
}

func scanDigits(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return text[:i], text[i:]
}

// smallInt returns the number, or maxExponent+1 for any larger one.
func smallInt(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = min(n*10+int(c-'0'), maxExponent+1)
	}
	return n
}

// isZero reports whether all digits are 0.
func (d decimal) isZero() bool {
	return len(bytes.Trim(d.whole, "0")) == 0 && len(bytes.Trim(d.fraction, "0")) == 0
}

// isFraction reports whether the number is between 0 and 1.
func (d decimal) isFraction() bool {
	for i := range max(len(d.whole)+d.exponent, 0) {
		if d.digit(i) != 0 {
			return false
		}
	}
	return !d.isZero()
}

// digit returns the digit at i, counted from the first one of whole.
func (d decimal) digit(i int) uint64 {
	switch {
	case i < 0:
		return 0
	case i < len(d.whole):
		return uint64(d.whole[i] - '0')
	case i-len(d.whole) < len(d.fraction):
		return uint64(d.fraction[i-len(d.whole)] - '0')
	}
	return 0
}

// round returns the number rounded half up. It reports false for a number that
// does not fit.
func (d decimal) round() (n uint64, ok bool) {
	if d.isZero() {
		return 0, true
	}
	point := len(d.whole) + d.exponent
	for i := range max(point, 0) {
		if n > (1<<64-10)/10 {
			return 0, false
		}
		n = n*10 + d.digit(i)
	}
	if point >= 0 && d.digit(point) >= 5 {
		n++
	}
	return n, true
}
