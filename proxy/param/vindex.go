package param

import (
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/vschema"
)

// VindexValue returns the parameter as a vindex maps it. Its error is for the client.
func VindexValue(p *wire.Param, m parser.Mode) (vschema.Value, error) {
	if p.Null || byte(p.Type) == mysql.MYSQL_TYPE_NULL {
		return vschema.Null(), nil
	}
	if n, ok := p.Integer(); ok {
		if p.Type&wire.UnsignedParam != 0 {
			return vschema.Uint(uint64(n)), nil
		}
		return vschema.Int(n), nil
	}
	switch byte(p.Type) {
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE:
		return floatValue(p.Float()), nil
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		t, ok := p.Time()
		if !ok {
			return vschema.Value{}, noLiteral("a time with an offset", "bind it as a string")
		}
		return vschema.Text(t.Append(nil)), nil
	}
	text := p.Text()
	charset := m.Charset.String()
	if unicode := strings.HasPrefix(charset, "utf8") || charset == "binary"; !unicode && p.IsText() && !p.IsBlob() && !parser.IsASCII(text) {
		return vschema.Value{}, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
			"seqgate does not support a sharding key outside ASCII in a character set other than UTF-8; SET NAMES utf8mb4, or bind bytes as a BLOB")
	}
	return vschema.Text(text), nil
}

// floatValue returns a number as MySQL writes it: a whole one by its digits.
func floatValue(f float64) vschema.Value {
	const exact = 1 << 53
	if n := int64(f); f > -exact && f < exact && float64(n) == f {
		return vschema.Int(n)
	}
	return vschema.Text(strconv.AppendFloat(nil, f, 'g', -1, 64))
}
