package backend

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// Defaults of a Pool.
const (
	DefaultMaxIdle     = 100
	DefaultIdleTimeout = time.Minute
	DefaultMaxAge      = 30 * time.Minute
)

// Pool keeps logged-in connections of sessions that ended, for sessions that
// begin. A connection is handed on only as it was after its login (reset.go),
// the one that was returned last before all others: so the server's threads in
// use stay few and warm. Its methods may be called at the same time.
type Pool struct {
	Backend     *Backend
	MaxIdle     int           // connections kept, those of all logins together; none when 0
	IdleTimeout time.Duration // after which a connection is closed; DefaultIdleTimeout when 0
	MaxAge      time.Duration // since its login, after which a connection is not kept; DefaultMaxAge when 0

	mu        sync.Mutex
	idle      []*Conn // longest idle first
	resetting int     // connections that may become idle
	closed    bool
	expiry    *time.Timer    // of idle[0]; runs only while there is one
	resets    sync.WaitGroup // goroutines of Put
}

// Get returns a connection with this login: a kept one, else a new one. Errors
// are those of [Backend.Dial].
func (p *Pool) Get(ctx context.Context, login Login) (*Conn, error) {
	key := login.key()
	for c := p.take(key); c != nil; c = p.take(key) {
		if !c.quiet() {
			_ = c.Close() // it is dead
			continue
		}
		if login.Database == "" {
			return c, nil
		}
		// Anew, since the database may have been dropped or altered meanwhile.
		if err := c.selectDatabase(login.Database); err == nil {
			return c, nil
		}
		_ = c.Close()
		break // a server that refuses or is slow: the login tells what is wrong
	}
	c, err := p.Backend.Dial(ctx, login)
	if err == nil {
		c.key = key
	}
	return c, err
}

// Idle returns how many connections wait for a session.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// take takes the connection of that key which was returned last; nil for none.
func (p *Pool) take(key string) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range slices.Backward(p.idle) {
		if c.key == key {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	return nil
}

// Put returns a connection that Get gave, and does not wait: it is reset in the
// background, and kept if it came out as new and there is room. The caller must
// have read the answers of all its commands to the end, and must close the
// connection instead when it was cut in the middle of a command or an answer,
// changed its user (COM_CHANGE_USER), registered as a replica
// (COM_REGISTER_SLAVE) or was asked for binary logs.
func (p *Pool) Put(c *Conn) {
	evicted, ok := p.admit(c)
	if !ok {
		c.discard()
		return
	}
	go func() {
		defer p.resets.Done()
		if evicted != nil {
			evicted.discard()
		}
		if !p.keep(c, c.reset()) {
			c.discard()
		}
	}()
}

// PutUnused returns a connection over which no command was sent since Get but
// COM_PING. It is kept as it is.
func (p *Pool) PutUnused(c *Conn) {
	evicted, ok := p.admit(c)
	if evicted != nil {
		evicted.discard()
	}
	if !ok || !p.keep(c, nil) {
		c.discard()
	}
	if ok {
		p.resets.Done()
	}
}

// admit makes room for a connection that comes back, if need be by taking
// out the one that is idle for longest.
func (p *Pool) admit(c *Conn) (evicted *Conn, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.key == "" || time.Since(c.since) >= cmp.Or(p.MaxAge, DefaultMaxAge) || p.resetting >= p.MaxIdle {
		return nil, false
	}
	if p.resetting+len(p.idle) >= p.MaxIdle {
		evicted = p.idle[0]
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.resetting++
	p.resets.Add(1)
	return evicted, true
}

// keep makes a connection that was let in idle, unless its reset failed.
func (p *Pool) keep(c *Conn, failed error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resetting--
	if failed != nil || p.closed {
		return false
	}
	c.idleSince = time.Now()
	p.idle = append(p.idle, c)
	p.watch()
	return true
}

// watch sets the timer to the end of the longest idle connection.
func (p *Pool) watch() {
	if len(p.idle) == 0 {
		return
	}
	left := time.Until(p.idle[0].idleSince.Add(p.idleTimeout()))
	if p.expiry == nil {
		p.expiry = time.AfterFunc(left, p.expire)
		return
	}
	p.expiry.Reset(left)
}

// expire closes the connections that were idle for too long.
func (p *Pool) expire() {
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && time.Since(p.idle[n].idleSince) >= p.idleTimeout() {
		n++
	}
	expired := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.watch()
	p.mu.Unlock()
	for _, c := range expired {
		c.discard()
	}
}

// Close closes the idle connections; those that come back from now on are
// closed too. It waits for the resets under way.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	if p.expiry != nil {
		p.expiry.Stop()
	}
	p.mu.Unlock()
	for _, c := range idle {
		c.discard()
	}
	p.resets.Wait()
	return nil
}

func (p *Pool) idleTimeout() time.Duration {
	return cmp.Or(p.IdleTimeout, DefaultIdleTimeout)
}

// discard ends a connection that nobody needs any more; it may be dead.
func (c *Conn) discard() {
	if c.SetDeadline(time.Now().Add(resetTimeout)) != nil {
		_ = c.Close()
		return
	}
	_ = c.Quit()
}

// key is equal for logins whose sessions cannot be told apart. What ended the
// login is told to each client again, and it may name the database.
func (l Login) key() string {
	return fmt.Sprintf("%q %q %q %d %d %q %t", l.User, l.Password, l.Database, l.Capabilities, l.Charset, l.attributes(), l.Encrypted)
}

// attributes returns the connection attributes in order of their names.
func (l Login) attributes() string {
	pairs := handshake.ParseAttributes(l.Attributes)
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		b = fmt.Appendf(b, "%q=%q ", name, pairs[name])
	}
	return string(b)
}

// quiet reports whether the server has neither sent anything nor gone: an idle
// connection whose server speaks has been ended. It does not wait.
func (c *Conn) quiet() bool {
	nc := c.Conn
	for {
		wrapped, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		nc = wrapped.NetConn()
	}
	socket, ok := nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	var peeked error
	err = raw.Control(func(fd uintptr) {
		_, _, peeked = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err == nil && peeked == unix.EAGAIN
}
