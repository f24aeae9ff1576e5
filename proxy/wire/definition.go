package wire

import "encoding/binary"

// Definition is what a server says of a column of a result.
type Definition struct {
	Name      []byte // as in the packet that was read
	Computed  bool   // it is no column of a table, nor of a view
	Collation uint16
	Type      byte // mysql.MYSQL_TYPE_...
	Flags     uint16
	Decimals  byte
}

// ReadDefinition reads a Protocol::ColumnDefinition41 of the MySQL manual. It reports false for any other packet. The fixed part
// stands at its end: MariaDB may put names of types before it. mysql.Field of go-mysql knows none of these, and reads past the
// end of a packet that is cut.
func ReadDefinition(b []byte) (d Definition, ok bool) {
	const fixed = 13 // with its length byte
	const name, ownName, texts = 4, 5, 6
	for i := 0; i < texts || len(b) > fixed || len(b) > 0 && b[0] != fixed-1; i++ {
		text, null, rest, ok := Text(b)
		if !ok || null {
			return d, false
		}
		switch i {
		case name:
			d.Name = text
		case ownName:
			d.Computed = len(text) == 0
		}
		b = rest
	}
	if len(b) != fixed {
		return d, false
	}
	d.Collation, d.Type, d.Flags, d.Decimals = binary.LittleEndian.Uint16(b[1:]), b[7], binary.LittleEndian.Uint16(b[8:]), b[10]
	return d, true
}
