package proxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// With Config.XA, transactions of several shards commit in two phases (X/Open
// XA; MySQL manual, "XA Transactions"): each shard prepares, a row in the table of
// decisions says what becomes of all, and then each is told. A transaction that
// stays in one shard commits there in one phase.

// xaFormat is the format id of seqgate's transactions.
const xaFormat = 0x5347

// decisions is the table that says what becomes of prepared transactions: what
// stands there first counts, whoever wrote it.
type decisions struct {
	at *catalog.Keyspace
	// own begins the names of transactions that this table decides, whichever seqgate's:
	// deployments may have servers in common. prefix begins those of this process.
	own, prefix string
	last        atomic.Uint64
}

const (
	decisionTable  = "seqgate_transactions"
	decideCommit   = "commit"
	decideRollback = "rollback"
)

func newDecisions(at *catalog.Keyspace) *decisions {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	hash := sha256.Sum256([]byte(at.Database))
	own := "seqgate-" + hex.EncodeToString(hash[:4]) + "-"
	return &decisions{at: at, own: own, prefix: own + hex.EncodeToString(id[:]) + "-"}
}

// next gives the name of another transaction.
func (d *decisions) next() string { return fmt.Sprintf("%s%d", d.prefix, d.last.Add(1)) }

// decide writes a decision, unless there is one, and gives the one that counts.
func (d *decisions) decide(ctx context.Context, name, decision string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, decisionTimeout)
	defer cancel()
	insert := "INSERT IGNORE INTO " + d.table() + " (name, decision) VALUES (?, ?)"
	_, err := d.at.DB.ExecContext(ctx, insert, name, decision)
	if number, _, ok := sequence.ServerError(err); ok && number == mysql.ER_NO_SUCH_TABLE {
		if err = d.create(ctx); err == nil {
			_, err = d.at.DB.ExecContext(ctx, insert, name, decision)
		}
	}
	if err != nil {
		return "", fmt.Errorf("write the decision of transaction %s to %s: %w", name, d.table(), err)
	}
	var counts string
	err = d.at.DB.QueryRowContext(ctx, "SELECT decision FROM "+d.table()+" WHERE name = ?", name).Scan(&counts)
	if err != nil {
		return "", fmt.Errorf("read the decision of transaction %s from %s: %w", name, d.table(), err)
	}
	return counts, nil
}

// decisionTimeout bounds writing a decision: all rows of the transaction are locked
// meanwhile.
const decisionTimeout = 5 * time.Second

func (d *decisions) create(ctx context.Context) error {
	_, err := d.at.DB.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+d.table()+
		" (name VARBINARY(64) PRIMARY KEY, decision ENUM('commit', 'rollback') NOT NULL,"+
		" decided TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB COMMENT 'seqgate: what becomes of XA transactions'")
	return err
}

// forget drops a decision that nobody needs any more.
func (d *decisions) forget(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, decisionTimeout)
	defer cancel()
	_, err := d.at.DB.ExecContext(ctx, "DELETE FROM "+d.table()+" WHERE name = ?", name)
	return err
}

func (d *decisions) table() string {
	return catalog.Quote(d.at.Database) + "." + decisionTable
}

// xid gives a transaction's name at one shard, as SQL has it.
func xid(name string, k *catalog.Keyspace) string {
	return fmt.Sprintf("'%s',X'%x',%d", name, branch(k), xaFormat)
}

// branch tells the shards of one server apart, also those of two configurations that
// call them the same. A name of a branch has 64 bytes at most.
func branch(k *catalog.Keyspace) string {
	const most, readable = 64, 47
	name := k.Database + "/" + k.String()
	if len(name) <= most {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	return name[:readable] + "-" + hex.EncodeToString(hash[:8])
}

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
	decision, err := d.decide(r.s.ctx, name, decideCommit)
	switch {
	case err != nil:
		// Whether it was written is not known: recovery finds out, and ends the transaction.
		return r.undecided(name, conns, err)
	case decision == decideRollback:
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
		if err := d.forget(r.s.ctx, name); err != nil {
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
