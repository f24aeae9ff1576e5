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
	// Raw is a string's bytes in the client's character set; else as Text.
	Raw string
	// Hex says that it is a hexadecimal literal, which a column of numbers or
	// characters reads in ways of its own.
	Hex bool
	// Param is, for State Param, the index of the placeholder in the whole text,
	// counted from 0.
	Param int
}

// Keys appends to dst what each row says of the column, one Key per row. The
// parameters and errors are those of Slots, which has to be called after Keys,
// not before: AppendFilled edits the column of the call that came last.
func (s *InsertStmt) Keys(dst []Key, sql []byte, column string, tableColumns []string) ([]Key, error) {
	if err := s.Bind(column, tableColumns); err != nil {
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
	if k, t, ok := sc.literal(); ok && t == tokenEOF {
		return k
	}
	return Key{State: Unknown}
}

// literal reads a string, a hexadecimal literal or a whole number, and the token
// after it.
func (s *scanner) literal() (k Key, next token, ok bool) {
	switch t := s.next(); {
	case t == tokenString:
		return s.stringLiteral()
	case t == '-' || t == '+':
		if t2 := s.next(); t2 != tokenWord {
			return Key{}, t2, false
		}
		n, err := strconv.ParseInt(string(t)+string(s.text()), 10, 64)
		return explicitKey(strconv.FormatInt(n, 10)), s.next(), err == nil
	case t != tokenWord:
		return Key{}, t, false
	}
	word := s.text()
	if len(word) == 1 && lower(word[0]) == 'x' {
		return s.hexString()
	}
	if len(word) > 2 && word[0] == '0' && word[1] == 'x' {
		return s.hexDigits(evenDigits(string(word[2:])))
	}
	n, err := strconv.ParseUint(string(word), 10, 64)
	return explicitKey(strconv.FormatUint(n, 10)), s.next(), err == nil
}

func explicitKey(text string) Key { return Key{State: Explicit, Text: text, Raw: text} }

// evenDigits puts a 0 before an odd number of digits, as MySQL does with 0x.
func evenDigits(digits string) string {
	if len(digits)%2 > 0 {
		return "0" + digits
	}
	return digits
}

// stringLiteral reads the current token, a string, and those beside it, which
// MySQL makes one of.
func (s *scanner) stringLiteral() (k Key, next token, ok bool) {
	var raw []byte
	t := tokenString
	for ; t == tokenString; t = s.next() {
		raw = s.appendString(raw)
	}
	text, ok := s.mode.Charset.Decode(raw)
	return Key{State: Explicit, Text: text, Raw: string(raw)}, t, ok
}

// hexString reads what follows the X of X'..'.
func (s *scanner) hexString() (k Key, next token, ok bool) {
	adjacent := s.end
	if t := s.next(); t != tokenString || s.start != adjacent || s.sql[s.start] != '\'' {
		return Key{}, t, false
	}
	digits := s.text()
	return s.hexDigits(string(digits[1 : len(digits)-1]))
}

// hexDigits returns the bytes that digits stand for, and the token after the
// current one.
func (s *scanner) hexDigits(digits string) (k Key, next token, ok bool) {
	bytes, err := hex.DecodeString(digits)
	k = explicitKey(string(bytes))
	k.Hex = true
	return k, s.next(), err == nil
}
