package parser

import "strconv"

// A QueryQuestion is what AppendQueryCount asks of the rows of a query.
type QueryQuestion uint8

// The questions. For the last two a number that no row has is told as 0.
const (
	QueryOpen    QueryQuestion = iota // how many rows have no id of their own, plus 1
	QueryHighest                      // the largest of the rows' own ids from 1 to 2^63-1
	QueryLowest                       // the least of those
)

// QueryFill says how AppendQueryFilled fills the ids of a query's rows.
type QueryFill struct {
	First, Block int64 // the ids are First, First+Step, ..., at most Block of them
	Step         int64 // 0 for 1
	// No row's own id from 1 to 2^63-1 may lie outside of these; see QueryLowest.
	Lowest, Highest int64
	// Among: a row's own id may be one of the block's, which is an overrun too.
	Among bool
	// Wrap has the first generated id written as LAST_INSERT_ID(id). WrapOwn has
	// each row's own id evaluated by it, so that the server tells the last one.
	Wrap, WrapOwn bool
	// CountFirst has the rows counted before the first one is written, for tables
	// that cannot undo a statement. It costs time in the server.
	CountFirst bool
	// NegativeOpen: the column takes a negative value for 0.
	NegativeOpen bool
	TellUpdated  bool // see FillOptions
}

// QueryOverrun stands, behind the names of BindQuery, in the text of the server's
// error 1690 when the query of a statement made by AppendQueryFilled gave rows
// beyond the Block, or an id outside of Lowest to Highest, or Among the Block's. None of its rows is in a
// table that can undo a statement then, nor, with CountFirst and no ids of the rows'
// own, in any other.
const QueryOverrun = "_n"

// QueryInexact stands there too when a row's own id cannot be read exactly: it is a
// FLOAT of more than six digits.
const QueryInexact = "sign("

// FromQuery reports whether the statement's rows come from a query, as far as
// ParseQuery has read it last, and not Parse.
func (s *InsertStmt) FromQuery() bool { return s.query.begin > 0 }

// HasOwn reports whether the column that BindQuery was asked for is among those
// that the query gives, so that rows may have ids of their own.
func (s *InsertStmt) HasOwn() bool { return s.bound.index >= 0 }

// OwnIndex returns the place of that column among those of the query, from 0; -1
// without it.
func (s *InsertStmt) OwnIndex() int { return s.bound.index }

// Query returns the query's text. sql is the text given to ParseQuery.
func (s *InsertStmt) Query(sql []byte) []byte { return sql[s.query.begin:s.query.end] }

// IsUnion reports whether the query is a UNION, EXCEPT or INTERSECT.
func (s *InsertStmt) IsUnion() bool { return s.query.union }

// Divides reports whether the query has a quotient.
func (s *InsertStmt) Divides() bool { return s.query.divides }

// Averages reports whether the query has an average.
func (s *InsertStmt) Averages() bool { return s.query.averages }

// ReadsVariables reports whether the query reads user or system variables.
func (s *InsertStmt) ReadsVariables() bool { return s.query.variables }

// Merges reports whether AppendQueryFilled makes a statement into which MariaDB may
// merge the query, so that its rows are not kept in between.
func (s *InsertStmt) Merges(f QueryFill) bool {
	return s.mode.MariaDB && !s.HasOwn() && !f.CountFirst
}

// QueryParams returns how many placeholders stand in the query. They are the first
// of the statement's.
func (s *InsertStmt) QueryParams() int { return s.query.params }

// BindQuery makes column the one that AppendQueryCount and AppendQueryFilled
// fill, of the statement that ParseQuery read last. tableColumns and the errors
// are as of Slots. All that they name begins with names: letters, digits and
// underscores that begin no identifier of a client's, as ON DUPLICATE KEY UPDATE may
// refer to it by accident.
func (s *InsertStmt) BindQuery(column string, tableColumns []string, names string) error {
	b := &s.bound
	s.query.names = names
	b.column, b.columns = column, b.columns[:0]
	named := s.Columns
	if len(named) == 0 {
		if tableColumns == nil {
			return ErrColumnsUnknown
		}
		b.columns = append(b.columns, tableColumns...)
		named = b.columns
	}
	s.query.columns = len(named)
	if err := b.find(named); err != nil {
		return err
	}
	return s.spellable()
}

// AppendQueryCount appends a statement that asks the server a question of the
// rows that the query gives, reads them as the INSERT itself does, and writes
// nothing. The answer is the insert id of its OK packet. It has the first
// QueryParams placeholders of the statement. sql is the text given to ParseQuery.
func (s *InsertStmt) AppendQueryCount(dst, sql []byte, ask QueryQuestion, negativeOpen bool) []byte {
	e := editor{dst: dst, sql: sql}
	s.fillColumns(&e, s.bound.column)
	s.openQuery(&e)
	e.copyTo(s.query.end)
	e.dst = append(e.dst, "\n) SELECT "...)
	for range s.query.columns {
		e.dst = append(e.dst, "NULL, "...)
	}
	if s.HasOwn() {
		e.dst = e.dst[:len(e.dst)-len(", ")]
	} else {
		e.dst = append(e.dst, '0')
	}
	e.dst = append(e.dst, " FROM "+s.named("q")+" HAVING LAST_INSERT_ID("...)
	e.dst = s.appendQuestion(e.dst, ask, negativeOpen)
	return append(e.dst, ") < 0"...)
}

func (s *InsertStmt) appendQuestion(dst []byte, ask QueryQuestion, negativeOpen bool) []byte {
	own := string(s.appendOwn(nil))
	of := "(CASE WHEN " + own + " BETWEEN 1 AND 9223372036854775807 THEN " + own + " ELSE NULL END), 0)"
	switch {
	case ask == QueryHighest:
		return append(dst, "COALESCE(MAX"+of...)
	case ask == QueryLowest:
		return append(dst, "COALESCE(MIN"+of...)
	case !s.HasOwn():
		return append(dst, "COUNT(*) + 1"...)
	}
	return append(dst, "COALESCE(SUM("+s.isOpen(own, negativeOpen)+"), 0) + 1"...)
}

// appendOwn appends a row's own id as an exact whole number, rounded as a column
// stores it: a DOUBLE beside generated ids would make all of them DOUBLE.
func (s *InsertStmt) appendOwn(dst []byte) []byte {
	dst = append(dst, "ROUND(CAST(CAST("...)
	dst = s.appendOrdinal(dst, "", s.bound.index)
	return append(dst, " AS CHAR) AS DECIMAL(30, 5)))"...)
}

// named returns a name of seqgate's own.
func (s *InsertStmt) named(what string) string { return "`" + s.query.names + "_" + what + "`" }

// appendOrdinal appends the name of the query's column at this index.
func (s *InsertStmt) appendOrdinal(dst []byte, kind string, index int) []byte {
	dst = append(append(append(dst, '`'), s.query.names...), '_')
	return append(strconv.AppendInt(append(dst, kind...), int64(index+1), 10), '`')
}

// appendCarried appends the name under which a column goes along with the number
// of its row.
func (s *InsertStmt) appendCarried(dst []byte, index int) []byte {
	return s.appendOrdinal(dst, "c", index)
}

// isOpen is the condition under which a row with the value own gets an id.
func (s *InsertStmt) isOpen(own string, negativeOpen bool) string {
	open := "(" + own + " IS NULL"
	if !s.mode.NoAutoValueOnZero {
		open += " OR " + own + " = 0"
	}
	if negativeOpen {
		open += " OR " + own + " < 0"
	}
	return open + ")"
}

// openQuery writes what stands before the query: its columns are named by their
// places.
func (s *InsertStmt) openQuery(e *editor) {
	e.insert(s.query.begin, " WITH "+s.named("q")+" (")
	for i := range s.query.columns {
		if i > 0 {
			e.dst = append(e.dst, ", "...)
		}
		e.dst = s.appendOrdinal(e.dst, "", i)
	}
	e.dst = append(e.dst, ") AS (\n"...)
}

// AppendQueryFilled appends the statement with an id for each row of its query
// that has none of its own, in the order of the rows. sql is the text given to
// ParseQuery, and stays as it is but for what is put in.
//
// The query becomes the body of a common table expression. Its rows are numbered
// in their order: by ROW_NUMBER() without a window order, which MySQL takes from
// the rows as they come; MariaDB, which does not, has ROWNUM(). In such a body
// servers drop an ORDER BY without LIMIT, so it gets one.
func (s *InsertStmt) AppendQueryFilled(dst, sql []byte, f QueryFill) []byte {
	e := editor{dst: dst, sql: sql}
	s.fillColumns(&e, s.bound.column)
	s.openQuery(&e)
	for _, end := range s.query.ordered {
		e.insert(end, " LIMIT 9223372036854775807") // the largest that MariaDB does not take for none
	}
	e.copyTo(s.query.end)
	e.dst = append(e.dst, "\n)"...)
	if s.Merges(f) {
		e.dst = s.appendMerged(e.dst, f)
	} else {
		e.dst = s.appendRows(s.appendNumbered(e.dst, f), f)
	}
	if s.OnDuplicate {
		e.dst = append(e.dst, ' ')
	}
	if f.TellUpdated && s.OnDuplicate {
		s.tellUpdated(&e, s.bound.column)
	}
	e.copyTo(len(sql))
	return e.dst
}

// appendMerged appends a SELECT that numbers the query's rows itself. MariaDB then
// merges a plain query into it, whose values are not kept in between: there
// expressions get the digits of their declared type, and lose the others.
func (s *InsertStmt) appendMerged(dst []byte, f QueryFill) []byte {
	dst = append(dst, " SELECT "...)
	for i := range s.query.columns {
		dst = append(s.appendOrdinal(dst, "", i), ", "...)
	}
	dst = appendGenerated(dst, f, "ROWNUM()", "ROWNUM()", "ROWNUM() * OCTET_LENGTH('"+s.query.names+QueryOverrun+"')")
	return append(dst, " FROM "+s.named("q")...)
}

// appendRows appends a SELECT of the rows that appendNumbered numbered.
func (s *InsertStmt) appendRows(dst []byte, f QueryFill) []byte {
	n, from := s.named("n"), s.named("r")
	dst = append(dst, " SELECT "...)
	for i := range s.query.columns {
		if i == s.bound.index {
			dst = s.appendFilledOwn(dst, f)
		} else {
			dst = s.appendCarried(dst, i)
		}
		dst = append(dst, ", "...)
	}
	if s.HasOwn() {
		dst, from = dst[:len(dst)-len(", ")], s.named("o")
	} else {
		dst = appendGenerated(dst, f, s.guard(f, n), n, n)
	}
	dst = append(dst, " FROM "+from...)
	if f.CountFirst {
		dst = append(dst, " ORDER BY "+n...) // counting may have changed it
	}
	return dst
}

// guard is what may not exceed the block: the number n of a row, or how many there
// are.
func (s *InsertStmt) guard(f QueryFill, n string) string {
	if f.CountFirst {
		return s.named("t")
	}
	return n
}

// appendNumbered appends the expressions that number the rows (n), and where rows
// may have ids of their own (e) those that have none (k). With CountFirst the total
// of those goes along (t).
func (s *InsertStmt) appendNumbered(dst []byte, f QueryFill) []byte {
	n, e, rows, total := s.named("n"), s.named("e"), s.named("r"), " AS "+s.named("t")
	dst = append(dst, ", "+rows+" AS (SELECT "...)
	for i := range s.query.columns {
		// Under its own name MySQL 9.7 does not find a BIT column again.
		dst = append(s.appendOrdinal(dst, "", i), " AS "...)
		dst = append(s.appendCarried(dst, i), ", "...)
	}
	if s.mode.MariaDB {
		dst = append(dst, "ROWNUM() AS "+n...)
	} else {
		dst = append(dst, "ROW_NUMBER() OVER () AS "+n...)
	}
	if !s.HasOwn() {
		if f.CountFirst {
			dst = append(dst, ", COUNT(*) OVER ()"+total...)
		}
		return append(dst, " FROM "+s.named("q")+")"...)
	}
	dst = append(s.appendOwn(append(dst, ", "...)), " AS "+e+" FROM "+s.named("q")+"), "...)
	open := s.isOpen(e, f.NegativeOpen)
	dst = append(dst, s.named("o")+" AS (SELECT "+rows+".*, SUM("+open+") OVER (ORDER BY "+n+") AS "+s.named("k")...)
	if f.CountFirst {
		dst = append(dst, ", SUM("+open+") OVER ()"+total...)
	}
	return append(dst, " FROM "+rows+")"...)
}

// overrun is an expression that fails for every n, a number above 0: BIGINT
// UNSIGNED out of range, which is an error also with IGNORE and in every sql_mode.
func overrun(n string) string { return "~0 + " + n }

// inexact is another such expression.
func inexact(n string) string { return "~0 + SIGN(" + n + ")" }

// appendGenerated appends a generated id. guard is what may not exceed the block,
// n the number of the row among those that get an id, beyond what overrun is made
// of.
func appendGenerated(dst []byte, f QueryFill, guard, n, beyond string) []byte {
	dst = append(dst, "IF("+guard+" > "...)
	dst = append(strconv.AppendInt(dst, f.Block, 10), ", "+overrun(beyond)+", "...)
	if f.Wrap && f.Block > 0 {
		dst = append(dst, "IF("+n+" = 1, LAST_INSERT_ID("...)
		dst = append(strconv.AppendInt(dst, f.First, 10), "), "...)
	}
	step := max(f.Step, 1)
	dst = append(strconv.AppendInt(dst, f.First-step, 10), " + "+n...)
	if step > 1 {
		dst = strconv.AppendInt(append(dst, " * "...), step, 10)
	}
	if f.Wrap && f.Block > 0 {
		dst = append(dst, ')')
	}
	return append(dst, ')')
}

// appendFilledOwn appends a row's own id, or a generated one where it has none.
func (s *InsertStmt) appendFilledOwn(dst []byte, f QueryFill) []byte {
	n, e, k := s.named("n"), s.named("e"), s.named("k")
	dst = append(dst, "IF("+s.isOpen(e, f.NegativeOpen)+", "...)
	dst = appendGenerated(dst, f, s.guard(f, k), k, n)
	dst = append(dst, ", IF("+e+" BETWEEN 1 AND 9223372036854775807 AND "+e+" NOT BETWEEN "...)
	dst = append(strconv.AppendInt(dst, f.Lowest, 10), " AND "...)
	dst = strconv.AppendInt(dst, f.Highest, 10)
	if f.Among {
		dst = append(strconv.AppendInt(append(dst, " OR "+e+" BETWEEN "...), f.First, 10), " AND "...)
		dst = strconv.AppendInt(dst, f.First+(f.Block-1)*max(f.Step, 1), 10)
	}
	dst = append(dst, ", "+overrun(n)+", "...)
	// A FLOAT has fewer digits as text than it is made of.
	dst = s.appendCarried(append(dst, "IF(ABS("+e+" - "...), s.bound.index)
	dst = append(dst, ") > 0.5, "+inexact(n)+", "...)
	if f.WrapOwn {
		dst = append(dst, "IF("+e+" BETWEEN -9223372036854775808 AND 9223372036854775807 AND LAST_INSERT_ID("+e+") = 0, "+e+", "+e+")"...)
	} else {
		dst = append(dst, e...)
	}
	return append(dst, ")))"...)
}
