package proxy

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
)

// endOnAll ensures that a transaction that a server has ended on one shard is over on
// all. Each statement comes here when it has run, with its error. What committed on one
// shard is committed on the others; an error rolls back. An error's packet does not say
// whether it ended the transaction, so the servers are asked.
func (r *shardedConn) endOnAll(err error) error {
	if !r.tx.open || isConnectionFailure(err) {
		return err
	}
	failed := err != nil || r.s.Answer.Failed
	if !r.endedOnOne(failed) {
		return err
	}
	if failed || r.tx.name != "" {
		r.rollback()
		return err
	}
	if err := r.commit(); err != nil {
		return &backend.LostError{Err: fmt.Errorf("%w: %w", backend.ErrAnswerBegun, err)} // the client has its answer already
	}
	return nil
}

// endedOnOne reports whether some server has ended the transaction. With ask it is
// asked, else its latest answer said so.
func (r *shardedConn) endedOnOne(ask bool) (ended bool) {
	for _, conn := range r.conns.all {
		if !conn.Begun || conn.HasEnded() {
			continue
		}
		if ask && conn.Ping() != nil {
			conn.Lose() // and the transaction with it: whoever needs the connection is told
			continue
		}
		if conn.Answer.Status&mysql.SERVER_STATUS_IN_TRANS == 0 {
			ended = true
			if conn.xid == "" { // else it is still to be told of the end
				conn.outOfTransaction()
			}
		}
	}
	return ended
}

// refuseProgram refuses a statement that runs others, of which nobody sees what they do
// to transactions, where other shards take part in the client's: a server may commit and
// begin anew in it, or commit and then fail. In two phases servers refuse to commit by
// themselves.
func (r *shardedConn) refuseProgram(conn *executor, sql []byte) error {
	if !r.tx.open || r.xa() || !runsOthers(sql) {
		return nil
	}
	for _, other := range r.conns.all {
		if other != conn && other.Begun {
			return r.Unsupported("stored programs and statements that run others within a transaction of several shards",
				"commit before, or have seqgate commit in two phases (transactions: xa)")
		}
	}
	return nil
}

// runsOthers reports whether a statement runs others that its text does not show.
func runsOthers(sql []byte) bool {
	switch parser.Sniff(sql) {
	case parser.Call, parser.Execute:
		return true
	case parser.DynamicSQL:
		switch parser.Words(sql, 1)[0] {
		case "EXPLAIN", "DESCRIBE", "DESC", "ANALYZE":
			return false
		}
		return true
	}
	return false
}
