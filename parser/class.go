package parser

// class is what the lexer does when a token begins with a byte. It follows the
// state maps of MySQL's sql/lex_init and MariaDB's sql/lex.h tables.
type class uint8

const (
	classPunct     class = iota // a token of its own
	classSpace                  // between tokens
	classWord                   // letter, digit, _ or $
	classHigh                   // from 0x80 on: the character set decides
	classQuote                  // '
	classDouble                 // "
	classBacktick               // `
	classDash                   // - or a comment
	classHash                   // a comment
	classSlash                  // / or a comment
	classParam                  // ?
	classForbidden              // NUL and other control characters: the server refuses them here
)

var classes = func() (t [256]class) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = classHigh
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = classSpace
		case c < ' ' || c == 0x7f:
			t[c] = classForbidden
		case isWordByte(byte(c)):
			t[c] = classWord
		}
	}
	t['\''], t['"'], t['`'] = classQuote, classDouble, classBacktick
	t['-'], t['#'], t['/'], t['?'] = classDash, classHash, classSlash, classParam
	return t
}()

// nameBytes is isNameByte as a table.
var nameBytes = func() (t [256]bool) {
	for c := range t {
		t[c] = isNameByte(byte(c))
	}
	return t
}()

// lowerWordBytes has the bytes of ASCII words in lower case, and 0 for others.
var lowerWordBytes = func() (t [256]byte) {
	for c := range t {
		if isWordByte(byte(c)) {
			t[c] = lower(byte(c))
		}
	}
	return t
}()

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte reports whether c is an ASCII byte of unquoted identifiers and
// numbers.
func isWordByte(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$'
}

// isNameByte is isWordByte together with what may be part of a character
// outside ASCII.
func isNameByte(c byte) bool { return c >= 0x80 || isWordByte(c) }

// isSpace reports whether c is white space in every character set.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// lower returns the ASCII letter c in lower case, other bytes as they are.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// equalFold reports whether text is word, which is in lower case, in any case
// of its ASCII letters.
func equalFold(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if lower(c) != word[i] {
			return false
		}
	}
	return true
}

// isPlainWord reports whether name reads the same quoted and unquoted, in every
// character set.
func isPlainWord(name string) bool {
	for i := range len(name) {
		if !isWordByte(name[i]) {
			return false
		}
	}
	return true
}
