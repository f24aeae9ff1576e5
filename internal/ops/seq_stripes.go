package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/sequence"
)

// OpenStriped opens a sequence that lies on several servers; it does not connect yet. Its table lies in the database of
// the keyspace on all of them. Servers that begin and cease to fail are logged to log; nil logs nothing.
func OpenStriped(cfg *config.Config, name TableName, log *slog.Logger) (striped *sequence.Striped, closeAll func() error, err error) {
	o := cfg.Sequences.Of(name.Keyspace, name.Table)
	var servers []sequence.StripeServer
	closeAll = func() error {
		var errs []error
		for _, s := range servers {
			errs = append(errs, s.DB.Close())
		}
		return errors.Join(errs...)
	}
	for _, store := range o.Stores {
		db, err := sequence.NewPool(store.DSN)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		servers = append(servers, sequence.StripeServer{Name: store.Name, DB: db})
	}
	layout := sequence.StripeLayout{Stripes: o.Stripes, Chunk: o.StripeChunk}
	striped, err = sequence.NewStriped(servers, string(o.Refill), layout, log)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return striped, closeAll, nil
}

// seedStriped makes the stripes of a sequence that lies on several servers, or raises them: those of the servers that
// answer, when not all do.
func (s Seeder) seedStriped(ctx context.Context, at *Server, table string, next, cache int64) (err error) {
	name := TableName{at.Keyspace, table}
	striped, closeAll, err := OpenStriped(s.Cluster.cfg, name, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	stripes, away := striped.Stripes(ctx, at.database, table)
	switch {
	case away != nil && (len(stripes) == 0 || !sequence.IsTemporary(away)):
		return away
	case len(stripes) == 0:
		if err := s.printTables(striped, at.database, name); err != nil {
			return err
		}
	}
	if err := s.note("%s: its stripes are to give %d and above", name, next); err != nil || s.DryRun {
		return errors.Join(err, away)
	}
	if away == nil {
		return striped.Seed(ctx, at.database, table, next, cache)
	}
	if _, err := striped.Raise(ctx, sequence.Request{Database: at.database, Table: table, After: next - 1}); err != nil {
		return fmt.Errorf("the stripes of the servers that answer are raised; run seqgate init again when all do: %w", err)
	}
	return nil
}

// printTables prints what is made on the servers.
func (s Seeder) printTables(striped *sequence.Striped, database string, name TableName) error {
	for _, store := range s.Cluster.storeNames(name) {
		if err := s.note("on server %s:", store); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(s.Out, striped.CreateTableSQL(store, database, name.Table)+";"); err != nil {
			return err
		}
	}
	return s.note("and a row for each of %d stripes, dealt to the servers in turn", s.Cluster.layout(name).Stripes)
}

// storeNames are the names of the servers that a striped sequence lies on.
func (c *Cluster) storeNames(name TableName) (names []string) {
	for _, store := range c.cfg.Sequences.Of(name.Keyspace, name.Table).Stores {
		names = append(names, store.Name)
	}
	return names
}

// layout says which ids are in which stripe of a sequence.
func (c *Cluster) layout(name TableName) sequence.StripeLayout {
	o := c.cfg.Sequences.Of(name.Keyspace, name.Table)
	return sequence.StripeLayout{Stripes: cmp.Or(o.Stripes, sequence.DefaultStripes), Chunk: cmp.Or(o.StripeChunk, sequence.DefaultChunk)}
}

// StripedSequence is a sequence that lies on several servers.
type StripedSequence struct {
	*sequence.Striped
	Database string
	Name     TableName
	stores   []string // the servers' names
}

// WithStriped opens the sequence that an argument names for the time of a call.
func (c *Cluster) WithStriped(arg string, f func(StripedSequence) error) (err error) {
	name := c.Table(arg)
	if !c.isStriped(name) {
		return Usagef("sequence %s lies on one server: sequences.overrides has no stores for it", name)
	}
	k, err := c.unsharded(name.Keyspace)
	if err != nil {
		return err
	}
	striped, closeAll, err := OpenStriped(c.cfg, name, nil)
	if err != nil {
		return inSequence(name, err)
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	return f(StripedSequence{striped, k.Shards[0].DSN.DBName, name, c.storeNames(name)})
}

// Move moves a stripe to one of the servers.
func (s StripedSequence) Move(ctx context.Context, stripe int, to string) error {
	if !slices.Contains(s.stores, to) {
		return Usagef("sequence %s has no server %q: write one of %s", s.Name, to, strings.Join(s.stores, ", "))
	}
	return s.Striped.Move(ctx, s.Database, s.Name.Table, stripe, to)
}
