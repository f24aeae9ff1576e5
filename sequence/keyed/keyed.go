// Package keyed gives each key (a user, a tenant, a conversation) an increasing sequence of its own, as WeChat's seqsvr
// does. Many keys share one row of the sequence's table, a section: a process that holds a section's lease counts its keys
// in memory, and the row holds only next_id, which lies above every value given to any of them.
//
// What holds, whatever fails:
//
//   - No key gets a value twice. Values are given only below a next_id that the database has confirmed; next_id is raised
//     only by a statement that names the lease's fence, which every change of hands moves; and a new holder goes on from
//     next_id with every key. No clock is part of this. A row that was set back (a restored backup, a failover that lost
//     commits) is raised above what its holder has given; what others gave before is lost with the row.
//   - A key's values increase in real time: a call that begins after another has ended gets a larger one. A holder stops
//     before its lease ends, by its own clocks, and nobody takes a section before the lease has ended, by the
//     database's. So this holds as long as these clocks run at the same pace to within a tenth of the lease. A frozen
//     process that goes on after its lease has ended gives nothing more; what it had given just before is unique, as it
//     lies below next_id, and may reach its caller late.
//   - Keys that a database may take for equal share one counter, as far as collations agree: integers in any spelling, and
//     text that differs in case, accents or spaces at its ends.
//
// Values have gaps: after a crash each key of a section goes on from next_id, at most the largest value in the section
// plus twice the cache (and what callers asked for at once). A clean [Sequence.Close] lowers next_id to the largest value
// given plus one.
//
// A process that is asked for a key of another's section asks that process: see [Config].Forward.
package keyed

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// Defaults of [Config].
const (
	DefaultLease   = 5 * time.Second
	DefaultMaxKeys = 4 << 20
)

// Config says how a keyed sequence behaves in this process. A zero field means its default.
type Config struct {
	// Address is where other processes reach this one, as their Forward understands it, of at most 255 characters. "": they
	// cannot, and wait until this process releases a section or its lease ends.
	Address string
	// Forward asks another process for values. nil: callers wait until this process gets the lease.
	Forward Forward
	// Lease is how long a section belongs to a process that has died, and how long one goes on without its database. It
	// is renewed after a third. 5 seconds by default.
	Lease time.Duration
	// Timeout is how long a call waits when its context has no nearer deadline: twice the lease by default, so that the
	// death of a process costs its callers a wait and no error.
	Timeout time.Duration
	// MaxKeys bounds the keys that are counted each by itself, some 40 bytes of memory each. Of more, some are forgotten
	// and go on from the largest value that any forgotten one of their section had. 4,194,304 by default.
	MaxKeys int
	// Declared says that the sequence is known to count by key: it goes on looking for a table that is missing or of another
	// kind. Else such a table ends it, as one does that was made anew with another number of sections.
	Declared bool
	// Ended is called, once, when the sequence has ended by itself. nil: nobody is told.
	Ended func(*Sequence)
	// Logger is told of sections lost, of rows that were set back, and of outages. Nothing is logged by default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	c.Timeout = cmp.Or(c.Timeout, 2*c.Lease)
	c.MaxKeys = cmp.Or(c.MaxKeys, DefaultMaxKeys)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// timing is what follows from the length of a lease.
type timing struct {
	renew  time.Duration // after which a lease is renewed
	margin time.Duration // by which its holder stops early, for clocks that differ in pace
	poll   time.Duration // at most how often another's lease is looked at
}

func (c Config) timing() timing {
	return timing{renew: c.Lease / 3, margin: c.Lease / 10, poll: min(100*time.Millisecond, c.Lease/10)}
}

// Want is a key and how many values it wants, 1 to [sequence.MaxN].
type Want struct {
	Key []byte
	N   int64
}

// Sequence is a keyed sequence in this process. It is safe for concurrent use.
type Sequence struct {
	name   sequence.Name
	cfg    Config
	timing timing
	store  store
	owner  string // this process in the rows, different for each Sequence

	loading  chan struct{} // holds the one caller who reads the number of sections
	sections atomic.Pointer[[]section]

	ctx   context.Context // of the statements in flight; abort ends them
	abort context.CancelFunc
	stop  chan struct{} // closed when the keeper and the raises are to end
	wake  chan struct{} // tells the keeper that somebody waits
	work  sync.WaitGroup

	mu     sync.Mutex // guards what follows, and what work counts
	closed bool
	ended  error // why it was closed by itself; nil: Close was called
	stats  stats
}

// Open returns the keyed sequence of that name, whose table db reaches, a pool from [sequence.NewPool]. The database is
// not touched before the first call. The caller closes db, after [Sequence.Close].
func Open(db *sql.DB, name sequence.Name, cfg Config) *Sequence {
	cfg = cfg.withDefaults()
	owner := rand.Text()
	return open(table{db, name, owner, cfg.Address, cfg.Lease, &layout{}}, owner, name, cfg)
}

func open(st store, owner string, name sequence.Name, cfg Config) *Sequence {
	s := &Sequence{name: name, cfg: cfg, timing: cfg.timing(), store: st, owner: owner,
		loading: make(chan struct{}, 1), stop: make(chan struct{}), wake: make(chan struct{}, 1)}
	s.ctx, s.abort = context.WithCancel(context.Background())
	return s
}

// Next gives key its next n values, 1 to [sequence.MaxN], as one contiguous block. It waits, when it must, until the
// deadline of ctx or for Config.Timeout, whichever is nearer.
//
// It returns errors that match [sequence.ErrInvalidCount], [sequence.ErrExhausted] (2^63-2 is the last value),
// [sequence.ErrNoTable], [sequence.ErrNotSequence], [sequence.ErrNoRow], [sequence.ErrBadRow], [sequence.ErrUnavailable],
// [sequence.ErrClosed] or [context.Canceled]. What else the server refuses for good, as for want of a privilege, is an
// error in which [errors.As] finds its *mysql.MySQLError; see [sequence.ServerError].
func (s *Sequence) Next(ctx context.Context, key []byte, n int64) (sequence.Range, error) {
	if all := s.sections.Load(); all != nil && n >= 1 && n <= sequence.MaxN {
		h := hash(key)
		c := &(*all)[sectionOf(h, len(*all))]
		r, st, low := c.take(h, n, time.Now())
		if low {
			s.startRaise(c)
		}
		if st == taken {
			return r, nil
		}
	}
	got, err := s.gather(ctx, []Want{{key, n}}, false)
	if err != nil {
		return sequence.Range{}, err
	}
	return got[0], nil
}

// NextEach gives each key, in order, its next value, as the rows of an INSERT need them: a key that comes again gets the
// value after. The errors are those of [Sequence.Next]; values taken before one are lost.
func (s *Sequence) NextEach(ctx context.Context, keys [][]byte) ([]int64, error) {
	var wants []Want
	known := map[uint64]int{} // places in wants
	places := make([]int, len(keys))
	for i, key := range keys {
		h := hash(key)
		place, ok := known[h]
		if !ok {
			place = len(wants)
			known[h] = place
			wants = append(wants, Want{Key: key})
		}
		wants[place].N++
		places[i] = place
	}
	got, err := s.gather(ctx, wants, false)
	if err != nil {
		return nil, err
	}
	values := make([]int64, len(keys))
	for i, place := range places {
		values[i] = got[place].First
		got[place].First++
	}
	return values, nil
}

// Local returns values for a request that another process has forwarded, one block per want. It returns an error that
// matches [ErrMoved] at once when this process does not hold the lease of one of the sections: the asker looks for the
// holder again. Else it is [Sequence.Next].
func (s *Sequence) Local(ctx context.Context, wants []Want) ([]sequence.Range, error) {
	return s.gather(ctx, wants, true)
}

// ErrMoved: the process that was asked for values does not hold the lease of the key's section.
var ErrMoved = errors.New("section held by another process")

func (s *Sequence) checkCount(n int64) error {
	if n < 1 || n > sequence.MaxN {
		return problem(s.name, sequence.ErrInvalidCount, nil, "cannot give %d values at once; ask for 1 to %d", n, int64(sequence.MaxN))
	}
	return nil
}

// load returns the sections, whose number the first call reads from the table.
func (s *Sequence) load(ctx context.Context) ([]section, error) {
	if all := s.sections.Load(); all != nil {
		return *all, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for failures := 1; ; failures++ {
		if all := s.sections.Load(); all != nil {
			return *all, nil
		}
		n, err := s.store.load(ctx)
		if s.isOver(err) {
			s.end(err)
			return nil, err
		}
		s.noted(err)
		switch {
		case err == nil:
			return s.begin(n)
		case isPermanent(err):
			return nil, err
		case !pause(ctx, sequence.Backoff(failures)):
			return nil, ctx.Err()
		}
	}
}

// begin makes n sections and starts the keeper of their leases.
func (s *Sequence) begin(n int) ([]section, error) {
	all := make([]section, n)
	for id := range all {
		all[id].id = id
		all[id].keys.max = max(1, s.cfg.MaxKeys/n)
	}
	s.mu.Lock() // Close is to find the sections, or none may begin
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.whyClosed()
	}
	s.sections.Store(&all)
	s.work.Go(func() { s.keep(all) })
	return all, nil
}

// run runs f in a goroutine that Close waits for; false when s was closed.
func (s *Sequence) run(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(f)
	}
	return !s.closed
}

// Close ends the giving of values: calls that wait and later ones return [sequence.ErrClosed]. The leases are released, so
// that other processes can take the sections at once and go on right above the values given. When ctx ends first, they
// go on from next_id when the leases have ended, as after a crash. Close returns when no goroutine is left, and why the
// leases could not be released.
func (s *Sequence) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.work.Wait()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	defer s.abort()
	loaded := s.sections.Load()
	if loaded == nil {
		return nil
	}
	for i := range *loaded {
		(*loaded)[i].close()
	}
	s.finish(ctx)
	var all []release
	for i := range *loaded {
		if r, ok := (*loaded)[i].release(); ok {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := s.store.release(ctx, all); err != nil {
		return fmt.Errorf("release %d leases: %w", len(all), err)
	}
	return nil
}

// finish waits for the statements in flight, and aborts them when ctx ends.
func (s *Sequence) finish(ctx context.Context) {
	defer context.AfterFunc(ctx, s.abort)()
	s.work.Wait()
}
