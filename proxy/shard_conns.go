package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// shardConns are the connections of one client to several shards: an executor for each, which all have
// the client's connection in common.
type shardConns struct {
	mu  sync.Mutex  // guards all against those that end or interrupt the session from outside
	all []*executor // in the order in which they were opened

	connecting context.CancelFunc // of the connection that is being made; nil for none
}

// shardedConn is to several shards what a serverConn is to one server: the connections that the session has, each opened when
// a statement needs it and made like the others then, in one transaction of the client's.
type shardedConn struct {
	routedState

	leaving    time.Time // since when the client is known to have left
	committing bool      // several shards commit one after the other
}

func (l *shardConns) add(conn *executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, conn)
}

func (l *shardConns) remove(conn *executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.all {
		if l.all[i] == conn {
			l.all = append(l.all[:i:i], l.all[i+1:]...)
			return
		}
	}
}

// others does something to all connections but one, from outside of the session.
func (l *shardConns) others(but *executor, do func(conn *executor)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.all {
		if conn != but {
			do(conn)
		}
	}
}

func (l *shardConns) find(k *catalog.Keyspace) *executor {
	for _, conn := range l.all {
		if conn.keyspace == k {
			return conn
		}
	}
	return nil
}

// anyConn gives the home connection, or another one while the home's server is away.
func (r *shardedConn) anyConn() (*executor, error) {
	home := r.s.keyspace
	switch {
	case r.avoids(home):
		return r.anyShard(home, r.connectedConn)
	case !r.s.HasEnded():
		if conn, err := r.connectedConn(home); !isAway(err) {
			return conn, err
		}
	}
	all := []*catalog.Keyspace{home}
	for _, conn := range r.conns.all {
		if conn != r.s.executor {
			all = append(all, conn.keyspace)
		}
	}
	return r.firstOf(all, r.connectedConn)
}

// anyShard returns a connection of any shard of a keyspace, the given one if its server is there.
func (r *shardedConn) anyShard(k *catalog.Keyspace, get func(*catalog.Keyspace) (*executor, error)) (*executor, error) {
	if conn := r.conns.find(k); k.Shard == "" || conn != nil && !conn.HasEnded() && !r.avoids(k) {
		if conn, err := get(k); !isAway(err) || k.Shard == "" {
			return conn, err
		}
	}
	all := []*catalog.Keyspace{k}
	for _, shard := range r.Keyspaces[k.Name].Shards {
		if shard != k {
			all = append(all, shard)
		}
	}
	return r.firstOf(all, get)
}

// firstOf returns the connection of the first keyspace or shard whose server is there. Those that
// there is a connection to are preferred, once the first has none any more or is paused.
func (r *shardedConn) firstOf(all []*catalog.Keyspace, get func(*catalog.Keyspace) (*executor, error)) (conn *executor, err error) {
	if first := r.conns.find(all[0]); first != nil && first.HasEnded() || r.avoids(all[0]) {
		slices.SortStableFunc(all, func(a, b *catalog.Keyspace) int { return r.rank(a) - r.rank(b) })
	}
	for _, k := range all {
		if conn, err = get(k); !isAway(err) {
			break
		}
	}
	return conn, err
}

// isAway reports whether err is that a server could not be connected to.
func isAway(err error) bool {
	if err == nil {
		return false
	}
	var unreachable *backend.ConnectError
	return errors.As(err, &unreachable)
}

// rank is 0 of a keyspace or shard that the session has a connection to, 2 of one to avoid, else 1.
func (r *shardedConn) rank(k *catalog.Keyspace) int {
	if r.avoids(k) {
		return 2
	}
	if conn := r.conns.find(k); conn != nil && !conn.HasEnded() {
		return 0
	}
	return 1
}

// conn returns the connection to a shard, or to an unsharded keyspace, in the state in
// which the client's statements expect it: with its settings, and in its transaction.
func (r *shardedConn) conn(k *catalog.Keyspace) (*executor, error) {
	conn, err := r.connectedConn(k)
	if err != nil {
		return nil, err
	}
	return conn, r.enter(conn)
}

// connsOf is connection for several shards.
func (r *shardedConn) connsOf(shards []*catalog.Keyspace) ([]*executor, error) {
	return r.connsBy(r.conn, shards)
}

// connectedConn returns the connection to a shard with the client's settings, once it is not paused. One that
// has ended is replaced, unless something was on it that another would not have.
func (r *shardedConn) connectedConn(k *catalog.Keyspace) (*executor, error) {
	if r.s.HalfClosed {
		return nil, errClientLeft
	}
	if err := r.awaitShard(k); err != nil {
		return nil, err
	}
	conn := r.conns.find(k)
	ended := conn != nil && conn.HasEnded()
	switch {
	case ended && (conn.HasTransaction() || !r.replaceable(conn)):
		return nil, errShardLost
	case conn == nil:
		var err error
		if conn, err = r.open(k); err != nil {
			return nil, err
		}
	case ended:
		if !conn.Lost {
			conn.Lose()
		}
		if err := conn.Connected(); err != nil {
			return nil, err
		}
	}
	return conn, r.prepareConn(conn)
}

// prepareConn has a connection be as the client's statements expect it, but for transactions.
func (r *shardedConn) prepareConn(conn *executor) error {
	if !r.settings.IsAhead(&conn.Session) {
		if err := r.settings.ReadChanged(); err != nil {
			return err
		}
		if err := r.settings.Apply(&conn.Session); err != nil {
			return r.refusesSettings(conn, err)
		}
	}
	if err := r.syncLastInsertID(conn); err != nil {
		return err
	}
	return r.enterDatabase(conn)
}

// refusesSettings gives up a connection whose server does not take the session's settings:
// nothing runs there until they are others.
func (r *shardedConn) refusesSettings(conn *executor, err error) error {
	var refused *wire.ServerError
	if !errors.As(err, &refused) {
		return err
	}
	text := fmt.Sprintf("seqgate could not bring %s to the session's variables: %s", conn.keyspace, refused.Text())
	err = nil
	if conn != r.s.executor && !conn.HasTransaction() && r.replaceable(conn) {
		r.conns.remove(conn)
		err = conn.EndConn()
	}
	return errors.Join(mysql.NewError(refused.Code(), text), err)
}

// replaceable reports whether another connection to a connection's server would do as well.
func (r *shardedConn) replaceable(conn *executor) bool {
	return !conn.locked && !r.settings.IsAhead(&conn.Session) && (conn.State.LastIDKnown || conn != r.lastIDConn()) && !conn.hasOwn()
}

// open connects to a shard as the client logged in.
func (r *shardedConn) open(k *catalog.Keyspace) (*executor, error) {
	s := r.s
	login, err := s.loginAt(k, s.user, k.Database)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.connecting()
	defer cancel()
	back, err := s.srv.connect(ctx, k, login)
	if err != nil {
		return nil, err
	}
	server := &serverConn{serverState: serverState{srv: s.srv, ctx: s.ctx, log: s.log, trace: s.trace, keyspace: k, client: s.id, login: login,
		Session: backend.Session{Wire: wire.NewConn(back.Conn), Conn: back, Capabilities: s.Capabilities, MariaDB: isMariaDB(back.Version), Boundary: true, Used: true}}}
	o := owningSession{s, server}
	server.owner, server.Host, server.Traced = o, o, server.trace != nil
	conn := newExecutor(s.clientConn, server)
	conn.noteAccount()
	conn.ThreadID.Store(back.ThreadID)
	conn.Answer.Status = back.Status
	conn.State = backend.State{Database: k.Database, DatabaseKnown: true, LastID: s.State.LastID, LastIDKnown: s.State.LastIDKnown,
		Restore: s.State.LastIDKnown && s.State.LastID != 0}
	conn.CountBack()
	conn.WatchBack()
	r.conns.add(conn)
	return conn, nil
}

// errShardLost ends a transaction of which a part is lost.
var errShardLost = &backend.LostError{Err: errors.New("the server of a shard ended the connection within a transaction")}

// dropConns ends the use of all connections but the client's own connection.
func (r *shardedConn) dropConns() error {
	if owner := r.lastIDConn(); owner != r.s.executor && owner.State.LastIDKnown {
		r.s.State.LastID, r.s.State.LastIDKnown, r.s.State.Restore = owner.State.LastID, true, true
	}
	r.conns.mu.Lock()
	all := r.conns.all
	r.conns.all = []*executor{r.s.executor} // before others may have the connections
	r.conns.mu.Unlock()
	r.forgetLast()
	r.idConn, r.opaque = nil, nil
	var errs []error
	for _, conn := range all {
		if conn != r.s.executor {
			errs = append(errs, conn.EndConn())
		}
	}
	return errors.Join(errs...)
}

// recover goes on after a shard's connection was lost, which the client has been
// told: with new ones, unless a transaction was open.
func (r *shardedConn) recover(err error) error {
	if r.inTransaction() || r.settings.Ahead() != nil || slices.ContainsFunc(r.conns.all, (*executor).hasOwn) || r.s.killed.Load() || errors.Is(err, errCommandCut) || errors.Is(err, backend.ErrMalformedAnswer) || errors.Is(err, errLastIDLost) {
		return err
	}
	r.s.loseLastID(r.lastIDConn().serverConn)
	r.dropConns() // of no use any more, whether that goes in order or not
	r.s.locked = false
	if !r.s.Lost {
		r.s.Lose()
	}
	return nil
}

// lostOwn reports whether a connection was given up that another would not replace: a
// lock of GET_LOCK's went with it, say. Of a part of a transaction the client is told when
// it goes on with that.
func (r *shardedConn) lostOwn() bool {
	return slices.ContainsFunc(r.conns.all, func(conn *executor) bool {
		return conn.Lost && !conn.HasTransaction() && !r.replaceable(conn)
	})
}

// errOwnLost ends a session of which a part is lost, as on one server.
var errOwnLost = &backend.LostError{Err: errors.New("a connection that had locks or settings of the session had to be given up")}

// restorable reports whether another connection to a server would be as the one was.
func (r *shardedConn) restorable() bool { return r.replaceable(r.s.executor) }

// interruptConns wakes the session from waiting for any server's answer. It is
// called from outside of it.
func (r *shardedConn) interruptConns() {
	r.conns.others(r.s.executor, func(conn *executor) {
		conn.Ends.Mu.Lock()
		defer conn.Ends.Mu.Unlock()
		wire.Interrupt(conn.Wire.Conn)
	})
}

// cutOffConns ends all connections from outside of the session.
func (r *shardedConn) cutOffConns() {
	r.conns.others(r.s.executor, (*executor).CutOff)
}

// syncLastInsertID has a connection know the session's LAST_INSERT_ID().
func (r *shardedConn) syncLastInsertID(conn *executor) error {
	owner := r.lastIDConn()
	if owner == conn {
		return nil
	}
	id, err := r.knownLastID(owner)
	if err != nil {
		return err
	}
	if !conn.State.LastIDKnown || conn.State.LastID != id {
		conn.State.LastID, conn.State.LastIDKnown, conn.State.Restore = id, true, true
	}
	return nil
}

// enterDatabase has a connection's default database be what the client's statements expect.
func (r *shardedConn) enterDatabase(conn *executor) error {
	want := conn.keyspace.Database
	if conn.keyspace == r.Keyspace && r.database != "" {
		want = r.database
	}
	if !conn.State.DatabaseKnown {
		if err := conn.Know(); err != nil {
			return err
		}
	}
	if conn.State.Database == want {
		return nil
	}
	return conn.ChangeDatabase(want)
}

// precede gives a connection the characteristics of the transaction that it is about to begin:
// the client's, or one of a single statement.
func (r *shardedConn) precede(conn *executor, texts []string) error {
	for _, text := range texts {
		if err := conn.Quietly(text); err != nil {
			return err
		}
	}
	conn.Preceded = len(texts) > 0 && !r.tx.open
	return nil
}
