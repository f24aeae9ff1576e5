package proxy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// DefaultMaxValues is how many values a SELECT NEXT n VALUES may ask for when a Config does not say.
const DefaultMaxValues = 10_000

// takingRights are the privileges on a sequence's table, any of which lets an account take values. REFERENCES alone
// permits neither to read the row nor to write or lock it, which no application should be able to: SELECT is not among
// them, as who only reads the database has no need of values, and wastes those of others.
var takingRights = []string{"insert", "update", "references"}

// checkCount refuses a number of values that no client needs at once: they are taken from all. Seqgates ask each other for
// as many as an INSERT has rows.
func (x *valueRunner) checkCount(n *plan.NextValues) error {
	most := x.srv.settings().MaxValues
	if n.Count <= most || x.provenPeer && n.Keyed {
		return nil
	}
	return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, fmt.Sprintf(
		"cannot give %d values of sequence %s at once: ask for up to %d, several times, or raise sequences.max_n of seqgate's configuration",
		n.Count, n.Name, most))
}

// mayTake asks the server, once for each sequence of a session's connection, whether the client's account may use the sequence's table. With
// an account of the client's own that is only known in the client's session. A table that is not there is made when it is used, or lies on servers where only seqgate has
// an account.
func (x *valueRunner) mayTake(name sequence.Name) error {
	if as := x.account.Load(); !sameAccount(as, x.values.mayAs) {
		x.values.may, x.values.mayAs = nil, as
	}
	if x.values.may[name] {
		return nil
	}
	if x.srv.generator(name) == nil {
		if allowed, err := x.checkTaking(name); err != nil || !allowed {
			return err
		}
	}
	if x.values.may == nil {
		x.values.may = make(map[sequence.Name]bool)
	}
	x.values.may[name] = true
	return nil
}

// checkTaking reports whether the account has the right. Without it there is an error, unless the table is not there: once
// it is, it has to be asked for again.
func (x *valueRunner) checkTaking(name sequence.Name) (allowed bool, err error) {
	k := x.srv.cfg.Keyspaces[name.Keyspace]
	if k == nil {
		return false, nil // there is no such sequence, which who takes values is told
	}
	allowed, err = x.hasTakingRight(k, name)
	if allowed || err != nil {
		return allowed, err
	}
	e, err := x.srv.catalog.Lookup(x.ctx, k, name.Database, name.Table)
	if err != nil || !e.Table.Exists || e.Table.Column("next_id") == nil {
		return false, err // what is no sequence is told as such
	}
	return false, mysql.NewError(mysql.ER_TABLEACCESS_DENIED_ERROR, fmt.Sprintf(
		"NEXT VALUE command denied to user '%s' for table '%s': the account needs one of INSERT, UPDATE and REFERENCES on it, the last of which permits nothing else: GRANT REFERENCES ON %s.%s",
		x.user, name.Table, catalog.Quote(name.Database), catalog.Quote(name.Table)))
}

// hasTakingRight asks for the privileges that count, from whatever grants and roles the account has them.
func (c *serverConn) hasTakingRight(k *catalog.Keyspace, name sequence.Name) (bool, error) {
	switch {
	case c.srv.cfg.Users != nil:
		return c.accountMayTake(k, name)
	case k.Backend.Addr != c.keyspace.Backend.Addr:
		return false, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not yet support values of sequence '"+name.String()+
			"', which is on another server, with accounts of clients' own: use its own keyspace as the default database")
	}
	// MySQL's information_schema would fix what a transaction sees of its own tables: there an UPDATE of no row goes before it.
	const inTransaction = mysql.SERVER_STATUS_IN_TRANS | mysql.SERVER_STATUS_AUTOCOMMIT
	if !c.MariaDB && c.Answer.Status&inTransaction != mysql.SERVER_STATUS_AUTOCOMMIT && backend.IsPlainName(name.Database+name.Table) {
		var refused *wire.ServerError
		if err := c.Quietly(emptyUpdate(name)); err == nil || !errors.As(err, &refused) {
			return err == nil, err
		}
	}
	rows, err := c.QueryRows(askPrivileges(name), 1)
	return err == nil && len(rows) > 0 && allowsTaking(rows[0][0]), err
}

// accountMayTake is hasTakingRight for a listed user: by the account with which the session runs, the keyspace's own or the user's.
func (c *serverConn) accountMayTake(k *catalog.Keyspace, name sequence.Name) (bool, error) {
	account := c.account.Load()
	if account == nil || *account == c.keyspace.Own() {
		return c.srv.takers.may(c.ctx, k.DB, k.Backend.User, name)
	}
	db, err := c.srv.asking(k, account)
	if err != nil {
		return false, err
	}
	return c.srv.takers.may(c.ctx, db, account.User, name)
}

// askPrivileges asks for what the account that runs it may do with a sequence's row; no row: nothing.
func askPrivileges(name sequence.Name) string {
	return "SELECT CAST(PRIVILEGES AS BINARY) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = " +
		catalog.Literal(name.Database) + " AND TABLE_NAME = " + catalog.Literal(name.Table) + " AND COLUMN_NAME = 'next_id' LIMIT 1"
}

// allowsTaking checks the answer. Neither server shows a column without a privilege on it; what keeps no privileges, as the
// demo's engine, has none to tell.
func allowsTaking(privileges string) bool {
	return privileges == "" || slices.ContainsFunc(strings.Split(privileges, ","), func(right string) bool {
		return slices.Contains(takingRights, strings.ToLower(right))
	})
}

// takers knows which sequences the accounts of the configuration may take values from.
type takers struct{ asked sync.Map } // takerKey: time.Time

type takerKey struct {
	account string
	name    sequence.Name
}

// takersFresh is how long an answer holds. When the server is away it holds for longer: values in memory are still given.
const takersFresh = time.Minute

// may asks over db, whose connections are the account's.
func (t *takers) may(ctx context.Context, db *sql.DB, account string, name sequence.Name) (bool, error) {
	key := takerKey{account, name}
	at, known := t.asked.Load(key)
	if known && time.Since(at.(time.Time)) < takersFresh {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, catalog.Timeout)
	defer cancel()
	var privileges string
	err := db.QueryRowContext(ctx, askPrivileges(name)).Scan(&privileges)
	switch {
	case err == nil && allowsTaking(privileges):
		t.asked.Store(key, time.Now())
		return true, nil
	case err == nil || errors.Is(err, sql.ErrNoRows):
		t.asked.Delete(key)
		return false, nil
	case known && sequence.IsTemporary(err):
		return true, nil
	}
	return false, &catalog.DescribeError{Table: name.String(), Err: err}
}

// emptyUpdate is an UPDATE of a sequence's row that writes nothing, for which the server wants the right to write.
func emptyUpdate(name sequence.Name) string {
	return "UPDATE " + catalog.Quote(name.Database) + "." + catalog.Quote(name.Table) + " SET next_id = NULL WHERE 1 = 0"
}

// sameAccount reports whether two connections' accounts are one; nil is the client's own.
func sameAccount(a, b *catalog.Account) bool { return a == b || a != nil && b != nil && *a == *b }

// maySet asks the server whether the client may write to a sequence's table, by an
// UPDATE of no row in the client's own session: whoever moves a sequence takes its
// values from all.
func (c *serverConn) maySet(name sequence.Name) error {
	if name.Keyspace != c.keyspace.Name || !backend.IsPlainName(name.Database+name.Table) {
		return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
			"seqgate does not yet support SETVAL of sequence '"+name.String()+"' from here: use its own keyspace as the default database")
	}
	return c.Quietly(emptyUpdate(name))
}
