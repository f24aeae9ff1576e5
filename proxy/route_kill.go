package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// killLimit is how long the servers of a routed session have to do a KILL; the
// connections of those that do not answer, or are not found, are cut off.
const killLimit = 2 * time.Second

// legThread is a leg's connection as others know it.
type legThread struct {
	leg *executor
	thread
}

// killLegs ends the connections of a routed session to its servers, or with query
// what runs on them, on all at once. It is called by another session, on behalf of the
// same user.
func (r *router) killLegs(ctx context.Context, query bool) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	r.legs.stopConnecting()
	threads := r.threads()
	errs := make([]error, len(threads))
	var asked sync.WaitGroup
	for i, t := range threads {
		asked.Go(func() {
			db, err := r.s.srv.asking(t.leg.keyspace, t.leg.account.Load())
			if err == nil {
				err = t.kill(ctx, db, query)
			}
			errs[i] = err
		})
	}
	asked.Wait()
	frozen := false
	for i, t := range threads {
		if query && errors.Is(errs[i], errUnsure) {
			continue
		}
		if number, _, _ := sequence.ServerError(errs[i]); errs[i] != nil && number == 0 {
			t.leg.cutLeg(t.id)
			frozen, errs[i] = true, nil
		}
	}
	switch {
	case query:
	case frozen || len(threads) == 0:
		r.cut(threads)
	default: // it has the servers' last words by then, or none will come
		time.AfterFunc(killLimit, func() { r.cut(threads) })
	}
	return errors.Join(errs...)
}

// cut ends a session that was killed, and these connections of it.
func (r *router) cut(threads []legThread) {
	for _, t := range threads {
		t.leg.cutLeg(t.id)
	}
	r.s.noteEnd() // which wakes it
}

// threads gives the session's connections.
func (r *router) threads() []legThread {
	r.legs.mu.Lock()
	defer r.legs.mu.Unlock()
	var threads []legThread
	for _, leg := range r.legs.all {
		if t := leg.thread(); t.id != 0 {
			threads = append(threads, legThread{leg, t})
		}
	}
	return threads
}

// cutLeg ends a leg's connection from outside of the session, if it still is the one
// with this id.
func (c *serverConn) cutLeg(id uint32) {
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	if c.ends.over || c.threadID.Load() != id {
		return
	}
	c.ends.backEnded.Store(true)
	_ = c.back.Close() // the session is told by that
}

// connecting gives the time that a connection of the session's may take to be made,
// which a KILL ends.
func (s *session) connecting() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.settings().HandshakeTimeout)
	r := s.router
	if r == nil {
		return ctx, cancel
	}
	r.legs.setConnecting(cancel)
	return ctx, func() {
		r.legs.setConnecting(nil)
		cancel()
	}
}

func (l *legs) setConnecting(cancel context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connecting = cancel
}

// stopConnecting ends an attempt to connect to a shard, if there is one.
func (l *legs) stopConnecting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connecting != nil {
		l.connecting()
	}
}

// hasThread reports whether one of the session's connections has this id at the given
// server.
func (r *router) hasThread(id uint64, addr string) bool {
	r.legs.mu.Lock()
	defer r.legs.mu.Unlock()
	return slices.ContainsFunc(r.legs.all, func(leg *executor) bool {
		return uint64(leg.threadID.Load()) == id && leg.keyspace.Backend.Addr == addr
	})
}

// routed reports whether the session is in front of sharded keyspaces.
func (s *session) routed() bool { return s.router != nil }
