package proxy

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/proxy/xa"
)

// transaction is the client's own over all shards. It begins on a shard when a
// statement first needs that.
type transaction struct {
	open       bool
	implicit   bool   // by autocommit=0: it is told of once a shard has begun it
	begin      string // the statement that began it, as each shard gets it
	readOnly   bool
	preceding  []string // each SET TRANSACTION that is for it
	name       string   // of an XA transaction; empty before it begins on a shard, and for others
	savepoints []string // set in it, the oldest first
}

// transact runs a statement that begins, ends or marks a transaction.
func (r *shardedConn) transact(t parser.TransactionStmt, ok bool, attributes, sql []byte) error {
	if t.Verb == parser.OtherTransaction {
		return r.Unsupported("XA statements over several shards", "let seqgate commit (transactions: xa), or connect to one shard")
	}
	if !ok && r.Sharded() && parser.Sniff(sql) == parser.DynamicSQL {
		return r.Unsupported("compound statements", "connect to one shard for it, as in the database name "+r.OneShard())
	}
	if !ok {
		return r.passHome(attributes, sql) // for the server's own syntax error
	}
	r.forgetLast()
	switch t.Verb {
	case parser.BeginTransaction:
		return r.beginTransaction(t, sql)
	case parser.CommitTransaction:
		return r.endTransaction(t, r.commitAsked)
	case parser.RollbackTransaction:
		return r.endTransaction(t, func() error {
			r.rollback()
			return nil
		})
	}
	return r.savepoint(t, attributes, sql)
}

func (r *shardedConn) beginTransaction(t parser.TransactionStmt, sql []byte) error {
	if t.Snapshot && !t.ReadOnly && r.xa() {
		return r.Unsupported("WITH CONSISTENT SNAPSHOT in transactions that commit in two phases", "add READ ONLY")
	}
	if err := r.commit(); err != nil { // as each server does
		return err
	}
	r.tx = transaction{open: true, begin: string(parser.TrimEnd(sql)), readOnly: t.ReadOnly, preceding: r.next}
	r.next = nil
	if t.Snapshot { // of this moment, on each shard
		if _, err := r.connsOf(r.Shards()); err != nil {
			return err
		}
	}
	return r.done()
}

// beginImplicitly begins the transaction that any statement is in with autocommit=0.
func (r *shardedConn) beginImplicitly() {
	if !r.tx.open && !r.autocommit() {
		r.tx = transaction{open: true, implicit: true, begin: startTransaction, preceding: r.next}
		r.next = nil
	}
}

// enter ensures that a connection is in the client's transaction, if there is one.
func (r *shardedConn) enter(conn *executor) error {
	r.beginImplicitly()
	switch {
	case !r.tx.open && !conn.Preceded:
		return r.precede(conn, r.next)
	case !r.tx.open || conn.Begun:
		return nil
	}
	if err := r.precede(conn, r.tx.preceding); err != nil {
		return err
	}
	if err := conn.Quietly(r.beginText(conn)); err != nil {
		conn.xid = "" // of no transaction
		return err
	}
	conn.Begun = true
	for _, name := range r.tx.savepoints {
		if err := conn.Quietly("SAVEPOINT " + catalog.Quote(name)); err != nil {
			if !isConnectionFailure(err) {
				r.rollbackOn([]*executor{conn}) // it comes to the transaction anew, when it is needed again
			}
			return err
		}
	}
	return nil
}

// beginText returns the statement that begins the client's transaction on a connection.
func (r *shardedConn) beginText(conn *executor) string {
	if !r.xa() || r.tx.readOnly {
		return r.tx.begin
	}
	if r.tx.name == "" {
		r.tx.name = r.s.srv.decisions.Next()
	}
	conn.xid = xa.ID(r.tx.name, conn.keyspace)
	return "XA START " + conn.xid
}

// xa reports whether transactions commit in two phases.
func (r *shardedConn) xa() bool { return r.s.srv.decisions != nil }

// endTransaction is COMMIT or ROLLBACK, answered with OK.
func (r *shardedConn) endTransaction(t parser.TransactionStmt, end func() error) error {
	begin := r.tx
	if !begin.open {
		begin.begin, begin.preceding = startTransaction, r.next
	}
	r.next = nil
	if err := end(); err != nil {
		return err
	}
	if t.Chain { // as a server does, also where none was open
		r.tx = transaction{open: true, begin: begin.begin, readOnly: begin.readOnly, preceding: begin.preceding}
	}
	if err := r.done(); err != nil || !t.Release {
		return err
	}
	return io.EOF
}

// involved returns the connections on which a transaction may be open.
func (r *shardedConn) involved() []*executor {
	var conns []*executor
	for _, conn := range r.conns.all {
		if conn.HasTransaction() {
			conns = append(conns, conn)
		}
	}
	return conns
}

// commitAsked is the client's COMMIT. Before the first of several shards commits, the
// others have to answer: a connection may have been lost since their latest statement.
func (r *shardedConn) commitAsked() error {
	conns := r.involved()
	if len(conns) > 1 && !slices.ContainsFunc(conns, (*executor).HasEnded) && r.tx.name == "" {
		if err := pingAll(conns[1:]); err != nil {
			return err
		}
	}
	return r.commit()
}

// pingAll asks servers for a sign of life, all at once.
func pingAll(conns []*executor) error {
	var first error
	sent := 0
	for _, conn := range conns {
		if first = conn.Send([]byte{mysql.COM_PING}); first != nil {
			break
		}
		sent++
	}
	for _, conn := range conns[:sent] {
		if err := conn.Drop(wire.ShapeSingle); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// commit commits on each shard in the order in which the transaction came to them.
// What a shard has committed stays when a later one fails: the error says so. A
// transaction of one shard is that server's own.
func (r *shardedConn) commit() error {
	conns, name := r.involved(), r.tx.name
	if slices.ContainsFunc(conns, (*executor).HasEnded) {
		return errShardLost // before any of them commits
	}
	r.tx = transaction{}
	if name != "" && len(conns) > 0 {
		return r.commitXA(name, conns)
	}
	r.committing = len(conns) > 1
	defer func() { r.committing = false }()
	for i, conn := range conns {
		if err := r.commitOn(conns[i:], commitText); err != nil {
			if i > 0 {
				err = partlyCommitted(conns[:i], conn, err)
			}
			return err
		}
	}
	return nil
}

// commitOn commits on the first of the connections. Where that fails it rolls back on all: what
// a server refuses to commit may be open there still, as with XA on a MariaDB that is
// read-only.
func (r *shardedConn) commitOn(conns []*executor, text string) error {
	err := conns[0].Quietly(text)
	if err == nil {
		conns[0].outOfTransaction()
		return nil
	}
	if isConnectionFailure(err) {
		conns[0].Lose()
	}
	r.rollbackOn(conns)
	return err
}

// partlyCommitted tells of a transaction that some shards committed and one did not.
func partlyCommitted(done []*executor, failed *executor, err error) error {
	names := make([]string, len(done))
	for i, conn := range done {
		names[i] = conn.keyspace.String()
	}
	text := fmt.Sprintf("the transaction was committed on %s, and failed on %s (%s); what is committed stays: check the rows, or set transactions: xa",
		strings.Join(names, ", "), failed.keyspace, clientErrorText(err))
	return mysql.NewError(mysql.ER_ERROR_DURING_COMMIT, text)
}

// rollback rolls back on all shards.
func (r *shardedConn) rollback() {
	conns := r.involved()
	r.tx = transaction{}
	r.rollbackOn(conns)
}

// rollbackOn rolls back on connections. The connection of one that fails is given up: by its
// end the server rolls back too, or recovery does what is prepared.
func (r *shardedConn) rollbackOn(conns []*executor) {
	sent := make([]bool, len(conns))
	for i, conn := range conns {
		sent[i] = conn.xid == "" && !conn.HasEnded() && conn.SendText(rollbackText) == nil
	}
	for i, conn := range conns {
		var err error
		switch {
		case sent[i]:
			err = conn.Drop(wire.ShapeResults)
		case conn.xid != "" && !conn.HasEnded():
			err = conn.rollbackXA()
		default:
			err = errShardLost
		}
		conn.outOfTransaction()
		if err == nil {
			continue
		}
		r.s.log.Debug("a shard is left to roll back by itself", "shard", conn.keyspace.String(), "err", err)
		if !conn.Lost {
			conn.Lose()
		}
	}
}

// What is sent for BEGIN, COMMIT and ROLLBACK. The endings do the same whatever
// completion_type a server has.
const (
	startTransaction = "START TRANSACTION"
	commitText       = "COMMIT AND NO CHAIN NO RELEASE"
	rollbackText     = "ROLLBACK AND NO CHAIN NO RELEASE"
)

// savepoint sets a savepoint, goes back to one or forgets it, on all shards of the
// transaction. Outside of one the server says what it says.
func (r *shardedConn) savepoint(t parser.TransactionStmt, attributes, sql []byte) error {
	if t.Verb == parser.SetSavepoint {
		r.beginImplicitly()
	}
	conns := r.involved()
	if len(conns) == 0 && (!r.tx.open || t.Verb != parser.SetSavepoint && !slices.Contains(r.tx.savepoints, t.Savepoint)) {
		return r.passHome(attributes, sql)
	}
	if err := everywhere(conns, always(string(parser.TrimEnd(sql)))); err != nil {
		return err
	}
	r.tx.mark(t)
	return r.done()
}

// mark notes what a statement does to the savepoints.
func (t *transaction) mark(stmt parser.TransactionStmt) {
	i := slices.Index(t.savepoints, stmt.Savepoint)
	switch {
	case stmt.Verb == parser.SetSavepoint:
		if i >= 0 {
			t.savepoints = slices.Delete(t.savepoints, i, i+1)
		}
		t.savepoints = append(t.savepoints, stmt.Savepoint)
	case i < 0:
	case stmt.Verb == parser.RollbackToSavepoint:
		t.savepoints = t.savepoints[:i+1]
	case stmt.Verb == parser.ReleaseSavepoint:
		t.savepoints = t.savepoints[:i]
	}
}

// autocommit reports whether each statement outside of a transaction is one of its own.
func (r *shardedConn) autocommit() bool { return r.s.Answer.Status&mysql.SERVER_STATUS_AUTOCOMMIT != 0 }
