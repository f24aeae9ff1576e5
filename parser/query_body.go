package parser

// queryBody is the query of an INSERT or REPLACE ... SELECT, TABLE or WITH, as
// offsets into the text.
type queryBody struct {
	begin, end int    // from its first token to behind its last
	params     int    // placeholders in the text before end
	ordered    []int  // behind each ORDER BY that has no LIMIT and orders the whole query
	columns    int    // how many it has to give
	divides    bool   // it has a slash
	averages   bool   // it has AVG
	variables  bool   // it reads user variables
	union      bool   // it is a UNION or the like
	names      string // what all names of seqgate's own begin with
}

// ParseQuery reads one INSERT or REPLACE whose rows come from a query: SELECT,
// TABLE, WITH or a query in parentheses, which Parse does not understand ("INSERT
// ... SELECT Statement" in the MySQL manual). BindQuery, AppendQueryCount and
// AppendQueryFilled go on from there. Errors are as of Parse: an
// *UnsupportedError also for queries that cannot be evaluated twice.
func (s *InsertStmt) ParseQuery(sql []byte, m Mode) error {
	sc := newScanner(sql, m)
	s.resetBody()
	s.resetHead(m)
	t, err := s.queryHead(&sc)
	if err == nil && t != '(' && !sc.is(t, "select") && !sc.is(t, "with") && !sc.is(t, "table") {
		err = s.notUnderstood(&sc, t)
	}
	if err == nil {
		err = s.readQuery(&sc, t)
	}
	s.Params = sc.params
	if e, ok := err.(*UnsupportedError); ok {
		e.Schema, e.Table = s.Schema, s.Table
	}
	return err
}

// queryHead reads the statement up to the table and its columns, and returns the
// token after them.
func (s *InsertStmt) queryHead(sc *scanner) (token, error) {
	t, err := s.target(sc)
	if err == nil {
		err = s.hint(sc)
	}
	if err == nil {
		t, err = s.partition(sc, t)
	}
	if ahead := *sc; err == nil && t == '(' && !ahead.isQuery(ahead.next()) {
		if err = s.columnList(sc); err == nil {
			t = sc.next()
		}
	}
	s.setNames()
	return t, err
}

// readQuery reads the query, of which t is the first token, and what follows it.
func (s *InsertStmt) readQuery(sc *scanner, t token) error {
	q := queryScan{scanner: sc}
	s.query = queryBody{begin: sc.start}
	for ; t != tokenEOF && t != ';' && !q.endsQuery(t); t = sc.next() {
		if form := q.token(t); form != "" {
			return &UnsupportedError{Form: s.verb() + form}
		}
		if t == tokenInvalid || t == tokenVersion || q.depth < 0 {
			return s.notUnderstood(sc, t)
		}
	}
	q.close()
	s.query.end, s.query.params, s.query.ordered = q.end, sc.params, q.ordered
	s.query.divides, s.query.averages, s.query.variables, s.query.union = q.divides, q.averages, q.variables, q.union
	sc.lastInsertID = q.lastInsertID
	if q.depth > 0 {
		return s.notUnderstood(sc, t)
	}
	return s.clauses(sc, t)
}

// queryScan follows a query token by token. What orders its rows stands at its
// outermost level, or within parentheses that the query begins with.
type queryScan struct {
	*scanner
	depth int   // of parentheses
	lead  int   // how many of them the query began with, behind its WITH clause
	last  token // before the current one
	end   int   // behind it
	start int   // of it

	levels  []orderClause // of the parentheses that the query began with
	level   orderClause   // at depth lead
	ordered []int

	divides, averages, variables, union bool // see queryBody

	lastInsertID bool // it uses LAST_INSERT_ID(), or a variable of that value
	called       bool // the current token may open the arguments of LAST_INSERT_ID
}

// orderClause is what a level of a query says of the order of its rows.
type orderClause struct {
	begun   bool // a token of it was read
	with    bool // it began with WITH
	list    bool // a select list is being read
	ordered bool // it has ORDER BY
	limited bool // ... and LIMIT or the like
	reading bool // the list behind ORDER BY is being read
	end     int  // behind that list
}

// endsQuery reports whether the current token t begins the clause behind the
// query: ON DUPLICATE KEY UPDATE, or MariaDB's RETURNING.
func (q *queryScan) endsQuery(t token) bool {
	if q.depth > 0 || t != tokenWord || q.last == '.' || q.last == '@' {
		return false
	}
	if q.mode.MariaDB && q.is(t, "returning") {
		return true
	}
	ahead := *q.scanner
	return q.is(t, "on") && ahead.is(ahead.next(), "duplicate") && ahead.is(ahead.next(), "key")
}

// token takes in the query's next token. It returns the name of a form that
// cannot be filled, or "".
func (q *queryScan) token(t token) string {
	if form := q.cannotRepeat(t); form != "" {
		return form
	}
	q.note(t)
	switch {
	case t == '(':
		if q.depth == q.lead && (!q.level.begun || q.level.with && q.last == ')') {
			q.levels = append(q.levels, q.level)
			q.level, q.lead = orderClause{}, q.lead+1
		} else {
			q.level.begun = true
		}
		q.depth++
	case t == ')':
		if q.depth == q.lead && q.lead > 0 {
			q.close()
		}
		q.depth--
	case q.depth == q.lead:
		if form := q.word(t); form != "" {
			return form
		}
	}
	if q.depth == q.lead && q.level.reading {
		q.level.end = q.scanner.end
	}
	q.last, q.start, q.end = t, q.scanner.start, q.scanner.end
	return ""
}

// note takes in what the query's values are made of.
func (q *queryScan) note(t token) {
	switch {
	case t == '/':
		q.divides = true
	case t == '@':
		q.variables = true
	case isName(t) && q.names(t, "avg"):
		q.averages = true
	}
}

// close ends the level at depth lead.
func (q *queryScan) close() {
	if q.level.ordered && !q.level.limited {
		q.ordered = append(q.ordered, q.level.end)
	}
	q.level.ordered = false
	if n := len(q.levels); n > 0 {
		q.level, q.levels = q.levels[n-1], q.levels[:n-1]
		q.level.begun, q.lead = true, n-1
	}
}

// word takes in a token at depth lead.
func (q *queryScan) word(t token) string {
	first := !q.level.begun
	q.level.begun = true
	if q.level.list && q.isBits(t) {
		return " ... SELECT with a hexadecimal or bit literal as a value"
	}
	if t != tokenWord || q.last == '.' || q.last == '@' {
		return ""
	}
	ahead := *q.scanner
	switch {
	case q.is(t, "with") && first:
		q.level.with = true
	case q.is(t, "select"):
		q.level.list = true
	case q.is(t, "from"):
		q.level.list = false
	case q.is(t, "order") && ahead.is(ahead.next(), "by") && !q.lastIs("for"):
		q.level.ordered, q.level.limited, q.level.reading = true, false, true
	case q.is(t, "limit"), q.is(t, "offset"), q.is(t, "fetch"):
		q.level.limited, q.level.reading = true, false
	case q.is(t, "union"), q.is(t, "except"), q.is(t, "intersect"):
		q.level.reading, q.union = false, true
	case q.is(t, "for"), q.is(t, "lock"), q.is(t, "into"), q.is(t, "procedure"):
		q.level.reading = false
	}
	return ""
}

// lastIs reports whether the token before the current one is this word.
func (q *queryScan) lastIs(word string) bool {
	return q.last == tokenWord && equalFold(q.sql[q.start:q.end], word)
}

// isBits reports whether the current token t is a literal such as 0x41, x'41' or
// b'1'. Stored from a query's result it is another value than stored directly.
func (q *queryScan) isBits(t token) bool {
	text := q.text()
	switch {
	case t != tokenWord:
		return false
	case len(text) > 2 && text[0] == '0':
		return lower(text[1]) == 'x' || text[1] == 'b'
	case len(text) != 1 || q.scanner.end == len(q.sql) || q.sql[q.scanner.end] != '\'':
		return false
	}
	return lower(text[0]) == 'x' || lower(text[0]) == 'b'
}

// cannotRepeat names what makes a query another one when it is evaluated a
// second time: the query's rows are counted before they are inserted.
func (q *queryScan) cannotRepeat(t token) string {
	called := q.called
	q.called = false
	switch {
	case t == '=' && q.last == ':':
		return " ... SELECT that sets a user variable"
	case called && t == '(':
		if ahead := *q.scanner; ahead.next() != ')' {
			return " ... SELECT with LAST_INSERT_ID(expression)"
		}
	case !isName(t):
	case q.is(t, "examined") && q.lastIs("rows"):
		return " ... SELECT with LIMIT ROWS EXAMINED"
	case q.names(t, "last_insert_id"):
		q.lastInsertID, q.called = true, q.last != '@' && q.last != '.'
	case q.names(t, "identity"):
		q.lastInsertID = q.lastInsertID || q.last == '@' || q.last == '.'
	}
	return ""
}

// names reports whether the current token t is this name, quoted or not.
func (q *queryScan) names(t token, name string) bool {
	text := q.text()
	if t == tokenName {
		text = text[1 : len(text)-1]
	}
	return len(text) == len(name) && equalFold(text, name)
}
