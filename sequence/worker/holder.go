package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

// Defaults of [Config].
const (
	// DefaultLease: long enough for a failover of the database, of which 21 to 27 seconds are left when it begins.
	DefaultLease = 30 * time.Second
	// DefaultMaxSkew: hosts with NTP differ by milliseconds, and one that missed a leap second by one second. What is more
	// is a fault, and as ids are in the order of their times only as far as clocks agree, it shows.
	DefaultMaxSkew = 2 * time.Second
)

// Config says how a [Holder] works. A zero field means its default.
type Config struct {
	// Address says to people who holds the worker id; by default the host's name and the process id.
	Address string
	// Lease is how long the worker id belongs to a process that has died. It is extended after a fifth, and a process goes
	// on without its Leaser for the rest, less a tenth. For [Static] use [StaticLease].
	Lease time.Duration
	// Quarantine is how long after its lease a worker id is not given to others: as long as the lease by default. Then all
	// that was reserved for the last holder lies in the past of the next one, and need not be waited for. Negative: none.
	Quarantine time.Duration
	// MaxSkew is how far the time of day may differ from the Leaser's and from that of most other holders.
	MaxSkew time.Duration
	// First is the worker id of the set that is 0 in the layout; the others follow. By default the two count alike.
	First int64
	// Least is the lowest worker id to lease, as the layout counts: where another system has used those below.
	Least int64
	// Generator is of the generator; After and Limit are not used, and Clock is the holder's too.
	Generator snowflake.Config
	// Generators are all those of the process. By default the holder has its own.
	Generators *snowflake.Generators
	// Logger is told when a worker id is leased or lost, when ids stop and when they go on. By default nothing is logged.
	Logger *slog.Logger
}

// maxAddress is the longest address, in bytes.
const maxAddress = 255

func (c Config) withDefaults() Config {
	if c.Address == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "a host without a name"
		}
		c.Address = fmt.Sprintf("%s, process %d", host, os.Getpid())
	}
	c.Address = c.Address[:min(len(c.Address), maxAddress)]
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	c.Quarantine = max(cmp.Or(c.Quarantine, c.Lease), 0)
	c.MaxSkew = cmp.Or(c.MaxSkew, DefaultMaxSkew)
	c.Generator.Timeout = cmp.Or(c.Generator.Timeout, snowflake.DefaultTimeout)
	c.Generators = cmp.Or(c.Generators, &snowflake.Generators{})
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Generator.Clock == nil {
		c.Generator.Clock = newClock() // and the generator keeps its own, which is faster
	}
	return c
}

// every is how often a lease is extended, and margin by how much its holder stops before it ends.
func (c Config) every() time.Duration  { return c.Lease / 5 }
func (c Config) margin() time.Duration { return c.Lease / 10 }

// Holder gives snowflake ids with a worker id that it leases. When the lease is lost it leases another one, when the Leaser
// is away it goes on until the time that was reserved, and both it does by itself. It is safe for concurrent use.
type Holder struct {
	set       string
	leaser    Leaser
	layout    snowflake.Layout
	zone      int64
	cfg       Config
	generator snowflake.Config // of each generator
	clock     snowflake.Clock

	ctx   context.Context // of calls to the Leaser; abort ends them
	abort context.CancelFunc
	work  sync.WaitGroup

	current atomic.Pointer[tenure] // nil: no worker id

	mu      sync.Mutex    // guards what follows, and the limits of the generators
	changed chan struct{} // closed when there is news for those who wait
	end     *time.Timer   // fires when the lease ends
	token   string
	state   state
}

// tenure is a worker id that is leased, and its generator.
type tenure struct {
	worker    int64
	generator *snowflake.Generator
	since     time.Time
}

// Open begins to lease a worker id for a zone of a layout, which leaser has as the set of that name, and returns at once:
// see [Holder.Ready]. Its errors are those of [snowflake.New].
func Open(leaser Leaser, set string, layout snowflake.Layout, zone int64, cfg Config) (*Holder, error) {
	generator := cfg.Generator
	if _, err := snowflake.New(layout, zone, 0, generator); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	h := &Holder{set: set, leaser: leaser, layout: layout, zone: zone, cfg: cfg, generator: generator,
		clock: cfg.Generator.Clock, changed: make(chan struct{}), token: newToken()}
	h.ctx, h.abort = context.WithCancel(context.Background())
	h.end = time.AfterFunc(time.Hour, h.lapse)
	h.end.Stop()
	h.work.Go(h.keep)
	return h, nil
}

func newToken() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails (package crypto/rand)
	return hex.EncodeToString(random[:])
}

// Close ends the giving of ids and the lease. It returns an error when that could not be said to the Leaser, until the
// deadline of ctx: then the lease ends by itself.
func (h *Holder) Close(ctx context.Context) error {
	h.abort()
	h.work.Wait()
	h.mu.Lock()
	held := h.current.Swap(nil)
	closed := h.state.closed
	h.state.closed = true
	h.end.Stop()
	if held != nil {
		held.generator.SetLimit(h.never())
	}
	h.news()
	h.mu.Unlock()
	if closed || held == nil {
		return nil
	}
	if err := h.leaser.Release(ctx, h.cfg.First+held.worker, h.claim()); err != nil {
		return fmt.Errorf("release worker id %d of %s: %w", held.worker, h.set, err)
	}
	return nil
}

// never is a limit that lets no ids through.
func (h *Holder) never() time.Time { return time.UnixMilli(h.layout.Epoch) }

// Next returns n ids as [snowflake.Generator.Next] does. It waits for a worker id, as long as that would. Its errors are
// those of the generator, and such as match [sequence.ErrUnavailable], [ErrNoWorkerID], [ErrClock] or [sequence.ErrClosed].
func (h *Holder) Next(ctx context.Context, n int64) (snowflake.Run, error) {
	t := h.current.Load()
	if t == nil {
		return h.nextLater(ctx, n)
	}
	run, err := t.generator.Next(ctx, n) // the usual case, without a detour
	switch {
	case err == nil:
		return run, nil
	case h.replaced(t, err):
		return h.nextLater(ctx, n)
	}
	return run, h.explain(err)
}

func (h *Holder) nextLater(ctx context.Context, n int64) (run snowflake.Run, err error) {
	err = h.later(ctx, func(ctx context.Context, g *snowflake.Generator) error {
		run, err = g.Next(ctx, n)
		return err
	})
	return run, err
}

// Fill sets ids to increasing ids as [snowflake.Generator.Fill] does; its errors are those of [Holder.Next]. All
// ids are of one worker id.
func (h *Holder) Fill(ctx context.Context, ids []int64) error {
	fill := func(ctx context.Context, g *snowflake.Generator) error { return g.Fill(ctx, ids) }
	if t := h.current.Load(); t != nil {
		if err := fill(ctx, t.generator); !h.replaced(t, err) {
			return h.explain(err)
		}
	}
	return h.later(ctx, fill)
}

// later calls f with the generator of the worker id that it waits for, and of the next one when that is lost meanwhile.
func (h *Holder) later(ctx context.Context, f func(context.Context, *snowflake.Generator) error) error {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Generator.Timeout)
	defer cancel()
	for {
		t, err := h.tenure(ctx)
		if err != nil {
			return err
		}
		if err = f(ctx, t.generator); !h.replaced(t, err) {
			return h.explain(err)
		}
	}
}

// replaced reports whether err came of t's end, and there is another worker id, or will be.
func (h *Holder) replaced(t *tenure, err error) bool {
	return errors.Is(err, snowflake.ErrLimit) && h.current.Load() != t
}

// explain makes the error of a generator one that tells what is wrong with the lease, if that can be the reason.
func (h *Holder) explain(err error) error {
	limited := errors.Is(err, snowflake.ErrLimit)
	if !limited && !errors.Is(err, snowflake.ErrClock) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	wrong := errors.Is(h.state.err, ErrClock)
	switch {
	case wrong && limited:
		return h.state.err
	case wrong:
		return fmt.Errorf("%w; %w", err, h.state.err)
	case limited:
		return &Error{Kind: snowflake.ErrLimit, Set: h.set, Cause: h.state.err,
			Text: "the lease is over, or ids have come up to the time that it reserves; seqgate goes on trying to extend it"}
	}
	return err
}

// tenure waits for a worker id.
func (h *Holder) tenure(ctx context.Context) (*tenure, error) {
	for {
		h.mu.Lock()
		t, changed, why := h.current.Load(), h.changed, h.refusal()
		h.mu.Unlock()
		switch {
		case t != nil:
			return t, nil
		case errors.Is(why, sequence.ErrClosed):
			return nil, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, fmt.Errorf("wait for a worker id of %s: %w", h.set, ctx.Err())
			}
			return nil, why
		}
	}
}

// refusal says why there is no worker id. The caller holds mu.
func (h *Holder) refusal() error {
	switch err := h.state.err; {
	case h.state.closed:
		return &Error{Kind: sequence.ErrClosed, Set: h.set, Text: "the process ends, and has given its worker id back"}
	case err == nil:
		return &Error{Kind: sequence.ErrUnavailable, Set: h.set, Text: "none is leased yet; try again"}
	case errors.Is(err, sequence.ErrUnavailable):
		return err
	default:
		return &Error{Kind: sequence.ErrUnavailable, Set: h.set, Text: "none can be leased; seqgate goes on trying", Cause: err}
	}
}

// Ready waits for a worker id. It returns an error at once when it is one that somebody should see to: all are taken, the
// clock differs, or the Leaser refuses for good. Others it returns at the end of ctx. The holder goes on trying after each.
func (h *Holder) Ready(ctx context.Context) error {
	for {
		h.mu.Lock()
		t, changed, why, serious := h.current.Load(), h.changed, h.refusal(), isSerious(h.state.err)
		closed := h.state.closed
		h.mu.Unlock()
		switch {
		case serious || closed:
			return why
		case t != nil:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for a worker id: %w: %w", ctx.Err(), why)
		}
	}
}

func isSerious(err error) bool {
	if err == nil {
		return false
	}
	for _, kind := range []error{ErrNoWorkerID, ErrClock, ErrBroken, snowflake.ErrLayout, sequence.ErrExhausted} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return !sequence.IsTemporary(err)
}
