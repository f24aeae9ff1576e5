package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A SELECT with functions of the session has other values in their places at each
// execution. So it is prepared for each anew, as is one that several shards answer.

// usesSession reports whether the statement's executions depend on which connection ran the
// statement before, or change what all connections have to have; and what it has of these.
func (st *routedStmt) usesSession() (found parser.SessionStmt, uses bool) {
	if !parser.MayUseSession(st.sql) {
		return found, false
	}
	const others = parser.TakesLocks | parser.SetsLastID | parser.SetsVariables | parser.ReadsWarnings
	found = parser.FindSession(st.sql, st.mode)
	return found, len(found.Calls) > 0 || found.Uses&others != 0
}

// noteVariables notes the user variables that the statement's executions may read or set.
func (st *routedStmt) noteVariables() {
	st.variables, st.assigned = nil, nil
	kind := parser.Sniff(st.sql)
	st.program = kind == parser.Call || kind == parser.Execute || kind == parser.DynamicSQL
	if !parser.MayUseSession(st.sql) {
		return
	}
	found := parser.FindSession(st.sql, st.mode)
	if st.variables, st.assigned = found.Variables, found.Assigned; st.program {
		st.assigned = found.Variables // as OUT parameters
	}
}

// planSession is planRouted for a statement with functions of the session. By what they
// give now it is told where it is prepared; each execution is planned anew.
func (r *statementRouter) planSession(st *routedStmt, found *parser.SessionStmt) (*catalog.Keyspace, error) {
	st.run = anew
	if isLocal(parser.Sniff(st.sql), st.sql, found) {
		return r.shards()[0], nil
	}
	text, err := r.replaceSession(nil, st.sql, found)
	if err != nil {
		return nil, err
	}
	p, err := st.loaded.Planner.Plan(text, r.keyspaceName(), st.mode)
	if err != nil {
		return nil, err
	}
	if !p.Select {
		st.run = asText
	}
	k := r.oneConnOf(p)
	st.first = p.AppendSQL(nil, text, false, r.databaseAt(k))
	return k, nil
}

// executeAnew executes a SELECT with its values as literals.
func (r *statementRouter) executeAnew(st *routedStmt, last *executor, size int) error {
	text, err := r.boundText(st)
	r.s.front.Skip(size)
	if err != nil {
		return err
	}
	text = append([]byte(nil), text...)
	r.last = last // whose counts the statement may ask for
	found := parser.FindSession(text, st.mode)
	kind := parser.Sniff(text)
	if isLocal(kind, text, &found) {
		conn, err := r.localConn(&found)
		if err != nil {
			return err
		}
		return r.answerOnce(conn, text, &found)
	}
	if r.stays(text, st.mode) {
		conn, err := r.conn(r.shards()[0])
		if err != nil {
			return err
		}
		return r.answerOnce(conn, text, &found)
	}
	if err := r.refuseUses(&found); err != nil {
		return err
	}
	r.assigned = found.Assigned
	if text, err = r.replaceSession(nil, text, &found); err != nil {
		return err
	}
	return r.selectAnew(st, text)
}

// answerOnce has one connection answer a statement with functions of the session.
func (r *statementRouter) answerOnce(conn *executor, text []byte, found *parser.SessionStmt) error {
	text, err := r.replaceSession(conn, text, found)
	if err != nil {
		return err
	}
	r.assigned = found.Assigned
	return r.executeOnce(conn, text)
}

// executeOnce prepares a text on a connection, and passes on the answer to its one execution.
func (r *statementRouter) executeOnce(conn *executor, text []byte) error {
	r.last = conn
	err := r.on(conn, func() error {
		e := conn.effectOf(parser.Sniff(text), text)
		if err := conn.before(e); err != nil {
			return err
		}
		id, err := conn.executeOnce(text, nil)
		if err != nil {
			return err
		}
		err = conn.relayComposed(wire.ShapeResults)
		conn.after(e)
		return errors.Join(err, conn.SendClose(id))
	})
	if len(r.assigned) > 0 {
		r.settings.NoteVariables(&conn.Session, r.assigned)
		r.assigned = nil
	}
	return err
}

// judgeOneServer refuses what is of one server's connection, or reports that a statement is
// all the affair of the current keyspace's server.
func (r *statementRouter) judgeOneServer(st *routedStmt) (stays bool, err error) {
	switch parser.SniffCommand(st.sql) {
	case parser.NoCommand:
	case parser.SelectDecode:
		return true, nil
	default:
		return false, mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS) // as both servers say
	}
	if r.stays(st.sql, st.mode) {
		return true, nil
	}
	return false, r.refuseOneServer(parser.Sniff(st.sql), st.sql, st.mode)
}
