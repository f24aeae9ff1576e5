// Package health asks the servers of all keyspaces again and again whether they answer, so that operators and load balancers
// learn of one that is away before a client does.
package health

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// How often a server is asked, how long it may take to answer, and how soon a server that did not answer is asked again
// before it counts as down.
const (
	Interval = 5 * time.Second
	Timeout  = 3 * time.Second
	Again    = time.Second
)

// State is what the last answers of a server say.
type State string

// The states: not asked yet, answering, answering but read-only, which gives no sequence new blocks, and not answering.
const (
	Unknown  State = "unknown"
	Up       State = "up"
	ReadOnly State = "read-only"
	Down     State = "down"
)

// Server is one that is asked.
type Server struct {
	Keyspace, Shard string // Shard is "-" of an unsharded keyspace
	Addr            string
	DB              *sql.DB
}

// Status is how a server stands.
type Status struct {
	Keyspace, Shard, Addr string
	State                 State
	Since                 time.Time     // when the state began
	Latency               time.Duration // of the last answer; 0 before the first
	Version               string        // the server's, by its last answer
	Err                   error         // of the last attempt; nil when it was answered
}

// Checker asks servers.
type Checker struct {
	servers []Server
	log     *slog.Logger
	// How often and how long, for tests to be quick.
	interval, timeout, again time.Duration

	mu  sync.Mutex
	all []Status // of servers, in their order
}

// New returns a Checker, which tells nothing of the servers until Run asks them. A change of a server's state is logged.
func New(servers []Server, log *slog.Logger) *Checker {
	c := &Checker{servers: servers, log: log, interval: Interval, timeout: Timeout, again: Again, all: make([]Status, len(servers))}
	for i, s := range servers {
		c.all[i] = Status{Keyspace: s.Keyspace, Shard: s.Shard, Addr: s.Addr, State: Unknown, Since: time.Now()}
	}
	return c
}

// Statuses returns how the servers stand, in the order of New. It is safe for concurrent use.
func (c *Checker) Statuses() []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Status(nil), c.all...)
}

// Run asks each server at once and then every [Interval], until ctx is done.
func (c *Checker) Run(ctx context.Context) {
	var running sync.WaitGroup
	for i := range c.servers {
		running.Go(func() { c.watch(ctx, i) })
	}
	running.Wait()
}

// watch asks one server.
func (c *Checker) watch(ctx context.Context, i int) {
	for ctx.Err() == nil {
		a := c.ask(ctx, i)
		if a.err != nil && c.state(i) != Down && c.state(i) != Unknown {
			if !pause(ctx, c.again) {
				return
			}
			a = c.ask(ctx, i)
		}
		if ctx.Err() != nil {
			return
		}
		c.note(i, a)
		pause(ctx, c.interval)
	}
}

func (c *Checker) state(i int) State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[i].State
}

// pause waits, and reports false when ctx ended that.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answer is what one attempt gave.
type answer struct {
	version  string
	readOnly bool
	took     time.Duration
	err      error
}

func (c *Checker) ask(ctx context.Context, i int) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	began := time.Now()
	conn, err := c.servers[i].DB.Conn(ctx)
	if err != nil {
		a.err = err
		return a
	}
	defer conn.Close() // back into the pool, which always works
	a.err = conn.QueryRowContext(ctx, "SELECT VERSION(), @@GLOBAL.read_only").Scan(&a.version, &a.readOnly)
	a.took = time.Since(began)
	if a.err == nil && isDetached(ctx, conn) {
		a.err = errDetached
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // behind a balancer the next one may lead to another node
	}
	return a
}

var errDetached = errors.New("the node of Galera refuses statements: wsrep_cluster_status is non-Primary")

// isDetached reports whether a server that has answered is a node of Galera without a majority, which answers only what needs no
// table. No other server says so: MySQL has no such row, a MariaDB that is no node says Disconnected, and what refuses the question
// is none either.
func isDetached(ctx context.Context, conn *sql.Conn) bool {
	var name, value string
	err := conn.QueryRowContext(ctx, "SHOW STATUS LIKE 'wsrep_cluster_status'").Scan(&name, &value)
	return err == nil && strings.EqualFold(value, "non-Primary")
}

// note takes in what an attempt gave, and logs a change.
func (c *Checker) note(i int, a answer) {
	c.mu.Lock()
	s := &c.all[i]
	was := s.State
	s.Err = a.err
	if a.err == nil {
		s.State, s.Latency, s.Version = Up, a.took, a.version
		if a.readOnly {
			s.State = ReadOnly
		}
	} else {
		s.State = Down
	}
	if s.State != was {
		s.Since = time.Now()
	}
	now := *s
	c.mu.Unlock()
	if now.State != was {
		c.logChange(now)
	}
}

func (c *Checker) logChange(s Status) {
	log := c.log.With("keyspace", s.Keyspace, "shard", s.Shard, "addr", s.Addr)
	switch s.State {
	case Up:
		log.Info("server is up", "version", s.Version)
	case ReadOnly:
		log.Warn("server is read-only: sequences there get no new ids", "version", s.Version)
	default:
		log.Warn("server is down; it is asked again every "+Interval.String(), "err", s.Err)
	}
}
