package proxy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A shard that is paused gets no new statement and no new connection of a client's, so that its primary can be changed
// without an error to one: they wait until it is resumed. Statements under way and open transactions go on.

// DefaultPauseTimeout is that of a Config that has none.
const DefaultPauseTimeout = 10 * time.Second

// pause is that of one shard.
type pause struct {
	since   time.Time
	resumed chan struct{} // closed then
	waiting atomic.Int64  // statements and logins
}

// pauses has an entry for each shard and unsharded keyspace; nil in it: not paused.
type pauses map[*catalog.Keyspace]*atomic.Pointer[pause]

func newPauses(keyspaces map[string]*catalog.Keyspace) pauses {
	all := make(pauses)
	for _, k := range keyspaces {
		for _, shard := range k.EachShard() {
			all[shard] = new(atomic.Pointer[pause])
		}
	}
	return all
}

// of returns the pause of a shard, nil while there is none.
func (p pauses) of(k *catalog.Keyspace) *pause {
	if at := p[k]; at != nil {
		return at.Load()
	}
	return nil
}

// Pause has new statements and logins wait for a shard, named keyspace:shard, or for all shards of a keyspace, until Resume.
// It reports whether there is such a one. What is paused already stays so.
func (s *Server) Pause(name string) (found bool) {
	shards := s.shardsNamed(name)
	for _, k := range shards {
		p := &pause{since: time.Now(), resumed: make(chan struct{})}
		if s.pauses[k].CompareAndSwap(nil, p) {
			s.log.Warn("shard paused: new statements and logins wait for it", append(k.Logged(), "timeout", s.settings().PauseTimeout)...)
		}
	}
	return len(shards) > 0
}

// Resume ends what Pause began.
func (s *Server) Resume(name string) (found bool) {
	shards := s.shardsNamed(name)
	for _, k := range shards {
		if p := s.pauses[k].Swap(nil); p != nil {
			close(p.resumed)
			s.log.Info("shard resumed", append(k.Logged(), "paused_for", time.Since(p.since).Round(time.Millisecond), "waiting", p.waiting.Load())...)
		}
	}
	return len(shards) > 0
}

// shardsNamed returns the shard that a name means, or each of a keyspace. The shard "-" is all of a keyspace.
func (s *keyspaces) shardsNamed(name string) []*catalog.Keyspace {
	if k := s.cfg.Keyspaces[strings.TrimSuffix(name, ":-")]; k != nil {
		return k.EachShard()
	}
	if k, ok := s.targeted(name); ok {
		return []*catalog.Keyspace{k}
	}
	return nil
}

// pausedLast returns shards in the order in which one is to be tried where any will do.
func (p pauses) pausedLast(shards []*catalog.Keyspace) []*catalog.Keyspace {
	var paused, others []*catalog.Keyspace
	for _, k := range shards {
		if p.of(k) != nil {
			paused = append(paused, k)
		} else {
			others = append(others, k)
		}
	}
	return append(others, paused...)
}

// awaitResume waits while a shard is paused, until the timeout since began is over. The error is 1205, as of a row's lock:
// nothing has run, the transaction is still open, and clients know it as one after which to try again.
func (s *keyspaces) awaitResume(ctx context.Context, k *catalog.Keyspace, began time.Time) error {
	for p := s.pauses.of(k); p != nil; p = s.pauses.of(k) {
		if !p.wait(ctx, time.Until(began.Add(s.settings().PauseTimeout))) {
			return mysql.NewError(mysql.ER_LOCK_WAIT_TIMEOUT, fmt.Sprintf(
				"'%s' is paused by an operator; try again, or resume it with: seqgate shard resume %s", k, k))
		}
	}
	return nil
}

// wait reports whether the shard was resumed in time.
func (p *pause) wait(ctx context.Context, limit time.Duration) bool {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.resumed:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// awaitServer waits while the server of a session without a router is paused, unless the command goes on all the same.
// A command that waited in vain is skipped.
func (s *session) awaitServer(code byte, length int) error {
	if s.srv.pauses.of(s.keyspace) == nil || s.inTransaction() {
		return nil
	}
	exempt, err := s.runsWhilePaused(code, length)
	if err != nil || exempt {
		return err
	}
	paused := s.awaitPaused(s.keyspace)
	if paused == nil {
		s.loseUnseen() // the server may be another one by now
		return nil
	}
	_, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	s.front.Skip(size)
	if s.sentAhead && (code == mysql.COM_STMT_EXECUTE || code == comStmtBulkExecute) {
		return errors.Join(paused, s.dropSentAhead())
	}
	return paused
}

// awaitPaused waits for a paused shard until it is resumed, the client leaves, or the statement is killed: nothing of it has
// been sent, so that it never runs then. A client that has given up would else repeat it beside what still waits.
func (s *session) awaitPaused(k *catalog.Keyspace) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	s.pauseWait.Store(&cancel)
	defer s.pauseWait.Store(nil)
	if s.clientGone.Load() || s.killed.Load() {
		cancel()
	}
	err := s.srv.awaitResume(ctx, k, s.statistics.began)
	switch {
	case ctx.Err() == nil || s.ctx.Err() != nil:
		return err
	case s.clientGone.Load(), s.killed.Load():
		return errGoneWaiting
	}
	return mysql.NewDefaultError(mysql.ER_QUERY_INTERRUPTED)
}

// errGoneWaiting ends a session whose client left, or that was killed, while a statement waited for a paused shard.
var errGoneWaiting = &frontError{errors.New("the client left, or was killed, while its statement waited for a paused shard")}

// interruptWait ends the wait for a paused shard, from outside of the session. It reports false where there is none.
func (s *session) interruptWait() bool {
	cancel := s.pauseWait.Load()
	if cancel == nil {
		return false
	}
	(*cancel)()
	return true
}

// dropSentAhead forgets the parameters that came ahead (COM_STMT_SEND_LONG_DATA) of an execution that is not done: at the
// next one they would be put before what is sent then.
func (s *session) dropSentAhead() error {
	s.sentAhead = false
	id := s.lastPrepared
	if id == lastPrepared && s.MariaDB {
		id = s.lastStmt
	}
	switch st := s.stmts[id]; {
	case s.Lost:
		return nil
	case st == nil || st.fill == nil && st.calls == nil && st.next == nil:
		return s.ResetBackend(id)
	case st.fill == nil:
		st.long = nil // no server has it
		return nil
	default:
		return s.dropLong(st)
	}
}

// runsWhilePaused reports whether a command gets no answer, belongs to what is under way, or is how operators look.
func (s *session) runsWhilePaused(code byte, length int) (bool, error) {
	switch code {
	case mysql.COM_QUIT, mysql.COM_STMT_CLOSE, mysql.COM_STMT_SEND_LONG_DATA, mysql.COM_STMT_FETCH, mysql.COM_PROCESS_KILL:
		return true, nil
	case mysql.COM_CHANGE_USER:
		return true, nil // it waits for the server that it connects to
	case mysql.COM_QUERY:
	default:
		return false, nil
	}
	if err := s.front.Need(wire.HeaderSize + min(length, sniffLength)); err != nil {
		return false, &frontError{err}
	}
	payload := s.front.Unread()[wire.HeaderSize:]
	payload = payload[:min(length, len(payload))]
	begin := s.TextBegin(payload)
	if begin == 0 {
		return false, nil
	}
	sql := payload[begin:]
	if parser.SniffCommand(sql) != parser.ShowSeqgate && parser.Sniff(sql) != parser.Kill {
		return false, nil
	}
	return !s.Has(mysql.CLIENT_MULTI_STATEMENTS) || length <= sniffLength && parser.Single(sql), nil
}

// awaitShard is awaitServer for a shard that a statement of the router's needs. A transaction that has a part there goes on.
func (r *shardedConn) awaitShard(k *catalog.Keyspace) error {
	if r.s.srv.pauses.of(k) == nil {
		return nil
	}
	if conn := r.conns.find(k); conn != nil && conn.HasTransaction() {
		return nil
	}
	return r.s.awaitPaused(k)
}

// avoids reports whether another shard is used in place of a paused one, where any will do.
func (r *shardedConn) avoids(k *catalog.Keyspace) bool {
	if k.Shard == "" || r.s.srv.pauses.of(k) == nil {
		return false
	}
	conn := r.conns.find(k)
	return conn == nil || !conn.HasTransaction() && r.replaceable(conn)
}
