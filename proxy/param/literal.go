package param

import (
	"math"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// AppendLiteral appends the parameter as a literal that the server stores as it would
// store the parameter itself. Its error is for the client: there is none.
func AppendLiteral(dst []byte, p *wire.Param, m parser.Mode) ([]byte, error) {
	if p.Null || byte(p.Type) == mysql.MYSQL_TYPE_NULL {
		return append(dst, "NULL"...), nil
	}
	if n, ok := p.Integer(); ok {
		if p.Type&wire.UnsignedParam != 0 {
			return strconv.AppendUint(dst, uint64(n), 10), nil
		}
		return strconv.AppendInt(dst, n, 10), nil
	}
	switch byte(p.Type) {
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE:
		return appendDouble(dst, p.Float())
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		return appendTime(dst, p)
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		return appendDecimal(dst, p.Text())
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_GEOMETRY:
		return parser.AppendBytes(dst, p.Text(), m), nil
	}
	dst, ok := parser.AppendText(dst, p.Text(), m)
	if !ok {
		return dst, noLiteral("text in this character set", "SET NAMES utf8mb4")
	}
	return dst, nil
}

// noLiteral refuses a parameter that no literal stands for.
func noLiteral(what, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not support "+what+" as a parameter of a statement that it routes; "+advice)
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
func appendTime(dst []byte, p *wire.Param) ([]byte, error) {
	t, ok := p.Time()
	if !ok {
		return dst, noLiteral("a time with an offset", "bind it as a string")
	}
	switch {
	case !t.Literal():
	case byte(p.Type) == mysql.MYSQL_TYPE_TIME:
		dst = append(dst, "TIME"...)
	case byte(p.Type) == mysql.MYSQL_TYPE_DATE:
		dst = append(dst, "DATE"...)
	default:
		dst = append(dst, "TIMESTAMP"...)
	}
	dst = append(dst, '\'')
	dst = t.Append(dst)
	return append(dst, '\''), nil
}
