package wire

import (
	"encoding/binary"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Where a parameter ends decides what the bytes behind it say: the value of the next
// one, or the text of the statement. So nothing is read here that a server may read to
// another end; such a packet is refused as malformed.

// ParamType reads the type of a parameter. Its upper byte has the sign alone: MySQL
// takes other bits for part of the type.
func (r *ParamReader) ParamType() uint16 {
	b := r.take(2)
	if r.Bad {
		return 0
	}
	typ := binary.LittleEndian.Uint16(b)
	r.Bad = typ&^UnsignedParam > 0xff
	return typ
}

// value reads one value of the binary protocol, of a type whose length servers that
// know it agree on. The others are left out: MariaDB takes no bytes for YEAR, INT24,
// NEWDATE, BIT and GEOMETRY, and MySQL, in query attributes, takes those and all that
// it does not know for strings.
func (r *ParamReader) value(typ byte) []byte {
	switch typ {
	case mysql.MYSQL_TYPE_TINY:
		return r.take(1)
	case mysql.MYSQL_TYPE_SHORT:
		return r.take(2)
	case mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_FLOAT:
		return r.take(4)
	case mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_DOUBLE:
		return r.take(8)
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP:
		return r.temporal(0, 4, 7, 11)
	case mysql.MYSQL_TYPE_TIME:
		return r.temporal(0, 8, 12)
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL, mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING,
		mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB,
		mysql.MYSQL_TYPE_JSON, mysql.MYSQL_TYPE_ENUM, mysql.MYSQL_TYPE_SET, mysql.MYSQL_TYPE_VECTOR:
		return r.lengthEncodedBytes()
	}
	r.Bad = true
	return nil
}

// temporal reads a date or time, whose length is one of those that the protocol has
// for it, in one byte. Servers read a length-encoded number there, and what they make
// of others depends on their version.
func (r *ParamReader) temporal(lengths ...byte) []byte {
	begin := r.At
	n := r.take(1)
	if r.Bad {
		return nil
	}
	if !slices.Contains(lengths, n[0]) {
		r.Bad = true
		return nil
	}
	r.take(int(n[0]))
	if r.Bad {
		return nil
	}
	return r.Data[begin:r.At]
}

// Indicated reads one value of a bulk.
func (r *ParamReader) Indicated(typ uint16) Param {
	p := Param{Type: typ}
	mark := r.take(1)
	switch {
	case r.Bad:
	case mark[0] == ValueFollows:
		p.Value = r.value(byte(typ))
	default:
		p.Mark, p.Null = mark[0], true
		r.Bad = mark[0] > valueIgnore
	}
	return p
}

// Before each value of a bulk stands whether there is one.
const (
	ValueFollows = iota
	valueNull
	valueDefault
	valueIgnore // the column's default too, in an INSERT
)
