package parser

// RowEdits say what AppendRows makes of a statement.
type RowEdits struct {
	FillOptions
	// Rows, if set, tells which rows stay. At least one has to.
	Rows func(row int) bool
	// Database, if not empty, replaces the schema that qualifies the table, if one
	// does.
	Database string
	// Column is the one that Slots or Bind was asked for last, and Value gives its
	// value in the rows that stay, as for AppendFilled. Without Value nothing is
	// filled in.
	Column string
	Value  func(dst []byte, row int) ([]byte, bool)
}

// AppendRows appends the statement to dst with some of its rows only, and returns
// dst: so a statement is divided. sql is the text given to Parse. The text is the
// client's own, byte for byte, but for these edits; comments between two rows go with
// the second of them, and of a row that does not stay with it. What follows the rows
// stays. With all rows and values it appends what AppendFilled does.
func (s *InsertStmt) AppendRows(dst, sql []byte, edits RowEdits) []byte {
	e := editor{dst: dst, sql: sql, flush: edits.Flush}
	e.grow(len(sql))
	s.requalify(&e, edits.Database)
	if edits.Value != nil {
		s.fillColumns(&e, edits.Column)
	}
	s.someRows(&e, &edits)
	if edits.Value != nil {
		s.fillAlias(&e)
	}
	if edits.TellUpdated && s.OnDuplicate {
		s.tellUpdated(&e, edits.Column)
	}
	e.copyTo(len(sql))
	return e.dst
}

// AppendInto appends the statement to dst with the schema that qualifies its table, if
// one does, replaced by database. ParseTarget is enough for it.
func (s *InsertStmt) AppendInto(dst, sql []byte, database string) []byte {
	e := editor{dst: dst, sql: sql}
	s.requalify(&e, database)
	e.copyTo(len(sql))
	return e.dst
}

// requalify writes database in the place of the schema that qualifies the table.
func (s *InsertStmt) requalify(e *editor, database string) {
	if database == "" || s.head.tableStart == s.head.schemaStart {
		return
	}
	e.copyTo(s.head.schemaStart)
	e.dst = append(appendQuoted(e.dst, database, s.mode.Charset), '.')
	e.at = s.head.tableStart
}

// someRows writes the rows that stay.
func (s *InsertStmt) someRows(e *editor, edits *RowEdits) {
	some := false
	for i := range s.body.rows {
		if edits.Rows != nil && !edits.Rows(i) {
			s.skipRow(e, i)
			continue
		}
		if !some && i > 0 {
			s.dropComma(e)
		}
		some = true
		if edits.Value != nil {
			s.fillRow(e, i, edits.Column, edits.Value)
		}
		e.copyTo(s.rowEnd(i))
	}
}

// rowEnd returns where row i ends.
func (s *InsertStmt) rowEnd(i int) int {
	end := int(s.body.rows[i].close)
	if len(s.body.assigns) == 0 {
		end++
	}
	return end
}

// skipRow leaves row i out, with what stands before it.
func (s *InsertStmt) skipRow(e *editor, i int) {
	if i == 0 {
		e.copyTo(s.body.begin)
	}
	e.at = s.rowEnd(i)
}

// dropComma leaves out what stands before the first row that stays, to the comma.
func (s *InsertStmt) dropComma(e *editor) {
	sc := newScanner(e.sql, s.mode)
	sc.end = e.at
	sc.next()
	e.at = sc.end
	e.dst = append(e.dst, ' ') // VALUES and ROW would be one word
}

// HasForeignNames reports whether the statement may name a table other than its own,
// or a keyspace before a column's name: a query with FROM in a value, or a name of
// three parts. sql is the text given to Parse.
func (s *InsertStmt) HasForeignNames(sql []byte) bool {
	if !s.body.readsNames && !s.OnDuplicate && !s.Returning && !s.qualifiedColumns(sql) {
		return false
	}
	sc := newScanner(sql, s.mode)
	sc.end = s.head.tableEnd
	var buffer [8]parenthesis
	stack := append(buffer[:0], parenthesis{})
	var last token
	for opened, dots := false, 0; ; {
		t := sc.next()
		dots = countDots(dots, last, t)
		top := &stack[len(stack)-1]
		top.query = top.query || opened && (sc.is(t, "select") || sc.is(t, "with") || sc.is(t, "table"))
		opened = t == '('
		switch {
		case t == tokenEOF:
			return false
		case t == tokenInvalid, opened && len(stack) == maxDepth, dots == 2:
			return true
		case top.query && (sc.is(t, "from") || sc.is(t, "table")):
			return true
		case opened:
			stack = append(stack, parenthesis{})
		case t == ')' && len(stack) > 1:
			stack = stack[:len(stack)-1]
		}
		last = t
	}
}

// countDots counts the dots of a name that goes on with the token t, behind the token
// last.
func countDots(dots int, last, t token) int {
	switch {
	case t == '.' && isName(last):
		return dots + 1
	case isName(t) && last == '.':
		return dots
	}
	return 0
}

// qualifiedColumns reports whether the list of columns has a dot.
func (s *InsertStmt) qualifiedColumns(sql []byte) bool {
	for _, c := range sql[s.head.listOpen:s.head.listClose] {
		if c == '.' {
			return true
		}
	}
	return len(s.body.assigns) > 0
}
