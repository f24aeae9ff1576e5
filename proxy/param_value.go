package proxy

import (
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/vschema"
)

// vindexValue gives the parameter as a vindex maps it. Its error is for the client.
func (p *param) vindexValue(m parser.Mode) (vschema.Value, error) {
	if p.null || byte(p.typ) == mysql.MYSQL_TYPE_NULL {
		return vschema.Null(), nil
	}
	if n, ok := p.integer(); ok {
		if p.typ&unsignedParam != 0 {
			return vschema.Uint(uint64(n)), nil
		}
		return vschema.Int(n), nil
	}
	switch byte(p.typ) {
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE:
		return floatValue(p.float()), nil
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME:
		t, ok := p.time()
		if !ok {
			return vschema.Value{}, noLiteral("a time with an offset", "bind it as a string")
		}
		return vschema.Text(t.append(nil)), nil
	}
	text := p.text()
	charset := m.Charset.String()
	if unicode := strings.HasPrefix(charset, "utf8") || charset == "binary"; !unicode && p.isText() && !p.isBlob() && !parser.IsASCII(text) {
		return vschema.Value{}, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
			"seqgate does not support a sharding key outside ASCII in a character set other than UTF-8; SET NAMES utf8mb4, or bind bytes as a BLOB")
	}
	return vschema.Text(text), nil
}

// floatValue gives a number as MySQL writes it: a whole one by its digits.
func floatValue(f float64) vschema.Value {
	const exact = 1 << 53
	if n := int64(f); f > -exact && f < exact && float64(n) == f {
		return vschema.Int(n)
	}
	return vschema.Text(strconv.AppendFloat(nil, f, 'g', -1, 64))
}

// isBlob reports whether the parameter is sent as bytes without a character set.
func (p *param) isBlob() bool {
	switch byte(p.typ) {
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB:
		return true
	}
	return false
}
