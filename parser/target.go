package parser

import "strconv"

// UseTarget returns the database of USE. It reports false for any other text.
func UseTarget(sql []byte, m Mode) (schema string, ok bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "use") {
		return "", false
	}
	t := s.next()
	if !isName(t) {
		return "", false
	}
	name, ok := s.appendName(nil, t, m.Charset)
	return string(name), ok && s.onlySemicolons()
}

// KillTarget returns the connection id of KILL [HARD|SOFT] [CONNECTION|QUERY] n
// with a literal n; query says that only its statement is to be ended. It
// reports false for any other text, among them MariaDB's KILL QUERY ID and KILL
// USER.
func KillTarget(sql []byte) (id uint64, query, ok bool) {
	s := newScanner(sql, Mode{})
	if t := s.next(); !s.is(t, "kill") {
		return 0, false, false
	}
	t := s.next()
	if s.is(t, "hard") || s.is(t, "soft") {
		t = s.next()
	}
	if query = s.is(t, "query"); query || s.is(t, "connection") {
		t = s.next()
	}
	if t != tokenWord {
		return 0, false, false
	}
	id, err := strconv.ParseUint(string(s.text()), 10, 64)
	return id, query, err == nil && s.onlySemicolons()
}
