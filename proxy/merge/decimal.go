package merge

import (
	"bytes"
	"math/big"
	"strconv"
)

// decimal is a DECIMAL: n / 10^scale.
type decimal struct {
	n     big.Int
	scale int
}

// maxDigits is more than a DECIMAL has, and smallDigits are those that an int64 holds.
const (
	maxDigits   = 200
	smallDigits = 18
)

// parse reads a DECIMAL as its text has it.
func (d *decimal) parse(text []byte) bool {
	negative := len(text) > 0 && text[0] == '-'
	digits := text
	if negative {
		digits = text[1:]
	}
	if _, _, ok := splitDecimal(digits); !ok || len(digits) > maxDigits {
		return false
	}
	d.scale = 0
	var room [maxDigits]byte
	plain, small := room[:0], int64(0)
	for i, c := range digits {
		if c == '.' {
			d.scale = len(digits) - i - 1
			continue
		}
		plain = append(plain, c)
		small = small*10 + int64(c-'0')
	}
	if len(plain) <= smallDigits {
		d.n.SetInt64(small)
	} else if _, ok := d.n.SetString(string(plain), 10); !ok {
		return false
	}
	if negative {
		d.n.Neg(&d.n)
	}
	return true
}

// add adds e, exactly.
func (d *decimal) add(e *decimal) {
	if d.scale < e.scale {
		d.n.Mul(&d.n, powerOfTen(e.scale-d.scale))
		d.scale = e.scale
	}
	if e.scale < d.scale {
		var wide big.Int
		d.n.Add(&d.n, wide.Mul(&e.n, powerOfTen(d.scale-e.scale)))
		return
	}
	d.n.Add(&d.n, &e.n)
}

// divide gives d / n with that many decimals, a half rounded away from zero, as the
// servers' AVG() does (MySQL manual, "DECIMAL Data Type Characteristics").
func (d *decimal) divide(n int64, decimals int) *decimal {
	q := &decimal{scale: decimals}
	var above, below, rest big.Int
	above.Mul(&d.n, powerOfTen(decimals))
	below.Mul(big.NewInt(n), powerOfTen(d.scale))
	q.n.QuoRem(&above, &below, &rest)
	if rest.Abs(&rest).Lsh(&rest, 1).Cmp(&below) >= 0 {
		q.n.Add(&q.n, big.NewInt(int64(above.Sign())))
	}
	return q
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// append appends the number's text, with all of its decimals.
func (d *decimal) append(dst []byte) []byte {
	var magnitude big.Int
	digits := magnitude.Abs(&d.n).Append(nil, 10)
	for len(digits) <= d.scale {
		digits = append([]byte{'0'}, digits...)
	}
	if d.n.Sign() < 0 {
		dst = append(dst, '-')
	}
	point := len(digits) - d.scale
	dst = append(dst, digits[:point]...)
	if d.scale > 0 {
		dst = append(append(dst, '.'), digits[point:]...)
	}
	return dst
}

// maxPlain is up to how many digits before the point, or zeros behind it, a DOUBLE is
// written without an exponent (MAX_DECPT_FOR_F_FORMAT of the servers' dtoa.c). One with
// digits behind the point is written without in any case.
const maxPlain = 15

// appendDouble appends a DOUBLE as the servers write it in a text row: with a fixed
// number of decimals where the column has one, else with as few digits as tell it.
func appendDouble(dst []byte, x float64, decimals byte) []byte {
	if x == 0 {
		x = 0 // not -0
	}
	if decimals < notFixed {
		return strconv.AppendFloat(dst, x, 'f', int(decimals), 64)
	}
	text := strconv.AppendFloat(nil, x, 'e', -1, 64) // d.ddde+xx
	e := 0
	for text[e] != 'e' {
		e++
	}
	exponent, err := strconv.Atoi(string(text[e+1:]))
	digits := len(bytes.Trim(text[:e], "-")) - 1 // without the point; of one digit that has none it does not matter
	if err != nil || exponent >= -maxPlain && (exponent < maxPlain || digits > exponent+1) {
		return strconv.AppendFloat(dst, x, 'f', -1, 64)
	}
	dst = append(append(dst, text[:e]...), 'e')
	return strconv.AppendInt(dst, int64(exponent), 10)
}
