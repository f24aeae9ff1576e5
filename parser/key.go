package parser

import (
	"encoding/hex"
	"strconv"
)

// Key is what one row says of a column of characters or bytes, literally: it
// chooses the counter of a keyed sequence.
type Key struct {
	// State is Open when the column is absent, NULL or DEFAULT, Explicit when
	// Text is its value, Param for one placeholder and Unknown for expressions.
	State SlotState
	// Text is a string's characters in UTF-8, the bytes of a hexadecimal
	// literal, or a whole number in decimal.
	Text string
	// Param is, for State Param, the index of the placeholder in the whole text,
	// counted from 0.
	Param int
}

// Keys appends to dst what each row says of the column, one Key per row. The
// parameters and errors are those of Slots, which has to be called after Keys,
// not before: AppendFilled edits the column of the call that came last.
func (s *InsertStmt) Keys(dst []Key, sql []byte, column string, tableColumns []string) ([]Key, error) {
	if err := s.bind(column, tableColumns); err != nil {
		return dst, err
	}
	sc := newScanner(sql, s.mode)
	for i := range s.body.rows {
		k := Key{State: Open}
		if s.bound.index >= 0 {
			k = s.key(sql, s.valueOf(&sc, i, s.bound.index))
		}
		dst = append(dst, k)
	}
	return dst, nil
}

func (s *InsertStmt) key(sql []byte, v value) Key {
	sc := newScanner(sql[:v.end], s.mode)
	sc.end = v.start
	switch t := sc.next(); {
	case v.tokens == 1 && t == tokenParam:
		return Key{State: Param, Param: v.params}
	case v.tokens == 1 && (sc.is(t, "null") || sc.is(t, "default")):
		return Key{State: Open}
	}
	sc.end = v.start
	if text, t, ok := sc.literal(); ok && t == tokenEOF {
		return Key{State: Explicit, Text: text}
	}
	return Key{State: Unknown}
}

// literal reads a string, a hexadecimal literal or a whole number, as text, and
// the token after it.
func (s *scanner) literal() (text string, next token, ok bool) {
	switch t := s.next(); {
	case t == tokenString:
		return s.stringLiteral()
	case t == '-' || t == '+':
		if t2 := s.next(); t2 != tokenWord {
			return "", t2, false
		}
		n, err := strconv.ParseInt(string(t)+string(s.text()), 10, 64)
		return strconv.FormatInt(n, 10), s.next(), err == nil
	case t != tokenWord:
		return "", t, false
	}
	word := s.text()
	if len(word) == 1 && lower(word[0]) == 'x' {
		return s.hexString()
	}
	if len(word) > 2 && word[0] == '0' && word[1] == 'x' {
		bytes, err := hex.DecodeString(evenDigits(string(word[2:])))
		return string(bytes), s.next(), err == nil
	}
	n, err := strconv.ParseUint(string(word), 10, 64)
	return strconv.FormatUint(n, 10), s.next(), err == nil
}

// evenDigits puts a 0 before an odd number of digits, as MySQL does with 0x.
func evenDigits(digits string) string {
	if len(digits)%2 > 0 {
		return "0" + digits
	}
	return digits
}

// stringLiteral reads the current token, a string, and those beside it, which
// MySQL makes one of.
func (s *scanner) stringLiteral() (text string, next token, ok bool) {
	var raw []byte
	t := tokenString
	for ; t == tokenString; t = s.next() {
		raw = s.appendString(raw)
	}
	utf8, ok := s.mode.Charset.decode(nil, raw)
	return string(utf8), t, ok
}

// hexString reads what follows the X of X'..'.
func (s *scanner) hexString() (text string, next token, ok bool) {
	adjacent := s.end
	if t := s.next(); t != tokenString || s.start != adjacent || s.sql[s.start] != '\'' {
		return "", t, false
	}
	digits := s.text()
	bytes, err := hex.DecodeString(string(digits[1 : len(digits)-1]))
	return string(bytes), s.next(), err == nil
}
