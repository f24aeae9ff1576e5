package parser

import "strings"

// A Table is a table's name as the text has it, unquoted, in UTF-8. Schema is
// empty when the name is not qualified.
type Table struct{ Schema, Name string }

// isName reports whether the token t may be an identifier. Reserved words and
// numbers are let through: the server refuses them.
func isName(t token) bool { return t == tokenWord || t == tokenName }

// appendName appends the identifier that is the scanner's current token t to
// dst, unquoted and in UTF-8. It reports false for one that the character set
// does not have, and for the empty one.
func (s *scanner) appendName(dst []byte, t token, c Charset) ([]byte, bool) {
	text := s.text()
	if t == tokenWord {
		return c.decode(dst, text)
	}
	if len(text) == 2 {
		return dst, false
	}
	quote, text := text[0], text[1:len(text)-1]
	n := len(dst)
	dst, ok := c.decode(dst, text)
	return undouble(dst, n, quote), ok
}

// undouble makes one of each two quotes in name[n:].
func undouble(name []byte, n int, quote byte) []byte {
	w := n
	for r := n; r < len(name); r++ {
		name[w] = name[r]
		w++
		if name[r] == quote {
			r++
		}
	}
	return name[:w]
}

// tableName reads [schema .] table, of which t is the current token. It returns
// the token after it.
func (s *scanner) tableName(t token, c Charset) (table Table, next token, ok bool) {
	if !isName(t) {
		return Table{}, t, false
	}
	buf, ok := s.appendName(nil, t, c)
	table.Name = string(buf)
	if t = s.next(); t != '.' || !ok {
		return table, t, ok
	}
	if t = s.next(); !isName(t) {
		return table, t, false
	}
	buf, ok = s.appendName(buf[:0], t, c)
	t = s.next()
	return Table{Schema: table.Name, Name: string(buf)}, t, ok && t != '.'
}

// A nameList holds the identifiers of a statement as parts of one string, which
// is kept from one statement to the next while the names stay the same: a
// session that repeats a statement allocates nothing for them.
type nameList struct {
	text string // what the names are parts of
	buf  []byte // the names of the current statement, one behind the other
	ends []int  // where each ends
}

func (l *nameList) reset() { l.buf, l.ends = l.buf[:0], l.ends[:0] }

// add takes the scanner's current token t as the next name.
func (l *nameList) add(s *scanner, t token, c Charset) (ok bool) {
	if text := s.text(); t == tokenWord && isASCII(text) {
		l.buf, ok = append(l.buf, text...), true
	} else {
		l.buf, ok = s.appendName(l.buf, t, c)
	}
	l.ends = append(l.ends, len(l.buf))
	return ok
}

// drop takes the last name back.
func (l *nameList) drop() {
	l.ends = l.ends[:len(l.ends)-1]
	l.buf = l.buf[:l.begin(len(l.ends))]
}

// setNames makes the names readable by at.
func (l *nameList) setNames() {
	if len(l.text) < len(l.buf) || l.text[:len(l.buf)] != string(l.buf) {
		l.text = string(l.buf)
	}
}

func (l *nameList) len() int { return len(l.ends) }

func (l *nameList) begin(i int) int {
	if i == 0 {
		return 0
	}
	return l.ends[i-1]
}

func (l *nameList) at(i int) string { return l.text[l.begin(i):l.ends[i]] }

// appendQuoted appends the identifier name in backticks to dst, in the
// character set c, which can spell it.
func appendQuoted(dst []byte, name string, c Charset) []byte {
	dst = append(dst, '`')
	dst, _ = c.encode(dst, strings.ReplaceAll(name, "`", "``"))
	return append(dst, '`')
}
