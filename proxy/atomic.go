package proxy

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// onEachOf is a statement that several connections run, on all of them or on none.
type onEachOf struct {
	conns   []*executor
	inOrder bool              // the first connection does it before the others: so rows that are the same everywhere are locked in one order
	send    func(i int) error // sends it to a connection
	receive func(i int) error // reads the connection's answer whole
	done    func() error      // called when all have done it, before anything ends
}

// statementSavepoint is what such a statement is undone to in the client's transaction.
const statementSavepoint = "seqgate_statement"

// atomic runs a statement in a transaction of its own, or behind a savepoint in the
// client's. Where the client's loses a shard's connection it cannot go on: it is left
// open, and the session ends, as it would on one server.
func (r *shardedConn) atomic(q onEachOf) error {
	if !r.tx.open && r.autocommit() {
		return r.inOwnTransaction(q)
	}
	err := q.run(always("SAVEPOINT " + statementSavepoint))
	if err == nil || isConnectionFailure(err) {
		return err
	}
	return r.undoStatement(q.conns, err)
}

// inOwnTransaction runs a statement in a transaction of its own. XA START may be
// refused, and the statement would be one of its own then: it is awaited.
func (r *shardedConn) inOwnTransaction(q onEachOf) (err error) {
	r.tx = transaction{open: true, begin: startTransaction}
	for _, conn := range q.conns {
		conn.Begun = true
	}
	begin := r.beginText
	if r.xa() {
		err, begin = everywhere(q.conns, begin), nil
	}
	if err == nil {
		err = q.run(begin)
	}
	if err == nil {
		err = r.commit()
		r.rollback() // what is still open, if a connection was lost
		return err
	}
	var before *beforeError
	if errors.As(err, &before) && before.done && before.conn.Answer.Status&mysql.SERVER_STATUS_IN_TRANS == 0 {
		err = mysql.NewError(mysql.ER_ERROR_DURING_COMMIT, fmt.Sprintf("%s began no transaction (%v), and did its part of the statement; check the rows there", before.conn.keyspace, before.error))
	}
	r.rollback()
	return err
}

// undoStatement takes back what a statement that failed with err did on connections within
// the client's transaction. Where that cannot be done, as one of the servers has ended
// the transaction or set no savepoint, all of it is rolled back; where one is lost it
// stays open, so that COMMIT fails.
func (r *shardedConn) undoStatement(conns []*executor, err error) error {
	var before *beforeError
	if !errors.As(err, &before) {
		undone := everywhere(conns, always("ROLLBACK TO SAVEPOINT "+statementSavepoint))
		if undone == nil || isConnectionFailure(undone) {
			return errors.Join(err, undone)
		}
	}
	r.rollback()
	return rolledBack(err)
}

// rolledBack gives the error of a statement whose whole transaction had to be rolled back,
// by the number that tells drivers so: a deadlock's. A server's own deadlock stays as it is.
func rolledBack(err error) error {
	var refused *wire.ServerError
	if !errors.As(err, &refused) || refused.Code() == mysql.ER_LOCK_DEADLOCK {
		return err
	}
	return mysql.NewError(mysql.ER_LOCK_DEADLOCK, fmt.Sprintf(
		"seqgate rolled the transaction back on all shards, as one of them could not undo its part of a statement that failed (error %d: %s); begin it again", refused.Code(), refused.Text()))
}

// beforeError is a server's refusal of what is sent before a statement.
type beforeError struct {
	error
	done bool      // the statement itself was not refused
	conn *executor // where it was done
}

func (e *beforeError) Unwrap() error { return e.error }

// run runs the statement, with another one before it if there is one.
func (q *onEachOf) run(before func(*executor) string) error {
	if err := q.exchange(before); err != nil {
		return err
	}
	return q.done()
}

// exchange sends the statement to all connections, with another one before it if there is one,
// and reads all answers then. The error is the first, or one of a connection, which is
// given up.
func (q *onEachOf) exchange(before func(*executor) string) error {
	if !q.inOrder {
		return q.exchangeOn(0, len(q.conns), before)
	}
	if before != nil {
		if err := everywhere(q.conns, before); err != nil {
			return &beforeError{error: err}
		}
	}
	if err := q.exchangeOn(0, 1, nil); err != nil {
		return err
	}
	return q.exchangeOn(1, len(q.conns), nil)
}

// exchangeOn is exchange with the connections from the first to before the last.
func (q *onEachOf) exchangeOn(first, last int, before func(*executor) string) error {
	owed := make([]int, len(q.conns)) // answers
	var failed error
	for i := first; i < last; i++ {
		conn := q.conns[i]
		conn.Boundary, conn.Sent, conn.Answer.Failed = false, false, false
		if before != nil {
			if failed = conn.SendText(before(conn)); failed != nil {
				break
			}
			owed[i]++
			conn.Call.Ahead++ // both in one round trip
		}
		if failed = q.send(i); failed != nil {
			break
		}
		owed[i]++
	}
	for i := first; i < last; i++ {
		err := q.collect(i, owed[i], before != nil)
		if err != nil && (failed == nil || isConnectionFailure(err) && !isConnectionFailure(failed)) {
			failed = err
		}
	}
	return failed
}

// collect reads the answers that a connection owes.
func (q *onEachOf) collect(i, owed int, before bool) error {
	conn := q.conns[i]
	var first, answered error
	if before && owed > 0 {
		owed--
		first = conn.Drop(wire.ShapeResults)
	}
	asked := owed > 0 && !isConnectionFailure(first)
	if asked {
		conn.Sent = true // not as answerOK: out, which says whether more follows, is the client's where the connection is its own
		answered = q.receive(i)
	}
	for _, err := range []error{first, answered} {
		if isConnectionFailure(err) {
			conn.Lose()
			return err
		}
	}
	conn.Boundary = true
	if first != nil {
		return &beforeError{first, asked && answered == nil, conn}
	}
	return answered
}

func always(sql string) func(*executor) string { return func(*executor) string { return sql } }

// everywhere runs a statement of seqgate's own on several connections at once. It gives the
// first error when all have answered. A connection that fails is given up.
func everywhere(conns []*executor, text func(*executor) string) error {
	var first error
	sent := 0
	for _, conn := range conns {
		if conn.HasEnded() { // not by another connection
			first = errShardLost
			break
		}
		if first = conn.SendText(text(conn)); first != nil {
			conn.Lose()
			break
		}
		sent++
	}
	for _, conn := range conns[:sent] {
		err := conn.Drop(wire.ShapeResults)
		if isConnectionFailure(err) {
			conn.Lose()
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}
