package proxy

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
)

// textRouter has texts planned by the vschema and what they have to do with the session, and runs plans of tables.
type textRouter struct {
	sessionRouter

	routes  plan.Router
	indexes []int // of shards, reused from statement to statement
}

// startRoutes has the planner begin with a statement.
func (r *textRouter) startRoutes() {
	r.s.srv.catalog.ExpirePlans()
	r.routes.Place, r.routes.Planner, r.routes.Tables = &r.Place, &r.s.planner, r.s.srv.catalog
	r.routes.Home, r.routes.Loaded, r.routes.Opaque, r.routes.Fetched = r.s.keyspace, r.s.srv.loaded(), r.opaque != nil, plan.RoutedFacts{}
}

// routed has a plan made, and what it lacks fetched.
func (r *textRouter) routed(part func() error) error {
	for r.startRoutes(); ; {
		err := part()
		if err == nil { // as nearly always: nothing is allocated
			return nil
		}
		var missing *plan.Missing
		if !errors.As(err, &missing) {
			return err
		}
		if err := r.fetch(missing); err != nil {
			return err
		}
	}
}

// plan plans a statement that is none of transactions, and runs nothing. A syntax error is the server's.
func (r *textRouter) plan(sql []byte, m parser.Mode) (p plan.Routed, err error) {
	err = r.routed(func() (err error) {
		p, err = r.routes.Plan(sql, m)
		return err
	})
	if err != nil && p.Read {
		err = r.syntaxOr(err, p.SQL)
	}
	return r.withFoundRows(p), err
}

// planInsert plans an INSERT or REPLACE whose text has what the session's functions give.
func (r *textRouter) planInsert(sql []byte, m parser.Mode) (p plan.Routed, err error) {
	err = r.routed(func() (err error) {
		p, err = r.routes.PlanInsert(sql, m)
		return err
	})
	return r.withFoundRows(p), err
}

func (r *textRouter) withFoundRows(p plan.Routed) plan.Routed {
	if p.Insert != nil {
		p.Insert.Fill.FoundRows = r.s.Has(mysql.CLIENT_FOUND_ROWS)
	}
	return p
}

func (r *textRouter) fetch(m *plan.Missing) (err error) {
	fetched := &r.routes.Fetched
	switch m.Fact {
	case plan.NeedsVariablesSet:
		fetched.Noted = true
		return r.settings.NoteOpaque(&r.opaque.Session, m.Found.Variables)
	case plan.NeedsSessionText:
		fetched.Text, err = r.replaceSession(nil, m.SQL, m.Found)
	case plan.NeedsTableAnew:
		r.s.srv.catalog.Forget()
		fetched.Anew = true
		fetched.Described, err = r.describe(m.Table)
	case plan.NeedsShardTable:
		fetched.Described, err = r.describe(m.Table)
	case plan.NeedsComputed:
		fetched.Computed, err = r.compute(m.Query)
	default:
		return fmt.Errorf("the plan of a statement in front of shards needs a fact %d that nobody fetches", m.Fact)
	}
	return err
}

// describe has a table described by the first shard, or by another one while that is away.
func (r *textRouter) describe(table catalog.TableName) (e *catalog.Entry, err error) {
	const tries = 3 // which may each take catalog.Timeout
	s, shards := r.s.executor, r.Keyspaces[table.Schema].Shards
	for _, shard := range shards[:min(tries, len(shards))] {
		var away *catalog.DescribeError
		if e, err = s.srv.catalog.Find(s.ctx, shard, shard.Database, table.Table, true); err == nil || !errors.As(err, &away) {
			return e, err
		}
	}
	return nil, err
}

// compute returns the row of a query of constant expressions, as the text protocol has it.
func (r *textRouter) compute(query string) (row []byte, err error) {
	home, err := r.anyConn()
	if err == nil {
		err = home.SendText(query)
	}
	if err == nil {
		row, err = home.ReadRow()
	}
	if err == nil && row == nil {
		err = backend.ErrMalformedAnswer
	}
	return row, err
}

// passKill passes a KILL to the connection whose server knows the ids that SHOW PROCESSLIST tells.
func (r *textRouter) passKill(attributes, sql []byte) error {
	conn, err := r.connectedConn(r.Shards()[0])
	if id, _, ok := parser.KillTarget(sql); isAway(err) && ok && id >= firstSessionID {
		conn, err = r.anyConn() // it is not the server that does it
	}
	if err != nil {
		return err
	}
	return r.passTo(conn, attributes, sql)
}

// preparing returns the connection that prepares a statement first: that of the given keyspace or
// shard, or where it may be another shard's, one whose server is there. It takes part in
// no transaction by that.
func (r *textRouter) preparing(st *routedStmt) (*executor, error) {
	if st.Run != plan.OnOneShard {
		return r.anyShard(st.Prepares, r.connectedConn)
	}
	conn, err := r.anyShard(st.Prepares, r.conn)
	if err == nil {
		st.At = conn.keyspace
	}
	return conn, err
}

// syntaxOr returns a server's error for a text that was refused here because it could not
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
