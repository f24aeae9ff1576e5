package plan

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// Manner is how a prepared statement is executed.
type Manner uint8

const (
	OnOneShard Manner = iota // always on the same connection
	ByPlan                   // where its plan and values say
	AsText                   // its values become literals, and its text runs
	Anew                     // so too, by a statement that is prepared for it
)

// RoutedPrepared is how a client's prepared statement is executed in front of sharded keyspaces.
type RoutedPrepared struct {
	Run      Manner
	At       *catalog.Keyspace // of OnOneShard: whose connection runs it
	Prepares *catalog.Keyspace // the keyspace or shard that prepares it first
	Text     []byte            // ... where that is another text than the client's
	Route    *route.Plan       // nil of statements that are not routed
	Loaded   *catalog.Loaded   // by which it was planned
	Into     bool              // an INSERT or REPLACE that names its table's keyspace

	Variables, Assigned []string // of OnOneShard: user variables that it names and sets
	Program             bool     // it may run a program that sets any
}

// Prepare plans the executions of a statement.
func (r *Router) Prepare(sql []byte, m parser.Mode) (p RoutedPrepared, err error) {
	p.Loaded = r.Loaded
	kind := parser.Sniff(sql)
	if t, _ := parser.ParseTransaction(sql, m); t.Verb != parser.NoTransaction {
		kind = parser.Set
	}
	stays, err := r.preparesHere(sql, m)
	if err != nil {
		return p, err
	}
	switch kind {
	case parser.Set, parser.Use, parser.Kill:
		p.Run, p.Prepares = AsText, r.Home
		return p, nil
	case parser.Insert, parser.Replace:
		return p, r.prepareInsert(&p, sql, m)
	case parser.Next:
		stmt, err := parser.ParseNext(sql, m)
		if err != nil && stmt.Sequence == "" {
			return p, err
		}
		p.alwaysAt(r.sequenceKeyspace(parser.Table{Schema: stmt.Schema, Name: stmt.Sequence}), sql, m)
		return p, nil
	case parser.Prepare, parser.Execute, parser.Deallocate:
		p.alwaysAt(r.Shards()[0], sql, m)
		return p, nil
	}
	if !stays && parser.MayCall(sql) {
		if k := r.callsAt(sql, m); k != nil {
			p.alwaysAt(k, sql, m)
			return p, nil
		}
	}
	found, uses := usesSession(sql, m)
	switch {
	case stays:
		p.alwaysAt(r.Shards()[0], sql, m)
		if CommitsFirst(kind, sql) {
			p.Run = AsText
		} else if kind == parser.Select && uses {
			p.Run = Anew
		}
		return p, nil
	case uses:
		return p, r.prepareSession(&p, sql, m, &found)
	}
	return p, r.prepareRouted(&p, sql, m)
}

// preparesHere refuses what is of one server's connection, or reports that a statement is all the affair of the current
// keyspace's server.
func (r *Router) preparesHere(sql []byte, m parser.Mode) (stays bool, err error) {
	switch parser.SniffCommand(sql) {
	case parser.NoCommand:
	case parser.SelectDecode:
		return true, nil
	default:
		return false, mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS) // as both servers say
	}
	if r.Stays(sql, m) {
		return true, nil
	}
	return false, r.refuseOneServer(parser.Sniff(sql), sql, m)
}

// alwaysAt notes that one connection runs all executions, and which user variables they may read or set.
func (p *RoutedPrepared) alwaysAt(k *catalog.Keyspace, sql []byte, m parser.Mode) {
	p.Run, p.At, p.Prepares = OnOneShard, k, k
	kind := parser.Sniff(sql)
	p.Program = kind == parser.Call || kind == parser.Execute || kind == parser.DynamicSQL
	if !parser.MayUseSession(sql) {
		return
	}
	found := parser.FindSession(sql, m)
	if p.Variables, p.Assigned = found.Variables, found.Assigned; p.Program {
		p.Assigned = found.Variables // as OUT parameters
	}
}

// usesSession reports whether a statement's executions depend on which connection ran the statement before, or change what all
// connections have to have; and what it has of these.
func usesSession(sql []byte, m parser.Mode) (found parser.SessionStmt, uses bool) {
	if !parser.MayUseSession(sql) {
		return found, false
	}
	const others = parser.TakesLocks | parser.SetsLastID | parser.SetsVariables | parser.ReadsWarnings
	found = parser.FindSession(sql, m)
	return found, len(found.Calls) > 0 || found.Uses&others != 0
}

// callsAt returns where a statement runs that asks for values of sequences and has no tables; nil for any other.
func (r *Router) callsAt(sql []byte, m parser.Mode) *catalog.Keyspace {
	calls := parser.FindCalls(sql, m).Calls
	if len(calls) == 0 || parser.FindSession(sql, m).Uses&parser.ReadsTables != 0 {
		return nil
	}
	return r.sequenceKeyspace(calls[0].Sequence)
}

// prepareInsert is Prepare for INSERT and REPLACE.
func (r *Router) prepareInsert(p *RoutedPrepared, sql []byte, m parser.Mode) error {
	stmt := &r.Planner.Stmt
	if err := stmt.ParseTarget(sql, m); err != nil {
		return err
	}
	k, err := r.ownerOf(stmt.Schema, stmt.Table)
	switch {
	case err != nil:
		return err
	case k == nil: // a table of the servers' own
		p.alwaysAt(r.Home, sql, m)
		return nil
	case k.Shards == nil:
		return r.prepareUnsharded(p, k, sql, m)
	}
	p.Run, p.Prepares, p.Into = AsText, k.Shards[0], stmt.Schema != "" && stmt.Schema == k.Name
	return nil
}

// prepareUnsharded is prepareInsert for a table of an unsharded keyspace.
func (r *Router) prepareUnsharded(p *RoutedPrepared, k *catalog.Keyspace, sql []byte, m parser.Mode) error {
	text, stays, err := r.unshardedText(k, sql, m)
	if err != nil {
		return err
	}
	if stays {
		p.Text = text
		p.alwaysAt(k, sql, m)
		return nil
	}
	if r.Planner.Stmt.Returning {
		return r.Unsupported("RETURNING in a prepared INSERT ... SELECT of another keyspace", "leave RETURNING away")
	}
	// No server knows all of its tables: what one prepares is for the parameters alone.
	places, err := parser.Placeholders(nil, sql, m)
	if err != nil {
		return err
	}
	p.Run, p.Prepares = AsText, k
	p.Text = append([]byte("DO 0"), bytes.Repeat([]byte(", ?"), len(places))...)
	return nil
}

// prepareSession is prepareRouted for a statement with functions of the session. By what they give now it is told where it is
// prepared; each execution is planned anew.
func (r *Router) prepareSession(p *RoutedPrepared, sql []byte, m parser.Mode, found *parser.SessionStmt) error {
	p.Run = Anew
	if IsLocal(parser.Sniff(sql), sql, found) {
		p.Prepares = r.Shards()[0]
		return nil
	}
	text, err := r.sessionText(sql, found)
	if err != nil {
		return err
	}
	routed, err := r.Loaded.Planner.Plan(text, r.KeyspaceName(), m)
	if err != nil {
		return err
	}
	if !routed.Select {
		p.Run = AsText
	}
	p.Prepares = r.FirstServer(routed)
	p.Text = routed.AppendSQL(nil, text, false, r.DatabaseAt(p.Prepares))
	return nil
}

// prepareRouted is Prepare for a statement that goes where its tables and values say.
func (r *Router) prepareRouted(p *RoutedPrepared, sql []byte, m parser.Mode) error {
	routed, err := r.Loaded.Planner.Plan(sql, r.KeyspaceName(), m)
	if err != nil {
		return err
	}
	p.Route = routed
	k := r.Keyspace
	if routed.Keyspace != "" {
		k = r.Keyspaces[routed.Keyspace]
	}
	switch routed.Kind {
	case route.Local:
		p.alwaysAt(r.Shards()[0], sql, m)
		return nil
	case route.Unsharded:
		p.alwaysAt(k, sql, m)
		if CommitsFirst(parser.Sniff(sql), sql) { // which ends transactions on all shards
			p.Run = AsText
		}
		return nil
	case route.Any:
		p.alwaysAt(k.EachShard()[0], sql, m)
		return nil
	case route.Everywhere, route.Insert:
		p.Run = AsText
	default:
		p.Run = ByPlan
	}
	p.Prepares = k.EachShard()[0]
	return nil
}
