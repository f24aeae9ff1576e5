package plan

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// PlanInsert plans an INSERT or REPLACE.
func (r *Router) PlanInsert(sql []byte, m parser.Mode) (p Routed, err error) {
	p.SQL, p.Mode = sql, m
	return p, r.planInsert(&p)
}

func (r *Router) planInsert(p *Routed) error {
	p.Read, p.Inserts = true, true
	stmt := &r.Planner.Stmt
	if err := stmt.ParseTarget(p.SQL, p.Mode); err != nil {
		return err
	}
	k, err := r.ownerOf(stmt.Schema, stmt.Table)
	switch {
	case err != nil:
		return err
	case k == nil:
		p.Kind = RoutedHome
		return nil
	case k.Shards != nil:
		return r.planInsertSharded(p, k)
	}
	text, stays, err := r.unshardedText(k, p.SQL, p.Mode)
	switch {
	case err != nil:
		return err
	case !stays:
		p.Kind = RoutedInsertQuery
		return nil
	}
	p.Kind, p.Keyspace, p.Joins, p.Text = RoutedAt, k, true, text
	return nil
}

// ownerOf returns the keyspace of a table, nil for one of the servers' own.
func (r *Router) ownerOf(schema, table string) (*catalog.Keyspace, error) {
	name, err := r.Loaded.Planner.Owner(parser.Table{Schema: schema, Name: table}, r.KeyspaceName())
	if err == nil {
		return r.Keyspaces[name], nil
	}
	if schema == "" {
		schema = r.KeyspaceName()
	}
	if declared, ok := r.Loaded.VSchema.Keyspace(schema); ok {
		if _, ok := declared.Vindex(table); ok {
			err = errVindexModified(table)
		}
	}
	return nil, err
}

// planInsertSharded plans an INSERT or REPLACE into a table of a sharded keyspace, whose target stands in the planner's statement.
func (r *Router) planInsertSharded(p *Routed, k *catalog.Keyspace) error {
	in := &ShardedInsert{Planner: r.Planner, Keyspace: k, SQL: p.SQL, Mode: p.Mode, anew: r.Fetched.Anew, computedRow: r.Fetched.Computed}
	declared, ok := r.Loaded.VSchema.Keyspace(k.Name)
	if !ok {
		return fmt.Errorf("keyspace %s is not in the vschema", k.Name)
	}
	if err := in.find(declared); err != nil {
		return err
	}
	e := r.Fetched.Described
	if e == nil {
		if e, ok = r.Tables.Fresh(k.Shards[0], k.Shards[0].Database, in.Table.Name); !ok {
			return &Missing{Fact: NeedsShardTable, Table: catalog.TableName{Schema: k.Name, Table: in.Table.Name}}
		}
		r.Fetched.Described = e // what is fetched for the statement is for the columns that it had
	}
	if err := in.describe(e); err != nil {
		return err
	}
	if mayQuery(p.SQL) && in.Planner.Stmt.ParseQuery(p.SQL, p.Mode) == nil {
		p.Kind = RoutedInsertQuery
		return in.checkQueryColumns()
	}
	p.Kind, p.Insert = RoutedInsert, in
	return in.plan()
}

// INSERT and REPLACE into tables of unsharded keyspaces: their server gets the text with its own names of databases. A name that
// stands for a table of another keyspace must not reach it, where it may be that of some other table.

// unshardedText returns the text of the statement for the server of the keyspace that it writes to. stays is false when it takes
// its rows from a query on another keyspace, which the planner's statement has read then.
func (r *Router) unshardedText(k *catalog.Keyspace, sql []byte, m parser.Mode) (text []byte, stays bool, err error) {
	stmt := &r.Planner.Stmt
	if err := stmt.ParseTarget(sql, m); err != nil {
		return nil, false, err
	}
	if names := r.namesKeyspace(stmt.BehindTable(sql), k); names || mayQuery(sql) {
		text, stays, err = r.namesResolved(k, sql, m)
		if text == nil || err != nil {
			return nil, stays, err
		}
		if err := stmt.ParseTarget(text, m); err != nil {
			return nil, false, err
		}
		sql = text
	}
	if stmt.Schema == k.Name && k.Name != k.Database {
		sql = stmt.AppendInto(nil, sql, k.Database)
	}
	return sql, true, nil
}

// namesKeyspace reports whether the text may have the name of a keyspace that is not the name of k's database.
func (r *Router) namesKeyspace(text []byte, k *catalog.Keyspace) bool {
	for name := range r.Keyspaces {
		if !isDatabaseOf(k, name) && bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}

// isDatabaseOf reports whether a name means the same on a keyspace's server as in front of it.
func isDatabaseOf(k *catalog.Keyspace, name string) bool { return name == k.Name && name == k.Database }

// namesResolved returns the text with the names in its queries replaced for the server; nil when the rows come from elsewhere.
func (r *Router) namesResolved(k *catalog.Keyspace, sql []byte, m parser.Mode) (text []byte, stays bool, err error) {
	stmt := &r.Planner.Stmt
	var queries []parser.Span
	if stmt.ParseQuery(sql, m) == nil {
		queries = append(queries, stmt.QuerySpan())
	} else if err := stmt.Parse(sql, m); err != nil {
		return r.notRead(k, sql, m)
	}
	found, err := stmt.OtherNames(sql)
	if err != nil {
		return r.notRead(k, sql, m)
	}
	for _, name := range found.Databases {
		if r.Keyspaces[name] != nil && !isDatabaseOf(k, name) {
			return nil, false, r.Unsupported("a keyspace's name before that of a function, or of a column's table, in an INSERT", "leave the keyspace's name out")
		}
	}
	queries = append(queries, found.Subqueries...)
	slices.SortFunc(queries, func(a, b parser.Span) int { return a.Start - b.Start })
	at := 0
	for _, span := range queries {
		main := stmt.FromQuery() && span == stmt.QuerySpan()
		p, err := r.Loaded.Planner.Plan(sql[span.Start:span.End], r.KeyspaceName(), m)
		if err != nil {
			return nil, false, err
		}
		switch answers := p.Kind == route.Local || p.Kind == route.Unsharded && (p.Keyspace == k.Name || p.Table == "" && !main); {
		case !answers && main:
			return nil, false, nil
		case !answers:
			return nil, false, errForeignSubquery
		}
		text = p.AppendSQL(append(text, sql[at:span.Start]...), sql[span.Start:span.End], false, r.DatabaseAt(k))
		at = span.End
	}
	return append(text, sql[at:]...), true, nil
}

// errForeignSubquery refuses a value that another server would have to give.
var errForeignSubquery = &route.Error{Errno: mysql.ER_NOT_SUPPORTED_YET, Message: "seqgate does not support a query on tables of another keyspace as a value of an INSERT; " +
	"read the value with SELECT first, or write INSERT ... SELECT"}

// errUnreadInsert refuses what may name tables of another keyspace.
var errUnreadInsert = &route.Error{Errno: mysql.ER_NOT_SUPPORTED_YET, Message: "seqgate does not support this form of INSERT into a table of another keyspace than the current one; " +
	"USE the table's keyspace, and leave the names of keyspaces out"}

// notRead passes a statement on that could not be read, if all names without a qualifier are of its server and there may be none
// with one.
func (r *Router) notRead(k *catalog.Keyspace, sql []byte, m parser.Mode) ([]byte, bool, error) {
	if err := r.Planner.Stmt.ParseTarget(sql, m); err != nil {
		return nil, false, err
	}
	if r.Keyspace != k || r.namesKeyspace(r.Planner.Stmt.BehindTable(sql), k) {
		return nil, false, errUnreadInsert
	}
	return sql, true, nil
}

// mayQuery looks for the words without which no INSERT has a query on a table.
func mayQuery(sql []byte) bool { return ContainsAnyWord(sql, "select", "table") }
