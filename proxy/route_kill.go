package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/sequence"
)

// killLimit is how long the servers of a routed session have to do a KILL; the
// connections of those that do not answer, or are not found, are cut off.
const killLimit = 2 * time.Second

// shardThread is the thread of a shard's connection, as others know it.
type shardThread struct {
	conn *executor
	backend.Thread
}

// killConns ends the connections of a routed session to its servers, or with query
// what runs on them, on all at once. It is called by another session, on behalf of the
// same user.
func (r *shardedConn) killConns(ctx context.Context, query bool) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	r.conns.stopConnecting()
	all := r.threads()
	errs := make([]error, len(all))
	var asked sync.WaitGroup
	for i, t := range all {
		asked.Go(func() {
			db, err := r.s.srv.asking(t.conn.keyspace, t.conn.account.Load())
			if err == nil {
				err = threads.Kill(ctx, db, t.Thread, query)
			}
			errs[i] = err
		})
	}
	asked.Wait()
	frozen := false
	for i, t := range all {
		if query && errors.Is(errs[i], threads.ErrUnsure) {
			if t.conn.HasLost(t.ID) {
				errs[i] = nil
			}
			continue
		}
		if number, _, _ := sequence.ServerError(errs[i]); errs[i] != nil && number == 0 {
			t.conn.CutThread(t.ID)
			frozen, errs[i] = true, nil
		}
	}
	switch {
	case query:
	case frozen || len(all) == 0:
		r.cut(all)
	default: // it has the servers' last words by then, or none will come
		time.AfterFunc(killLimit, func() { r.cut(all) })
	}
	return errors.Join(errs...)
}

// cut ends a session that was killed, and these connections of it.
func (r *shardedConn) cut(threads []shardThread) {
	for _, t := range threads {
		t.conn.CutThread(t.ID)
	}
	r.s.NoteEnd() // which wakes it
}

// threads returns the session's connections.
func (r *shardedConn) threads() []shardThread {
	r.conns.mu.Lock()
	all := slices.Clone(r.conns.all)
	r.conns.mu.Unlock() // before a connection's own lock, under which others take this one: see endGrace
	var threads []shardThread
	for _, conn := range all {
		if t := conn.Thread(); t.ID != 0 {
			threads = append(threads, shardThread{conn, t})
		}
	}
	return threads
}

func (l *shardConns) setConnecting(cancel context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connecting = cancel
}

// stopConnecting ends an attempt to connect to a shard, if there is one.
func (l *shardConns) stopConnecting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connecting != nil {
		l.connecting()
	}
}

// hasThread reports whether one of the session's connections has this id at the given
// server.
func (r *shardedConn) hasThread(id uint64, addr string) bool {
	r.conns.mu.Lock()
	defer r.conns.mu.Unlock()
	return slices.ContainsFunc(r.conns.all, func(conn *executor) bool {
		return uint64(conn.ThreadID.Load()) == id && conn.keyspace.Backend.Addr == addr
	})
}
