package parser

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Charset is a character set that SQL text may come in: a value of
// character_set_client. The zero Charset is utf8mb4. ucs2, utf16 and utf32
// cannot be client character sets (MySQL manual, "Impermissible Client
// Character Sets").
type Charset uint8

// layout says how bytes from 0x80 on group into characters. Bytes below 0x80
// that do not follow a lead byte are ASCII in all of them.
type layout uint8

const (
	layoutSafe    layout = iota // a byte from 0x80 on is part of a name, wherever it stands
	layoutSingle                // as layoutSafe, but some byte from 0x80 on may be white space or a control character
	layoutGBK                   // two bytes, the second from 0x40 on
	layoutGB18030               // as GBK, and four bytes
	layoutBig5                  // two bytes, the second from 0x40 on
	layoutSJIS                  // one or two bytes, the second from 0x40 on
	layoutUnknown               // a name this package does not know
)

// charsets lists the client character sets of MySQL 9.7 and MariaDB 10.11. The
// encoding, where the standard ones have it, is for identifiers only.
var charsets = [...]struct {
	name     string
	layout   layout
	encoding encoding.Encoding // nil: identifiers outside ASCII are not known
}{
	{"utf8mb4", layoutSafe, encoding.Nop},
	{"utf8mb3", layoutSafe, encoding.Nop},
	{"utf8", layoutSafe, encoding.Nop},
	{"ascii", layoutSafe, nil},
	{"binary", layoutSafe, encoding.Nop},
	{"latin1", layoutSingle, charmap.Windows1252},
	{"latin2", layoutSingle, charmap.ISO8859_2},
	{"latin5", layoutSingle, charmap.ISO8859_9},
	{"latin7", layoutSingle, charmap.ISO8859_13},
	{"cp1250", layoutSingle, charmap.Windows1250},
	{"cp1251", layoutSingle, charmap.Windows1251},
	{"cp1256", layoutSingle, charmap.Windows1256},
	{"cp1257", layoutSingle, charmap.Windows1257},
	{"cp850", layoutSingle, charmap.CodePage850},
	{"cp852", layoutSingle, charmap.CodePage852},
	{"cp866", layoutSingle, charmap.CodePage866},
	{"greek", layoutSingle, charmap.ISO8859_7},
	{"hebrew", layoutSingle, charmap.ISO8859_8},
	{"koi8r", layoutSingle, charmap.KOI8R},
	{"koi8u", layoutSingle, charmap.KOI8U},
	{"macroman", layoutSingle, charmap.Macintosh},
	{"tis620", layoutSingle, charmap.Windows874},
	{"armscii8", layoutSingle, nil},
	{"dec8", layoutSingle, nil},
	{"geostd8", layoutSingle, nil},
	{"hp8", layoutSingle, nil},
	{"keybcs2", layoutSingle, nil},
	{"macce", layoutSingle, nil},
	{"swe7", layoutSingle, nil},
	{"ujis", layoutSafe, japanese.EUCJP},
	{"eucjpms", layoutSafe, japanese.EUCJP},
	{"euckr", layoutSafe, korean.EUCKR},
	{"gb2312", layoutSafe, simplifiedchinese.GBK},
	{"gbk", layoutGBK, simplifiedchinese.GBK},
	{"gb18030", layoutGB18030, simplifiedchinese.GB18030},
	{"big5", layoutBig5, traditionalchinese.Big5},
	{"sjis", layoutSJIS, japanese.ShiftJIS},
	{"cp932", layoutSJIS, japanese.ShiftJIS},
	{"", layoutUnknown, nil},
}

// CharsetByName returns the character set of that name, in any case. For a name
// that is none it returns one in which only ASCII text can be read.
func CharsetByName(name string) Charset {
	name = strings.ToLower(name)
	for i := range charsets {
		if charsets[i].name == name {
			return Charset(i)
		}
	}
	return Charset(len(charsets) - 1)
}

// String returns the character set's name, "" for an unknown one.
func (c Charset) String() string { return charsets[c].name }

func (c Charset) layout() layout { return charsets[c].layout }

// multiByte reports whether the second byte of a character may be an ASCII one,
// among them the backslash and the backtick.
func (l layout) multiByte() bool { return l >= layoutGBK && l <= layoutSJIS }

// width returns how many bytes the character at text[i] has in a multi-byte
// layout. A byte that begins no valid character counts alone, as in the server.
func (l layout) width(text []byte, i int) int {
	if text[i] < 0x80 || i+1 >= len(text) {
		return 1
	}
	lead, trail := text[i], text[i+1]
	ascii := trail >= 0x40 && trail <= 0x7e
	switch l {
	case layoutGBK, layoutGB18030:
		if lead < 0x81 || lead > 0xfe {
			return 1
		}
		if ascii || trail >= 0x80 && trail <= 0xfe {
			return 2
		}
		if l == layoutGB18030 && i+3 < len(text) && isDigit(trail) &&
			text[i+2] >= 0x81 && text[i+2] <= 0xfe && isDigit(text[i+3]) {
			return 4
		}
	case layoutBig5:
		if lead >= 0xa1 && lead <= 0xf9 && (ascii || trail >= 0xa1 && trail <= 0xfe) {
			return 2
		}
	case layoutSJIS:
		if (lead >= 0x81 && lead <= 0x9f || lead >= 0xe0 && lead <= 0xfc) &&
			(ascii || trail >= 0x80 && trail <= 0xfc) {
			return 2
		}
	}
	return 1
}

// Decode returns text, which is in this character set, in UTF-8. It reports false
// when the character set has no such text, or its table is not known here.
func (c Charset) Decode(text []byte) (string, bool) {
	utf8, ok := c.decode(nil, text)
	return string(utf8), ok
}

// decode appends the identifier text, in this character set, to dst as UTF-8.
// It reports false when the character set has no such text.
func (c Charset) decode(dst, text []byte) ([]byte, bool) {
	if isASCII(text) || charsets[c].encoding == encoding.Nop {
		return append(dst, text...), true
	}
	enc := charsets[c].encoding
	if enc == nil {
		return dst, false
	}
	utf8, err := enc.NewDecoder().Bytes(text)
	return append(dst, utf8...), err == nil
}

// encode appends the identifier name to dst in this character set. It reports
// false when the character set cannot spell it.
func (c Charset) encode(dst []byte, name string) ([]byte, bool) {
	if isASCII(name) || charsets[c].encoding == encoding.Nop {
		return append(dst, name...), true
	}
	enc := charsets[c].encoding
	if enc == nil {
		return dst, false
	}
	text, err := enc.NewEncoder().String(name)
	return append(dst, text...), err == nil
}

// spells reports whether the character set can spell the identifier.
func (c Charset) spells(name string) bool {
	if isASCII(name) {
		return true
	}
	_, ok := c.encode(nil, name)
	return ok
}

func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
