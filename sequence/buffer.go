package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/internal/adaptive"
	"github.com/seqgate/seqgate/internal/buckets"
)

// Sequence hands out the ids of one sequence. It is made by [Registry.Get].
//
// It is cold at first: it reserves a block when one is needed, of exactly the size that Vitess would take. It turns warm
// for good when it has been refilled 8 times, when several callers waited for ids at the same time, or 10 seconds after
// its first block. A warm sequence fetches the next segment in the background as soon as Config.PrefetchShare of the latest
// one is used, or at once if that would be gone within Config.Timeout at the present pace; and its step doubles and halves
// by how long a block lasts, and grows 16 times when callers had to wait. When several callers wait, the block is large
// enough for all of them.
//
// An ordered sequence differs: see [Settings].
type Sequence struct {
	current atomic.Pointer[segment]
	_       [cacheLine]byte // every Next reads current: keep it off the cache line of what follows

	name    Name
	store   Store
	ordered atomic.Bool // see Settings; written with mu held, and never unset
	spread  bool        // the ids come from several rows: one that is above an id says nothing of the others
	cfg     Config
	tracer  Tracer // of cfg, which may change; nil: nobody is told

	given atomic.Int64 // the largest id that was ever reserved by this process; written with mu held

	conflicts              atomic.Int64 // see Status.Conflicts
	refillTimes, waitTimes buckets.Histogram

	background sync.WaitGroup     // the refill and the raise in flight
	stop       chan struct{}      // closed when no more of them are wanted
	ctx        context.Context    // of the calls to store
	abort      context.CancelFunc // ends ctx

	mu        sync.Mutex // guards what follows, and who publishes current; never held during a call to store
	next      Range      // the segment after current; empty when there is none
	waiters   []*waiter  // callers that got nothing from current and next, in the order they came
	refilling bool       // there is a refill in flight
	closed    bool
	ended     error // why it is closed
	warm      bool
	waited    bool  // callers have had to wait since the step was last set
	alone     bool  // an ordered sequence asks for one waiter at a time
	step      int64 // wanted size of the next block; 0: the row's cache
	pace      pace  // when the latest refill began
	advance   advance
	unmarked  bool        // it was logged that the table does not say that s is ordered
	looked    time.Time   // when the table's comment was last looked at
	until     time.Time   // when what is in memory ends; zero: never
	ending    *time.Timer // runs end then
	stats     stats
}

// waiter is a caller of Next that waits for n ids.
type waiter struct {
	n      int64
	asked  bool          // it was there when an attempt was sent: see askExactly
	passed bool          // a block came that did not suffice: the next one must suffice without what is left in memory
	ready  chan struct{} // closed when got or err is set
	got    Range
	err    error
}

func newSequence(name Name, set Settings, cfg Config) *Sequence {
	s := &Sequence{name: name, store: set.Store, spread: isSpread(set.Store), cfg: cfg, tracer: cfg.Tracer, stop: make(chan struct{})}
	s.ordered.Store(set.Ordered)
	s.ctx, s.abort = context.WithCancel(context.Background())
	s.current.Store(newSegment(Range{}))
	return s
}

// Next returns n ids, 1 to [MaxN], as one contiguous block. Ids that are in memory are given at once, even if ctx has ended.
// When there are not enough, Next waits for a refill, which all callers share, until the deadline of ctx or for
// Config.Timeout, whichever is nearer.
//
// It returns errors that match [ErrInvalidCount], [ErrExhausted], [ErrNoTable], [ErrNotSequence], [ErrNoRow],
// [ErrBadRow], [ErrUnavailable], [ErrClosed] or [context.Canceled], and the server's own refusals, as missing privileges.
func (s *Sequence) Next(ctx context.Context, n int64) (Range, error) {
	if n != 1 {
		return s.nextBlock(ctx, n)
	}
	// An addition cannot lose ids here, as that of a larger n would: it fails only when none are left.
	seg := s.current.Load()
	used := seg.used.Add(1)
	if used >= seg.mark.Load() {
		return s.nextMarked(ctx, seg, used)
	}
	return Range{seg.first + used - 1, 1}, nil
}

// nextMarked returns the id that is the used-th one of seg, at its mark or after, if seg has as many.
func (s *Sequence) nextMarked(ctx context.Context, seg *segment, used int64) (Range, error) {
	if used > seg.size {
		return s.wait(ctx, 1)
	}
	s.atMark(ctx, seg)
	return Range{seg.first + used - 1, 1}, nil
}

func (s *Sequence) nextBlock(ctx context.Context, n int64) (Range, error) {
	if n < 1 || n > MaxN {
		return Range{}, &Error{Kind: ErrInvalidCount, Sequence: s.name.String(),
			Text: fmt.Sprintf("cannot give %d ids at once; ask for 1 to %d", n, int64(MaxN))}
	}
	seg := s.current.Load()
	r, ok := seg.take(n)
	if !ok {
		return s.wait(ctx, n)
	}
	if seg.isMarked() {
		s.atMark(ctx, seg)
	}
	return r, nil
}

// atMark sees to the next segment. Of all the callers that find the mark reached one does it.
func (s *Sequence) atMark(ctx context.Context, seg *segment) {
	mark := seg.mark.Load()
	if mark == seg.end() || !seg.mark.CompareAndSwap(mark, seg.end()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.Load() == seg {
		s.lookAhead(ctx)
	}
}

// wait takes n ids from current and next, or from a refill.
func (s *Sequence) wait(ctx context.Context, n int64) (r Range, err error) {
	s.mu.Lock()
	if r, ok := s.take(ctx, n); ok {
		s.mu.Unlock()
		return r, nil
	}
	if s.closed {
		s.mu.Unlock()
		return Range{}, s.ended
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	s.waiters = append(s.waiters, w)
	s.waited = true
	s.stats.waits++
	s.startRefill(ctx)
	timeout := s.cfg.Timeout
	s.mu.Unlock()

	began := time.Now()
	defer func() { s.waitTimes.Observe(time.Since(began)) }()
	if s.tracer != nil {
		if end := s.traceWait(ctx, n); end != nil {
			defer func() { end(err) }()
		}
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-w.ready:
		return w.got, w.err
	case <-ctx.Done():
		return s.leave(w, began, ctx.Err())
	case <-timer.C:
		return s.leave(w, began, context.DeadlineExceeded)
	}
}

// leave gives up waiting, because of cause, unless the ids have just come.
func (s *Sequence) leave(w *waiter, began time.Time, cause error) (Range, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiters, w)
	if i < 0 {
		return w.got, w.err
	}
	s.waiters = slices.Delete(s.waiters, i, i+1)
	if errors.Is(cause, context.Canceled) {
		return Range{}, fmt.Errorf("wait for ids of sequence %s: %w", s.name, cause)
	}
	e := &UnavailableError{Sequence: s.name.String(), Waited: time.Since(began), Since: s.stats.awaySince, Cause: s.stats.awayCause}
	if !e.Since.IsZero() {
		e.Away = time.Since(e.Since)
	}
	return Range{}, e
}

// take takes n ids from current and next. s.mu is held.
func (s *Sequence) take(ctx context.Context, n int64) (Range, bool) {
	seg := s.current.Load()
	if r, ok := seg.take(n); ok {
		return r, true
	}
	if s.next.N == 0 || seg.rest().then(s.next).N < n {
		return Range{}, false
	}
	all := s.drain()
	var r Range
	enough := all.N >= n // others may have taken some before that
	if enough {
		r, all = all.split(n)
	}
	s.publish(ctx, all)
	return r, enough
}

// drain empties current and next, and returns what was in them. s.mu is held.
func (s *Sequence) drain() Range {
	all := s.join(s.current.Load().seal(), s.next)
	s.next = Range{}
	return all
}

// join is Range.then, and counts the ids that it drops. s.mu is held.
func (s *Sequence) join(r, next Range) Range {
	all := r.then(next)
	s.stats.dropped += r.N + next.N - all.N
	return all
}

// setNext puts r, a part of next, in its place. s.mu is held.
func (s *Sequence) setNext(r Range) {
	s.stats.dropped += s.next.N - r.N
	s.next = r
}

// publish makes r, which lies above all ids that were taken, the current segment. s.mu is held, and the segment that was
// current is sealed.
func (s *Sequence) publish(ctx context.Context, r Range) {
	s.current.Store(newSegment(r))
	s.lookAhead(ctx)
}

// lookAhead has the next segment fetched, or sets a mark in the current one to look again. ctx is that of the caller whose
// id was the occasion. s.mu is held.
func (s *Sequence) lookAhead(ctx context.Context) {
	seg := s.current.Load()
	rest := seg.rest().N
	switch {
	case s.next.N > 0 || s.refilling || s.closed:
		seg.setMark(seg.end()) // whoever ends the refill looks ahead again if there is need
	case !s.isWarm(time.Now()):
		s.lookAt(seg.size)
	case rest > s.lowWater() && !s.runsOut(rest):
		s.lookAt(seg.size - s.lowWater())
	default:
		seg.setMark(seg.end())
		s.startRefill(s.detached(ctx))
	}
}

// lookAt sets the mark where the next part of the current segment is used, or where as many ids are gone as given if that
// is nearer. s.mu is held.
func (s *Sequence) lookAt(gone int64) {
	seg := s.current.Load()
	seg.setMark(adaptive.NextLook(seg.size, seg.size-seg.rest().N, gone))
}

// lowWater is how many ids are left when the next block is fetched at the latest.
func (s *Sequence) lowWater() int64 {
	return adaptive.LowWater(s.stats.block, s.cfg.PrefetchShare)
}

// runsOut reports whether rest ids are gone, at the present pace, in the time that a caller would wait for more.
func (s *Sequence) runsOut(rest int64) bool {
	used, spent := s.pace.until(s.now())
	return adaptive.Lifetime(rest, used, spent) < s.cfg.Timeout
}

// isWarm reports whether the sequence has turned warm. s.mu is held.
func (s *Sequence) isWarm(now time.Time) bool {
	if s.ordered.Load() {
		return false
	}
	if len(s.waiters) > 1 || adaptive.IsWarm(s.stats.refills, now.Sub(s.stats.opened)) {
		s.warm = true
	}
	return s.warm
}

// now returns how many of the reserved ids have been consumed by now. s.mu is held.
func (s *Sequence) now() pace {
	return pace{time.Now(), s.stats.reserved - s.stats.dropped - s.current.Load().rest().N - s.next.N}
}
