package param

import (
	"encoding/binary"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Slot checks a parameter in the place of an id as MySQL judges a value for an
// AUTO_INCREMENT column. ignore says that the statement has IGNORE.
func Slot(p *wire.Param, m parser.Mode, ignore bool) parser.Slot {
	if p.Null || byte(p.Type) == mysql.MYSQL_TYPE_NULL {
		return parser.Slot{State: parser.Open}
	}
	if m.OnlyNull {
		return parser.Slot{State: parser.Explicit}
	}
	if p.Long {
		return parser.Slot{State: parser.Unknown}
	}
	switch byte(p.Type) {
	case mysql.MYSQL_TYPE_FLOAT:
		return parser.FloatSlot(float64(math.Float32frombits(binary.LittleEndian.Uint32(p.Value))), m)
	case mysql.MYSQL_TYPE_DOUBLE:
		return parser.FloatSlot(math.Float64frombits(binary.LittleEndian.Uint64(p.Value)), m)
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		return parser.Slot{State: parser.Unknown}
	}
	if n, ok := p.Integer(); ok {
		return parser.IntegerSlot(n, p.Type&wire.UnsignedParam != 0, m)
	}
	_, _, size := wire.LengthEncoded(p.Value)
	return parser.StringSlot(p.Value[size:], m, ignore)
}
