package wire

import "github.com/go-mysql-org/go-mysql/mysql"

// LengthEncoded reads a length-encoded number; size is 0 when b is too short, or does
// not begin with one.
func LengthEncoded(b []byte) (n uint64, null bool, size int) {
	if len(b) == 0 {
		return 0, false, 0
	}
	width := 1
	switch b[0] {
	case 0xfc:
		width = 3
	case 0xfd:
		width = 4
	case 0xfe:
		width = 9
	case 0xff:
		return 0, false, 0
	}
	if width > len(b) {
		return 0, false, 0
	}
	return mysql.LengthEncodedInt(b)
}

// Text reads a length-encoded string, or the NULL of a text row, and gives what is behind it. It reports false where b does not
// begin with one.
func Text(b []byte) (text []byte, null bool, rest []byte, ok bool) {
	n, null, size := LengthEncoded(b)
	if null {
		return nil, true, b[size:], true
	}
	if size == 0 || uint64(len(b)-size) < n {
		return nil, false, nil, false
	}
	end := size + int(n)
	return b[size:end], false, b[end:], true
}
