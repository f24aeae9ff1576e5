// Package xa keeps what becomes of transactions on several shards, which commit in two phases (X/Open XA; MySQL manual, "XA
// Transactions"): each shard prepares, a row in the table of decisions says what becomes of all, and then each is told. It
// names those transactions, decides, and ends what a dead seqgate has left prepared. Sessions begin and
// commit them: package proxy's transaction.go and xa.go.
package xa

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// formatID is the format id of seqgate's transactions.
const formatID = 0x5347

// Decisions is the table that says what becomes of prepared transactions: what
// stands there first counts, whoever wrote it.
type Decisions struct {
	at *catalog.Keyspace
	// own begins the names of transactions that this table decides, whichever seqgate's:
	// deployments may have servers in common. prefix begins those of this process.
	own, prefix string
	last        atomic.Uint64
}

// The decisions.
const (
	Commit   = "commit"
	Rollback = "rollback"

	tableName = "seqgate_transactions"
)

// NewDecisions returns the table in the database of a keyspace, which is made when it is first needed.
func NewDecisions(at *catalog.Keyspace) *Decisions {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	hash := sha256.Sum256([]byte(at.Database))
	own := "seqgate-" + hex.EncodeToString(hash[:4]) + "-"
	return &Decisions{at: at, own: own, prefix: own + hex.EncodeToString(id[:]) + "-"}
}

// Next returns the name of another transaction.
func (d *Decisions) Next() string { return fmt.Sprintf("%s%d", d.prefix, d.last.Add(1)) }

// Decide writes a decision, unless there is one, and gives the one that counts.
func (d *Decisions) Decide(ctx context.Context, name, decision string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
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

// timeout bounds writing a decision: all rows of the transaction are locked
// meanwhile.
const timeout = 5 * time.Second

func (d *Decisions) create(ctx context.Context) error {
	_, err := d.at.DB.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+d.table()+
		" (name VARBINARY(64) PRIMARY KEY, decision ENUM('commit', 'rollback') NOT NULL,"+
		" decided TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB COMMENT 'seqgate: what becomes of XA transactions'")
	return err
}

// Forget drops a decision that nobody needs any more.
func (d *Decisions) Forget(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := d.at.DB.ExecContext(ctx, "DELETE FROM "+d.table()+" WHERE name = ?", name)
	return err
}

func (d *Decisions) table() string {
	return catalog.Quote(d.at.Database) + "." + tableName
}

// ID returns a transaction's name at one shard, as SQL has it.
func ID(name string, k *catalog.Keyspace) string {
	return fmt.Sprintf("'%s',X'%x',%d", name, branch(k), formatID)
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
