package parser

import "bytes"

// head is the statement up to the table and its columns.
type head struct {
	names nameList // schema, table and columns
	cols  []string // the memory of Columns

	schemaStart         int // where the table's name begins, with the schema that may stand before it
	tableStart          int // where the table's own name begins
	tableEnd            int // behind the table's name and its PARTITION clause
	listOpen, listClose int // the parentheses of the column list; 0 when there is none

	// text is the head as it was written, to its closing parenthesis, if it
	// may be used again: a session mostly repeats a few statements.
	text []byte
}

// maxHead is how long a head is kept for the next statement, in bytes.
const maxHead = 1024

// isSameHead reports whether the text begins with the last statement's head.
func (s *InsertStmt) isSameHead(sql []byte, m Mode) bool {
	return len(s.head.text) > 0 && s.mode == m && bytes.HasPrefix(sql, s.head.text)
}

// resetHead forgets the last statement's head.
func (s *InsertStmt) resetHead(m Mode) {
	s.mode = m
	s.Replace, s.Ignore, s.HasColumns = false, false, false
	s.Schema, s.Table, s.Columns = "", "", nil
	s.head = head{names: s.head.names, cols: s.head.cols[:0], text: s.head.text[:0]}
	s.head.names.reset()
}

// setNames sets the exported names. The first two names are schema and table.
func (s *InsertStmt) setNames() {
	names := &s.head.names
	names.setNames()
	if names.len() < 2 {
		return
	}
	s.Schema, s.Table = names.at(0), names.at(1)
	if !s.HasColumns {
		return
	}
	s.head.cols = s.head.cols[:0]
	for i := 2; i < names.len(); i++ {
		s.head.cols = append(s.head.cols, names.at(i))
	}
	s.Columns = s.head.cols
}

// readHead reads the statement up to the table and its columns. The scanner
// stands behind them afterwards.
func (s *InsertStmt) readHead(sc *scanner) error {
	if s.isSameHead(sc.sql, sc.mode) {
		sc.end = len(s.head.text)
		return nil
	}
	s.resetHead(sc.mode)
	t, err := s.target(sc)
	if err == nil {
		err = s.hint(sc)
	}
	if err == nil {
		t, err = s.partition(sc, t)
	}
	if err == nil && t == '(' {
		err = s.columnList(sc)
	} else if err == nil {
		sc.end = s.head.tableEnd
	}
	s.setNames()
	if err == nil && s.head.listClose > 0 && sc.end <= maxHead {
		s.head.text = append(s.head.text, sc.sql[:sc.end]...)
	}
	return err
}

// hint refuses optimizer hints that decide which values are generated.
func (s *InsertStmt) hint(sc *scanner) error {
	if sc.hint && (ContainsWord(sc.sql[:sc.start], "sql_mode") || ContainsWord(sc.sql[:sc.start], "insert_id")) {
		return &UnsupportedError{Form: s.verb() + " with a SET_VAR hint on sql_mode or insert_id"}
	}
	return nil
}

// target reads the verb, the modifiers and the table, and returns the token
// after it.
func (s *InsertStmt) target(sc *scanner) (token, error) {
	t := sc.next()
	s.Replace = sc.is(t, "replace")
	if !s.Replace && !sc.is(t, "insert") {
		return t, sc.syntaxError()
	}
	for t = sc.next(); t == tokenWord; t = sc.next() {
		if sc.is(t, "ignore") {
			s.Ignore = true
		} else if !sc.is(t, "low_priority") && !sc.is(t, "high_priority") && !sc.is(t, "delayed") {
			break
		}
	}
	if sc.is(t, "into") {
		t = sc.next()
	}
	t, ok := s.table(sc, t)
	if !ok || t == tokenVersion || t == tokenInvalid {
		return t, sc.syntaxError() // a version comment here may be a part of the name, also one that cannot be read
	}
	return t, nil
}

// table reads [schema .] table, of which t is the current token, or MariaDB's
// ".table", as the first two names.
func (s *InsertStmt) table(sc *scanner, t token) (token, bool) {
	s.head.schemaStart, s.head.tableStart = sc.start, sc.start
	if t == '.' && s.mode.MariaDB {
		s.head.names.ends = append(s.head.names.ends, 0)
		return s.afterDot(sc)
	}
	if !isName(t) || !s.head.names.add(sc, t, s.mode.Charset) {
		return t, false
	}
	s.head.tableEnd = sc.end
	if t = sc.next(); t == '.' {
		return s.afterDot(sc)
	}
	s.head.names.ends[0] = 0
	s.head.names.ends = append(s.head.names.ends, len(s.head.names.buf))
	return t, true
}

func (s *InsertStmt) afterDot(sc *scanner) (token, bool) {
	t := sc.next()
	if !isName(t) || !s.head.names.add(sc, t, s.mode.Charset) {
		return t, false
	}
	s.head.tableStart, s.head.tableEnd = sc.start, sc.end
	t = sc.next()
	return t, t != '.'
}

// partition reads the PARTITION clause, if t begins one.
func (s *InsertStmt) partition(sc *scanner, t token) (token, error) {
	if !sc.is(t, "partition") {
		return t, nil
	}
	if t = sc.next(); t != '(' {
		return t, s.notUnderstood(sc, t)
	}
	if t = sc.row(); t != ')' {
		return t, s.notUnderstood(sc, t)
	}
	s.head.tableEnd = sc.end
	return sc.next(), nil
}

// columnList reads the columns after the opening parenthesis, which is the
// current token.
func (s *InsertStmt) columnList(sc *scanner) error {
	s.head.listOpen = sc.start
	t := sc.next()
	if sc.isQuery(t) {
		return s.notUnderstood(sc, t)
	}
	for t != ')' {
		var ok bool
		if t, ok = s.column(sc, t); !ok {
			return s.notUnderstood(sc, t)
		}
		if t == ',' {
			if t = sc.next(); t == ')' {
				return s.notUnderstood(sc, t)
			}
		} else if t != ')' {
			return s.notUnderstood(sc, t)
		}
	}
	s.HasColumns, s.head.listClose = true, sc.start
	return nil
}

// column reads a column's name, of which t is the current token, and drops its
// qualifiers. It returns the token after it.
func (s *InsertStmt) column(sc *scanner, t token) (token, bool) {
	if !isName(t) || !s.head.names.add(sc, t, s.mode.Charset) {
		return t, false
	}
	if t = sc.next(); t != '.' {
		return t, true
	}
	s.head.names.drop()
	return s.column(sc, sc.next())
}
