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

// plan plans a statement that is none of transactions. It runs nothing; it may ask servers of tables and of the session.
func (r *router) plan(sql []byte, m parser.Mode) (p routedStatement, err error) {
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

// run runs a planned statement, and answers it. attributes is what stands before its text in a COM_QUERY.
func (r *router) run(p *routedStatement, attributes []byte) error {
	r.assigned = p.assigned
	switch p.kind {
	case routedSet:
		return r.set(attributes, p.sql, p.mode)
	case routedUse:
		return r.use(p.database)
	case routedKill:
		return r.passKill(attributes, p.sql)
	case routedNamed:
		return r.runNamed(attributes, p.sql, p.mode)
	case routedPlan:
		return r.explainCommand(p.sql, p.mode)
	case routedShow:
		return r.show(attributes, p.sql, p.mode)
	case routedAt:
		get := r.connectedConn
		if p.joins {
			get = r.conn
		}
		conn, err := get(p.keyspace)
		if err != nil {
			return err
		}
		return r.passTo(conn, attributes, p.text)
	case routedLocal:
		return r.local(attributes, p.sql, p.found)
	case routedCurrent:
		return r.runCurrent(p, attributes)
	case routedInsert:
		return p.insert.run(attributes)
	case routedQuery:
		return r.insertFromQuery(attributes, p.sql, p.mode)
	case routedTables:
		return r.runTables(p, attributes)
	}
	return r.passHome(attributes, p.sql)
}

// passKill passes a KILL to the connection whose server knows the ids that SHOW PROCESSLIST tells.
func (r *router) passKill(attributes, sql []byte) error {
	conn, err := r.connectedConn(r.shards()[0])
	if id, _, ok := parser.KillTarget(sql); isAway(err) && ok && id >= firstSessionID {
		conn, err = r.anyConn() // it is not the server that does it
	}
	if err != nil {
		return err
	}
	return r.passTo(conn, attributes, sql)
}
