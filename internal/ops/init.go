package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seqgate/seqgate/proxy/catalog"
)

// Init makes all that is wanted, and raises it; cache is that of new rows.
func (s Seeder) Init(ctx context.Context, tables []string, cache int64) error {
	list, err := s.Cluster.wanted(tables)
	if err != nil {
		return err
	}
	leases, err := s.makeWorkers(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 && leases {
		return nil
	}
	if len(list) == 0 {
		return Usagef("no sequences: name the tables to make sequences for, or a vschema in the configuration")
	}
	seeds := make([]seed, len(list))
	for i, b := range list {
		seeds[i] = seed{binding: b, next: 1, cache: cache}
	}
	return s.Run(ctx, seeds)
}

// wanted is what to make sequences for: all that is bound, and by the convention the tables named on the command line. In
// a vschema they must be bound.
func (c *Cluster) wanted(names []string) ([]binding, error) {
	var reached servers
	if c.cfg.VSchema == nil {
		var err error
		if reached, err = c.reach(); err != nil {
			return nil, err
		}
	}
	list := bindings(c.cfg, reached)
	for _, arg := range names {
		name := c.Table(arg)
		if bound(list, name) {
			continue
		}
		b, err := c.conventional(name)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

func bound(list []binding, name TableName) bool {
	return slices.ContainsFunc(list, func(b binding) bool {
		return slices.ContainsFunc(b.fills, func(f filled) bool { return f.TableName == name })
	})
}

// conventional is the binding of a table to the sequence that the convention has for it.
func (c *Cluster) conventional(name TableName) (binding, error) {
	if c.cfg.VSchema != nil {
		return binding{}, Usagef(`the vschema binds no sequence to %s: write "auto_increment": {"column": "id", "sequence": "%s"} there`,
			name, name.Table+catalog.SequenceSuffix)
	}
	s, err := c.server(name.Keyspace)
	if err != nil {
		return binding{}, err
	}
	t, ok := s.table(name.Table)
	if !ok {
		return binding{}, c.NoTable(name)
	}
	column, why := t.IDColumn()
	if strings.HasSuffix(name.Table, catalog.SequenceSuffix) {
		why = "by its name it is a sequence itself"
	}
	if why != "" {
		return binding{}, Usagef("table %s cannot be filled from a sequence by the convention: %s", name, why)
	}
	return binding{TableName{name.Keyspace, name.Table + catalog.SequenceSuffix}, []filled{{TableName: name, column: column.Name}}}, nil
}

// seed is what a sequence is to become at least.
type seed struct {
	binding
	next  int64 // the first id that it may give, besides those of the tables that it fills
	cache int64 // of a row that has none

	free FreeIDs // of the tables that it fills
	err  error   // the first that went wrong
}

// Seeder makes sequences and raises them.
type Seeder struct {
	Editor
	Cluster *Cluster
	Stopped bool // nobody holds ids in memory
}

// Run does every sequence that it can, and returns what went wrong with the others. The ids in use are read when all
// tables are there: from then on seqgate fills from a sequence, or refuses.
func (s Seeder) Run(ctx context.Context, seeds []seed) error {
	if err := s.lock(ctx, seeds); err != nil {
		return err
	}
	for i := range seeds {
		seeds[i].err = s.makeTable(ctx, seeds[i].binding)
	}
	var group sync.WaitGroup
	for i := range seeds {
		if d := &seeds[i]; d.err == nil && !s.Cluster.isKeyed(d.sequence) {
			group.Go(func() { d.free, d.err = s.Cluster.free(ctx, d.binding) })
		}
	}
	group.Wait()
	var errs []error
	for _, d := range seeds {
		switch {
		case d.err != nil:
		case s.Cluster.isKeyed(d.sequence):
			d.err = s.seedKeyed(ctx, d)
		default:
			d.err = s.raise(ctx, d)
		}
		if d.err == nil {
			d.err = s.mark(ctx, d.sequence)
		}
		if d.err != nil {
			errs = append(errs, fmt.Errorf("sequence %s: %w", d.sequence, d.err))
		}
	}
	return errors.Join(errs...)
}

// makeTable makes the sequence's table if it is missing. It makes none, and reports why, when a server that has rows of it
// is away: nobody knows then above which ids the sequence is to begin.
func (s Seeder) makeTable(ctx context.Context, b binding) error {
	if _, err := s.Cluster.locate(b); err != nil {
		return fmt.Errorf("nothing is seeded: which ids are in use cannot be read: %w", err)
	}
	if s.Cluster.oneRow(b.sequence) != nil {
		return nil // it is made with its rows
	}
	at, err := s.Cluster.server(b.sequence.Keyspace)
	if err != nil {
		return err
	}
	t, exists := at.table(b.sequence.Table)
	if !exists {
		if err := s.neverUsed(ctx, at, b.sequence.Table); err != nil {
			return err
		}
		return s.create(ctx, at, b.sequence.Table)
	}
	if faults := sequenceFaults(t, at.quoted(b.sequence.Table)); len(faults) > 0 {
		return errors.New("the table " + strings.Join(faults, ", and "))
	}
	return nil
}

// raise makes the row, or raises it.
func (s Seeder) raise(ctx context.Context, d seed) error {
	next, err := s.first(d)
	if err != nil {
		return err
	}
	at, err := s.Cluster.server(d.sequence.Keyspace)
	if err != nil {
		return err
	}
	if s.Cluster.isStriped(d.sequence) {
		return s.seedStriped(ctx, at, d.sequence.Table, next, d.cache)
	}
	decide := RaiseTo(next, d.cache)
	if _, exists := at.table(d.sequence.Table); exists {
		decide = s.unlessGone(decide)
	}
	return s.Edit(ctx, at, d.sequence, decide)
}

// first returns the first id that the sequence may give, and tells of tables that do not exist yet.
func (s Seeder) first(d seed) (int64, error) {
	next := max(d.next, d.free.Next)
	for _, table := range d.free.missing {
		if err := s.note("%s does not exist yet: its ids start at %d", table, next); err != nil {
			return 0, err
		}
	}
	if next > d.free.Last {
		return 0, fmt.Errorf("the next id would be %d, and the ids of what it fills end at %d: make the column a BIGINT", next, d.free.Last)
	}
	return next, nil
}

// RaiseTo brings a row to at least next, and gives it a cache when it has none.
func RaiseTo(next, cache int64) Decision {
	return func(now *SeqRow) (SeqRow, error) {
		switch {
		case now == nil:
			return newSeqRow(next, cache), nil
		case now.usedUp():
			return *now, errUsedUp
		case !now.next.Valid:
			return newSeqRow(next, now.usableCache(cache)), nil
		}
		return newSeqRow(max(next, now.next.Int64), now.usableCache(cache)), nil
	}
}

// errUsedUp is that of a row that has given its last id.
var errUsedUp = errors.New("the ids are used up")
