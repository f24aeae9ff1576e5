package main

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

// openStriped opens a sequence that lies on several servers; it does not connect yet. Its table lies in the database of
// the keyspace on all of them. Servers that begin and cease to fail are logged to log; nil logs nothing.
func openStriped(cfg *config.Config, name tableName, log *slog.Logger) (striped *sequence.Striped, closeAll func() error, err error) {
	o := cfg.Sequences.Of(name.keyspace, name.table)
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
func (s seeder) seedStriped(ctx context.Context, at *server, table string, next, cache int64) (err error) {
	name := tableName{at.keyspace, table}
	striped, closeAll, err := openStriped(s.cluster.cfg, name, nil)
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
	if err := s.note("%s: its stripes are to give %d and above", name, next); err != nil || s.dryRun {
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
func (s seeder) printTables(striped *sequence.Striped, database string, name tableName) error {
	for _, store := range s.cluster.storeNames(name) {
		if err := s.note("on server %s:", store); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(s.out, striped.CreateTableSQL(store, database, name.table)+";"); err != nil {
			return err
		}
	}
	return s.note("and a row for each of %d stripes, dealt to the servers in turn", s.cluster.layout(name).Stripes)
}

// storeNames are the names of the servers that a striped sequence lies on.
func (c *cluster) storeNames(name tableName) (names []string) {
	for _, store := range c.cfg.Sequences.Of(name.keyspace, name.table).Stores {
		names = append(names, store.Name)
	}
	return names
}

// layout says which ids are in which stripe of a sequence.
func (c *cluster) layout(name tableName) sequence.StripeLayout {
	o := c.cfg.Sequences.Of(name.keyspace, name.table)
	return sequence.StripeLayout{Stripes: cmp.Or(o.Stripes, sequence.DefaultStripes), Chunk: cmp.Or(o.StripeChunk, sequence.DefaultChunk)}
}

// stripedSequence is a sequence that lies on several servers.
type stripedSequence struct {
	*sequence.Striped
	database string
	name     tableName
	stores   []string // the servers' names
}

// withStriped opens the sequence that an argument names for the time of a call.
func (c *cluster) withStriped(arg string, f func(stripedSequence) error) (err error) {
	name := c.table(arg)
	if !c.isStriped(name) {
		return usagef("sequence %s lies on one server: sequences.overrides has no stores for it", name)
	}
	k, err := c.unsharded(name.keyspace)
	if err != nil {
		return err
	}
	striped, closeAll, err := openStriped(c.cfg, name, nil)
	if err != nil {
		return inSequence(name, err)
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	return f(stripedSequence{striped, k.Shards[0].DSN.DBName, name, c.storeNames(name)})
}

// move moves a stripe to one of the servers.
func (s stripedSequence) move(ctx context.Context, stripe int, to string) error {
	if !slices.Contains(s.stores, to) {
		return usagef("sequence %s has no server %q: write one of %s", s.name, to, strings.Join(s.stores, ", "))
	}
	return s.Move(ctx, s.database, s.name.table, stripe, to)
}
