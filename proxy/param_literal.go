package proxy

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// appendLiteral appends the parameter as a literal that the server stores as it would
// store the parameter itself. Its error is for the client: there is none.
func (p *param) appendLiteral(dst []byte, m parser.Mode) ([]byte, error) {
	if p.null || byte(p.typ) == mysql.MYSQL_TYPE_NULL {
		return append(dst, "NULL"...), nil
	}
	if n, ok := p.integer(); ok {
		if p.typ&unsignedParam != 0 {
			return strconv.AppendUint(dst, uint64(n), 10), nil
		}
		return strconv.AppendInt(dst, n, 10), nil
	}
	switch byte(p.typ) {
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE:
		return appendDouble(dst, p.float())
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		return p.appendTime(dst)
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		return appendDecimal(dst, p.text())
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_GEOMETRY:
		return parser.AppendBytes(dst, p.text(), m), nil
	}
	dst, ok := parser.AppendText(dst, p.text(), m)
	if !ok {
		return dst, noLiteral("text in this character set", "SET NAMES utf8mb4")
	}
	return dst, nil
}

// noLiteral refuses a parameter that no literal stands for.
func noLiteral(what, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not support "+what+" as a parameter of a statement that it routes; "+advice)
}

// text gives the bytes of a parameter that is sent as text or bytes.
func (p *param) text() []byte {
	if p.ahead != nil {
		return p.ahead
	}
	_, _, size := lengthEncoded(p.value)
	return p.value[size:]
}

// float gives the value of a FLOAT or DOUBLE parameter.
func (p *param) float() float64 {
	if byte(p.typ) == mysql.MYSQL_TYPE_FLOAT {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(p.value)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p.value))
}

// appendDouble appends a number with an exponent, which makes it a DOUBLE. So many
// digits read back as the same one.
func appendDouble(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, noLiteral("a number that is not finite", "bind NULL for none")
	}
	return strconv.AppendFloat(dst, f, 'E', -1, 64), nil
}

// appendDecimal appends a DECIMAL: digits, which may have a sign and a point.
func appendDecimal(dst, text []byte) ([]byte, error) {
	digits, points := 0, 0
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		case (c == '-' || c == '+') && i == 0:
		default:
			return dst, noLiteral("a DECIMAL with an exponent", "write its digits")
		}
	}
	if digits == 0 || points > 1 {
		return dst, noLiteral("a DECIMAL that is no number", "bind it as a string")
	}
	dst = append(dst, text...)
	if points == 0 {
		dst = append(dst, '.') // a whole number would be a BIGINT
	}
	return dst, nil
}

// appendTime appends a date or time as a literal of its type. One that such a literal
// cannot be, as the zero date, is a string, which the server converts.
func (p *param) appendTime(dst []byte) ([]byte, error) {
	t, ok := p.time()
	if !ok {
		return dst, noLiteral("a time with an offset", "bind it as a string")
	}
	switch {
	case !t.literal():
	case byte(p.typ) == mysql.MYSQL_TYPE_TIME:
		dst = append(dst, "TIME"...)
	case byte(p.typ) == mysql.MYSQL_TYPE_DATE:
		dst = append(dst, "DATE"...)
	default:
		dst = append(dst, "TIMESTAMP"...)
	}
	dst = append(dst, '\'')
	dst = t.append(dst)
	return append(dst, '\''), nil
}

// paramTime is a date or time of the binary protocol ("ProtocolBinary::MYSQL_TYPE_DATE
// and MYSQL_TYPE_TIME" in the MySQL manual).
type paramTime struct {
	typ            byte
	negative       bool
	year           int
	month, day     byte
	hour           int // of a TIME that of all its days
	minute, second byte
	micro          uint32
}

// time reads a date or time. It reports false for lengths that have more than that.
func (p *param) time() (t paramTime, ok bool) {
	t.typ = byte(p.typ)
	b := p.value[1:]
	if t.typ == mysql.MYSQL_TYPE_TIME {
		if len(b) >= 8 {
			t.negative = b[0] != 0
			t.hour = int(binary.LittleEndian.Uint32(b[1:]))*24 + int(b[5])
			t.minute, t.second = b[6], b[7]
		}
		if len(b) == 12 {
			t.micro = binary.LittleEndian.Uint32(b[8:])
		}
		return t, len(b) == 0 || len(b) == 8 || len(b) == 12
	}
	if len(b) >= 4 {
		t.year, t.month, t.day = int(binary.LittleEndian.Uint16(b)), b[2], b[3]
	}
	if len(b) >= 7 && t.typ != mysql.MYSQL_TYPE_DATE {
		t.hour, t.minute, t.second = int(b[4]), b[5], b[6]
	}
	if len(b) == 11 && t.typ != mysql.MYSQL_TYPE_DATE {
		t.micro = binary.LittleEndian.Uint32(b[7:])
	}
	return t, len(b) == 0 || len(b) == 4 || len(b) == 7 || len(b) == 11
}

// literal reports whether a literal of the type itself may be this one.
func (t *paramTime) literal() bool {
	const longest = 838 // hours
	if t.typ == mysql.MYSQL_TYPE_TIME {
		return t.hour <= longest
	}
	return t.year > 0 && t.month > 0 && t.day > 0
}

// append appends the text that MySQL has for it.
func (t *paramTime) append(dst []byte) []byte {
	if t.negative {
		dst = append(dst, '-')
	}
	if t.typ != mysql.MYSQL_TYPE_TIME {
		dst = fmt.Appendf(dst, "%04d-%02d-%02d", t.year, t.month, t.day)
		if t.typ == mysql.MYSQL_TYPE_DATE {
			return dst
		}
		dst = append(dst, ' ')
	}
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", t.hour, t.minute, t.second)
	if t.micro > 0 {
		dst = fmt.Appendf(dst, ".%06d", t.micro)
	}
	return dst
}
