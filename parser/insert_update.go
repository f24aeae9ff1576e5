package parser

// UpdatesTo reports whether ON DUPLICATE KEY UPDATE may change the column to anything
// but its own value or the one that the row would have been inserted with: "id = id",
// "id = VALUES(id)" and, with the row alias new, "id = new.id" do not. sql is the text
// given to Parse.
func (s *InsertStmt) UpdatesTo(sql []byte, column string) bool {
	if !s.OnDuplicate {
		return false
	}
	sc := newScanner(sql, s.mode)
	sc.end = s.body.updateFrom
	for sc.end < s.body.updateEnd {
		target, next, ok := sc.lastName(sc.next(), s.mode.Charset)
		if !ok || next != '=' {
			return true // not read: so the server may refuse it
		}
		v, _ := sc.value(sc.next())
		if sameColumn(target.name, column) && !s.isItself(sql, v, column) {
			return true
		}
	}
	return false
}

// pathName is the last part of a name with dots, and the part before it.
type pathName struct{ qualifier, name string }

// lastName reads a name of up to three parts, of which t is the current token, and
// the token after it.
func (s *scanner) lastName(t token, c Charset) (p pathName, next token, ok bool) {
	for {
		if !isName(t) {
			return p, t, false
		}
		name, ok := s.appendName(nil, t, c)
		p.qualifier, p.name = p.name, string(name)
		if t = s.next(); t != '.' || !ok {
			return p, t, ok
		}
		t = s.next()
	}
}

// isItself reports whether a value of ON DUPLICATE KEY UPDATE is the column's own, or
// the one that was to be inserted.
func (s *InsertStmt) isItself(sql []byte, v value, column string) bool {
	sc := newScanner(sql[:v.end], s.mode)
	sc.end = v.start
	t := sc.next()
	within := sc.is(t, "values") || sc.is(t, "value") && s.mode.MariaDB
	if within {
		if sc.next() != '(' {
			return false
		}
		t = sc.next()
	}
	p, next, ok := sc.lastName(t, s.mode.Charset)
	if within && next == ')' {
		next = sc.next()
	}
	if !ok || next != tokenEOF || !sameColumn(p.name, column) {
		return false
	}
	// The alias may give its columns other names.
	return s.body.aliasClose == 0 || p.qualifier == "" || sameColumn(p.qualifier, s.Table)
}
