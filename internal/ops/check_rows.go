package ops

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// checkedRows is how many rows of a table are looked at on each shard: those of a table that was divided by another
// vindex are wrong from the first ones on.
const checkedRows = 1000

// checkRows checks that the rows of a table are on the shard where the primary vindex of the table says.
func (c *checker) checkRows(ctx context.Context, s *Server, t *vschema.Table, here *catalog.Table, shards *vschema.Shards) {
	if len(t.ColumnVindexes) == 0 || t.ColumnVindexes[0].Vindex == nil || shards.Len() == 1 {
		return
	}
	by := t.ColumnVindexes[0]
	name := s.named(t.Name)
	columns := make([]catalog.Column, len(by.Columns))
	for i, column := range by.Columns {
		var ok bool
		if columns[i], ok = columnOf(here, column); !ok {
			c.fail(name, "the vindex column %s is missing: %s", column, vschema.Suggest(column, columnNames(here.Columns)))
			return
		}
	}
	seen, misplaced, err := s.misplaced(ctx, t.Name, columns, by, shards)
	switch {
	case err != nil:
		c.failed(name, err)
	case misplaced.count > 0:
		c.fail(name, "of %d rows looked at, %d are not on the shard where the vindex %s has them, such as %s: seqgate does not find them; move them, or correct the vindex",
			seen, misplaced.count, by.Name, misplaced.example)
	}
}

// misplaced are rows that are not where a vindex has them.
type misplaced struct {
	count   int
	example string
}

// misplaced looks at the first rows of a table and finds those that belong to another shard, by the values of columns.
func (s *Server) misplaced(ctx context.Context, table string, columns []catalog.Column, by vschema.ColumnVindex, shards *vschema.Shards) (seen int, found misplaced, err error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = Quote(c.Name)
	}
	rows, err := s.conn.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT %d", strings.Join(names, ", "), s.quoted(table), checkedRows))
	if err != nil {
		return 0, found, err
	}
	defer rows.Close()
	texts, to := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range texts {
		to[i] = &texts[i]
	}
	values := make([]vschema.Value, len(columns))
	for ; rows.Next(); seen++ {
		if err := rows.Scan(to...); err != nil {
			return seen, found, err
		}
		for i, text := range texts {
			values[i] = columnValue(columns[i], text)
		}
		if where := shardOf(by, values, shards); where != s.Shard {
			if found.count++; found.count > 1 {
				continue
			}
			found.example = fmt.Sprintf("%s, which belongs to %s", rowText(columns, values), where)
		}
	}
	return seen, found, rows.Err()
}

// shardOf names the shard of a row, or says that it has none.
func shardOf(by vschema.ColumnVindex, values []vschema.Value, shards *vschema.Shards) string {
	id, err := by.Map(nil, values)
	if err != nil {
		return "no shard"
	}
	return shards.Name(shards.Find(id))
}

func rowText(columns []catalog.Column, values []vschema.Value) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = printable(c.Name + " = " + values[i].String())
	}
	return strings.Join(parts, ", ")
}

// columnValue is what a vindex maps of a column's value, which the server gave as text.
func columnValue(c catalog.Column, text []byte) vschema.Value {
	if text == nil {
		return vschema.Null()
	}
	if !c.IsInteger() {
		return vschema.Text(text)
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return vschema.Int(n)
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return vschema.Text(text)
	}
	return vschema.Uint(n)
}
