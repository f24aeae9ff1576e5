package proxy

import (
	"bytes"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
)

// INSERT and REPLACE into tables of unsharded keyspaces. Their server gets the text with
// its own names of databases: a name that stands for a table of another keyspace must
// not reach it, where it may be that of some other table.

// planInsertUnsharded plans an INSERT or REPLACE into a table of an unsharded keyspace.
func (r *textRouter) planInsertUnsharded(p *routedStatement, k *catalog.Keyspace) error {
	text, stays, err := r.unshardedText(k, p.sql, p.mode)
	switch {
	case err != nil:
		return err
	case !stays:
		p.kind = routedQuery
		return nil
	}
	p.kind, p.keyspace, p.joins, p.text = routedAt, k, true, text
	return nil
}

// unshardedText gives the text of the statement for the server of the keyspace that it
// writes to. stays is false when it takes its rows from a query on another keyspace,
// which the session's statement has read then.
func (r *textRouter) unshardedText(k *catalog.Keyspace, sql []byte, m parser.Mode) (text []byte, stays bool, err error) {
	stmt := &r.s.planner.Stmt
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

// namesKeyspace reports whether the text may have the name of a keyspace that is not
// the name of k's database.
func (r *textRouter) namesKeyspace(text []byte, k *catalog.Keyspace) bool {
	for name := range r.s.srv.cfg.Keyspaces {
		if !isDatabaseOf(k, name) && bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}

// isDatabaseOf reports whether a name means the same on a keyspace's server as in
// front of it.
func isDatabaseOf(k *catalog.Keyspace, name string) bool { return name == k.Name && name == k.Database }

// namesResolved gives the text with the names in its queries replaced for the server;
// nil when the rows come from elsewhere.
func (r *textRouter) namesResolved(k *catalog.Keyspace, sql []byte, m parser.Mode) (text []byte, stays bool, err error) {
	stmt := &r.s.planner.Stmt
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
		if r.s.srv.cfg.Keyspaces[name] != nil && !isDatabaseOf(k, name) {
			return nil, false, r.unsupported("a keyspace's name before that of a function, or of a column's table, in an INSERT", "leave the keyspace's name out")
		}
	}
	queries = append(queries, found.Subqueries...)
	slices.SortFunc(queries, func(a, b parser.Span) int { return a.Start - b.Start })
	at := 0
	for _, span := range queries {
		main := stmt.FromQuery() && span == stmt.QuerySpan()
		p, err := r.s.srv.loaded().Planner.Plan(sql[span.Start:span.End], r.keyspaceName(), m)
		if err != nil {
			return nil, false, r.syntaxOr(err, sql)
		}
		switch answers := p.Kind == route.Local || p.Kind == route.Unsharded && (p.Keyspace == k.Name || p.Table == "" && !main); {
		case !answers && main:
			return nil, false, nil
		case !answers:
			return nil, false, r.syntaxOr(errForeignSubquery, sql)
		}
		text = p.AppendSQL(append(text, sql[at:span.Start]...), sql[span.Start:span.End], false, r.databaseAt(k))
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

// notRead passes a statement on that could not be read, if all names without a
// qualifier are of its server and there may be none with one.
func (r *textRouter) notRead(k *catalog.Keyspace, sql []byte, m parser.Mode) ([]byte, bool, error) {
	if err := r.s.planner.Stmt.ParseTarget(sql, m); err != nil {
		return nil, false, err
	}
	if r.keyspace != k || r.namesKeyspace(r.s.planner.Stmt.BehindTable(sql), k) {
		return nil, false, r.syntaxOr(errUnreadInsert, sql)
	}
	return sql, true, nil
}

// mayQuery looks for the words without which no INSERT has a query on a table.
func mayQuery(sql []byte) bool { return plan.ContainsAnyWord(sql, "select", "table") }

// prepareUnsharded judges how an INSERT or REPLACE into a table of an unsharded keyspace
// is to be executed.
func (r *textRouter) prepareUnsharded(k *catalog.Keyspace, st *routedStmt) (*catalog.Keyspace, error) {
	text, stays, err := r.unshardedText(k, st.sql, st.mode)
	if err != nil {
		return nil, err
	}
	if stays {
		st.first = text
		return r.alwaysAt(st, k), nil
	}
	if r.s.planner.Stmt.Returning {
		return nil, r.unsupported("RETURNING in a prepared INSERT ... SELECT of another keyspace", "leave RETURNING away")
	}
	// No server knows all of its tables: what one prepares is for the parameters alone.
	places, err := parser.Placeholders(nil, st.sql, st.mode)
	if err != nil {
		return nil, err
	}
	st.run = asText
	st.first = append([]byte("DO 0"), bytes.Repeat([]byte(", ?"), len(places))...)
	return k, nil
}
