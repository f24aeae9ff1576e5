package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

// Config says what a [Set] works with.
type Config struct {
	// Workers is where the worker ids of snowflakes come from; nil: each generator has to name its own.
	Workers *Workers
	// Dir is the folder for the files of worker ids that generators name: see [StaticWorkers].
	Dir string
	// Lease is that of worker ids that generators name.
	Lease worker.Config
}

// Set holds what makes the ids of a process's generators. Make one by [New], and [Set.Close] it.
type Set struct {
	cfg       Config
	objectIDs *objectIDs
	current   atomic.Pointer[map[*vschema.Generator]*Snowflake] // never changed, only replaced

	mu         sync.Mutex // guards the replacement, and what follows
	holders    []holder
	generators snowflake.Generators
	closed     bool
}

// New returns the set of a process.
func New(cfg Config) *Set {
	if cfg.Workers == nil {
		cfg.Workers = noWorkers
	}
	s := &Set{cfg: cfg, objectIDs: newObjectIDs()}
	s.current.Store(&map[*vschema.Generator]*Snowflake{})
	return s
}

// Snowflake is the generator of type snowflake that a vschema names.
type Snowflake struct {
	Declared *vschema.Generator
	Layout   snowflake.Layout
	Longest  int64 // ids that follow each other at most: see LongestRun

	workers *Workers
	holder  *worker.Holder
	made    atomic.Int64
}

// Use begins to lease the worker ids of a vschema's generators, and forgets those of the one before. Leases are kept to the
// end of the process: generators with the same ids go on where the old ones were. The error is of those that cannot be used.
func (s *Set) Use(v *vschema.VSchema) error {
	used := map[*vschema.Generator]*Snowflake{}
	var errs []error
	for _, g := range snowflakesOf(v) {
		f, err := s.Snowflake(g)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		used[g] = f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Store(&used)
	return errors.Join(errs...)
}

func snowflakesOf(v *vschema.VSchema) (all []*vschema.Generator) {
	if v == nil {
		return nil
	}
	for _, k := range v.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Type == vschema.Snowflake {
				all = append(all, g)
			}
		}
	}
	return all
}

// Snowflake returns what makes the ids of a generator of that type, which begins to lease its worker id if there is none.
// Its errors are those of [Layout], and that the layout has ended, or has not this worker id.
func (s *Set) Snowflake(g *vschema.Generator) (*Snowflake, error) {
	if f := (*s.current.Load())[g]; f != nil { // the usual case
		return f, nil
	}
	l, zone, err := Layout(g)
	if err != nil {
		return nil, err
	}
	f := &Snowflake{Declared: g, Layout: l, Longest: LongestRun(l), workers: s.workersOf(g)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.holder, err = s.hold(f, zone); err != nil {
		return nil, f.named(err)
	}
	known := maps.Clone(*s.current.Load())
	known[g] = f
	s.current.Store(&known)
	return f, nil
}

func (s *Set) workersOf(g *vschema.Generator) *Workers {
	if w := g.Snowflake.Worker; w != nil {
		return StaticWorkers(*w, s.cfg.Dir, s.cfg.Lease)
	}
	return s.cfg.Workers
}

// hold returns the holder of worker ids, which begins to lease one if it is new. The caller holds mu.
func (s *Set) hold(f *Snowflake, zone int64) (*worker.Holder, error) {
	h := holderOf(f.Declared, f.workers, f.Layout, zone)
	for _, other := range s.holders {
		same, err := h.beside(other)
		if err != nil {
			return nil, err
		}
		if same {
			return other.Holder, nil
		}
	}
	if s.closed {
		return nil, fmt.Errorf("%w: seqgate ends", sequence.ErrClosed)
	}
	leaser, err := f.workers.Leaser(h.ids)
	if err != nil {
		return nil, err
	}
	if least := f.workers.Lease.Least; f.workers.static == nil && least > h.ids.Last-h.ids.First {
		return nil, fmt.Errorf("no worker id is left to lease: the least is %d, and the layout has 0 to %d", least, h.ids.Last-h.ids.First)
	}
	cfg := f.workers.Lease
	cfg.First = h.ids.First
	cfg.Generator.MaxBorrow = f.Declared.Snowflake.MaxBorrow
	cfg.Generators = &s.generators
	if h.Holder, err = worker.Open(siblings{leaser, s, h.ids.Set}, h.ids.Set, f.Layout, zone, cfg); err == nil {
		s.holders = append(s.holders, h)
	}
	return h.Holder, err
}

// Check tells what a vschema's generators ask of worker ids that this process cannot do: because two of them contradict each
// other, or contradict what it has leased already, which it keeps until it ends.
func (s *Set) Check(v *vschema.VSchema) (errs []GeneratorError) {
	s.mu.Lock()
	held := slices.Clone(s.holders)
	s.mu.Unlock()
	began := len(held)
	for _, g := range snowflakesOf(v) {
		l, zone, err := Layout(g)
		if err != nil {
			errs = append(errs, GeneratorError{g, err})
			continue
		}
		h := holderOf(g, s.workersOf(g), l, zone)
		for i, other := range held {
			if _, err := h.beside(other); err != nil {
				if i < began {
					err = fmt.Errorf("%w; what this process has begun with stays until it is started again", err)
				}
				errs = append(errs, GeneratorError{g, err})
				break
			}
		}
		held = append(held, h)
	}
	return errs
}

// GeneratorError is what is wrong with a generator.
type GeneratorError struct {
	Generator *vschema.Generator
	Err       error
}

// Ready waits for the worker ids of all generators in use, as [worker.Holder.Ready] does for one.
func (s *Set) Ready(ctx context.Context) error {
	var errs []error
	for _, h := range s.all() {
		errs = append(errs, h.Ready(ctx))
	}
	return errors.Join(errs...)
}

// Close ends the giving of ids and all leases. The error is of those that could not be ended until the deadline of ctx, and
// end by themselves.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var errs []error
	for _, h := range s.all() {
		errs = append(errs, h.Close(ctx))
	}
	return errors.Join(errs...)
}

func (s *Set) all() []holder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.holders)
}

// Next returns n ids that follow each other. Its errors are those of [worker.Holder.Next], and one that matches
// [sequence.ErrInvalidCount] for more than Longest.
func (f *Snowflake) Next(ctx context.Context, n int64) (sequence.Range, error) {
	if n > f.Longest {
		return sequence.Range{}, f.tooMany(n)
	}
	run, err := f.holder.Next(ctx, n)
	f.made.Add(run.N)
	return sequence.Range{First: run.First, N: run.N}, f.named(err)
}

// Fill sets ids to increasing ids, which need not follow each other. Its errors are those of [worker.Holder.Fill].
func (f *Snowflake) Fill(ctx context.Context, ids []int64) error {
	err := f.holder.Fill(ctx, ids)
	if err == nil {
		f.made.Add(int64(len(ids)))
	}
	return f.named(err)
}

func (f *Snowflake) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("generator %s.%s: %w", f.Declared.Keyspace, f.Declared.Name, err)
}

func (f *Snowflake) tooMany(n int64) error {
	return &sequence.Error{Kind: sequence.ErrInvalidCount, Sequence: f.Declared.Keyspace + "." + f.Declared.Name,
		Text: fmt.Sprintf("cannot give %d values that follow each other: ask for %d at most (layout %s)", n, f.Longest, f.Layout.Name)}
}

// Status is what a generator of type snowflake is doing.
type Status struct {
	Generator string // keyspace.name
	Layout    snowflake.Layout
	From      string        // where its worker id is from: see Workers
	Worker    worker.Status // Worker.Generator is of the ids
	Static    bool          // the worker id is the process's own for good: it is not leased from others
	Made      int64         // ids given
}

// Status returns what f is doing.
func (f *Snowflake) Status() Status {
	return Status{Generator: f.Declared.Keyspace + "." + f.Declared.Name, Layout: f.Layout, From: f.workers.From, Worker: f.holder.Status(), Static: f.workers.static != nil, Made: f.made.Load()}
}

// Statuses returns what the snowflakes in use are doing, by name.
func (s *Set) Statuses() (all []Status) {
	for _, f := range *s.current.Load() {
		all = append(all, f.Status())
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Generator, b.Generator) })
	return all
}
