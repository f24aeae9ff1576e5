package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// legs are the connections of one client to several shards. A leg is a session of
// its own towards its server; all have the client's connection in common.
type legs struct {
	mu  sync.Mutex  // guards all against those that end or interrupt the session from outside
	all []*executor // in the order in which they were opened

	connecting context.CancelFunc // of the connection that is being made; nil for none
}

func (l *legs) add(leg *executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, leg)
}

func (l *legs) remove(leg *executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.all {
		if l.all[i] == leg {
			l.all = append(l.all[:i:i], l.all[i+1:]...)
			return
		}
	}
}

// others does something to all legs but one, from outside of the session.
func (l *legs) others(but *executor, do func(leg *executor)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, leg := range l.all {
		if leg != but {
			do(leg)
		}
	}
}

func (l *legs) find(k *Keyspace) *executor {
	for _, leg := range l.all {
		if leg.keyspace == k {
			return leg
		}
	}
	return nil
}

// anyLeg gives the home leg, or another one while the home's server is away.
func (r *router) anyLeg() (*executor, error) {
	if !r.s.legEnded() {
		if leg, err := r.connectedLeg(r.s.keyspace); !isAway(err) {
			return leg, err
		}
	}
	all := []*Keyspace{r.s.keyspace}
	for _, leg := range r.legs.all {
		if leg != r.s.executor {
			all = append(all, leg.keyspace)
		}
	}
	return r.firstOf(all, r.connectedLeg)
}

// anyShard gives a leg of any shard of a keyspace, the given one if its server is there.
func (r *router) anyShard(k *Keyspace, get func(*Keyspace) (*executor, error)) (*executor, error) {
	if leg := r.legs.find(k); k.Shard == "" || leg != nil && !leg.legEnded() {
		if leg, err := get(k); !isAway(err) || k.Shard == "" {
			return leg, err
		}
	}
	all := []*Keyspace{k}
	for _, shard := range r.s.srv.cfg.Keyspaces[k.Name].Shards {
		if shard != k {
			all = append(all, shard)
		}
	}
	return r.firstOf(all, get)
}

// firstOf gives the leg of the first keyspace or shard whose server is there. Those that
// there is a connection to are preferred, once the first has none any more.
func (r *router) firstOf(all []*Keyspace, get func(*Keyspace) (*executor, error)) (leg *executor, err error) {
	if first := r.legs.find(all[0]); first != nil && first.legEnded() {
		slices.SortStableFunc(all, func(a, b *Keyspace) int { return r.rank(a) - r.rank(b) })
	}
	for _, k := range all {
		if leg, err = get(k); !isAway(err) {
			break
		}
	}
	return leg, err
}

// isAway reports whether err is that a server could not be connected to.
func isAway(err error) bool {
	if err == nil {
		return false
	}
	var unreachable *backend.ConnectError
	return errors.As(err, &unreachable)
}

// rank is 0 of a keyspace or shard that the session has a connection to, else 1.
func (r *router) rank(k *Keyspace) int {
	if leg := r.legs.find(k); leg != nil && !leg.legEnded() {
		return 0
	}
	return 1
}

// leg gives the connection to a shard, or to an unsharded keyspace, in the state in
// which the client's statements expect it: with its settings, and in its transaction.
func (r *router) leg(k *Keyspace) (*executor, error) {
	leg, err := r.connectedLeg(k)
	if err != nil {
		return nil, err
	}
	return leg, r.enter(leg)
}

// legsOf is leg for several shards.
func (r *router) legsOf(shards []*Keyspace) ([]*executor, error) { return r.legsBy(r.leg, shards) }

func (r *router) legsBy(get func(*Keyspace) (*executor, error), shards []*Keyspace) ([]*executor, error) {
	all := make([]*executor, len(shards))
	for i, shard := range shards {
		leg, err := get(shard)
		if err != nil {
			return nil, err
		}
		all[i] = leg
	}
	r.several, r.warned = all, nil
	return all, nil
}

// connectedLeg gives the connection to a shard with the client's settings. One that
// has ended is replaced, unless something was on it that another would not have.
func (r *router) connectedLeg(k *Keyspace) (*executor, error) {
	if r.s.halfClosed {
		return nil, errClientLeft
	}
	leg := r.legs.find(k)
	ended := leg != nil && leg.legEnded()
	switch {
	case ended && (leg.inLegTransaction() || !r.replaceable(leg)):
		return nil, errLegEnded
	case leg == nil:
		var err error
		if leg, err = r.open(k); err != nil {
			return nil, err
		}
	case ended:
		if !leg.lost {
			leg.lose()
		}
		if err := leg.connected(); err != nil {
			return nil, err
		}
	}
	return leg, r.bringUp(leg)
}

// bringUp has a leg be as the client's statements expect it, but for transactions.
func (r *router) bringUp(leg *executor) error {
	if leg != r.settings.ahead {
		if err := r.settings.settle(); err != nil {
			return err
		}
		if err := r.settings.apply(leg); err != nil {
			return r.refusesSettings(leg, err)
		}
	}
	if err := r.bringLastID(leg); err != nil {
		return err
	}
	return r.enterDatabase(leg)
}

// refusesSettings gives up a leg whose server does not take the session's settings:
// nothing runs there until they are others.
func (r *router) refusesSettings(leg *executor, err error) error {
	var refused *wire.ServerError
	if !errors.As(err, &refused) {
		return err
	}
	text := fmt.Sprintf("seqgate could not bring %s to the session's variables: %s", leg.keyspace, refused.Text())
	err = nil
	if leg != r.s.executor && !leg.inLegTransaction() && r.replaceable(leg) {
		r.legs.remove(leg)
		err = leg.endLeg()
	}
	return errors.Join(mysql.NewError(refused.Code(), text), err)
}

// replaceable reports whether another connection to a leg's server would do as well.
func (r *router) replaceable(leg *executor) bool {
	return !leg.locked && leg != r.settings.ahead && (leg.state.lastIDKnown || leg != r.lastIDLeg()) && !leg.hasOwn()
}

// hasOwn reports whether something may have been made on a leg that no other can get:
// what SET has set, and what drivers have prepared, goes to each leg that is used.
func (c *serverConn) hasOwn() bool { return c.temporary != nil || c.settled || len(c.named) > 0 }

// open connects to a shard as the client logged in.
func (r *router) open(k *Keyspace) (*executor, error) {
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
	server := &serverConn{
		srv: s.srv, ctx: s.ctx, log: s.log, trace: s.trace, keyspace: k, client: s.id,
		back: wire.NewConn(back.Conn), conn: back, login: login, capabilities: s.capabilities, mariaDB: isMariaDB(back.Version),
		boundary: true, used: true,
	}
	server.owner = s
	leg := newExecutor(s.clientConn, server)
	leg.noteAccount()
	leg.threadID.Store(back.ThreadID)
	leg.answer.Status = back.Status
	leg.state = sessionState{database: k.Database, databaseKnown: true, lastID: s.state.lastID, lastIDKnown: s.state.lastIDKnown,
		restore: s.state.lastIDKnown && s.state.lastID != 0}
	leg.countBack()
	leg.attendBack()
	r.legs.add(leg)
	return leg, nil
}

// errLegEnded ends a transaction of which a part is lost.
var errLegEnded = &backendError{errors.New("the server of a shard ended the connection within a transaction")}

// legEnded reports whether the leg has no connection any more.
func (c *serverConn) legEnded() bool { return c.lost || c.ends.backEnded.Load() }

// inLegTransaction reports whether a transaction is open on this connection.
func (c *serverConn) inLegTransaction() bool {
	return c.begun || c.answer.Status&mysql.SERVER_STATUS_IN_TRANS != 0
}

// inTransactionWithout reports whether the client is in a transaction of which this
// connection is no part: its answers tell of it all the same, as drivers leave out a
// COMMIT by that flag.
func (s *session) inTransactionWithout(c *serverConn) bool {
	return s.router != nil && !c.inLegTransaction() && s.router.inTransaction()
}

// dropLegs ends the use of all legs but the client's own connection.
func (r *router) dropLegs() error {
	if owner := r.lastIDLeg(); owner != r.s.executor && owner.state.lastIDKnown {
		r.s.state.lastID, r.s.state.lastIDKnown, r.s.state.restore = owner.state.lastID, true, true
	}
	r.legs.mu.Lock()
	all := r.legs.all
	r.legs.all = []*executor{r.s.executor} // before others may have the connections
	r.legs.mu.Unlock()
	r.forgetLast()
	r.idLeg, r.opaque = nil, nil
	var errs []error
	for _, leg := range all {
		if leg != r.s.executor {
			errs = append(errs, leg.endLeg())
		}
	}
	return errors.Join(errs...)
}

// endLeg gives the connection back; what is open on it is rolled back by its reset.
func (c *serverConn) endLeg() error { return errors.Join(c.disregard(), c.giveBack()) }

// endLegs is dropLegs of a client's session.
func (s *session) endLegs() error {
	if s.router == nil {
		return nil
	}
	return s.router.dropLegs()
}

// recover goes on after a shard's connection was lost, which the client has been
// told: with new ones, unless a transaction was open.
func (r *router) recover(err error) error {
	if r.inTransaction() || r.settings.ahead != nil || slices.ContainsFunc(r.legs.all, (*executor).hasOwn) || r.s.killed.Load() || errors.Is(err, errCommandCut) || errors.Is(err, errMalformedAnswer) || errors.Is(err, errLastIDLost) {
		return err
	}
	r.s.loseLastID(r.lastIDLeg().serverConn)
	r.dropLegs() // of no use any more, whether that goes in order or not
	r.s.locked = false
	if !r.s.lost {
		r.s.lose()
	}
	return nil
}

// lostOwn reports whether a connection was given up that another would not replace: a
// lock of GET_LOCK's went with it, say. Of a part of a transaction the client is told when
// it goes on with that.
func (r *router) lostOwn() bool {
	return slices.ContainsFunc(r.legs.all, func(leg *executor) bool {
		return leg.lost && !leg.inLegTransaction() && !r.replaceable(leg)
	})
}

// errOwnLost ends a session of which a part is lost, as on one server.
var errOwnLost = &backendError{errors.New("a connection that had locks or settings of the session had to be given up")}

// restorable reports whether another connection to a server would be as the one was.
func (r *router) restorable() bool { return r.replaceable(r.s.executor) }

// interruptLegs wakes the session from waiting for any server's answer. It is
// called from outside of it.
func (r *router) interruptLegs() {
	if r == nil {
		return
	}
	r.legs.others(r.s.executor, func(leg *executor) {
		leg.ends.mu.Lock()
		defer leg.ends.mu.Unlock()
		wire.Interrupt(leg.back.Conn)
	})
}

// cutOffLegs ends all connections from outside of the session.
func (r *router) cutOffLegs() {
	if r == nil {
		return
	}
	r.legs.others(r.s.executor, (*executor).cutOff)
}
