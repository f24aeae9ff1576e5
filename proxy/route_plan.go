package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// routedKind is what becomes of a statement in front of sharded keyspaces.
type routedKind uint8

const (
	routedSet     routedKind = iota // it sets variables, on each connection that is used
	routedUse                       // another keyspace becomes the current one
	routedKill                      // it ends a session or its statement
	routedNamed                     // SQL's PREPARE, EXECUTE, DEALLOCATE PREPARE
	routedPlan                      // SHOW SEQGATE PLAN
	routedShow                      // SHOW of the session, or of all keyspaces
	routedHome                      // the session's first connection answers it, or another one while that is away
	routedAt                        // the server of one keyspace runs it
	routedLocal                     // it has no tables: the connection that knows what it asks for
	routedCurrent                   // the server of the current keyspace, which is not sharded
	routedInsert                    // INSERT or REPLACE into a sharded table: its rows say where
	routedQuery                     // INSERT ... SELECT whose rows are read first
	routedTables                    // its tables and values say where
)

// routedStatement is what becomes of one statement in front of sharded keyspaces.
type routedStatement struct {
	kind routedKind
	sql  []byte // the client's text, with what the session's functions give written into it where they decide about the shard
	mode parser.Mode

	keyspace *catalog.Keyspace // of routedAt
	text     []byte            // of routedAt, for that server
	joins    bool              // of routedAt: in the client's transaction
	database string            // of routedUse

	found    *parser.SessionStmt // of routedLocal and routedCurrent; nil where it has nothing of the session
	assigned []string            // user variables that it may set

	insert *shardedInsert // of routedInsert

	planner *route.Planner // of routedTables: one for the statement, whatever is loaded meanwhile
	route   *route.Plan
	shards  []int // by index, of a plan of several

	read    bool // its text was read: a syntax error is a server's, of the client's own text
	inserts bool // ... also one that comes of running it
}

// textRouter plans a text by the vschema and what it has to do with the session, and runs plans of tables.
type textRouter struct {
	sessionRouter

	indexes []int      // of shards, reused from statement to statement
	room    route.Room // of the plan of a text under way
}

// plan plans a statement that is none of transactions. It runs nothing; it may ask servers of tables and of the session.
func (r *textRouter) plan(sql []byte, m parser.Mode) (p routedStatement, err error) {
	p.sql, p.mode = sql, m
	kind := parser.Sniff(sql)
	switch kind {
	case parser.Set:
		p.kind = routedSet
		return p, nil
	case parser.Use:
		p.kind = routedHome
		if name, ok := parser.UseTarget(sql, m); ok {
			p.kind, p.database = routedUse, name
		}
		return p, nil
	case parser.Kill:
		p.kind = routedKill
		return p, nil
	case parser.Prepare, parser.Execute, parser.Deallocate:
		p.kind = routedNamed
		return p, nil
	}
	if done, err := r.planInSession(&p, kind); done || err != nil {
		return p, err
	}
	if kind == parser.Insert || kind == parser.Replace {
		return p, r.planInsert(&p)
	}
	return p, r.planTables(&p)
}

// passKill passes a KILL to the connection whose server knows the ids that SHOW PROCESSLIST tells.
func (r *textRouter) passKill(attributes, sql []byte) error {
	conn, err := r.connectedConn(r.shards()[0])
	if id, _, ok := parser.KillTarget(sql); isAway(err) && ok && id >= firstSessionID {
		conn, err = r.anyConn() // it is not the server that does it
	}
	if err != nil {
		return err
	}
	return r.passTo(conn, attributes, sql)
}

// preparing gives the connection that prepares a statement first: that of the given keyspace or
// shard, or where it may be another shard's, one whose server is there. It takes part in
// no transaction by that.
func (r *textRouter) preparing(k *catalog.Keyspace, st *routedStmt) (*executor, error) {
	if st.run != onOneShard {
		return r.anyShard(k, r.connectedConn)
	}
	conn, err := r.anyShard(k, r.conn)
	if err == nil {
		st.at = conn.keyspace
	}
	return conn, err
}

// syntaxOr gives a server's error for a text that was refused here because it could not
// be read, or by a server in the form that seqgate gave it, if the server cannot read it
// either; else the error.
func (r *textRouter) syntaxOr(err error, sql []byte) error {
	if !isUnread(err) && !isMiscounted(err) && !isSyntaxError(err) {
		return err
	}
	home, homeErr := r.anyConn()
	if homeErr != nil {
		return homeErr
	}
	its := home.tryPrepare(sql)
	if isSyntaxError(its) || isConnectionFailure(its) {
		return its
	}
	return err
}

// alwaysAt notes that one connection runs all executions.
func (r *textRouter) alwaysAt(st *routedStmt, k *catalog.Keyspace) *catalog.Keyspace {
	st.run, st.at = onOneShard, k
	st.noteVariables()
	return k
}
