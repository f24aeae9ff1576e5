package proxy

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// serverState is what seqgate knows of a session's state at the server, beside what every answer tells.
type serverState struct {
	backend.Session

	srv      *Server
	ctx      context.Context // ends when the server is closed for good
	log      *slog.Logger
	trace    *tracing // nil: nobody is told
	keyspace *catalog.Keyspace
	owner    connOwner
	client   uint32 // the id of the client's connection

	secure  bool                            // a password may be sent on it as it is
	login   backend.Login                   // where it is seqgate's own
	account atomic.Pointer[catalog.Account] // of login, for other sessions; nil without a list of users

	left     *left          // what the client's latest statement has left, if seqgate has asked something since
	failedBy *mysql.MyError // the error that seqgate has answered it with

	unfilled  *catalog.Entry  // the table of an INSERT that passes without ids, where its answer is to have no insert id; nil: nothing is to be checked
	temporary map[string]bool // tables by schema.name that no temporary one hides, asked when the session may have such; nil: it has none

	lostUnseen      bool // the connection was lost while the client waited for nothing
	keeps           bool // a SELECT may have set a variable of the user's or taken a lock
	hasSessionState bool // a statement may have made settings, locks or tables of the session's own

	xid    string // of a shard's: its part of an XA transaction, as SQL has it; empty for none
	locked bool   // of a shard's: it may hold a lock of GET_LOCK()
}

// noteAccount tells other sessions with which account this one's server connection was made.
func (c *serverState) noteAccount() {
	if c.pool() != nil {
		c.account.Store(&catalog.Account{User: c.login.User, Password: c.login.Password})
	}
}

// loginAt returns the login of another backend connection of this session, for a listed user: what COM_SET_OPTION has
// changed since its own login outlives it.
func (c *serverState) loginAt(k *catalog.Keyspace, user, database string) (backend.Login, error) {
	const option = uint64(mysql.CLIENT_MULTI_STATEMENTS)
	login := c.login
	login.Database = database
	login.Capabilities = login.Capabilities&^option | c.Capabilities&option
	account, err := c.srv.account(k, user)
	login.User, login.Password = account.User, account.Password
	return login, err
}

// targetsShard reports whether the session is alone with one shard of a sharded
// keyspace, as its client wanted: nothing is filled or routed then.
func (c *serverState) targetsShard() bool {
	return c.keyspace.Shard != "" && !c.owner.routed()
}

// pool returns the connections that sessions of the keyspace are made of; nil where
// each client logs in by itself.
func (c *serverState) pool() *backend.Pool { return c.srv.pools[c.keyspace] }

// adopt goes over to another backend connection, which was made with a login.
func (c *serverState) adopt(back *backend.Conn, login backend.Login) {
	c.login = login
	c.noteAccount() // before others see the thread that is this account's
	c.Session.Adopt(back)
}

// spanContext is what is done for the statement under way is done in.
func (c *serverState) spanContext() context.Context {
	if c.trace == nil || c.trace.ctx == nil {
		return c.ctx
	}
	return c.trace.ctx
}

// noteIDs notes that the statement under way got n ids.
func (c *serverState) noteIDs(n int64) {
	if c.trace != nil {
		c.trace.ids += n
	}
}
