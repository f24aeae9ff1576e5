package proxy

import (
	"container/list"
	"net"
	"sync"
	"time"

	"github.com/seqgate/seqgate/proxy/wire"
)

// halfOpen are the clients that were greeted and whose answer is awaited: who they are, or
// the proof of it. They stand in the order in which they began to be silent. Whoever is
// silent holds a place of all for as long as a handshake may take, and needs no password for it.
type halfOpen struct {
	mu      sync.Mutex
	waiting list.List // of greeted
}

// greeted is one of them.
type greeted struct {
	end   func() // of its login
	since time.Time
}

// enter notes a client. The caller calls leave
// when the client has answered, or never will.
func (h *halfOpen) enter(c net.Conn) (leave func()) {
	return h.enterWith(func() { wire.Interrupt(c) })
}

// enterWith is enter for a client that is not read from, and whose login end ends.
func (h *halfOpen) enterWith(end func()) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.waiting.PushBack(greeted{end, time.Now()})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.waiting.Remove(e) // nothing, when it was ended
	}
}

// end ends the login of the client that has waited longest, if that was for as long as
// least: its place is free soon.
func (h *halfOpen) end(least time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := h.waiting.Front()
	if oldest == nil {
		return
	}
	if g := oldest.Value.(greeted); time.Since(g.since) >= least {
		h.waiting.Remove(oldest)
		g.end()
	}
}
