package proxy

import (
	"context"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// verify checks the client by the list of users, and logs in at the backend with
// the user's account.
func (l *login) verify() error {
	var known handshake.Greeting
	err := l.whileThere(func(wait context.Context) (err error) {
		known, err = l.srv.known(l.ctx, wait)
		return err
	})
	if err != nil {
		return l.refuse(l.srv.ownLogin(err, backend.Login{}))
	}
	flags := l.announce(known.Capabilities) | handshake.PluginAuth | handshake.ConnectWithDB
	l.greeting = handshake.Greeting{Version: known.Version, ThreadID: firstSessionID + l.srv.lastID.Add(1)%firstSessionID,
		Salt: handshake.NewSalt(), Capabilities: flags, Charset: known.Charset, Status: known.Status, Plugin: l.srv.usualPlugin()}
	if err := l.front.Send(handshake.Packet{Payload: l.greeting.Append(nil)}); err != nil {
		return err
	}
	l.announced = flags
	if err := l.receive(); err != nil {
		return err
	}
	if l.malformed != nil {
		return l.refuse(mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR))
	}
	if err := l.check(); err != nil {
		return l.refuse(err)
	}
	if l.leave, err = l.srv.admitUser(l.response.User); err != nil {
		return l.refuse(err)
	}
	l.hold.release() // who has proven who it is is not ended for the memory
	if err := l.whileThere(l.connect); err != nil {
		if l.srv.draining.Load() {
			err = errShutdown()
		}
		return l.refuse(err)
	}
	return l.request.sendOK(&l.front, l.back.OK)
}

// check verifies the password that the handshake response proves.
func (l *login) check() error {
	encryption := encryptionOf(l.front.Conn)
	if err := l.srv.checkTransport(l.front.Conn, encryption); err != nil {
		return err
	}
	c := authRequest{user: l.response.User, plugin: l.response.Plugin, proof: l.response.Proof, salt: l.greeting.Salt,
		switches: l.response.Has(handshake.PluginAuth), sequence: l.sequence, pause: l.pause}
	if !c.switches {
		c.plugin = mysql.AUTH_NATIVE_PASSWORD // what such clients have
	}
	err := l.srv.verify(l.proving(), &c, l.front.RemoteAddr())
	l.request, l.sequence = c, c.sequence
	if err == nil && !l.srv.user(c.user).admits(encryption) {
		return accessDenied(c.user, l.front.RemoteAddr(), len(c.proof) > 0)
	}
	return err
}

// connect gets a connection to the backend of the client's database, with what the
// client negotiated. The backend's refusal is what the client sees.
func (l *login) connect(ctx context.Context) (err error) {
	if l.keyspace, l.whole, l.database, err = l.srv.placeFor(l.response.Database); err != nil {
		return err
	}
	if l.whole == nil || l.whole.Shards == nil {
		return l.connectTo(ctx, l.keyspace, l.database)
	}
	for _, shard := range l.srv.pauses.pausedLast(l.whole.Shards) { // any will do: the others are connected to when they are needed
		err = l.connectTo(ctx, shard, shard.Database)
		var unreachable *backend.ConnectError
		if !errors.As(err, &unreachable) {
			return err
		}
	}
	return err
}

func (l *login) connectTo(ctx context.Context, k *catalog.Keyspace, database string) (err error) {
	l.keyspace, l.database = k, database
	account, err := l.srv.account(k, l.response.User)
	if err != nil {
		return err
	}
	l.login = backend.Login{User: account.User, Password: account.Password, Database: database,
		Capabilities: l.response.Capabilities & l.announced, Charset: l.response.Charset,
		Attributes: passedOn(l.response.Attributes), Encrypted: l.front.Encrypted()}
	l.back, err = l.srv.connect(ctx, k, l.login)
	return err
}

// errLeft is that of a client that did not wait for the server.
var errLeft = &frontError{errors.New("the client left while seqgate connected to the server")}

// whileThere does what waits for a server, until the client leaves: a server that
// hangs must not keep the connections of those who have long given up.
func (l *login) whileThere(do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	stop, err := l.srv.hangups.Watch(l.front.Conn, cancel)
	if err != nil {
		return err
	}
	defer stop()
	err = do(ctx)
	if err != nil && ctx.Err() != nil && l.ctx.Err() == nil {
		return errLeft
	}
	return err
}

// known returns what the server of the default keyspace announces: of a sharded one,
// the first that can be reached. See [backend.Backend.Known] for its contexts.
func (s *logins) known(ctx, wait context.Context) (greeting handshake.Greeting, err error) {
	for _, shard := range s.cfg.Keyspaces[s.cfg.Default].EachShard() {
		greeting, err = shard.Backend.Known(ctx, wait)
		var unreachable *backend.ConnectError
		if !errors.As(err, &unreachable) {
			break
		}
	}
	return greeting, err
}

// Errors of a login that go-mysql does not name: both servers' for a locked account.
const (
	errAccountLocked        = 3118
	errAccountLockedMariaDB = 4151
)

// ownRefused is told in place of a refusal of seqgate's own account.
func ownRefused() *mysql.MyError {
	return &mysql.MyError{Code: errUnreachable, State: backend.StateLink, Message: "seqgate could not log in at the server with its own account; its log tells more"}
}

// refusesAccount reports whether an error number refuses a login, in words that name the account.
func refusesAccount(number uint16) bool {
	switch number {
	case mysql.ER_ACCESS_DENIED_ERROR, mysql.ER_ACCESS_DENIED_NO_PASSWORD_ERROR, mysql.ER_DBACCESS_DENIED_ERROR, mysql.ER_HOST_NOT_PRIVILEGED,
		mysql.ER_HOST_IS_BLOCKED, mysql.ER_USER_LIMIT_REACHED, mysql.ER_TOO_MANY_USER_CONNECTIONS, mysql.ER_MUST_CHANGE_PASSWORD_LOGIN,
		errAccountLocked, errAccountLockedMariaDB:
		return true
	}
	return false
}
