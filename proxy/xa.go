package proxy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/proxy/xa"
)

// With Config.XA, transactions of several shards commit in two phases, as package xa says. A transaction that stays in one
// shard commits there in one phase.

// commitXA commits on all connections or on none. The error is the server's that refused
// to prepare, or to commit in one phase. What is decided and could not be told to a
// shard is told by recovery.
func (r *shardedConn) commitXA(name string, conns []*executor) error {
	if err := onEach(conns, "XA END "); err != nil {
		r.rollbackOn(conns)
		return err
	}
	if len(conns) == 1 {
		return r.commitOn(conns, "XA COMMIT "+conns[0].xid+" ONE PHASE")
	}
	if err := onEach(conns, "XA PREPARE "); err != nil {
		r.rollbackOn(conns)
		return err
	}
	d := r.s.srv.decisions
	decision, err := d.Decide(r.s.ctx, name, xa.Commit)
	switch {
	case err != nil:
		// Whether it was written is not known: recovery finds out, and ends the transaction.
		return r.undecided(name, conns, err)
	case decision == xa.Rollback:
		text := "the transaction took so long to prepare that recovery has rolled it back; run it again"
		r.rollbackOn(conns)
		return mysql.NewError(mysql.ER_XA_RBTIMEOUT, text)
	}
	told := true
	for _, conn := range conns {
		if err := conn.endXA("XA COMMIT "); err != nil {
			told = false
			r.s.log.Error("a committed transaction is not told to a shard yet; recovery does it", "transaction", name, "shard", conn.keyspace.String(), "err", err)
			conn.Lose()
		}
	}
	if told {
		if err := d.Forget(r.s.ctx, name); err != nil {
			r.s.log.Warn("a decision that nobody needs is kept until recovery", "transaction", name, "err", err)
		}
	}
	return nil
}

// undecided leaves a transaction whose decision may be written or not to recovery,
// which finds out. The connections' connections can do nothing else until then.
func (r *shardedConn) undecided(name string, conns []*executor, err error) error {
	for _, conn := range conns {
		conn.outOfTransaction()
		conn.Lose()
	}
	r.s.log.Error("whether a transaction is committed is not known; recovery decides", "transaction", name, "err", err)
	return mysql.NewError(mysql.ER_ERROR_DURING_COMMIT, fmt.Sprintf(
		"whether the transaction is committed is not known yet (%v); recovery commits it on all shards or rolls it back on all: check the rows, in some seconds", err))
}

// endXA ends a connection's part of the transaction.
func (c *serverState) endXA(verb string) error {
	err := c.Quietly(verb + c.xid)
	c.outOfTransaction()
	return err
}

// rollbackXA rolls a connection's part back, whether that is prepared or not.
func (c *serverState) rollbackXA() error {
	if err := ignoreXAState(c.Quietly("XA END " + c.xid)); err != nil {
		return err
	}
	err := c.endXA("XA ROLLBACK ")
	var refused *wire.ServerError
	if errors.As(err, &refused) && (refused.Code() == mysql.ER_XAER_NOTA || strings.HasPrefix(refused.Text(), "XA_RB")) {
		return nil // the server has rolled back by itself, or recovery has
	}
	return err
}

// ignoreXAState drops the error that a part of a transaction is not in the state for
// a statement.
func ignoreXAState(err error) error {
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// onEach runs a statement on the part of each connection at once, and gives the first error.
func onEach(conns []*executor, verb string) error {
	return everywhere(conns, func(conn *executor) string { return verb + conn.xid })
}
