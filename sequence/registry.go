package sequence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of [Config].
const (
	DefaultMinLifetime = 15 * time.Minute
	DefaultMaxStep     = 1_000_000
	DefaultTimeout     = 5 * time.Second

	DefaultPrefetchShare = 0.1
)

// maxPrefetchShare leaves something to fetch ahead for.
const maxPrefetchShare = 0.99

// Config says how the sequences of a [Registry] behave. A zero field means its default.
type Config struct {
	// MinLifetime is how long a block should last: the step doubles when one lasts for less, and halves when it lasts for
	// more than twice as long. 15 minutes by default.
	MinLifetime time.Duration
	// MaxStep is the largest block that is reserved ahead of need, in ids. A row's cache and a single request may exceed
	// it. 1,000,000 by default.
	MaxStep int64
	// PrefetchShare is the share of a block that is used when the next one is fetched at the latest, over 0 and up to
	// 0.99, which larger ones count as. 0.1 by default, also for negative values.
	PrefetchShare float64
	// Timeout is how long a Next waits for the database when its context has no nearer deadline. 5 seconds by default.
	Timeout time.Duration
	// Max is the last id to hand out; 2^63-1 by default.
	Max int64
	// Logger is told of outages, their ends, and rows that had to be raised. Nothing is logged by default.
	Logger *slog.Logger
	// Tracer is told of waits and refills; nil: nobody is.
	Tracer Tracer
}

func (c Config) withDefaults() Config {
	c.MinLifetime = cmp.Or(c.MinLifetime, DefaultMinLifetime)
	c.MaxStep = cmp.Or(c.MaxStep, DefaultMaxStep)
	if !(c.PrefetchShare > 0) { // NaN too
		c.PrefetchShare = DefaultPrefetchShare
	}
	c.PrefetchShare = min(c.PrefetchShare, maxPrefetchShare)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Max = cmp.Or(c.Max, maxID)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Registry holds the sequences of a process: one per [Name], so that no two of them share a row without need.
type Registry struct {
	open      func(Name) (Settings, error)
	cfg       Config
	sequences atomic.Pointer[map[Name]*Sequence] // never changed, only replaced: Get takes no lock

	mu      sync.Mutex // guards the replacement of sequences, and what follows
	closed  bool
	dropped dropped
}

// Settings is what a sequence has of its own.
type Settings struct {
	Store Store
	// Ordered has each id come from the row, in commit order over all processes: an id that is asked for after another one
	// was received is larger, whichever processes gave them. Callers that wait together share one round trip. Nothing is
	// kept in memory, so an outage is felt at once.
	Ordered bool
}

// NewRegistry returns a registry that gets the settings of a sequence from open, on its first use. A store may serve many
// sequences. The caller closes what stores hold, after [Registry.Close].
func NewRegistry(open func(Name) (Settings, error), cfg Config) *Registry {
	r := &Registry{open: open, cfg: cfg.withDefaults()}
	r.sequences.Store(&map[Name]*Sequence{})
	return r
}

// Get returns the sequence of that name, made on first use, which does not touch the database. It returns what open
// returns, and [ErrClosed] after Close for a name that was not used before. Whoever needs ids often keeps the Sequence: to
// look it up costs more than an id.
func (r *Registry) Get(name Name) (*Sequence, error) {
	if s := (*r.sequences.Load())[name]; s != nil {
		return s, nil
	}
	return r.add(name)
}

func (r *Registry) add(name Name) (*Sequence, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := *r.sequences.Load()
	if s := known[name]; s != nil {
		return s, nil
	}
	if r.closed {
		return nil, closedError(name)
	}
	set, err := r.open(name)
	if err != nil {
		return nil, fmt.Errorf("open sequence %s: %w", name, err)
	}
	s := newSequence(name, set, r.cfg)
	grown := maps.Clone(known)
	grown[name] = s
	r.sequences.Store(&grown)
	return s, nil
}

// Configure has MinLifetime, MaxStep, PrefetchShare and Timeout of cfg count from now on, for all sequences; a zero one
// means its default. The other fields stay as they were.
func (r *Registry) Configure(cfg Config) {
	cfg = cfg.withDefaults()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cfg = r.cfg.changed(cfg)
	for _, s := range *r.sequences.Load() {
		s.mu.Lock()
		s.cfg = s.cfg.changed(cfg)
		s.mu.Unlock()
	}
}

// changed returns the configuration with what may change while a sequence is in use.
func (c Config) changed(to Config) Config {
	c.MinLifetime, c.MaxStep, c.PrefetchShare, c.Timeout = to.MinLifetime, to.MaxStep, to.PrefetchShare, to.Timeout
	return c
}

// Names returns the names of the sequences that were used, in no order.
func (r *Registry) Names() []Name { return slices.Collect(maps.Keys(*r.sequences.Load())) }

// Forget ends the sequence of that name, if it was used or dropped: its table was made anew. What it has in memory is given
// to nobody, calls of Next that wait get [ErrNoTable], and the next [Registry.Get] opens it anew. Forget returns when no
// goroutine of it is left.
func (r *Registry) Forget(name Name) {
	r.end(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.dropped.given, name)
}

// end ends a sequence, which it returns if it was used.
func (r *Registry) end(name Name) *Sequence {
	r.mu.Lock()
	known := *r.sequences.Load()
	s := known[name]
	if s == nil || r.closed {
		r.mu.Unlock()
		return nil
	}
	rest := maps.Clone(known)
	delete(rest, name)
	r.sequences.Store(&rest)
	r.mu.Unlock()
	s.abandon()
	return s
}

// Snapshot returns the status of every sequence, by database, table and keyspace.
func (r *Registry) Snapshot() []Status {
	all := []Status{}
	for _, s := range *r.sequences.Load() {
		all = append(all, s.Status())
	}
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Name.Database, b.Name.Database), cmp.Compare(a.Name.Table, b.Name.Table),
			cmp.Compare(a.Name.Keyspace, b.Name.Keyspace))
	})
	return all
}

// Close ends the handing out of ids: calls of Next that wait and later ones return [ErrClosed]. Refills in flight end,
// and what is left of each sequence goes back to its row if nobody else has reserved ids after it. When ctx ends first,
// the rest is lost as in a crash: a gap. Close returns when no goroutine is left, and why ids could not be given back.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	known := *r.sequences.Load()
	r.mu.Unlock()

	var all sync.WaitGroup
	errs := make(chan error, len(known))
	for _, s := range known {
		all.Go(func() { errs <- s.close(ctx) })
	}
	all.Wait()
	close(errs)
	var joined []error
	for err := range errs {
		joined = append(joined, err)
	}
	return errors.Join(joined...)
}
