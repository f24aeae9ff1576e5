package parser

import (
	"math"
	"strconv"
)

// NextStmt is SELECT NEXT VALUE FROM s or SELECT NEXT n VALUES FROM s.
type NextStmt struct {
	Schema, Sequence string // unquoted, in UTF-8; Schema is empty when not given
	N                int64  // how many values: 1 to 2^63-1; 0 when Param
	Param            bool   // the number is a placeholder
	HasKey           bool   // FOR KEY is given: of a keyed sequence
	Key              string // its value as text, as in Key.Text; empty when KeyParam
	KeyParam         bool   // the key is a placeholder, the one after that of the number
}

// ParseNext reads Vitess's SELECT NEXT VALUE FROM|FOR s and SELECT NEXT n VALUES
// FROM|FOR s, with an optional schema before the sequence and nothing after it
// but FOR KEY and a literal or ?, semicolons and comments
// (go/vt/sqlparser/sql.y of Vitess, with FOR, ? and keys besides).
//
// The error is a *CountError for an n that is no number of values, else a
// *SyntaxError. With an error, Schema and Sequence are set if the text names a
// sequence: since SELECT next value FROM t may also select a column next with
// the alias value, the caller should answer with the error for names that are
// sequences, and pass the text on for others.
func ParseNext(sql []byte, m Mode) (NextStmt, error) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "select") {
		return NextStmt{}, s.syntaxError()
	}
	if t := s.next(); !s.is(t, "next") {
		return NextStmt{}, s.syntaxError()
	}
	next, count, err := s.nextCount()
	if err != nil {
		return NextStmt{}, err
	}
	if t := s.next(); !s.is(t, "from") && !s.is(t, "for") {
		return NextStmt{}, s.syntaxError()
	}
	table, t, ok := s.tableName(s.next(), m.Charset)
	if !ok {
		return NextStmt{}, s.syntaxError()
	}
	next.Schema, next.Sequence = table.Schema, table.Name
	if s.is(t, "for") {
		if t, ok = s.nextKey(&next); !ok {
			return next, s.syntaxError()
		}
	}
	for t == ';' {
		t = s.next()
	}
	if t != tokenEOF {
		return next, s.syntaxError()
	}
	if next.N == 0 && !next.Param {
		return next, &CountError{Sequence: next.Sequence, Count: count}
	}
	return next, nil
}

// nextKey reads KEY and the key after FOR, and returns the token after them.
func (s *scanner) nextKey(n *NextStmt) (next token, ok bool) {
	if t := s.next(); !s.is(t, "key") {
		return t, false
	}
	n.HasKey = true
	ahead := *s
	if ahead.next() == tokenParam {
		*s = ahead
		n.KeyParam = true
		return s.next(), true
	}
	k, next, ok := s.literal()
	if !ok {
		ahead.end = ahead.start // the error is at the key
		*s = ahead
	}
	n.Key = k.Text
	return next, ok
}

// nextCount reads VALUE, n VALUES or ? VALUES. count is n as written; N is 0
// when it is no number of values.
func (s *scanner) nextCount() (next NextStmt, count string, err error) {
	t := s.next()
	switch {
	case s.is(t, "value"):
		return NextStmt{N: 1}, "1", nil
	case t == tokenParam:
		next.Param = true
	case t == tokenWord && isDigit(s.sql[s.start]):
		count = string(s.text())
		n, ok := parseCount(count)
		if !ok {
			return next, "", s.syntaxError()
		}
		next.N = n
	default:
		return next, "", s.syntaxError()
	}
	if t = s.next(); !s.is(t, "values") {
		return next, "", s.syntaxError()
	}
	return next, count, nil
}

// parseCount returns the number that the digits are, or 0 when it is larger
// than any count. It reports false when they are not only digits.
func parseCount(digits string) (n int64, ok bool) {
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return 0, false
		}
	}
	u, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || u > math.MaxInt64 {
		return 0, true
	}
	return int64(u), true
}
