package merge

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// errMalformed says that a server's packet is none.
var errMalformed = errors.New("a malformed row or column definition came from the server")

// column is what the merge needs of a column definition.
type column struct {
	typ      byte
	flags    uint16
	charset  uint16
	decimals byte
}

// notFixed is the number of decimals of a DOUBLE that shows all of its digits
// (NOT_FIXED_DEC of the servers).
const notFixed = 31

// readColumns reads column definitions.
func readColumns(packets [][]byte) ([]column, error) {
	columns := make([]column, len(packets))
	for i, p := range packets {
		d, ok := wire.ReadDefinition(p)
		if !ok {
			return nil, errMalformed
		}
		columns[i] = column{charset: d.Collation, typ: d.Type, flags: d.Flags, decimals: d.Decimals}
	}
	return columns, nil
}

// kind is how the values of a type compare.
type kind uint8

const (
	kindOther   kind = iota // not known
	kindInteger             // in the binary protocol of some width
	kindDecimal
	kindDouble
	kindFloat
	kindString
	kindDate // with or without a time
	kindTime
	kindBit
	kindNull
)

func (c column) kind() kind {
	switch c.typ {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONG,
		mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_YEAR:
		return kindInteger
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		return kindDecimal
	case mysql.MYSQL_TYPE_DOUBLE:
		return kindDouble
	case mysql.MYSQL_TYPE_FLOAT:
		return kindFloat
	case mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_TINY_BLOB,
		mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_ENUM, mysql.MYSQL_TYPE_SET:
		return kindString
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_NEWDATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP:
		return kindDate
	case mysql.MYSQL_TYPE_TIME:
		return kindTime
	case mysql.MYSQL_TYPE_BIT:
		return kindBit
	case mysql.MYSQL_TYPE_NULL:
		return kindNull
	}
	return kindOther
}

// isEnum reports whether the column is an ENUM or SET, which sort by their number.
func (c column) isEnum() bool {
	return c.typ == mysql.MYSQL_TYPE_ENUM || c.typ == mysql.MYSQL_TYPE_SET || c.flags&(mysql.ENUM_FLAG|mysql.SET_FLAG) != 0
}

func (c column) isUnsigned() bool { return c.flags&mysql.UNSIGNED_FLAG != 0 }
