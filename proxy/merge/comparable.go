package merge

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// appendComparable appends a value, which is not NULL, as bytes that sort as it does.
func (f *format) appendComparable(dst []byte, k *sortKey, text []byte) ([]byte, bool) {
	switch k.kind {
	case kindInteger:
		if !f.binary {
			return appendDecimal(dst, text)
		}
		n, ok := f.columns[k.column].integer(text)
		return binary.BigEndian.AppendUint64(dst, n), ok
	case kindDecimal:
		return appendDecimal(dst, text)
	case kindDouble, kindFloat:
		x, ok := f.float(text)
		return appendFloat(dst, x), ok
	case kindDate:
		if !f.binary {
			return append(dst, text...), true
		}
		return appendDate(dst, text)
	case kindTime:
		n, ok := f.time(text)
		return binary.BigEndian.AppendUint64(dst, uint64(n)^1<<63), ok
	case kindBit, kindNull:
		return append(dst, text...), true
	}
	return dst, false
}

// integer returns a number of the binary protocol so that unsigned comparison is its order.
func (c column) integer(text []byte) (n uint64, ok bool) {
	switch len(text) {
	case 1:
		n = uint64(int64(int8(text[0])))
	case 2:
		n = uint64(int64(int16(binary.LittleEndian.Uint16(text))))
	case 4:
		n = uint64(int64(int32(binary.LittleEndian.Uint32(text))))
	case 8:
		n = binary.LittleEndian.Uint64(text)
	default:
		return 0, false
	}
	if !c.isUnsigned() {
		return n ^ 1<<63, true
	}
	if len(text) < 8 {
		n &= 1<<(8*len(text)) - 1
	}
	return n, true
}

// appendDecimal appends a number as its text has it: the sign, the number of digits
// before the point, and the digits. All bits are turned in a negative one.
func appendDecimal(dst, text []byte) ([]byte, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	whole, fraction, ok := splitDecimal(text)
	if !ok {
		return dst, false
	}
	if len(whole) == 0 && len(fraction) == 0 {
		negative = false
	}
	begin := len(dst)
	dst = append(dst, 1)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(whole)))
	dst = append(append(dst, whole...), fraction...)
	if negative {
		for i := begin; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
		dst[begin] = 0
		dst = append(dst, 0xff) // the longer fraction is the lesser number
	}
	return dst, true
}

// splitDecimal returns the digits before the point, without leading zeros, and those
// behind it, without trailing ones.
func splitDecimal(text []byte) (whole, fraction []byte, ok bool) {
	point := len(text)
	for i, c := range text {
		switch {
		case c == '.' && point == len(text):
			point = i
		case c < '0' || c > '9':
			return nil, nil, false
		}
	}
	whole = text[:point]
	fraction = text[min(point+1, len(text)):]
	if len(whole)+len(fraction) == 0 {
		return nil, nil, false
	}
	for len(whole) > 0 && whole[0] == '0' {
		whole = whole[1:]
	}
	for len(fraction) > 0 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	return whole, fraction, true
}

// float reads a DOUBLE or FLOAT.
func (f *format) float(text []byte) (float64, bool) {
	switch {
	case !f.binary:
		x, err := strconv.ParseFloat(string(text), 64)
		return x, err == nil
	case len(text) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(text)), true
	case len(text) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(text))), true
	}
	return 0, false
}

func appendFloat(dst []byte, x float64) []byte {
	bits := math.Float64bits(x + 0) // -0 is 0
	if x == 0 {
		bits = 0
	}
	if bits>>63 > 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, bits)
}

// appendDate appends a DATE or DATETIME of the binary protocol (year, month, day, hour,
// minute, second, microseconds; what is 0 at the end may be left out).
func appendDate(dst, text []byte) ([]byte, bool) {
	var full [11]byte
	switch len(text) {
	case 0, 4, 7, 11:
	default:
		return dst, false
	}
	copy(full[:], text)
	dst = append(dst, full[1], full[0])
	dst = append(dst, full[2:7]...)
	return binary.BigEndian.AppendUint32(dst, binary.LittleEndian.Uint32(full[7:])), true
}

const (
	microSecond = 1_000_000
	microDay    = 24 * 3600 * microSecond
)

// time returns a TIME in microseconds.
func (f *format) time(text []byte) (int64, bool) {
	if !f.binary {
		return readTime(text)
	}
	var full [12]byte
	switch len(text) {
	case 0, 8, 12:
	default:
		return 0, false
	}
	copy(full[:], text)
	n := int64(binary.LittleEndian.Uint32(full[1:]))*microDay + int64(binary.LittleEndian.Uint32(full[8:]))
	n += (int64(full[5])*3600 + int64(full[6])*60 + int64(full[7])) * microSecond
	if full[0] != 0 {
		n = -n
	}
	return n, true
}

// readTime reads [-]hh:mm:ss[.ffffff].
func readTime(text []byte) (int64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	parts, digits := [4]int64{}, 0
	at := 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9' && digits < 6:
			parts[at] = parts[at]*10 + int64(c-'0')
			digits++
		case c == ':' && at < 2, c == '.' && at == 2:
			at++
			digits = 0
		default:
			return 0, false
		}
	}
	if at < 2 {
		return 0, false
	}
	for ; at == 3 && digits < 6; digits++ {
		parts[3] *= 10
	}
	n := (parts[0]*3600+parts[1]*60+parts[2])*microSecond + parts[3]
	if negative {
		n = -n
	}
	return n, true
}

// isCount reports whether the column is what COUNT() gives, a BIGINT.
func (c column) isCount() bool { return c.typ == mysql.MYSQL_TYPE_LONGLONG }
