package plan

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// RoutedKind is what becomes of a statement in front of sharded keyspaces.
type RoutedKind uint8

const (
	RoutedSet         RoutedKind = iota // it sets variables, on each connection that is used
	RoutedUse                           // another keyspace becomes the current one
	RoutedKill                          // it ends a session or its statement
	RoutedNamed                         // SQL's PREPARE, EXECUTE, DEALLOCATE PREPARE
	RoutedExplain                       // SHOW SEQGATE PLAN
	RoutedShow                          // SHOW of the session, or of all keyspaces
	RoutedHome                          // the session's first connection answers it, or another one while that is away
	RoutedAt                            // the server of one keyspace runs it
	RoutedLocal                         // it has no tables: the connection that knows what it asks for
	RoutedCurrent                       // the server of the current keyspace, which is not sharded
	RoutedInsert                        // INSERT or REPLACE into a sharded table: its rows say where
	RoutedInsertQuery                   // INSERT ... SELECT whose rows are read first
	RoutedTables                        // its tables and values say where
)

// Routed is what becomes of one statement in front of sharded keyspaces.
type Routed struct {
	Kind RoutedKind
	SQL  []byte // the client's text, with what the session's functions give written into it where they decide about the shard
	Mode parser.Mode

	Keyspace *catalog.Keyspace // of RoutedAt
	Text     []byte            // of RoutedAt, for that server
	Joins    bool              // of RoutedAt: in the client's transaction
	Database string            // of RoutedUse

	Found    *parser.SessionStmt // of RoutedLocal and RoutedCurrent; nil where it has nothing of the session
	Assigned []string            // user variables that it may set

	Insert *ShardedInsert // of RoutedInsert

	Planner *route.Planner // of RoutedTables: one for the statement, whatever is loaded meanwhile
	Route   *route.Plan
	Shards  []int // by index, of a plan of several

	Read    bool // its text was read: a syntax error is a server's, of the client's own text
	Inserts bool // ... also one that comes of running it
}

// Router plans statements in front of sharded keyspaces. Like [Planner] it asks nothing in the client's session, and where it cannot
// say what becomes of a statement its error is a *[Missing]. The types of columns come through Loaded.Planner, which may ask shards
// for them over seqgate's own connections. It is one session's.
type Router struct {
	*Place
	Planner *Planner // whose Stmt is that of the INSERT planned last
	Tables  ShardTables
	Home    *catalog.Keyspace // whose server the session has logged into
	Loaded  *catalog.Loaded
	Opaque  bool // a program has run that may have set any user variable
	Fetched RoutedFacts

	indexes []int      // of shards, used again from statement to statement
	room    route.Room // of the plan of a text
}

// ShardTables is what is known of the tables of keyspaces.
type ShardTables interface {
	// DeclaredSequence finds the keyspace of a sequence of the vschema.
	DeclaredSequence(k *catalog.Keyspace, schema, table string) (keyspace string, ok bool)
	// Fresh returns what a server says of a table. It reports false where the server has to be asked.
	Fresh(k *catalog.Keyspace, schema, table string) (*catalog.Entry, bool)
}

// RoutedFacts is what was missing for the statement that is being planned, and has been fetched.
type RoutedFacts struct {
	Noted     bool           // which user variables the program has set, of those that the statement names
	Text      []byte         // the statement with what the session's functions give
	Described *catalog.Entry // of the INSERT's table
	Anew      bool           // ... it was looked at anew
	Computed  []byte         // the row of NeedsComputed
}

// Plan plans a statement that is none of transactions. Also with an error the plan says whether the text was read.
func (r *Router) Plan(sql []byte, m parser.Mode) (p Routed, err error) {
	p.SQL, p.Mode = sql, m
	kind := parser.Sniff(sql)
	switch kind {
	case parser.Set:
		p.Kind = RoutedSet
		return p, nil
	case parser.Use:
		p.Kind = RoutedHome
		if name, ok := parser.UseTarget(sql, m); ok {
			p.Kind, p.Database = RoutedUse, name
		}
		return p, nil
	case parser.Kill:
		p.Kind = RoutedKill
		return p, nil
	case parser.Prepare, parser.Execute, parser.Deallocate:
		p.Kind = RoutedNamed
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

// DropRoom lets go of memory that the plan of a long text has used.
func (r *Router) DropRoom() { r.room = route.Room{} }

// planTables plans a statement for the shards that its tables and values say.
func (r *Router) planTables(p *Routed) (err error) {
	p.Kind, p.Read = RoutedTables, true
	p.Planner = r.Loaded.Planner
	if p.Route, err = p.Planner.PlanIn(&r.room, p.SQL, r.KeyspaceName(), p.Mode); err != nil {
		return err
	}
	p.Read = false
	switch p.Route.Kind {
	case route.Insert:
		return r.planInsert(p)
	case route.Local, route.Any, route.Unsharded:
		return nil
	}
	p.Shards, err = p.Route.Shards(r.indexes[:0], nil)
	if err == nil {
		r.indexes = p.Shards
	}
	return err
}
