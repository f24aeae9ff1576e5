package parser

import (
	"bytes"
	"slices"
)

// valueRows reads the rows after VALUES.
func (s *InsertStmt) valueRows(sc *scanner) (token, error) {
	for {
		t := sc.next()
		if sc.is(t, "row") {
			t = sc.next()
		}
		if t != '(' {
			return t, s.notUnderstood(sc, t)
		}
		if t = sc.row(); t != ')' {
			return t, s.notUnderstood(sc, t)
		}
		s.reserve(sc)
		s.body.addRow(sc, sc.start, sc.values)
		if t = sc.next(); t != ',' {
			return t, nil
		}
	}
}

// reserve makes room for the rows to come in a statement of many, as many as
// there would be if they were as long as those so far.
func (s *InsertStmt) reserve(sc *scanner) {
	const many = 1024
	n := len(s.body.rows)
	if n < many || n < cap(s.body.rows) {
		return
	}
	rest := (len(sc.sql) - sc.end) * n / sc.end
	s.body.rows = slices.Grow(s.body.rows, rest+rest/8+1)
}

// assignments reads the list after SET.
func (s *InsertStmt) assignments(sc *scanner) (token, error) {
	s.HasColumns = true
	for {
		t, ok := s.column(sc, sc.next())
		if ok && t == ':' {
			t = sc.next()
		}
		if !ok || t != '=' {
			return t, s.notUnderstood(sc, t)
		}
		v, t := sc.value(sc.next())
		if v.tokens == 0 || t == ')' || t == tokenInvalid || t == tokenVersion {
			return t, s.notUnderstood(sc, t)
		}
		s.body.assigns = append(s.body.assigns, assign{uint32(v.start), uint32(v.end), uint32(v.params)})
		if t != ',' {
			s.body.addRow(sc, v.end, len(s.body.assigns))
			return t, nil
		}
	}
}

// clauses reads what follows the rows: the row alias, ON DUPLICATE KEY UPDATE,
// MariaDB's RETURNING and the end.
func (s *InsertStmt) clauses(sc *scanner, t token) (err error) {
	if sc.is(t, "as") {
		if t, err = s.alias(sc); err != nil {
			return err
		}
	}
	if sc.is(t, "on") {
		if t, err = s.onDuplicate(sc); err != nil {
			return err
		}
	}
	if sc.mode.MariaDB && sc.is(t, "returning") {
		s.Returning = true
		t = sc.toEnd()
	}
	s.UsesLastInsertID = sc.lastInsertID
	ended := t == ';'
	for t == ';' {
		t = sc.next()
	}
	if t != tokenEOF && !(ended && isEmptyTail(sc.sql[sc.start:])) {
		return s.notUnderstood(sc, t)
	}
	return nil
}

// isEmptyTail reports whether what stands behind the semicolon is nothing to run: some
// clients send the zero byte of a C string along, which both servers take for the end.
func isEmptyTail(b []byte) bool { return len(bytes.Trim(b, "\x00 \t\r\n")) == 0 }

// alias reads the row alias after AS, with its columns.
func (s *InsertStmt) alias(sc *scanner) (token, error) {
	t := sc.next()
	if !isName(t) {
		return t, s.notUnderstood(sc, t)
	}
	s.body.aliasEnd = sc.end
	if t = sc.next(); t != '(' {
		return t, nil
	}
	if t = sc.row(); t != ')' {
		return t, s.notUnderstood(sc, t)
	}
	s.body.aliasClose = sc.start
	return sc.next(), nil
}

// onDuplicate reads the clause after ON.
func (s *InsertStmt) onDuplicate(sc *scanner) (token, error) {
	for _, word := range [...]string{"duplicate", "key", "update"} {
		if t := sc.next(); !sc.is(t, word) {
			return t, s.notUnderstood(sc, t)
		}
	}
	s.OnDuplicate, s.body.updateFrom = true, sc.end
	for {
		v, t := sc.value(sc.next())
		s.body.updateEnd = v.end
		if v.tokens == 0 || t == ')' || t == tokenInvalid || t == tokenVersion {
			return t, s.notUnderstood(sc, t)
		}
		if t != ',' {
			return t, nil
		}
	}
}

// toEnd moves to the end of the statement, and returns the token there.
func (s *scanner) toEnd() token {
	for {
		switch t := s.next(); t {
		case tokenEOF, tokenInvalid, tokenVersion, ';':
			return t
		case tokenWord, tokenName:
			s.note(t)
		}
	}
}
