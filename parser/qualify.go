package parser

import "strings"

// AppendQualified appends the statement to dst with another name in the place of a
// database that qualifies names in it, and of one behind SHOW ... FROM or IN.
func AppendQualified(dst, sql []byte, m Mode, from, to string) []byte {
	e := editor{dst: dst, sql: sql}
	s := newScanner(sql, m)
	shows, behind := Sniff(sql) == Show, false
	for t := s.next(); t != tokenEOF && t != tokenInvalid; t = s.next() {
		place := behind
		behind = shows && (s.is(t, "from") || s.is(t, "in"))
		if !isName(t) {
			continue
		}
		after := s
		if name, ok := s.appendName(nil, t, m.Charset); !ok || string(name) != from || !place && after.next() != '.' {
			continue
		}
		e.copyTo(s.start)
		e.dst = appendQuoted(e.dst, to, m.Charset)
		e.at = s.end
	}
	e.copyTo(len(sql))
	return e.dst
}

// NamesDatabase reports whether a statement may mean a database by a name: it qualifies
// another name, or it stands where the statement has one. Case does not matter. It says
// true where the text cannot be read, and for the text of another statement within.
func NamesDatabase(sql []byte, m Mode, name string) bool {
	if !ContainsWord(sql, name) {
		return false
	}
	kind, words := Sniff(sql), Words(sql, 3)
	anywhere := words[1] == "DATABASE" || words[1] == "SCHEMA" || words[0] == "SHOW" && (words[2] == "DATABASE" || words[2] == "SCHEMA") ||
		kind == Use || kind == Prepare || kind == Execute || kind == DynamicSQL
	s := newScanner(sql, m)
	var before token
	from := false
	for t := s.next(); t != tokenEOF; t = s.next() {
		switch {
		case t == tokenInvalid || t == tokenVersion, t == tokenString && anywhere && ContainsWord(s.text(), name):
			return true
		case isName(t) && before != '.' && s.namesAlike(t, name):
			if after := s; anywhere || kind == Show && from || after.next() == '.' {
				return true
			}
		}
		before, from = t, s.is(t, "from") || s.is(t, "in")
	}
	return false
}

// namesAlike reports whether the current token t is a name, whatever its case.
func (s *scanner) namesAlike(t token, name string) bool {
	text, ok := s.appendName(nil, t, s.mode.Charset)
	return !ok || strings.EqualFold(string(text), name)
}
