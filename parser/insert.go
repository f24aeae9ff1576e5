package parser

import (
	"fmt"
	"math"
)

// InsertStmt is one INSERT or REPLACE, as offsets into its text. The text is
// not kept: Slots and AppendFilled are given it again, unchanged. A session may
// use one InsertStmt for all its statements; the memory is used again, but
// strings of earlier statements stay as they are.
type InsertStmt struct {
	Replace          bool // REPLACE, not INSERT
	Ignore           bool // INSERT IGNORE
	OnDuplicate      bool // ON DUPLICATE KEY UPDATE
	Returning        bool // MariaDB's RETURNING: the answer is rows
	UsesLastInsertID bool // last_insert_id or identity is named in a value, an update or RETURNING

	Schema, Table string   // unquoted, in UTF-8; Schema is empty when not given
	HasColumns    bool     // there is a column list, possibly (), or SET
	Columns       []string // its columns, without qualifiers, unquoted, in UTF-8; nil when there is no list
	Rows          int      // rows given, 1 with SET
	Params        int      // placeholders in the whole text

	mode  Mode
	head  head
	body  body
	query queryBody // of ParseQuery only
	bound binding
}

// body is what follows the table and its columns.
type body struct {
	begin      int      // behind VALUES or SET
	rows       []row    // of VALUES; with SET its assignments as if they were one
	params     []uint32 // placeholders in the text before each row's end; empty while there are none
	values     int      // how many the first row has
	uneven     int      // the first row that has another number of them; 0 when there is none
	watch      int      // the index of the value where row.from is
	assigns    []assign // the values of SET; none in the other forms
	readsNames bool     // an identifier stands in a value
	aliasEnd   int      // behind the row alias; 0 when there is none
	aliasClose int      // the closing parenthesis of its columns; 0 when there are none
	updateFrom int      // behind the words ON DUPLICATE KEY UPDATE
	updateEnd  int      // behind the last assignment of ON DUPLICATE KEY UPDATE
}

// row is where a row of VALUES stands. A large statement has millions of them.
type row struct {
	from  uint32 // behind the comma or parenthesis before the value at body.watch
	close uint32 // its closing parenthesis; with SET behind the last value
}

// addRow takes in the row that the scanner has read, which ends before end.
func (b *body) addRow(sc *scanner, end, values int) {
	if len(b.rows) == 0 {
		b.values = values
	} else if values != b.values && b.uneven == 0 {
		b.uneven = len(b.rows)
	}
	if sc.params > 0 {
		for len(b.params) < len(b.rows) {
			b.params = append(b.params, 0)
		}
		b.params = append(b.params, uint32(sc.params))
	}
	b.rows = append(b.rows, row{from: uint32(sc.at), close: uint32(end)})
}

// paramsBefore returns how many placeholders stand in the text before row i.
func (b *body) paramsBefore(i int) int {
	if i == 0 || len(b.params) == 0 {
		return 0
	}
	return int(b.params[i-1])
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
	return s.ParseFor(sql, m, "", nil)
}

// ParseFor is Parse for a caller that asks Slots for this column next, with these
// tableColumns: its values are then not looked for a second time.
func (s *InsertStmt) ParseFor(sql []byte, m Mode, column string, tableColumns []string) error {
	sc := newScanner(sql, m)
	if len(sql) > math.MaxUint32 {
		return sc.syntaxError()
	}
	s.resetBody()
	err := s.readHead(&sc)
	if err == nil {
		sc.watch = s.watched(column, tableColumns)
		s.body.watch = sc.watch
		err = s.readBody(&sc)
	}
	s.Params = sc.params
	if e, ok := err.(*UnsupportedError); ok {
		e.Schema, e.Table = s.Schema, s.Table
	}
	return err
}

// watched returns the column's place in the rows, 0 when it has none.
func (s *InsertStmt) watched(column string, tableColumns []string) int {
	if len(s.Columns) > 0 {
		tableColumns = s.Columns
	}
	for i, name := range tableColumns {
		if sameColumn(name, column) {
			return i
		}
	}
	return 0
}

// ParseTarget is Parse up to the table's name: only Replace, Ignore, Schema and
// Table are of use afterwards. Its time does not depend on the rows. It is for
// the question whether the table has a sequence at all.
func (s *InsertStmt) ParseTarget(sql []byte, m Mode) error {
	if s.isSameHead(sql, m) {
		return nil
	}
	s.resetHead(m)
	sc := newScanner(sql, m)
	_, err := s.target(&sc)
	s.setNames()
	return err
}

// maxKept is how many rows an InsertStmt keeps memory for between statements.
const maxKept = 2048

func reuse[T any](memory []T) []T {
	if cap(memory) > maxKept {
		return nil
	}
	return memory[:0]
}

// LetGo drops memory that only a large statement needs. The statement is lost.
func (s *InsertStmt) LetGo() {
	if cap(s.body.rows) > maxKept || cap(s.bound.places) > maxKept || cap(s.body.params) > maxKept || cap(s.body.assigns) > maxKept {
		s.resetBody()
	}
}

// resetBody forgets all of the last statement but its head.
func (s *InsertStmt) resetBody() {
	s.OnDuplicate, s.UsesLastInsertID, s.Rows, s.Params = false, false, 0, 0
	s.Returning = false
	s.body = body{rows: reuse(s.body.rows), params: reuse(s.body.params), assigns: reuse(s.body.assigns)}
	s.query = queryBody{}
	s.bound = binding{places: reuse(s.bound.places), columns: s.bound.columns[:0]}
}

// readBody reads what follows the head, of which the scanner has read the last
// token.
func (s *InsertStmt) readBody(sc *scanner) error {
	sc.names = false
	t := sc.next()
	s.body.begin = sc.end
	var err error
	switch {
	case sc.is(t, "values"), sc.is(t, "value"):
		t, err = s.valueRows(sc)
	case sc.is(t, "set") && !s.HasColumns:
		t, err = s.assignments(sc)
		s.setNames()
	default:
		err = s.notUnderstood(sc, t)
	}
	if err != nil {
		return err
	}
	s.Rows, s.body.readsNames = len(s.body.rows), sc.names
	return s.clauses(sc, t)
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
