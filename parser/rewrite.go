package parser

import "slices"

// FillOptions are further edits that AppendFilled makes.
type FillOptions struct {
	// TellUpdated puts ", `t`.`column` = LAST_INSERT_ID(`t`.`column`)" behind the
	// last assignment of ON DUPLICATE KEY UPDATE, so that the server tells the id
	// of a row that was there. It does nothing when the statement has no such
	// clause.
	TellUpdated bool
	// Flush, if set, takes what was appended whenever that has come to 64 KiB, and
	// gives the slice to go on with: so a large statement can be sent without being
	// there twice. What is left is returned. With it, value must give a value for
	// some row.
	Flush func(dst []byte) []byte
}

// flushSize is how much is appended before FillOptions.Flush takes it.
const flushSize = 64 << 10

// idRoom is how many bytes a row is expected to grow by.
const idRoom = 22

// AppendFilled appends the statement to dst with the values that value gives
// for the column which Slots was asked for last, and returns dst. sql is the
// text given to Parse, column that column's name.
//
// The text is the client's own, byte for byte, but where value(dst, row) appends
// a value to dst and reports true: there the row's value is replaced by it or,
// when the column is absent, it is added as the last one, and the column to the
// column list. A statement without a column list gets a full one. Rows are
// counted from 0, and value is called once for each, in order. A row whose value
// it does not give keeps its own, DEFAULT if it has none. When value gives none
// at all, no id is added.
func (s *InsertStmt) AppendFilled(
	dst, sql []byte, column string,
	value func(dst []byte, row int) ([]byte, bool), opts FillOptions,
) []byte {
	e := editor{dst: dst, sql: sql, flush: opts.Flush}
	e.grow(len(sql) + idRoom*len(s.body.rows))
	s.fillColumns(&e, column)
	if s.fillRows(&e, column, value) {
		s.fillAlias(&e)
	} else {
		e = editor{dst: e.dst[:len(dst)], sql: sql}
	}
	if opts.TellUpdated && s.OnDuplicate {
		s.tellUpdated(&e, column)
	}
	e.copyTo(len(sql))
	return e.dst
}

// tellUpdated writes the assignment of FillOptions.TellUpdated.
func (s *InsertStmt) tellUpdated(e *editor, column string) {
	e.insert(s.body.updateEnd, ", ")
	e.dst = s.appendQualified(e.dst, column)
	e.dst = append(e.dst, " = LAST_INSERT_ID("...)
	e.dst = append(s.appendQualified(e.dst, column), ')')
}

// appendQualified appends `table`.`column`.
func (s *InsertStmt) appendQualified(dst []byte, column string) []byte {
	dst = append(appendQuoted(dst, s.Table, s.mode.Charset), '.')
	return appendQuoted(dst, column, s.mode.Charset)
}

// editor copies a text with changes, from its begin to its end.
type editor struct {
	dst, sql []byte
	at       int // what is before it was copied
	flush    func(dst []byte) []byte
}

// grow makes room for n bytes, or as many as are there at a time.
func (e *editor) grow(n int) {
	if e.flush != nil {
		n = flushSize
	}
	e.dst = slices.Grow(e.dst, n)
}

func (e *editor) copyTo(i int) {
	for e.flush != nil && i-e.at > flushSize-len(e.dst) {
		n := max(flushSize-len(e.dst), 0)
		e.dst = append(e.dst, e.sql[e.at:e.at+n]...)
		e.at += n
		e.dst = e.flush(e.dst)
	}
	e.dst = append(e.dst, e.sql[e.at:i]...)
	e.at = i
}

func (e *editor) insert(i int, text string) {
	e.copyTo(i)
	e.dst = append(e.dst, text...)
}

// endWord writes a space when the word written last would run into the next one,
// as in SET id=”ON DUPLICATE KEY UPDATE.
func (e *editor) endWord() {
	if e.at < len(e.sql) && isNameByte(e.sql[e.at]) && isNameByte(e.dst[len(e.dst)-1]) {
		e.dst = append(e.dst, ' ')
	}
}

// fillColumns writes the column list, as far as it has to be changed.
func (s *InsertStmt) fillColumns(e *editor, column string) {
	absent, charset := s.bound.index < 0, s.mode.Charset
	switch {
	case len(s.body.assigns) > 0, !absent && len(s.bound.columns) == 0:
	case len(s.Columns) > 0:
		e.insert(s.head.listClose, ", ")
		e.dst = appendQuoted(e.dst, column, charset)
	case s.HasColumns:
		e.copyTo(s.head.listClose)
		e.dst = s.appendColumns(e.dst, s.bound.columns, column)
	default:
		e.insert(s.head.tableEnd, " (")
		e.dst = s.appendColumns(e.dst, s.bound.columns, column)
		e.dst = append(e.dst, ')')
	}
}

// appendColumns appends the columns, and last when the bound column is absent
// from the rows.
func (s *InsertStmt) appendColumns(dst []byte, columns []string, last string) []byte {
	for i, name := range columns {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendQuoted(dst, name, s.mode.Charset)
	}
	if s.bound.index >= 0 {
		return dst
	}
	if len(columns) > 0 {
		dst = append(dst, ", "...)
	}
	return appendQuoted(dst, last, s.mode.Charset)
}

// fillRows writes the rows and reports whether any of them was given a value.
func (s *InsertStmt) fillRows(e *editor, column string, value func([]byte, int) ([]byte, bool)) bool {
	filled := false
	for i := range s.body.rows {
		filled = s.fillRow(e, i, column, value) || filled
	}
	return filled
}

// fillRow writes row i up to its value and reports whether it was given one.
func (s *InsertStmt) fillRow(e *editor, i int, column string, value func([]byte, int) ([]byte, bool)) (ok bool) {
	if s.bound.index < 0 {
		e.copyTo(int(s.body.rows[i].close))
		s.separate(e, column)
		if e.dst, ok = value(e.dst, i); !ok {
			e.dst = append(e.dst, "DEFAULT"...)
		}
	} else {
		p := s.bound.places[i]
		e.copyTo(int(p.start))
		if e.dst, ok = value(e.dst, i); ok {
			e.at = int(p.end)
		}
	}
	e.endWord()
	return ok
}

// separate writes what stands between the values of a row and one more.
func (s *InsertStmt) separate(e *editor, column string) {
	if s.body.values > 0 {
		e.dst = append(e.dst, ", "...)
	}
	if len(s.body.assigns) > 0 {
		e.dst = appendQuoted(e.dst, column, s.mode.Charset)
		e.dst = append(e.dst, " = "...)
	}
}

// fillAlias gives the row alias a column for the value that was added. The
// columns are always named, the added one so that it hides no name of the
// client's: in ON DUPLICATE KEY UPDATE a column that only the table has may be
// written without qualifier.
func (s *InsertStmt) fillAlias(e *editor) {
	if s.bound.index >= 0 || s.body.aliasEnd == 0 {
		return
	}
	hidden := "seqgate_id"
	for ContainsWord(e.sql, hidden) {
		hidden += "_"
	}
	if s.body.aliasClose > 0 {
		e.insert(s.body.aliasClose, ", "+hidden)
		return
	}
	columns := s.Columns
	if len(columns) == 0 {
		columns = s.bound.columns
	}
	e.insert(s.body.aliasEnd, "(")
	e.dst = s.appendColumns(e.dst, columns, hidden)
	e.dst = append(e.dst, ')')
}
