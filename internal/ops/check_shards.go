package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// reached are the servers that were reached and have a table: those of all shards, or of the one that a pinned table is in.
func (c *checker) reached(name TableName) servers {
	all := c.servers.all(name.Keyspace)
	at := pinned(c.cfg, name)
	if at < 0 {
		return all
	}
	k, _ := c.cfg.Keyspace(name.Keyspace)
	return slices.DeleteFunc(all, func(s *Server) bool { return s.Shard != k.Shards[at].Name })
}

// checkSharding checks the shards of a keyspace and, on each that was reached, the tables that the vschema has there.
func (c *checker) checkSharding(ctx context.Context, k config.Keyspace) {
	if !k.Sharded() {
		return
	}
	c.checkSameDatabase(k)
	if c.cfg.Transactions == config.TransactionsXA {
		c.checkRecovery(ctx, k)
	}
	var names []string
	for _, s := range k.Shards {
		names = append(names, s.Name)
	}
	c.ok(k.Name, "%d shards: %s", len(names), strings.Join(names, ", "))
	for _, t := range c.cfg.Declared(k.Name).Tables() {
		c.checkSharded(ctx, TableName{k.Name, t.Name}, t, k.Layout)
	}
}

// checkSameDatabase finds two shards that are one database: every row there would be found twice.
func (c *checker) checkSameDatabase(k config.Keyspace) {
	first := map[string]config.Shard{}
	for _, s := range k.Shards {
		where := s.DSN.Addr + "/" + s.DSN.DBName
		if other, ok := first[where]; ok {
			c.fail(k.Name, "the shards %s and %s are the same database, %s at %s: each shard has one of its own", other.Name, s.Name, s.DSN.DBName, s.DSN.Addr)
			continue
		}
		first[where] = s
	}
}

// checkRecovery checks that seqgate's account may see the transactions which a seqgate has left prepared: MySQL 8.0 and later
// want XA_RECOVER_ADMIN for that (MySQL manual, "XA Transaction SQL Statements").
func (c *checker) checkRecovery(ctx context.Context, k config.Keyspace) {
	for _, s := range c.servers.all(k.Name) {
		rows, err := s.conn.QueryContext(ctx, "XA RECOVER")
		if err == nil {
			err = rows.Close()
		}
		if err != nil {
			c.failed(s, fmt.Errorf("transactions: xa cannot be recovered there after a crash: GRANT XA_RECOVER_ADMIN ON *.* to the DSN's user: %w", err))
		}
	}
}

// checkSharded checks one table of a sharded keyspace on every shard that has it.
func (c *checker) checkSharded(ctx context.Context, name TableName, t *vschema.Table, shards *vschema.Shards) {
	var model *Server // the first that has the table: the others are to have the same columns
	for _, s := range c.reached(name) {
		here, ok := s.table(name.Table)
		if !ok {
			if t.AutoIncrement == nil { // else checkFilled has told it
				c.missingTable(s, name.Table)
			}
			continue
		}
		if model == nil {
			model = s
			c.checkUniqueKeys(ctx, s, t)
		} else {
			of, _ := model.table(name.Table)
			c.compareColumns(s.named(name.Table), here, model.Shard, of)
		}
		c.checkCounter(s.named(name.Table), t, here)
		c.checkRows(ctx, s, t, here, shards)
	}
}

// compareColumns tells in what a table differs from that of another shard. Rows of both are given to clients as one
// result, and one statement goes to both.
func (c *checker) compareColumns(name TableName, t *catalog.Table, shard string, model *catalog.Table) {
	for _, want := range model.Columns {
		got, ok := columnOf(t, want.Name)
		switch {
		case !ok:
			c.fail(name, "the column %s is missing, which shard %s has: the tables of all shards are to be the same", want.Name, shard)
		case got.Definition() != want.Definition():
			c.fail(name, "the column %s is a %s, on shard %s a %s: the tables of all shards are to be the same", want.Name, got.Definition(), shard, want.Definition())
		case got.Collation != want.Collation:
			c.fail(name, "the column %s has the collation %s, on shard %s %s: rows would be ordered and compared in two ways",
				want.Name, cmp.Or(got.Collation, "none"), shard, cmp.Or(want.Collation, "none"))
		}
	}
	for _, got := range t.Columns {
		if _, ok := columnOf(model, got.Name); !ok {
			c.fail(name, "it has the column %s, which is missing on shard %s: the tables of all shards are to be the same", got.Name, shard)
		}
	}
	got, want := columnNames(t.Columns), columnNames(model.Columns)
	if len(got) == len(want) && !slices.EqualFunc(got, want, strings.EqualFold) && slices.Equal(folded(got), folded(want)) {
		c.fail(name, "the columns are %s, on shard %s %s: an INSERT without a column list, and SELECT *, need one order",
			strings.Join(got, ", "), shard, strings.Join(want, ", "))
	}
}

// folded are names as MySQL compares those of columns, in order.
func folded(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, strings.ToLower(name))
	}
	slices.Sort(out)
	return out
}

// checkCounter tells of an AUTO_INCREMENT that is left on a table of several shards: each server counts for itself.
func (c *checker) checkCounter(name TableName, declared *vschema.Table, t *catalog.Table) {
	if declared.Pinned != nil || declared.Type == vschema.Reference {
		return
	}
	i := slices.IndexFunc(t.Columns, func(column catalog.Column) bool { return column.AutoIncrement() })
	if i < 0 {
		return
	}
	column := t.Columns[i]
	subject := name.String() + "." + column.Name
	if a := declared.AutoIncrement; a == nil || !strings.EqualFold(a.Column, column.Name) {
		c.warn(subject, "each shard counts its AUTO_INCREMENT for itself, so that ids repeat: give the table auto_increment in the vschema")
		return
	}
	c.warn(subject, "it is still AUTO_INCREMENT: a row that reaches the server past seqgate gets an id that another row may get too: "+
		"ALTER TABLE %s MODIFY %s %s NOT NULL", Quote(name.Table), Quote(column.Name), strings.ToUpper(column.Definition()))
}

// checkUniqueKeys tells of unique keys that each shard holds for itself only: those without the columns that say where a
// row is, and without the column that a sequence fills.
func (c *checker) checkUniqueKeys(ctx context.Context, s *Server, t *vschema.Table) {
	if len(t.ColumnVindexes) == 0 {
		return
	}
	keys, err := s.uniqueKeys(ctx, t.Name)
	if err != nil {
		c.failed(s.named(t.Name), err)
		return
	}
	by := t.ColumnVindexes[0].Columns
	for _, key := range keys {
		has := func(column string) bool {
			return slices.ContainsFunc(key.columns, func(c string) bool { return strings.EqualFold(c, column) })
		}
		filled := t.AutoIncrement != nil && has(t.AutoIncrement.Column)
		if !filled && slices.ContainsFunc(by, func(column string) bool { return !has(column) }) {
			c.note(TableName{s.Keyspace, t.Name}, "the unique key %s (%s) does not contain %s: its values are unique on each shard, not over all",
				key.name, strings.Join(key.columns, ", "), strings.Join(by, ", "))
		}
	}
}

// uniqueKey is a unique key of a table, or its primary key.
type uniqueKey struct {
	name    string
	columns []string
}

// uniqueKeys reads the unique keys of a table, in the order of their names.
func (s *Server) uniqueKeys(ctx context.Context, table string) (keys []uniqueKey, err error) {
	rows, err := s.conn.QueryContext(ctx, `SELECT index_name, COALESCE(column_name, '(an expression)') FROM information_schema.statistics
		WHERE table_schema = ? AND table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index`, s.database, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, column string
		if err := rows.Scan(&name, &column); err != nil {
			return nil, fmt.Errorf("read the keys of %s: %w", table, err)
		}
		if n := len(keys); n == 0 || keys[n-1].name != name {
			keys = append(keys, uniqueKey{name: name})
		}
		last := &keys[len(keys)-1]
		last.columns = append(last.columns, column)
	}
	return keys, rows.Err()
}
