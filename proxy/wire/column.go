package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Character sets by the numbers that column definitions have
// (information_schema.COLLATIONS): utf8mb4_general_ci, and none.
const (
	collationUTF8MB4 = 45
	CollationBinary  = 63
)

// Column is a column of a result of seqgate's own.
type Column struct {
	Name   string
	Type   byte   // mysql.MYSQL_TYPE_...
	Length uint32 // that a value takes when shown, in bytes

	Nullable, Unsigned bool
}

// TextColumn is a column of text, of that many characters at most.
func TextColumn(name string, characters uint32) Column {
	const bytesEach = 4
	return Column{Name: name, Type: mysql.MYSQL_TYPE_VAR_STRING, Length: characters * bytesEach}
}

// IntegerColumn is a signed BIGINT.
func IntegerColumn(name string) Column {
	return Column{Name: name, Type: mysql.MYSQL_TYPE_LONGLONG, Length: 20}
}

// Append appends the column's definition (Protocol::ColumnDefinition41 of the MySQL
// manual). extended: a byte says that no type name goes further, as MariaDB has it.
func (c Column) Append(dst []byte, extended bool) []byte {
	for _, text := range []string{"def", "", "", "", c.Name, ""} {
		dst = AppendText(dst, text)
	}
	if extended {
		dst = append(dst, 0)
	}
	collation, flags, decimals := uint16(collationUTF8MB4), uint16(mysql.NOT_NULL_FLAG), byte(0x1f)
	if c.Type != mysql.MYSQL_TYPE_VAR_STRING {
		collation, flags, decimals = CollationBinary, flags|mysql.BINARY_FLAG, 0
	}
	if c.Nullable {
		flags &^= mysql.NOT_NULL_FLAG
	}
	if c.Unsigned {
		flags |= mysql.UNSIGNED_FLAG
	}
	dst = append(dst, 0x0c)
	dst = binary.LittleEndian.AppendUint16(dst, collation)
	dst = binary.LittleEndian.AppendUint32(dst, c.Length)
	dst = append(dst, c.Type)
	dst = binary.LittleEndian.AppendUint16(dst, flags)
	return append(dst, decimals, 0, 0)
}

// AppendText appends a length-encoded string.
func AppendText(dst []byte, text string) []byte {
	return append(mysql.AppendLengthEncodedInteger(dst, uint64(len(text))), text...)
}
