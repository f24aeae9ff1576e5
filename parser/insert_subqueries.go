package parser

// InsertNames are the places of an INSERT or REPLACE that may name other tables than
// its own, but for the query that its rows come from.
type InsertNames struct {
	// Subqueries are the outermost queries in parentheses that have a table, without
	// those parentheses.
	Subqueries []Span
	// Databases are the names outside of those that say of which database a name is:
	// the first of three parts, or the one before a function's name.
	Databases []string
}

// OtherNames reads where the statement may name other tables than its own, behind its
// table. sql is the text given to Parse or ParseQuery, which has understood it. Its
// errors are a *SyntaxError, and an *UnsupportedError for a set operation that begins
// with a query in parentheses.
func (s *InsertStmt) OtherNames(sql []byte) (found InsertNames, err error) {
	sc := newScanner(sql, s.mode)
	sc.end = s.head.tableEnd
	var before [3]scanner // the tokens before the current one, the latest first
	var kinds [3]token
	for {
		t := sc.next()
		switch {
		case t == tokenEOF:
			return found, nil
		case t == tokenInvalid, t == tokenVersion:
			return found, sc.syntaxError()
		case t == '(' && isName(kinds[0]) && kinds[1] == '.' && isName(kinds[2]),
			t == '.' && isName(kinds[0]) && kinds[1] == '.' && isName(kinds[2]):
			name, ok := before[2].appendName(nil, kinds[2], s.mode.Charset)
			if !ok {
				return found, sc.syntaxError()
			}
			found.Databases = append(found.Databases, string(name))
		}
		if s.query.end > 0 && sc.start >= s.query.begin && sc.start < s.query.end {
			sc.end, kinds = s.query.end, [3]token{}
			continue
		}
		if kinds[0] == ')' && (sc.is(t, "union") || sc.is(t, "except") || sc.is(t, "intersect")) {
			return found, &UnsupportedError{Form: s.verb() + " with a set operation of queries in parentheses", Schema: s.Schema, Table: s.Table}
		}
		if ahead := sc; t == '(' && ahead.beginsQuery(ahead.next()) {
			span, tables, err := sc.subquery()
			if err != nil {
				return found, err
			}
			if tables {
				found.Subqueries = append(found.Subqueries, span)
			}
			t = ')'
		}
		before = [3]scanner{sc, before[0], before[1]}
		kinds = [3]token{t, kinds[0], kinds[1]}
	}
}

// beginsQuery reports whether the current token is the first word of a query that may
// have a table.
func (s *scanner) beginsQuery(t token) bool {
	return s.is(t, "select") || s.is(t, "with") || s.is(t, "table")
}

// subquery reads the query behind the current opening parenthesis, to its closing one.
// tables reports whether it may name one.
func (s *scanner) subquery() (span Span, tables bool, err error) {
	span.Start = s.end
	for depth := 1; ; {
		switch t := s.next(); {
		case t == tokenEOF, t == tokenInvalid, t == tokenVersion:
			return span, tables, s.syntaxError()
		case t == '(':
			depth++
		case t == ')':
			if depth--; depth == 0 {
				span.End = s.start
				return span, tables, nil
			}
		case s.is(t, "from"), s.is(t, "table"), s.is(t, "join"):
			tables = true
		}
	}
}

// BehindTable returns the text of the statement from its table's name on, without the
// schema before it. ParseTarget is enough for it.
func (s *InsertStmt) BehindTable(sql []byte) []byte { return sql[s.head.tableStart:] }
