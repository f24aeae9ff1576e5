package backend

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// A server counts logins that break off, or that it cannot read, as errors of the host
// that they come from, and refuses all further connections of a host with too many
// (max_connect_errors, error 1129). All clients' logins come from seqgate's host: so
// none of them may end but in order, whatever its client does.

// departTimeout bounds what is done for a login that its client has given up.
const departTimeout = 5 * time.Second

// Depart ends a login in order whose client has not said who it is: with seqgate's own
// account, and a COM_QUIT. It goes on when ctx ends.
func (o *Opening) Depart(ctx context.Context) {
	o.end(ctx, func(ctx context.Context) error {
		b := o.backend
		_, err := o.logIn(ctx, b, Login{User: b.User, Password: b.Password, Charset: utf8mb4, Encrypted: true})
		return err
	})
}

// Disprove ends a login in order whose client has said who it is, and not proven it.
// asked is what the server awaits an answer to, for the plugin with that salt.
func (o *Opening) Disprove(ctx context.Context, asked handshake.Packet, plugin string, salt []byte) {
	o.end(ctx, func(context.Context) error { return handshake.Disprove(o, asked, plugin, salt, o.channel()) })
}

// end brings a login to its end: the server lets it in, or refuses it by an error that
// does not count. If neither comes of it, the count is set back.
func (o *Opening) end(ctx context.Context, finish func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), departTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	err := o.SetDeadline(deadline)
	if err == nil {
		err = finish(ctx)
	}
	if err == nil {
		_ = (&Conn{Conn: o.Conn.Conn}).Quit() // nobody waits for it
		return
	}
	_ = o.Close() // that error is the one that matters
	if counts(err) {
		o.backend.ClearErrors(ctx)
	}
}

// Verdict is to be called with the error of a login that ended at the server: when the
// server may have counted it, the count is set back.
func (o *Opening) Verdict(ctx context.Context, err error) {
	if err != nil && counts(err) {
		o.backend.ClearErrors(ctx)
	}
}

// uncounted are the numbers of errors of a login that tell a verdict, which is no error of the
// host; the last ones tell it of the host, where nothing helps.
var uncounted = []uint16{
	mysql.ER_ACCESS_DENIED_ERROR, mysql.ER_ACCESS_DENIED_NO_PASSWORD_ERROR, mysql.ER_DBACCESS_DENIED_ERROR, mysql.ER_BAD_DB_ERROR,
	mysql.ER_CON_COUNT_ERROR, mysql.ER_TOO_MANY_USER_CONNECTIONS, mysql.ER_USER_LIMIT_REACHED, mysql.ER_MUST_CHANGE_PASSWORD_LOGIN,
	errAccountLocked, errAccountLockedMariaDB, errInsecure, mysql.ER_HOST_IS_BLOCKED, mysql.ER_HOST_NOT_PRIVILEGED,
}

// Errors of logins that go-mysql does not name.
const (
	errAccountLocked        = 3118
	errInsecure             = 3159 // require_secure_transport
	errAccountLockedMariaDB = 4151
)

func counts(err error) bool {
	var refused *handshake.Refused
	return !errors.As(err, &refused) || !slices.Contains(uncounted, refused.MySQL().Code)
}

// ClearErrors has the server forget the errors that it has counted of this host, as a
// login that succeeds does. One caller does that, also for those who come meanwhile, which
// do not wait: once more for these, and no more often, however many fail. Who comes behind that does it anew.
func (b *Backend) ClearErrors(ctx context.Context) {
	b.mu.Lock()
	b.errors++
	first := b.errors == 1
	b.mu.Unlock()
	if !first {
		return
	}
	b.clearOnce(ctx)
	b.mu.Lock()
	more := b.errors > 1
	b.errors = 0
	b.mu.Unlock()
	if more {
		b.clearOnce(ctx)
	}
}

// clearOnce logs in. Should it fail there is nobody to tell: those who come next are told by their own logins.
func (b *Backend) clearOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), departTimeout)
	defer cancel()
	if c, err := b.Dial(ctx, Login{User: b.User, Password: b.Password, Charset: utf8mb4}); err == nil {
		_ = c.Quit() // nothing depends on it
	}
}
