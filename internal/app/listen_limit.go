package app

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// limitedListener has so many connections of HTTP clients at once. One more takes the place of the one that has been
// without a request for longest: whoever holds connections that way needs no token or password for it, and must not keep
// others out. Where each has a request under way, or is new, the one more is closed: it does not wait, since they may
// take long.
type limitedListener struct {
	net.Listener
	most int

	mu    sync.Mutex
	taken int
	idle  list.List // of *placedConn without a request, the one that has been so for longest first
}

// idleLeast is for how long a connection is without a request that gives up its place.
const idleLeast = time.Second

// limitListener limits the connections of l that h serves to most at once; 0 is any number.
func limitListener(l net.Listener, most int, h *http.Server) net.Listener {
	if most == 0 {
		return l
	}
	inner := h.Handler
	h.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if c, ok := q.Context().Value(connKey{}).(*placedConn); ok {
			c.work(1)
			defer c.work(-1)
		}
		inner.ServeHTTP(w, q)
	})
	h.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if outer, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = outer.NetConn() // beneath TLS
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	return &limitedListener{Listener: l, most: most}
}

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		placed, former := l.place(c)
		if former != nil {
			_ = former.Close() // its client connects again if it is there
		}
		if placed != nil {
			return placed, nil
		}
		_ = c.Close() // its client is told nothing else either
	}
}

// place has a place for a connection, nil if it has none, and the connection whose place it was, if it was one's.
func (l *limitedListener) place(c net.Conn) (placed, former *placedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken >= l.most {
		first := l.idle.Front()
		if first == nil || time.Since(first.Value.(*placedConn).since) < idleLeast {
			return nil, nil
		}
		former = first.Value.(*placedConn)
		former.leave()
	}
	l.taken++
	placed = &placedConn{Conn: c, of: l, since: time.Now()}
	placed.waits = l.idle.PushBack(placed)
	return placed, former
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// placedConn is one of those of a limitedListener.
type placedConn struct {
	net.Conn
	of *limitedListener

	// What follows is guarded by of.mu.
	since time.Time     // it has been without a request
	waits *list.Element // nil while it has one, or has left
	works int           // requests
	left  bool
}

// work notes a request that begins (1) or ends (-1).
func (c *placedConn) work(change int) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.works += change
	switch {
	case c.left:
	case c.works == 0:
		c.since, c.waits = time.Now(), c.of.idle.PushBack(c)
	case c.waits != nil:
		c.of.idle.Remove(c.waits)
		c.waits = nil
	}
}

// leave gives the place back, once. The caller has locked.
func (c *placedConn) leave() {
	if c.left {
		return
	}
	c.left = true
	c.of.taken--
	if c.waits != nil {
		c.of.idle.Remove(c.waits)
		c.waits = nil
	}
}

// Close implements [net.Conn].
func (c *placedConn) Close() error {
	c.of.mu.Lock()
	c.leave()
	c.of.mu.Unlock()
	return c.Conn.Close()
}
