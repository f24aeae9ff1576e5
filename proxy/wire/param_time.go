package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Text returns the bytes of a parameter that is sent as text or bytes.
func (p *Param) Text() []byte {
	if p.Ahead != nil {
		return p.Ahead
	}
	_, _, size := LengthEncoded(p.Value)
	return p.Value[size:]
}

// Float returns the value of a FLOAT or DOUBLE parameter.
func (p *Param) Float() float64 {
	if byte(p.Type) == mysql.MYSQL_TYPE_FLOAT {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(p.Value)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p.Value))
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

// Time reads a date or time. It reports false for lengths that have more than that.
func (p *Param) Time() (t paramTime, ok bool) {
	t.typ = byte(p.Type)
	b := p.Value[1:]
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

// Literal reports whether a literal of the type itself may be this one.
func (t *paramTime) Literal() bool {
	const longest = 838 // hours
	if t.typ == mysql.MYSQL_TYPE_TIME {
		return t.hour <= longest
	}
	return t.year > 0 && t.month > 0 && t.day > 0
}

// Append appends the text that MySQL has for it.
func (t *paramTime) Append(dst []byte) []byte {
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
