package wire

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func TestReadDefinition(t *testing.T) {
	t.Parallel()
	for _, extended := range []bool{false, true} {
		written := Column{Name: "äb", Type: mysql.MYSQL_TYPE_LONGLONG, Unsigned: true}.Append(nil, extended)
		d, ok := ReadDefinition(written)
		if !ok || string(d.Name) != "äb" || !d.Computed || d.Type != mysql.MYSQL_TYPE_LONGLONG || d.Collation != CollationBinary ||
			d.Flags&mysql.UNSIGNED_FLAG == 0 || d.Decimals != 0 {
			t.Errorf("extended %t: got %+v, %t", extended, d, ok)
		}
		for n := range written {
			if d, ok := ReadDefinition(written[:n]); ok {
				t.Errorf("extended %t, cut to %d bytes: got %+v", extended, n, d)
			}
		}
	}
	// A type's name of 12 bytes begins as the fixed part does.
	const tail = "\x0c\x3f\x00\x14\x00\x00\x00\x08\x20\x00\x00\x00\x00"
	named := "\x03def\x01d\x01t\x01t\x01n\x01o\x0c\x00\x0amaria_uuid" + tail
	if d, ok := ReadDefinition([]byte(named)); !ok || string(d.Name) != "n" || d.Computed || d.Type != mysql.MYSQL_TYPE_LONGLONG {
		t.Errorf("a definition with a type's name: got %+v, %t", d, ok)
	}
	for _, other := range []string{"", "\xfe\x00\x00\x02\x00", "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00", "\xfb\xfb\xfb\xfb\xfb\xfb" + tail} {
		if d, ok := ReadDefinition([]byte(other)); ok {
			t.Errorf("%q: got %+v", other, d)
		}
	}
}
