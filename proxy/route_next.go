package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// SET TRANSACTION is of the next transaction alone, and that may be on any connections: each
// gets it right before it begins the transaction. The text is judged here.

// characterize notes a SET TRANSACTION.
func (r *sessionRouter) characterize(stmt parser.SetStmt, sql []byte) error {
	if r.inTransaction() {
		return mysql.NewDefaultError(mysql.ER_CANT_CHANGE_TX_CHARACTERISTICS)
	}
	if len(r.next)+len(r.tx.preceding) >= maxNext {
		return r.Unsupported("so many SET TRANSACTION before one transaction", "use one")
	}
	if r.tx.open { // by autocommit=0, on no shard yet
		r.tx.preceding = append(r.tx.preceding, string(parser.TrimEnd(sql)))
		return r.done()
	}
	r.next = append(r.next, string(parser.TrimEnd(sql)))
	return r.done()
}

// maxNext bounds how many of them one transaction may have.
const maxNext = 8
