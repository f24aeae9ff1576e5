package proxy

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/proxy/wire"
)

// INSERT ... SELECT in front of shards: the query's rows are read as those of any
// SELECT are, and inserted as rows of VALUES. They are all held in between: ids are one
// block, and all is one statement to the client.

// maxQueryText is how long the rows of such a statement may be as text, in bytes: less
// than a server's max_allowed_packet by default.
const maxQueryText = 8 << 20

// queryRows writes the rows of a query as those of VALUES.
type queryRows struct {
	r       *textRouter
	mode    parser.Mode
	text    []byte
	rows    int
	columns []fetchedColumn
	inUTF8  bool // statements are read as UTF-8, as which the rows come
}

// collect runs the query.
func (q *queryRows) collect(query []byte) error {
	r := q.r
	p, err := r.s.srv.loaded().Planner.Plan(query, r.KeyspaceName(), q.mode)
	if err != nil {
		return err
	}
	shards, err := r.sourcesOf(p)
	if err != nil {
		return err
	}
	conns, err := r.connsOf(shards)
	if err != nil {
		return err
	}
	for _, conn := range conns {
		if err := conn.before(plan.MayLook); err != nil {
			return err
		}
	}
	q.inUTF8 = q.mode.Charset.String() == "utf8mb4"
	// No text is lost in that character set, and no rows by a limit, which is not for
	// such a query (MySQL manual, "sql_select_limit").
	return r.withSessionVariables(conns, func() error { return q.read(conns, p, query) }, sessionVariable{"character_set_results", "utf8mb4"}, sessionVariable{selectLimit, noLimit})
}

// read reads the rows of all connections. Where they are to be merged by numbers of values, it
// asks again.
func (q *queryRows) read(conns []*executor, p *route.Plan, query []byte) error {
	begin := len(q.text)
	for {
		several := len(conns) > 1
		how, offset, count := &parser.Scatter{}, uint64(0), uint64(math.MaxUint64)
		if several {
			how = p.Scatter
			var err error
			if offset, count, err = how.Limit.Resolve(nil); err != nil {
				return err
			}
		}
		plan := p
		answers := scattered{router: &q.r.shardedConn, conns: conns, how: how, offset: offset, count: count, take: q.take,
			send: func(i int, conn *executor) error {
				return conn.sendPart([]byte(string(rune(mysql.COM_QUERY))+conn.NoAttributes()), plan.AppendSQL(nil, query, several, q.r.DatabaseAt(conn.keyspace)))
			}}
		err := answers.answer()
		var number *merge.NumberError
		if !errors.As(err, &number) {
			return err
		}
		if p, err = q.r.s.srv.loaded().Planner.PlanByNumbers(query, q.r.KeyspaceName(), q.mode, number.Keys); err != nil {
			return err
		}
		q.text, q.rows = q.text[:begin], 0
	}
}

// take takes in a result.
func (q *queryRows) take(merged *merge.Rows, definitions [][]byte) error {
	q.columns = q.columns[:0]
	for _, definition := range definitions {
		c, err := newFetchedColumn(definition)
		if err != nil {
			return err
		}
		q.columns = append(q.columns, c)
	}
	for {
		row, err := merged.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if q.rows++; q.rows > maxHeldRows || len(q.text) > maxQueryText {
			return q.r.Unsupported(fmt.Sprintf("INSERT ... SELECT of more than %d rows, or %d MiB", maxHeldRows, maxQueryText>>20),
				"insert the rows in parts, by ranges of a key")
		}
		if err := q.appendRow(row); err != nil {
			return err
		}
	}
}

func (q *queryRows) appendRow(row []byte) error {
	separator := byte('(')
	if q.rows > 1 {
		q.text = append(q.text, ", "...)
	}
	for i := range q.columns {
		text, null, rest, ok := wire.Text(row)
		if !ok {
			return backend.ErrMalformedAnswer
		}
		q.text = append(q.text, separator)
		separator = ','
		if err := q.appendValue(&q.columns[i], text, null); err != nil {
			return err
		}
		row = rest
	}
	q.text = append(q.text, ')')
	return nil
}

// appendValue writes a value as the literal that stores it as it is.
func (q *queryRows) appendValue(c *fetchedColumn, text []byte, null bool) error {
	switch {
	case null:
		q.text = append(q.text, "NULL"...)
	case c.number():
		q.text = append(q.text, text...)
	case c.typ == mysql.MYSQL_TYPE_BIT:
		// In decimal: as bytes it would be text to a column of characters.
		var n uint64
		for _, b := range text {
			n = n<<8 | uint64(b)
		}
		q.text = strconv.AppendUint(q.text, n, 10)
	case c.bytes():
		q.text = fmt.Appendf(q.text, "X'%x'", text)
	default:
		plain := q.inUTF8 || isPlainASCII(text)
		if plain {
			q.text, plain = q.mode.AppendText(q.text, text)
		}
		if !plain {
			q.text = fmt.Appendf(q.text, "_utf8mb4 X'%x'", text)
		}
	}
	return nil
}

func isPlainASCII(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// fetchedColumn is what a column's definition says of its values.
type fetchedColumn struct {
	typ     byte
	charset uint16
}

func newFetchedColumn(definition []byte) (c fetchedColumn, err error) {
	d, ok := wire.ReadDefinition(definition)
	if !ok {
		return c, backend.ErrMalformedAnswer
	}
	c.charset, c.typ = d.Collation, d.Type
	if c.typ == mysql.MYSQL_TYPE_FLOAT {
		return c, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
			"seqgate does not support INSERT ... SELECT of a FLOAT over servers, as its text has fewer digits; CAST it AS DOUBLE, or AS DECIMAL")
	}
	return c, nil
}

func (c *fetchedColumn) number() bool {
	switch c.typ {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_LONGLONG,
		mysql.MYSQL_TYPE_YEAR, mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL, mysql.MYSQL_TYPE_DOUBLE:
		return true
	}
	return false
}

// bytes reports whether values are bytes, not characters. Times, dates and JSON come as
// text that is marked so.
func (c *fetchedColumn) bytes() bool {
	switch c.typ {
	case mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_TINY_BLOB,
		mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_GEOMETRY:
		return c.charset == wire.CollationBinary
	}
	return false
}
