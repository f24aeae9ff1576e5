package proxy

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Character sets by the numbers that column definitions have
// (information_schema.COLLATIONS): utf8mb4_general_ci, and none.
const (
	collationUTF8MB4 = 45
	collationBinary  = 63
)

// resultColumn is a column of a result of seqgate's own.
type resultColumn struct {
	name   string
	typ    byte   // mysql.MYSQL_TYPE_...
	length uint32 // that a value takes when shown, in bytes

	nullable, unsigned bool
}

// textColumn is a column of text, of that many characters at most.
func textColumn(name string, characters uint32) resultColumn {
	const bytesEach = 4
	return resultColumn{name: name, typ: mysql.MYSQL_TYPE_VAR_STRING, length: characters * bytesEach}
}

// integerColumn is a signed BIGINT.
func integerColumn(name string) resultColumn {
	return resultColumn{name: name, typ: mysql.MYSQL_TYPE_LONGLONG, length: 20}
}

// append appends the column's definition (Protocol::ColumnDefinition41 of the MySQL
// manual). extended: a byte says that no type name goes further, as MariaDB has it.
func (c resultColumn) append(dst []byte, extended bool) []byte {
	for _, text := range []string{"def", "", "", "", c.name, ""} {
		dst = appendText(dst, text)
	}
	if extended {
		dst = append(dst, 0)
	}
	collation, flags, decimals := uint16(collationUTF8MB4), uint16(mysql.NOT_NULL_FLAG), byte(0x1f)
	if c.typ != mysql.MYSQL_TYPE_VAR_STRING {
		collation, flags, decimals = collationBinary, flags|mysql.BINARY_FLAG, 0
	}
	if c.nullable {
		flags &^= mysql.NOT_NULL_FLAG
	}
	if c.unsigned {
		flags |= mysql.UNSIGNED_FLAG
	}
	dst = append(dst, 0x0c)
	dst = binary.LittleEndian.AppendUint16(dst, collation)
	dst = binary.LittleEndian.AppendUint32(dst, c.length)
	dst = append(dst, c.typ)
	dst = binary.LittleEndian.AppendUint16(dst, flags)
	return append(dst, decimals, 0, 0)
}

// appendText appends a length-encoded string.
func appendText(dst []byte, text string) []byte {
	return append(mysql.AppendLengthEncodedInteger(dst, uint64(len(text))), text...)
}

// replyRows sends a result in the text protocol. Each row has a value for each column.
func (s *session) replyRows(columns []resultColumn, rows [][]string) error {
	count := mysql.AppendLengthEncodedInteger(nil, uint64(len(columns)))
	if s.capabilities&countsTell != 0 {
		count = append(count, definitionsFollow)
	}
	b, seq := appendPacket(nil, s.out.sequence, count)
	for _, column := range columns {
		b, seq = appendPacket(b, seq, column.append(nil, s.capabilities&clientExtendedMetadata != 0))
	}
	if !s.deprecateEOF() {
		b, seq = appendPacket(b, seq, s.endOfRows(nil, s.out.more))
	}
	for _, row := range rows {
		var packet []byte
		for _, value := range row {
			packet = appendText(packet, value)
		}
		b, seq = appendPacket(b, seq, packet)
	}
	b, seq = appendPacket(b, seq, s.endOfRows(nil, s.out.more))
	s.out.sequence = seq
	return s.writeFront(b)
}
