package parser

import (
	"bytes"
	"strings"
)

// PrepareStmt is SQL's PREPARE name FROM source, or what EXECUTE IMMEDIATE
// prepares and executes at once (MySQL manual, "PREPARE Statement"; MariaDB's
// documentation, "EXECUTE IMMEDIATE").
type PrepareStmt struct {
	Name string // unquoted, in UTF-8 and lower case: names compare so; empty with EXECUTE IMMEDIATE
	Raw  []byte // the name as it was written
	// The source is a literal, which stands for Text, or Expr: an expression that has
	// no effects and gives the same when it is evaluated beforehand, as it was
	// written. That is a user variable, on MariaDB also more of them and of literals
	// in CONCAT and the like. With neither, it is anything else.
	IsText bool
	Text   []byte
	Expr   []byte
	Using  [][]byte // the values of EXECUTE IMMEDIATE, as they were written
}

// ParsePrepare reads PREPARE. It reports false for any other text and one that
// cannot be read with certainty.
func ParsePrepare(sql []byte, m Mode) (p PrepareStmt, ok bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "prepare") {
		return p, false
	}
	if p.Name, ok = s.statementName(s.next()); !ok {
		return p, false
	}
	p.Raw = s.text()
	if t := s.next(); !s.is(t, "from") {
		return p, false
	}
	return p, s.source(&p) == tokenEOF
}

// ParseImmediate reads MariaDB's EXECUTE IMMEDIATE. It reports false for any other
// text and one that cannot be read with certainty.
func ParseImmediate(sql []byte, m Mode) (p PrepareStmt, ok bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "execute") {
		return p, false
	}
	if t := s.next(); !s.is(t, "immediate") {
		return p, false
	}
	p.Using, ok = s.using(s.source(&p))
	return p, ok
}

// ParseExecute reads EXECUTE name [USING value, ...], the values as they were
// written. It reports false for any other text and one that cannot be read with
// certainty.
func ParseExecute(sql []byte, m Mode) (name string, using [][]byte, ok bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "execute") {
		return "", nil, false
	}
	if name, ok = s.statementName(s.next()); !ok {
		return "", nil, false
	}
	using, ok = s.using(s.next())
	return name, using, ok
}

// ParseDeallocate reads DEALLOCATE PREPARE name or DROP PREPARE name. It reports
// false for any other text.
func ParseDeallocate(sql []byte, m Mode) (name string, ok bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "deallocate") && !s.is(t, "drop") {
		return "", false
	}
	if t := s.next(); !s.is(t, "prepare") {
		return "", false
	}
	name, ok = s.statementName(s.next())
	return name, ok && s.onlySemicolons()
}

// statementName returns the current token t as the name of a prepared statement.
func (s *scanner) statementName(t token) (string, bool) {
	if !isName(t) {
		return "", false
	}
	name, ok := s.appendName(nil, t, s.mode.Charset)
	return strings.ToLower(string(name)), ok
}

// source reads what is prepared, and returns the token after it. Semicolons at the
// end count as the end.
func (s *scanner) source(p *PrepareStmt) token {
	t := s.next()
	first := *s
	tokens, depth, end, pure := 0, 0, s.start, true
	for last := tokenEOF; !s.endsSource(t, last, depth); last, t = t, s.next() {
		pure = pure && s.isPure(t, last)
		depth += nesting(t)
		tokens, end = tokens+1, s.end
	}
	text := s.sql[first.start:end]
	switch {
	case tokens == 1 && pure && (text[0] == '\'' || text[0] == '"'):
		p.Text, p.IsText = first.appendString([]byte{}), true
	case IsUserVariable(text, s.mode), s.mode.MariaDB && pure && tokens > 0:
		p.Expr = text
	}
	if t == ';' && s.onlySemicolons() {
		return tokenEOF
	}
	return t
}

// endsSource reports whether the current token t, which follows last within so many
// parentheses, ends what is prepared.
func (s *scanner) endsSource(t, last token, depth int) bool {
	switch t {
	case tokenEOF, tokenInvalid, tokenVersion, ';':
		return true
	}
	return depth == 0 && last != '@' && s.is(t, "using")
}

// isPure reports whether the current token t, which follows last, is one of an
// expression of literals and user variables that changes nothing.
func (s *scanner) isPure(t, last token) bool {
	switch t {
	case tokenString, '(', ')', ',', '|':
		return true
	case '@':
		return last != '@'
	case tokenName:
		return last == '@'
	case tokenWord:
		return last == '@' || isDigit(s.sql[s.start]) || isPlainIntroducer(s.text()) ||
			s.is(t, "null") || s.is(t, "concat") || s.is(t, "concat_ws") || s.is(t, "quote")
	}
	return false
}

// nesting returns by how much the token t changes the depth of parentheses.
func nesting(t token) int {
	switch t {
	case '(':
		return 1
	case ')':
		return -1
	}
	return 0
}

// using reads the list that USING, the current token t, begins, up to the end of
// the text. There may be none.
func (s *scanner) using(t token) (list [][]byte, ok bool) {
	if t == tokenEOF || t == ';' && s.onlySemicolons() {
		return nil, true
	}
	if !s.is(t, "using") {
		return nil, false
	}
	for {
		v, t := s.value(s.next())
		if v.tokens == 0 {
			return nil, false
		}
		list = append(list, s.sql[v.start:v.end])
		switch {
		case t == ',':
		case t == tokenEOF, t == ';' && s.onlySemicolons():
			return list, true
		default:
			return nil, false
		}
	}
}

// AppendLiteral appends text as a string literal that reads as it in this mode. It
// is for text in ASCII or UTF-8; the client's character set must be one in which
// that is the same.
func AppendLiteral(dst, text []byte, m Mode) []byte {
	dst = append(dst, '\'')
	for _, c := range text {
		if c == '\'' || c == '\\' && !m.NoBackslashEscapes {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}

// ValueSlot returns what a value of EXECUTE's USING says of an integer column when
// it stands for a placeholder there. ignore says that the statement has IGNORE.
func ValueSlot(text []byte, m Mode, ignore bool) Slot {
	sc := newScanner(text, m)
	v, t := sc.value(sc.next())
	if t != tokenEOF || v.tokens == 0 {
		return Slot{State: Unknown}
	}
	s := InsertStmt{mode: m, Ignore: ignore}
	return s.slot(text, v)
}

// IsASCII reports whether the text is ASCII, which is the same in every client
// character set.
func IsASCII(text []byte) bool { return isASCII(text) }

// hasAssignment reports whether the text assigns a user variable within an
// expression, or may: it does not look at literals.
func hasAssignment(text []byte) bool { return bytes.Contains(text, []byte(":=")) }
