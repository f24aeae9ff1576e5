package proxy

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A query whose rows are numbered is kept in a temporary table of the server's,
// where its expressions get the digits of their declared type. What would be
// stored as another value than without seqgate is refused here.

// queryColumn is what the server says of a column of a query.
type queryColumn struct {
	name     string
	typ      byte // mysql.MYSQL_TYPE_...
	flags    uint16
	decimals byte
	computed bool // it is no column of a table, nor of a view
}

func newQueryColumn(d wire.Definition) queryColumn {
	return queryColumn{name: string(d.Name), typ: d.Type, flags: d.Flags, decimals: d.Decimals, computed: d.Computed}
}

// describeQuery has the server tell the columns of the client's query.
func (f *queryFiller) describeQuery(q *insertQuery) ([]queryColumn, error) {
	if err := f.Send(append([]byte{mysql.COM_STMT_PREPARE}, f.planner.Stmt.Query(q.sql)...)); err != nil {
		return nil, err
	}
	var id uint32
	var columns []queryColumn
	number := 0
	err := f.each(wire.ShapePrepare, func(payload []byte) {
		if id == 0 && len(payload) >= 7 {
			id, number = binary.LittleEndian.Uint32(payload[1:]), int(binary.LittleEndian.Uint16(payload[5:]))
		} else if d, ok := wire.ReadDefinition(payload); ok {
			columns = append(columns, newQueryColumn(d))
		}
	})
	if err != nil {
		return nil, err
	}
	if err := f.SendClose(id); err != nil {
		return nil, err
	}
	if len(columns) < number {
		return nil, catalog.Unsupported("INSERT ... SELECT with resultset_metadata = NONE", q.fill.Binding.Table, "set it to FULL")
	}
	return columns[len(columns)-number:], nil // those of its parameters come first
}

// each calls f with each packet of an answer that the client does not see.
func (s *queryFiller) each(as wire.Shape, f func(payload []byte)) error {
	before := s.Answer
	s.StartAnswer(as)
	var failed error
	for !s.Answer.Done() {
		payload, size, err := s.Follow()
		if err != nil {
			return &backend.LostError{Err: err}
		}
		if s.Answer.Failed {
			failed = &wire.ServerError{Packet: bytes.Clone(payload)}
		} else {
			f(payload)
		}
		s.Wire.Skip(size)
	}
	before.Status = s.Answer.Status
	s.Answer = before
	return failed
}

// checkQueryTypes refuses a query of which a value would change, by the types of
// its columns.
func (f *queryFiller) checkQueryTypes(q *insertQuery) error {
	if !f.planner.Stmt.HasOwn() && (f.MariaDB && f.planner.Stmt.IsUnion() || !f.MariaDB && !f.planner.Stmt.Averages() && !f.planner.Stmt.ReadsVariables()) {
		return nil
	}
	columns, err := f.describeQuery(q)
	if err != nil {
		return f.queryError(q, err)
	}
	table := q.fill.Binding.Table
	if i := f.planner.Stmt.OwnIndex(); i >= 0 && i < len(columns) {
		if name := columns[i].notNumeric(); name != "" {
			return catalog.Unsupported("INSERT ... SELECT with "+name+" as the value of '"+q.fill.Binding.Column+"'", table, "CAST it to an integer")
		}
	}
	i := slices.IndexFunc(columns, f.losesDigits)
	if i < 0 {
		return nil
	}
	kept, err := f.keepsRows(q)
	switch {
	case err != nil:
		return f.queryError(q, err)
	case !kept:
		return nil
	}
	return catalog.Unsupported("INSERT ... SELECT of the expression '"+columns[i].name+"', which may have more digits than its type, in a query whose rows the server keeps,",
		table, "CAST it to the column's type, without an alias")
}

// losesDigits reports whether a column's values may have digits that its declared
// type has not: MariaDB's quotients and averages, and its DOUBLEs of so many
// decimals; on MySQL user variables are DECIMAL with 30 of them.
func (f *queryFiller) losesDigits(c queryColumn) bool {
	const notFixed = 31
	switch {
	case !c.computed, isCast(c.name):
		return false
	case !f.MariaDB:
		return c.typ == mysql.MYSQL_TYPE_NEWDECIMAL && (f.planner.Stmt.Averages() || f.planner.Stmt.ReadsVariables())
	case f.planner.Stmt.IsUnion():
		return false // which a native INSERT keeps so, too
	case c.typ == mysql.MYSQL_TYPE_FLOAT, c.typ == mysql.MYSQL_TYPE_DOUBLE:
		return c.decimals > 0 && c.decimals < notFixed // a number with a parameter in it has 0, whatever is bound
	}
	return c.typ == mysql.MYSQL_TYPE_NEWDECIMAL && (f.planner.Stmt.Divides() || f.planner.Stmt.Averages() || f.planner.Stmt.ReadsVariables())
}

// isCast reports whether an expression, by whose text the server names its column, is
// CAST(...) as a whole: such a value has the digits of its type.
func isCast(name string) bool {
	const cast = "cast("
	if len(name) < len(cast) || !strings.EqualFold(name[:len(cast)], cast) {
		return false
	}
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i == len(name)-1
			}
		}
	}
	return false
}

// keepsRows reports whether the server keeps the query's rows in a temporary table
// before they are numbered.
func (s *queryFiller) keepsRows(q *insertQuery) (kept bool, err error) {
	f := parser.QueryFill{First: 1, Block: 1, CountFirst: !q.fill.Binding.Transactional}
	if !s.planner.Stmt.Merges(f) {
		return true, nil
	}
	text := s.planner.Stmt.AppendQueryFilled([]byte("EXPLAIN "), q.sql, f)
	look := func(payload []byte) { kept = kept || bytes.Contains(payload, []byte("<derived")) }
	if !q.prepared {
		if err := s.Send(slices.Concat([]byte{mysql.COM_QUERY}, []byte(s.NoAttributes()), text)); err != nil {
			return true, err
		}
		err := s.each(wire.ShapeResults, look)
		return kept, err
	}
	id, err := s.executeOnce(text, q.params)
	if err == nil {
		err = s.each(wire.ShapeResults, look)
	}
	if err != nil {
		return true, err
	}
	return kept, s.SendClose(id)
}

// notNumeric names the column's type when its values are no ids as text: "" for
// whole and other numbers, and for text.
func (c queryColumn) notNumeric() string {
	switch {
	case c.flags&mysql.ENUM_FLAG != 0:
		return "an ENUM"
	case c.flags&mysql.SET_FLAG != 0:
		return "a SET"
	}
	switch c.typ {
	case mysql.MYSQL_TYPE_BIT:
		return "a BIT"
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_NEWDATE:
		return "a DATE"
	case mysql.MYSQL_TYPE_TIME:
		return "a TIME"
	case mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP:
		return "a DATETIME"
	case mysql.MYSQL_TYPE_JSON:
		return "JSON"
	case mysql.MYSQL_TYPE_GEOMETRY:
		return "a GEOMETRY"
	}
	return ""
}

// checkQueryParams refuses values that servers do not keep in a query which stands
// in another: a parameter there is text of the connection's character set, on MySQL
// a VARCHAR. What is no such text is changed, and what is longer is cut.
func (f *queryFiller) checkQueryParams(q *insertQuery) error {
	const longest = 65535
	unicode := strings.HasPrefix(f.State.Mode.Charset.String(), "utf8")
	for i := range q.params[:min(len(q.params), f.planner.Stmt.QueryParams())] {
		p := &q.params[i]
		if p.Null || !p.IsText() {
			continue
		}
		_, _, size := wire.LengthEncoded(p.Value)
		value := p.Value[size:]
		if !f.MariaDB && len(value) > longest || unicode && !utf8.Valid(value) {
			return catalog.Unsupported("INSERT ... SELECT with a parameter in its query that is binary, or on MySQL longer than 65535 bytes,", q.fill.Binding.Table, "use INSERT ... VALUES")
		}
	}
	return nil
}
