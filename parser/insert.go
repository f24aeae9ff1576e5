package parser

import (
	"fmt"
	"math"
)

// InsertStmt is one INSERT or REPLACE, as offsets into its text. The text is
// not kept: Slots and AppendFilled are given it again, unchanged. A session may
// use one InsertStmt for all its statements; the memory is used again, and the
// strings of the last statement stay valid.
type InsertStmt struct {
	Replace          bool // REPLACE, not INSERT
	Ignore           bool // INSERT IGNORE
	OnDuplicate      bool // ON DUPLICATE KEY UPDATE
	UsesLastInsertID bool // last_insert_id or identity is named in a value or an update

	Schema, Table string   // unquoted, in UTF-8; Schema is empty when not given
	HasColumns    bool     // there is a column list, possibly (), or SET
	Columns       []string // its columns, without qualifiers, unquoted, in UTF-8; nil when there is no list
	Rows          int      // rows given, 1 with SET
	Params        int      // placeholders in the whole text

	mode  Mode
	names nameList // schema, table and columns
	cols  []string // the memory of Columns

	tableEnd            int // behind the table's name and its PARTITION clause
	listOpen, listClose int // the parentheses of the column list; 0 when there is none
	rows                []row
	assigns             []assign // the values of SET; none in the other forms
	aliasEnd            int      // behind the row alias; 0 when there is none
	aliasClose          int      // the closing parenthesis of its columns; 0 when there are none
	updateEnd           int      // behind the last assignment of ON DUPLICATE KEY UPDATE
	readsNames          bool     // an identifier stands in a value

	bound binding
}

// row is a row of VALUES, or the assignments of SET as if they were one.
type row struct {
	open   uint32 // its opening parenthesis
	close  uint32 // its closing parenthesis; with SET behind the last value
	values uint32 // how many
	params uint32 // placeholders in the text before close
}

// assign is the value of one assignment of SET.
type assign struct {
	start, end uint32
	params     uint32 // placeholders before it
}

// ParseInsert reads one INSERT or REPLACE. See InsertStmt.Parse.
func ParseInsert(sql []byte, m Mode) (*InsertStmt, error) {
	s := new(InsertStmt)
	return s, s.Parse(sql, m)
}

// Parse reads one INSERT or REPLACE with VALUES or SET into s, in the modifiers,
// literals, aliases and clauses of MySQL 9 and MariaDB 10.11 (MySQL manual,
// "INSERT Statement"). It does not check what the server checks: reserved words,
// expressions and names.
//
// An *UnsupportedError says that the verb and the table were understood and the
// form is none that ids can be put into; Replace, Ignore, Schema and Table are
// then set. A *SyntaxError says that not even the table is known; Writes tells
// which tables such a text may write to.
func (s *InsertStmt) Parse(sql []byte, m Mode) error {
	s.reset(m)
	sc := newScanner(sql, m)
	if len(sql) > math.MaxUint32 {
		return sc.syntaxError()
	}
	err := s.parse(&sc)
	s.Params = sc.params
	s.settle()
	if e, ok := err.(*UnsupportedError); ok {
		e.Schema, e.Table = s.Schema, s.Table
	}
	return err
}

// ParseTarget is Parse up to the table's name: it sets Replace, Ignore, Schema
// and Table only, in a time that does not depend on the rows. It is for the
// question whether the table has a sequence at all.
func (s *InsertStmt) ParseTarget(sql []byte, m Mode) error {
	s.reset(m)
	sc := newScanner(sql, m)
	_, err := s.target(&sc)
	s.settle()
	return err
}

func (s *InsertStmt) reset(m Mode) {
	*s = InsertStmt{
		mode: m, names: s.names, cols: s.cols[:0],
		rows: reuse(s.rows), assigns: reuse(s.assigns),
		bound: binding{places: reuse(s.bound.places), columns: s.bound.columns[:0]},
	}
	s.names.reset()
}

// maxKept is how many rows an InsertStmt keeps memory for between statements.
const maxKept = 4096

func reuse[T any](memory []T) []T {
	if cap(memory) > maxKept {
		return nil
	}
	return memory[:0]
}

// settle sets the exported names. The first two names are schema and table.
func (s *InsertStmt) settle() {
	s.names.settle()
	if s.names.len() < 2 {
		return
	}
	s.Schema, s.Table = s.names.at(0), s.names.at(1)
	if !s.HasColumns {
		return
	}
	for i := 2; i < s.names.len(); i++ {
		s.cols = append(s.cols, s.names.at(i))
	}
	s.Columns = s.cols
}

func (s *InsertStmt) parse(sc *scanner) error {
	t, err := s.target(sc)
	if err != nil {
		return err
	}
	if sc.hint && (Mentions(sc.sql[:sc.start], "sql_mode") || Mentions(sc.sql[:sc.start], "insert_id")) {
		return &UnsupportedError{Form: s.verb() + " with a SET_VAR hint on sql_mode or insert_id"}
	}
	if t, err = s.partition(sc, t); err == nil && t == '(' {
		t, err = s.columnList(sc)
	}
	if err != nil {
		return err
	}
	switch {
	case sc.is(t, "values"), sc.is(t, "value"):
		t, err = s.valueRows(sc)
	case sc.is(t, "set") && !s.HasColumns:
		t, err = s.assignments(sc)
	default:
		err = s.notUnderstood(sc, t)
	}
	if err != nil {
		return err
	}
	s.Rows, s.readsNames = len(s.rows), sc.names
	return s.clauses(sc, t)
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
	if !ok || t == tokenVersion {
		return t, sc.syntaxError() // a version comment here may be a part of the name
	}
	return t, nil
}

// table reads [schema .] table, of which t is the current token, as the first
// two names.
func (s *InsertStmt) table(sc *scanner, t token) (token, bool) {
	if t == '.' { // MariaDB
		s.names.ends = append(s.names.ends, 0)
		return s.afterDot(sc)
	}
	if !isName(t) || !s.names.add(sc, t, s.mode.Charset) {
		return t, false
	}
	s.tableEnd = sc.end
	if t = sc.next(); t == '.' {
		return s.afterDot(sc)
	}
	s.names.ends[0] = 0
	s.names.ends = append(s.names.ends, len(s.names.buf))
	return t, true
}

func (s *InsertStmt) afterDot(sc *scanner) (token, bool) {
	t := sc.next()
	if !isName(t) || !s.names.add(sc, t, s.mode.Charset) {
		return t, false
	}
	s.tableEnd = sc.end
	return sc.next(), true
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
	s.tableEnd = sc.end
	return sc.next(), nil
}

// columnList reads the columns after the opening parenthesis, which is the
// current token.
func (s *InsertStmt) columnList(sc *scanner) (token, error) {
	s.listOpen = sc.start
	t := sc.next()
	if sc.isQuery(t) {
		return t, s.notUnderstood(sc, t)
	}
	for t != ')' {
		var ok bool
		if t, ok = s.column(sc, t); !ok {
			return t, s.notUnderstood(sc, t)
		}
		if t == ',' {
			if t = sc.next(); t == ')' {
				return t, s.notUnderstood(sc, t)
			}
		} else if t != ')' {
			return t, s.notUnderstood(sc, t)
		}
	}
	s.HasColumns, s.listClose = true, sc.start
	return sc.next(), nil
}

// column reads a column's name, of which t is the current token, and drops its
// qualifiers. It returns the token after it.
func (s *InsertStmt) column(sc *scanner, t token) (token, bool) {
	if !isName(t) || !s.names.add(sc, t, s.mode.Charset) {
		return t, false
	}
	if t = sc.next(); t != '.' {
		return t, true
	}
	s.names.drop()
	return s.column(sc, sc.next())
}

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
		open := sc.start
		if t = sc.row(); t != ')' {
			return t, s.notUnderstood(sc, t)
		}
		s.rows = append(s.rows, row{
			open: uint32(open), close: uint32(sc.start),
			values: uint32(sc.values), params: uint32(sc.params),
		})
		if t = sc.next(); t != ',' {
			return t, nil
		}
	}
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
		s.assigns = append(s.assigns, assign{uint32(v.start), uint32(v.end), uint32(v.params)})
		if t != ',' {
			s.rows = append(s.rows, row{
				open: s.assigns[0].start, close: uint32(v.end),
				values: uint32(len(s.assigns)), params: uint32(sc.params),
			})
			return t, nil
		}
	}
}

// clauses reads what follows the rows: the row alias, ON DUPLICATE KEY UPDATE
// and the end.
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
	s.UsesLastInsertID = sc.lastInsertID
	for t == ';' {
		t = sc.next()
	}
	if t != tokenEOF {
		return s.notUnderstood(sc, t)
	}
	return nil
}

// alias reads the row alias after AS, with its columns.
func (s *InsertStmt) alias(sc *scanner) (token, error) {
	t := sc.next()
	if !isName(t) {
		return t, s.notUnderstood(sc, t)
	}
	s.aliasEnd = sc.end
	if t = sc.next(); t != '(' {
		return t, nil
	}
	if t = sc.row(); t != ')' {
		return t, s.notUnderstood(sc, t)
	}
	s.aliasClose = sc.start
	return sc.next(), nil
}

// onDuplicate reads the clause after ON.
func (s *InsertStmt) onDuplicate(sc *scanner) (token, error) {
	for _, word := range [...]string{"duplicate", "key", "update"} {
		if t := sc.next(); !sc.is(t, word) {
			return t, s.notUnderstood(sc, t)
		}
	}
	s.OnDuplicate = true
	for {
		v, t := sc.value(sc.next())
		s.updateEnd = v.end
		if v.tokens == 0 || t == ')' || t == tokenInvalid || t == tokenVersion {
			return t, s.notUnderstood(sc, t)
		}
		if t != ',' {
			return t, nil
		}
	}
}

func (s *InsertStmt) verb() string {
	if s.Replace {
		return "REPLACE"
	}
	return "INSERT"
}

// notUnderstood returns the error for the current token t, once the table is
// known.
func (s *InsertStmt) notUnderstood(sc *scanner, t token) error {
	form := ""
	switch {
	case t == tokenVersion:
		form = " with a version comment"
	case t == '(', sc.is(t, "select"), sc.is(t, "union"):
		form = " ... SELECT"
	case sc.is(t, "with"):
		form = " ... WITH ... SELECT"
	case sc.is(t, "table"):
		form = " ... TABLE"
	case sc.is(t, "values"):
		form = " ... (VALUES ...)"
	case sc.is(t, "returning"):
		form = " ... RETURNING"
	default:
		e := sc.syntaxError()
		form = fmt.Sprintf(" of this form (near '%s' at line %d)", e.Near, e.Line)
	}
	return &UnsupportedError{Form: s.verb() + form}
}
