package parser

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
)

// CellKind is what a Cell is.
type CellKind uint8

// The kinds of values that an INSERT gives a column.
const (
	CellAbsent     CellKind = iota // the statement does not name the column
	CellNull                       // NULL
	CellDefault                    // DEFAULT
	CellSigned                     // a whole number that an int64 holds, Number its two's complement
	CellUnsigned                   // a larger one that a uint64 holds
	CellDecimal                    // any other number without exponent, Text as it was written
	CellString                     // a string
	CellBits                       // a hexadecimal or bit literal, Text its bytes
	CellParam                      // exactly one placeholder
	CellExpression                 // anything else, Text as it was written
)

// Cell is what one row of an INSERT says of one column, without regard to the
// column's type: what tells where the row belongs. Texts may be parts of the
// statement.
type Cell struct {
	Kind   CellKind
	Number uint64
	Text   []byte // a string's characters are in UTF-8
	Raw    []byte // a string's bytes in the client's character set
	Param  int    // a placeholder's index in the whole text, counted from 0
}

// SignedCell is the Cell of a whole number.
func SignedCell(n int64) Cell { return Cell{Kind: CellSigned, Number: uint64(n)} }

// Cells appends to dst what each row says of the column, one Cell per row. The
// parameters and errors are those of Slots, which has to be called after Cells, not
// before: AppendFilled edits the column of the call that came last.
func (s *InsertStmt) Cells(dst []Cell, sql []byte, column string, tableColumns []string) ([]Cell, error) {
	if err := s.Bind(column, tableColumns); err != nil {
		return dst, err
	}
	sc := newScanner(sql, s.mode)
	for i := range s.body.rows {
		var v Cell
		if s.bound.index >= 0 {
			v = s.cell(sql, s.valueOf(&sc, i, s.bound.index))
		}
		dst = append(dst, v)
	}
	return dst, nil
}

func (s *InsertStmt) cell(sql []byte, v value) Cell {
	if v.tokens == 1 && v.first == tokenParam {
		return Cell{Kind: CellParam, Param: v.params}
	}
	text := sql[v.start:v.end]
	if n, ok := numberValue(text); ok {
		return n
	}
	sc := newScanner(sql[:v.end], s.mode)
	sc.end = v.start
	if literal, ok := sc.cellLiteral(); ok {
		return literal
	}
	return Cell{Kind: CellExpression, Text: text}
}

// numberValue reads a number in decimal with any signs before it.
func numberValue(text []byte) (Cell, bool) {
	digits, negative := text, false
	for len(digits) > 0 && (digits[0] == '-' || digits[0] == '+' || digits[0] == ' ') {
		negative = negative != (digits[0] == '-')
		digits = digits[1:]
	}
	d, rest, ok := scanDecimal(digits)
	if !ok || len(rest) > 0 || d.hasExponent {
		return Cell{}, false
	}
	if len(d.whole) == len(digits) {
		if v, ok := wholeValue(digits, negative); ok {
			return v, true
		}
	}
	if negative {
		digits = append([]byte{'-'}, digits...)
	}
	return Cell{Kind: CellDecimal, Text: digits}, true
}

// wholeValue returns the value of digits, as far as 64 bits hold it.
func wholeValue(digits []byte, negative bool) (Cell, bool) {
	n, err := strconv.ParseUint(string(digits), 10, 64)
	switch {
	case err != nil, negative && n > -math.MinInt64:
		return Cell{}, false
	case negative:
		return Cell{Kind: CellSigned, Number: -n}, true
	case n > math.MaxInt64:
		return Cell{Kind: CellUnsigned, Number: n}, true
	}
	return Cell{Kind: CellSigned, Number: n}, true
}

// cellLiteral reads a literal that is no bare number, in any parentheses, up to the
// end of the text.
func (s *scanner) cellLiteral() (Cell, bool) {
	depth := 0
	t := s.next()
	for ; t == '('; t = s.next() {
		depth++
	}
	v, t, ok := s.literalValue(t, depth > 0)
	for ; ok && t == ')' && depth > 0; t = s.next() {
		depth--
	}
	return v, ok && depth == 0 && t == tokenEOF
}

// literalValue reads the literal that begins with the current token t, and the token
// after it.
func (s *scanner) literalValue(t token, nested bool) (v Cell, next token, ok bool) {
	switch {
	case t == tokenString:
		return s.stringValue()
	case s.is(t, "null"):
		return Cell{Kind: CellNull}, s.next(), true
	case s.is(t, "default") && !nested:
		return Cell{Kind: CellDefault}, s.next(), true
	case s.is(t, "true"):
		return SignedCell(1), s.next(), true
	case s.is(t, "false"):
		return SignedCell(0), s.next(), true
	case t == tokenWord || nested && (t == '-' || t == '+' || t == '.'):
		return s.wordValue(t, nested)
	}
	return Cell{}, t, false
}

// wordValue reads a literal that begins with a word: a hexadecimal or bit literal, or
// within parentheses a number.
func (s *scanner) wordValue(t token, nested bool) (v Cell, next token, ok bool) {
	word := s.text()
	switch {
	case len(word) == 1 && (lower(word[0]) == 'x' || lower(word[0]) == 'b'):
		adjacent := s.end
		if t = s.next(); t != tokenString || s.start != adjacent || s.sql[s.start] != '\'' {
			return Cell{}, t, false
		}
		digits := s.text()
		digits = digits[1 : len(digits)-1]
		if lower(word[0]) == 'x' && len(digits)%2 > 0 {
			return Cell{}, t, false
		}
		return s.bitsValue(word[0], digits)
	case len(word) > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'b'):
		return s.bitsValue(word[1], word[2:])
	case !nested:
		return Cell{}, t, false
	}
	begin, end := s.start, s.end
	for ; t == tokenWord || t == '-' || t == '+' || t == '.'; t = s.next() {
		end = s.end
	}
	v, ok = numberValue(s.sql[begin:end])
	return v, t, ok
}

// bitsValue returns the bytes that the digits of a literal stand for ("Hexadecimal
// Literals" and "Bit-Value Literals" in the MySQL manual), and the next token.
func (s *scanner) bitsValue(base byte, digits []byte) (v Cell, next token, ok bool) {
	v.Kind = CellBits
	if lower(base) == 'x' {
		text, err := hex.DecodeString(evenDigits(string(digits)))
		v.Text = text
		return v, s.next(), err == nil
	}
	digits = slices.Concat(bytes.Repeat([]byte{'0'}, (8-len(digits)%8)%8), digits)
	for ; len(digits) > 0; digits = digits[8:] {
		n, err := strconv.ParseUint(string(digits[:8]), 2, 8)
		if err != nil {
			return v, s.next(), false
		}
		v.Text = append(v.Text, byte(n))
	}
	return v, s.next(), true
}

// stringValue reads the current token, a string, and those beside it, which MySQL
// makes one of. A plain one is not copied.
func (s *scanner) stringValue() (v Cell, next token, ok bool) {
	v.Kind = CellString
	if text := s.text(); isASCII(text) && bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text[1:len(text)-1], text[0]) < 0 {
		v.Raw = text[1 : len(text)-1]
		if next = s.next(); next != tokenString {
			v.Text = v.Raw
			return v, next, !(len(v.Text) == 0 && s.mode.EmptyStringIsNull)
		}
		v.Raw = bytes.Clone(v.Raw)
	} else {
		v.Raw = s.appendString(nil)
		next = s.next()
	}
	for ; next == tokenString; next = s.next() {
		v.Raw = s.appendString(v.Raw)
	}
	text, ok := s.mode.Charset.Decode(v.Raw)
	v.Text = []byte(text)
	return v, next, ok && !(len(text) == 0 && s.mode.EmptyStringIsNull)
}
