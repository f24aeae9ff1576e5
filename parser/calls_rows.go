package parser

import (
	"strconv"
	"strings"
)

// An UPDATE of one table evaluates its SET once for each row that it updates, in
// its order. So its calls get a value for each row from an expression that counts
// up the session's LAST_INSERT_ID(), from 0 on: both servers read that anew each
// time. The count is put into it by the statement that tells how many rows there
// are (AppendRowCount).

// rowUpdate is where such a statement names its rows.
type rowUpdate struct {
	table  span // what stands between UPDATE and SET, without modifiers
	tail   span // WHERE, ORDER BY and LIMIT, which may be empty
	params int  // placeholders before the tail
}

// RowValue is a call of NextValue in a statement with PerRow.
type RowValue struct {
	// First is the first value of the block that its sequence gave for all rows, of
	// which each row takes Step: as many as it has calls of that sequence. The call
	// is the one with this Index among those.
	First, Step, Index int64
	// Place is the call's index among all of the row's, of which there are Places.
	Place, Places int64
	// Rows is how many rows there are values for.
	Rows int64
}

// RowOverrun stands in the text of the server's error 1690 when a statement with
// RowValues came to more rows than there are values for, in the letters of either
// server. A table that can undo a statement is unchanged then.
const RowOverrun = "uuid_short()"

// rowOverrun is out of range for every value that UUID_SHORT() can have. That makes
// a server with binlog_format=MIXED log the rows, as MariaDB's own NEXTVAL does: on
// a replica the statement may come to them in another order.
const rowOverrun = "~0 + UUID_SHORT()"

// Append appends the expression that gives the call's value of the row at hand. Its
// type is BIGINT. Evaluated again for the same row it takes another value, as a
// call of MariaDB's does. LAST_INSERT_ID() then counts what was taken: the row is
// its last value less one, divided by Places.
func (v *RowValue) Append(dst []byte) []byte {
	number := func(n int64) { dst = strconv.AppendInt(dst, n, 10) }
	text := func(s string) { dst = append(dst, s...) }
	text("CAST(IF(LAST_INSERT_ID(LAST_INSERT_ID() + 1")
	if v.Places > 1 { // on to the next number that is this call's
		text(" + MOD(")
		number(v.Places + v.Place)
		text(" - MOD(LAST_INSERT_ID(), ")
		number(v.Places)
		text("), ")
		number(v.Places)
		text(")")
	}
	text(") <= ")
	number(v.Rows * v.Places)
	text(", ")
	number(v.First + v.Index)
	text(" + (LAST_INSERT_ID() - 1) DIV ")
	number(v.Places)
	text(" * ")
	number(v.Step)
	text(", " + rowOverrun + ") AS SIGNED)")
	return dst
}

// PerRow reports whether the statement is an UPDATE of one table without LIMIT 1,
// so that each row gets values of its own.
func (s *CallStmt) PerRow() bool { return s.rows.table.end > 0 }

// Table gives the table or view of a statement with PerRow.
func (s *CallStmt) Table() Table { return s.table }

// TailParams gives how many placeholders of a statement with PerRow stand before
// those of AppendRowCount.
func (s *CallStmt) TailParams() int { return s.rows.params }

// Tail gives the WHERE, ORDER BY and LIMIT of a statement with PerRow.
func (s *CallStmt) Tail(sql []byte) []byte { return sql[s.rows.tail.start:s.rows.tail.end] }

// AppendRowCount appends a SELECT of one row and column that counts the rows that
// the UPDATE is about, locks them as it does, and sets LAST_INSERT_ID() to 0. value
// is AppendReplaced's.
func (s *CallStmt) AppendRowCount(dst, sql []byte, value func(dst []byte, call int, typed bool) ([]byte, bool)) []byte {
	dst = append(dst, "SELECT COUNT(*) + LAST_INSERT_ID(0) FROM (SELECT 1 FROM "...)
	dst = append(dst, sql[s.rows.table.start:s.rows.table.end]...)
	e := editor{dst: append(dst, '\n'), sql: sql[:s.rows.tail.end], at: s.rows.tail.start}
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Start >= s.rows.tail.start && c.End <= s.rows.tail.end {
			s.replace(&e, i, value)
		}
	}
	e.copyTo(s.rows.tail.end)
	// behind a line's end, as a comment may stand before it; LIMIT 1 whatever
	// sql_select_limit says
	return append(e.dst, "\nFOR UPDATE) AS `seqgate_rows` LIMIT 1"...)
}

// noteZone notes where a clause begins, with the current word.
func (f *callFinder) noteZone() {
	switch r := &f.stmt.rows; {
	case f.zones != zonesUpdate:
	case f.zone == 1:
		r.table.end = f.start
	case r.tail.start == 0:
		r.tail.start, r.params = f.start, f.params
	}
}

// finishRows completes the rows of an UPDATE, whose last token was read. It reports
// whether its calls can have a value for each.
func (f *callFinder) finishRows() bool {
	r := &f.stmt.rows
	returns := f.zones == zonesUpdate && f.zones.list[f.zone].fault == faultReturn
	if f.zones != zonesUpdate || returns || f.several || f.limitOne || f.zone == 0 {
		*r = rowUpdate{}
		return false
	}
	r.tail.end = f.semicolon
	if r.tail.end == 0 {
		r.tail.end = len(f.sql)
	}
	if r.tail.start == 0 {
		r.tail.start, r.params = r.tail.end, f.params
	}
	sc := newScanner(f.sql, f.mode)
	sc.next()
	t := sc.next()
	for sc.is(t, "low_priority") || sc.is(t, "ignore") {
		t = sc.next()
	}
	r.table.start = sc.start
	var ok bool
	f.stmt.table, _, ok = sc.tableName(t, f.mode.Charset)
	if ok = ok && r.table.start < r.table.end && r.table.end < r.tail.start && r.tail.start <= r.tail.end; !ok {
		*r = rowUpdate{} // the server's error
	}
	return ok
}

// namesTable reports whether a name stands between UPDATE and SET, perhaps as an
// alias, so that what it is put before is a column.
func (f *callFinder) namesTable(name string) bool {
	sc := newScanner(f.sql, f.mode)
	for t := sc.next(); isName(t) && !sc.is(t, "set") || t == '(' || t == ')' || t == ',' || t == '.'; t = sc.next() {
		if !isName(t) {
			continue
		}
		part, ok := sc.appendName(nil, t, f.mode.Charset)
		if ok && strings.EqualFold(string(part), name) {
			return true
		}
	}
	return false
}
