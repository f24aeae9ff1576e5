package ops

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/generators"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

// checkGenerators checks the generators of the vschema, and the columns that they fill.
func (c *checker) checkGenerators(ctx context.Context, now time.Time) {
	if c.cfg.VSchema == nil {
		return
	}
	c.checkTogether()
	for _, k := range c.cfg.VSchema.Keyspaces() {
		for _, g := range k.Generators() {
			c.checkGenerator(ctx, g, now)
		}
		for _, t := range k.Tables() {
			if a := t.AutoIncrement; a != nil && a.Generator != nil {
				c.checkGenerated(TableName{k.Name, t.Name}, a)
			}
		}
	}
}

// checkTogether tells which generators cannot be in one process.
func (c *checker) checkTogether() {
	set, end, err := generators.Open(c.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		c.fail("worker ids", "%v", err)
		return
	}
	for _, e := range set.Check(c.cfg.VSchema) {
		c.fail("generator "+e.Generator.Keyspace+"."+e.Generator.Name, "%v", e.Err)
	}
	if err := end(); err != nil {
		c.fail("worker ids", "%v", err)
	}
}

// checkGenerator tells when the ids of a generator end, and whether this process can make them.
func (c *checker) checkGenerator(ctx context.Context, g *vschema.Generator, now time.Time) {
	subject := fmt.Sprintf("generator %s.%s", g.Keyspace, g.Name)
	switch {
	case g.Type == vschema.Redis:
		c.checkRedis(ctx, subject, g.Segments, now)
		return
	case g.Segments != nil:
		c.checkRow(ctx, subject, g)
		return
	case g.IsText():
		c.ok(subject, "%s", g.Type)
		return
	}
	l, zone, err := generate.Layout(g)
	if err != nil {
		c.fail(subject, "%v", err)
		return
	}
	if warning := l.Warning(now); warning != "" {
		c.warn(subject, "%s", warning)
	}
	from, ok := c.checkWorker(ctx, subject, g, l, zone)
	if ok {
		c.ok(subject, "snowflake %s (%s), zone %d, %s: the last ids are of %s", l.Name, generate.Describe(l), zone, from, l.Ends().Format(time.DateOnly))
	}
}

// checkWorker tells where the worker id of a snowflake comes from, and whether there is one.
func (c *checker) checkWorker(ctx context.Context, subject string, g *vschema.Generator, l snowflake.Layout, zone int64) (from string, ok bool) {
	static, w := g.Snowflake.Worker, c.cfg.WorkerIDs
	if static == nil {
		static = w.Static
	}
	ids := generate.WorkerIDsOf(l, zone)
	switch {
	case static != nil && *static > l.Max(snowflake.Worker):
		c.fail(subject, "worker id %d does not fit: layout %q has 0 to %d", *static, l.Name, l.Max(snowflake.Worker))
		return "", false
	case static != nil:
		return fmt.Sprintf("worker %d", *static), c.checkStatic(ctx, subject, ids, ids.First+*static)
	case w.Store != config.TableStore:
		c.note(subject, "what is kept in %s is not checked", w.Store)
		return "worker ids from " + w.Store, true
	}
	k, found := c.cfg.WorkerKeyspace()
	if !found {
		c.fail(subject, "all keyspaces are sharded, and there is no server for the table of worker ids: set worker_ids.store, or worker_id (SEQGATE_WORKER_ID), another number for each seqgate")
		return "", false
	}
	c.checkLeases(ctx, subject, k, ids)
	return "worker ids from table " + k.Name + "." + worker.TableName, true
}

// checkStatic tells whether other seqgates lease the same worker id, or those of a layout that gives the same ids, in a table
// on the servers of this configuration. Leases elsewhere, and worker ids in other configurations, are not seen.
func (c *checker) checkStatic(ctx context.Context, subject string, ids generate.WorkerIDs, id int64) (ok bool) {
	k, found := c.cfg.WorkerKeyspace()
	if !found || c.servers.of(k.Name) == nil {
		return true
	}
	pool, err := sequence.NewPool(k.Shards[0].DSN)
	if err != nil {
		c.fail(subject, "%v", err)
		return false
	}
	defer pool.Close() // nothing was written
	table := worker.NewTable(pool, k.Shards[0].DSN.DBName, ids.Set, ids.Last, worker.TableConfig{Rivals: ids.Rivals})
	rivals := table.Rivals(ctx)
	if errors.Is(rivals, worker.ErrNoWorkerID) {
		c.fail(subject, "%v", rivals)
		return false
	}
	taken, err := table.Taken(ctx, ids.First)
	if err = cmp.Or(rivals, err); err != nil && !errors.Is(err, sequence.ErrNoTable) { // this process may have no right to read it
		c.note(subject, "whether others lease the same worker id is not checked: %v", err)
	}
	for _, t := range taken {
		if t.Worker == id {
			c.fail(subject, "worker id %d is static here, and %s leases it from table %s.%s until %s: the two give equal ids; "+
				"name the worker in all configurations, or in none", id-ids.First, t.Address, k.Name, worker.TableName, t.Free.UTC().Format(time.DateTime))
			return false
		}
	}
	return true
}

// checkLeases tells who has the worker ids of a set, and how this host's clock is.
func (c *checker) checkLeases(ctx context.Context, subject string, k config.Keyspace, ids generate.WorkerIDs) {
	s := c.servers.of(k.Name)
	if s == nil {
		return // told already
	}
	pool, err := sequence.NewPool(k.Shards[0].DSN)
	if err != nil {
		c.fail(subject, "%v", err)
		return
	}
	defer pool.Close() // nothing was written
	table := worker.NewTable(pool, k.Shards[0].DSN.DBName, ids.Set, ids.Last, worker.TableConfig{AnyServer: c.cfg.WorkerIDs.AnyServer, Rivals: ids.Rivals})
	asked := time.Now()
	view, err := table.Look(ctx)
	if err != nil {
		c.failed(subject, err)
		return
	}
	ahead, wrong := worker.Compare(view, ids.Set, asked, time.Since(asked), c.cfg.WorkerIDs.MaxSkew)
	taken, err := table.Taken(ctx, ids.First+c.cfg.WorkerIDs.Least)
	n := ids.Last - ids.First + 1 - c.cfg.WorkerIDs.Least
	rivals := table.Rivals(ctx)
	switch {
	case wrong != nil:
		c.fail(subject, "%v", wrong)
	case rivals != nil:
		c.failed(subject, rivals)
	case errors.Is(err, sequence.ErrNoTable):
		c.note(subject, "the table %s does not exist: the first seqgate makes it, or seqgate init", worker.TableName)
	case err != nil:
		c.failed(subject, err)
	case int64(len(taken)) == n:
		c.warn(subject, "%v", worker.NoneFree(ids.Set, n, taken))
	default:
		c.ok(subject, "%d of %d worker ids are taken; this host's clock and the server's differ by %v", len(taken), n, ahead.Abs().Round(time.Millisecond))
	}
}

// checkRedis checks that a counter of Redis can be read; behind a date that of now.
func (c *checker) checkRedis(ctx context.Context, subject string, p *vschema.SegmentParams, now time.Time) {
	if err := generators.FitsSkip(p, c.cfg.Sequences.Of(p.GuardKeyspace, p.GuardTable)); err != nil {
		c.fail(subject, "%v", err)
	}
	key := generators.DatePrefix(p).Key(p.Key, now)
	client, err := generators.OpenCounter(p)
	if err != nil {
		c.fail(subject, "%v", err)
		return
	}
	defer client.Close() // nothing was written
	last, err := client.Get(ctx, key).Int64()
	var answer redis.Error
	switch {
	case errors.Is(err, redis.Nil):
		c.note(subject, "the Redis counter %s does not exist, the first INCRBY makes it", key)
	case errors.As(err, &answer):
		c.fail(subject, "the Redis counter %s: %v", key, err)
	case err != nil:
		c.warn(subject, "Redis cannot be reached, its counter %s is not checked: %v", key, err)
	default:
		c.ok(subject, "redis: the counter %s is at %d, guarded by %s.%s", key, last, p.GuardKeyspace, p.GuardTable)
	}
}

// checkRow checks that another system's row can be read.
func (c *checker) checkRow(ctx context.Context, subject string, g *vschema.Generator) {
	s := c.servers.of(g.Keyspace)
	if s == nil {
		return // told already
	}
	tag := map[vschema.GeneratorType]string{vschema.Leaf: "biz_tag", vschema.TinyID: "biz_type"}[g.Type]
	var last, step int64
	err := s.conn.QueryRowContext(ctx, "SELECT max_id, step FROM "+s.quoted(g.Segments.Table)+" WHERE "+tag+" = ?", g.Segments.Key).Scan(&last, &step)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		c.fail(subject, "the table %s has no row with %s %q", g.Segments.Table, tag, g.Segments.Key)
	case err != nil:
		c.failed(subject, err)
	default:
		c.ok(subject, "%s: max_id %d, step %d", g.Type, last, step)
	}
}

// checkGenerated checks a column that a generator fills, on each server that has it.
func (c *checker) checkGenerated(name TableName, a *vschema.AutoIncrement) {
	for _, s := range c.reached(name) {
		at := s.named(name.Table)
		t, ok := s.table(name.Table)
		if !ok {
			c.missingTable(s, name.Table)
			continue
		}
		c.checkColumnList(name, at, t)
		column, ok := columnOf(t, a.Column)
		if !ok {
			c.fail(at, "the auto_increment column %s is missing: %s", a.Column, vschema.Suggest(a.Column, columnNames(t.Columns)))
			continue
		}
		subject := at.String() + "." + column.Name
		if err := catalog.CheckColumn(a.Generator, column.Definition()); err != nil {
			c.fail(subject, "cannot be filled from generator %s: %v", a.Generator.Name, err)
			continue
		}
		c.ok(subject, "filled from generator %s.%s", a.Generator.Keyspace, a.Generator.Name)
	}
}
