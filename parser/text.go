package parser

import (
	"bytes"
	"encoding/hex"
)

// StringSlot returns what storing the character string text in an integer
// column does: it is for placeholders bound to a string. ignore says that the
// statement has IGNORE.
func StringSlot(text []byte, m Mode, ignore bool) Slot {
	l := literals{mode: m, strict: m.Strict && !ignore}
	return l.text(text)
}

// IntegerSlot returns what storing the integer n in a column of ids does. unsigned says that n holds the bits of an unsigned one.
func IntegerSlot(n int64, unsigned bool, m Mode) Slot {
	if n == 0 && !m.NoAutoValueOnZero {
		return Slot{State: Open}
	}
	return Slot{State: Explicit, Value: n, HasValue: n >= 0 || !unsigned}
}

// FloatSlot returns what storing the floating-point number f in an integer
// column does: it is for placeholders bound to a FLOAT or DOUBLE.
func FloatSlot(f float64, m Mode) Slot {
	l := literals{mode: m}
	return l.float(f)
}

// text returns the slot of a character string: a number with spaces round it,
// or, when the mode is not strict, the number it begins with, or 0.
func (l *literals) text(text []byte) Slot {
	if len(text) == 0 && l.mode.EmptyStringIsNull {
		return Slot{State: Open}
	}
	if l.mode.OnlyNull {
		return Slot{State: Explicit}
	}
	for _, c := range text {
		if c < ' ' && c != '\t' {
			return Slot{State: Unknown} // the servers differ
		}
	}
	number := bytes.Trim(text, " \t")
	negative := len(number) > 0 && number[0] == '-'
	if negative || len(number) > 0 && number[0] == '+' {
		number = number[1:]
	}
	d, rest, ok := scanDecimal(number)
	switch {
	case d.exponent > maxExponent || d.exponent < -maxExponent || ok && isDanglingExponent(rest):
		return Slot{State: Unknown} // the servers differ
	case (!ok || len(rest) > 0) && l.strict:
		return Slot{State: Explicit}
	}
	return l.decimal(d, negative)
}

// isDanglingExponent reports whether the text is an exponent without digits.
func isDanglingExponent(text []byte) bool {
	return len(text) > 0 && text[0]|0x20 == 'e' && len(bytes.Trim(text[1:], "+-")) == 0
}

// quoted returns the slot of a literal that is made of quoted texts, all of the
// scanner's text: '0', N'0', _utf8mb4'0', '0' '0', X'30', B'0'.
func (l *literals) quoted(s *scanner) (Slot, bool) {
	t := s.next()
	prefix := []byte(nil)
	if t == tokenWord {
		prefix = s.text()
		adjacent := s.end
		if t = s.next(); len(prefix) == 1 && s.start != adjacent {
			return Slot{}, false
		}
	}
	if t != tokenString {
		return Slot{}, false
	}
	if len(prefix) == 1 && lower(prefix[0]) != 'n' {
		return l.prefixed(s, lower(prefix[0]))
	}
	if len(prefix) > 1 && !isPlainIntroducer(prefix) && !l.mode.OnlyNull {
		return Slot{State: Unknown}, true
	}
	var room [64]byte // on the stack
	text := s.appendString(room[:0])
	for t = s.next(); t == tokenString; t = s.next() {
		text = s.appendString(text)
	}
	if t != tokenEOF {
		return Slot{}, false
	}
	return l.text(text), true
}

// prefixed returns the slot of X'..' and B'..', of which the string is the
// current token. MariaDB takes X'..' as a character string.
func (l *literals) prefixed(s *scanner, prefix byte) (Slot, bool) {
	digits := s.text()
	digits = digits[1 : len(digits)-1]
	switch {
	case s.sql[s.start] != '\'' || s.next() != tokenEOF, prefix == 'x' && len(digits)%2 > 0:
		return Slot{}, false
	case prefix == 'b':
		return l.bits(digits, 2, false)
	case prefix != 'x':
		return Slot{}, false
	case l.mode.MariaDB:
		text, err := hex.AppendDecode(nil, digits)
		return l.text(text), err == nil
	}
	return l.bits(digits, 16, false)
}

// isPlainIntroducer reports whether word introduces a character set in which
// digits are ASCII.
func isPlainIntroducer(word []byte) bool {
	for _, name := range [...]string{"_utf8mb4", "_utf8mb3", "_utf8", "_latin1", "_ascii", "_binary"} {
		if equalFold(word, name) {
			return true
		}
	}
	return false
}

// appendString appends the text of the current token, a string, to dst with its
// escapes resolved (MySQL manual, "String Literals").
func (s *scanner) appendString(dst []byte) []byte {
	text := s.text()
	quote, text := text[0], text[1:len(text)-1]
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 0x80 && s.layout.multiByte():
			w := s.layout.width(text, i)
			dst = append(dst, text[i:i+w]...)
			i += w - 1
		case c == '\\' && !s.mode.NoBackslashEscapes:
			i++
			dst = appendEscape(dst, text[i])
		case c == quote:
			i++
			dst = append(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendEscape appends what a backslash before c stands for. \% and \_ keep
// their backslash.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '0':
		return append(dst, 0)
	case 'b':
		return append(dst, '\b')
	case 'n':
		return append(dst, '\n')
	case 'r':
		return append(dst, '\r')
	case 't':
		return append(dst, '\t')
	case 'Z':
		return append(dst, 0x1a)
	case '%', '_':
		return append(dst, '\\', c)
	}
	return append(dst, c)
}
