package proxy

import (
	"errors"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A SELECT with functions of the session has other values in their places at each
// execution. So it is prepared for each anew, as is one that several shards answer.

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
	if plan.IsLocal(kind, text, &found) {
		conn, err := r.localConn(&found)
		if err != nil {
			return err
		}
		return r.answerOnce(conn, text, &found)
	}
	if r.Stays(text, st.mode) {
		conn, err := r.conn(r.Shards()[0])
		if err != nil {
			return err
		}
		return r.answerOnce(conn, text, &found)
	}
	if err := r.RefuseUses(&found); err != nil {
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
