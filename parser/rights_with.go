package parser

// with judges WITH, which was read, by the statement behind its common table expressions.
func (r *rights) with(s *scanner) {
	for {
		t, ok := s.tableExpressions()
		for ok && t == '(' {
			t = s.next()
		}
		var room [longestWord]byte
		verb := string(s.keyword(t, &room))
		switch {
		case !ok:
			r.need(RightAdmin)
		case verb == "with":
			continue // in parentheses
		case verb == "select", verb == "values", verb == "table":
		case verb == "update", verb == "delete":
			r.changes(verb, *s)
		default:
			r.need(RightAdmin)
		}
		return
	}
}

// tableExpressions passes over what stands between WITH and the statement ("WITH (Common Table Expressions)" in the MySQL
// manual, "WITH" in MariaDB's documentation, which has CYCLE .. RESTRICT too), and returns the token behind.
func (s *scanner) tableExpressions() (t token, ok bool) {
	if t = s.next(); s.is(t, "recursive") {
		t = s.next()
	}
	for {
		if !isName(t) {
			return t, false
		}
		if t = s.next(); t == '(' {
			t = s.behindParentheses()
		}
		if !s.is(t, "as") || s.next() != '(' {
			return t, false
		}
		if t = s.behindParentheses(); s.is(t, "cycle") {
			for !s.is(t, "restrict") && t != tokenEOF && t != tokenInvalid {
				t = s.next()
			}
			t = s.next()
		}
		if t != ',' {
			return t, t != tokenInvalid
		}
		t = s.next()
	}
}

// behindParentheses returns the token behind the parenthesis that closes the current, opening one.
func (s *scanner) behindParentheses() token {
	for depth := 1; ; {
		t := s.next()
		if depth += nesting(t); depth == 0 {
			return s.next()
		}
		if t == tokenEOF || t == tokenInvalid || t == tokenVersion {
			return tokenInvalid
		}
	}
}
