package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/internal/config"

	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// FreeIDs are the ids that no row has had, as far as can be seen: next and those above it, up to last, the end of the
// narrowest column's type.
type FreeIDs struct {
	Next, Last int64
	missing    []TableName // tables that do not exist yet, on one shard or all
}

// FirstFree returns the first id above every id in use in the columns that a sequence fills: above MAX(column) and at
// least the AUTO_INCREMENT counter; 1 where there is nothing yet, and 0 for a sequence that fills nothing. A sequence that
// starts there repeats no id that a row has, unless rows come past seqgate meanwhile. It changes nothing.
// Columns that can hold no ids do not count.
func FirstFree(ctx context.Context, cfg *config.Config, name sequence.Name) (next int64, err error) {
	k, ok := cfg.Keyspace(name.Keyspace)
	if !ok {
		return 0, fmt.Errorf("sequence %s: keyspace %q is not configured", name, name.Keyspace)
	}
	if dsn := k.Shards[0].DSN; dsn.DBName != name.Database {
		// Another database of the keyspace's server: a vschema says nothing of it, the convention holds in each.
		if cfg.VSchema != nil {
			return 0, nil
		}
		dsn = dsn.Clone()
		dsn.DBName = name.Database
		cfg = &config.Config{Keyspaces: []config.Keyspace{{Name: k.Name, Shards: []config.Shard{{Name: config.WholeRange, DSN: dsn}}}}}
	}
	c := NewCluster(ctx, cfg)
	defer func() { err = errors.Join(err, c.Close()) }()
	b, err := c.binding(spelled(cfg, TableName{name.Keyspace, name.Table}))
	if serverError(err, 1049) { // ER_BAD_DB_ERROR
		return 0, nil
	}
	if err != nil || len(b.fills) == 0 {
		return 0, err
	}
	return c.used(ctx, b)
}

// spelled returns the name of a sequence as the vschema writes it, if that has it in another case only: to a server whose
// names have no case it is the same.
func spelled(cfg *config.Config, name TableName) TableName {
	if cfg.VSchema == nil {
		return name
	}
	all := map[TableName][]filled{}
	vschemaBindings(cfg, all)
	if _, ok := all[name]; ok {
		return name
	}
	for other := range all {
		if other.Keyspace == name.Keyspace && strings.EqualFold(other.Table, name.Table) {
			return other
		}
	}
	return name
}

// located is what a sequence fills on one server.
type located struct {
	server *Server
	filled
}

// locate connects to every server that has rows which a sequence fills: those of all shards. It fails when one of them is
// away, since nobody knows then which ids are in use.
func (c *Cluster) locate(b binding) (places []located, err error) {
	for _, f := range b.fills {
		at, err := c.serversOf(f.TableName)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", f.TableName, err)
		}
		for _, s := range at {
			places = append(places, located{s, f})
		}
	}
	return places, nil
}

// free reads the ids in use in all that a sequence fills, on all shards, at the same time; a server's pool bounds how many
// of its tables are read at once.
func (c *Cluster) free(ctx context.Context, b binding) (FreeIDs, error) {
	places, err := c.locate(b)
	if err != nil {
		return FreeIDs{}, err
	}
	each, err := ofEach(ctx, places, located.free)
	all := FreeIDs{Next: 1, Last: math.MaxInt64}
	for _, f := range each {
		all = FreeIDs{max(all.Next, f.Next), min(all.Last, f.Last), append(all.missing, f.missing...)}
	}
	return all, err
}

// used reads the first id above those in use in all that a sequence fills. Unlike [cluster.free] it has nothing to say of
// columns that are too narrow, or of a type that holds no ids.
func (c *Cluster) used(ctx context.Context, b binding) (int64, error) {
	places, err := c.locate(b)
	if err != nil {
		return 0, err
	}
	each, err := ofEach(ctx, places, located.used)
	return slices.Max(append(each, 1)), err
}

// ofEach asks all places at the same time.
func ofEach[T any](ctx context.Context, places []located, ask func(located, context.Context) (T, error)) ([]T, error) {
	each := make([]T, len(places))
	group, ctx := errgroup.WithContext(ctx)
	for i, p := range places {
		group.Go(func() (err error) {
			if each[i], err = ask(p, ctx); err != nil {
				err = fmt.Errorf("table %s: %w", p.server.named(p.Table), err)
			}
			return err
		})
	}
	err := group.Wait()
	return each, err
}

// free reads the ids in use in one column; a table that does not exist yet uses none.
func (p located) free(ctx context.Context) (FreeIDs, error) {
	t, ok := p.server.table(p.Table)
	if !ok {
		return FreeIDs{1, math.MaxInt64, []TableName{p.server.named(p.Table)}}, nil
	}
	column, err := filledColumn(t, p.column)
	if err != nil {
		return FreeIDs{}, err
	}
	used, err := p.server.ReadUsedIDs(ctx, p.Table, column)
	if err != nil {
		return FreeIDs{}, err
	}
	next, err := used.Next()
	if err == nil && next > column.MaxID() {
		err = fmt.Errorf("the ids are used up: %s is a %s, which ends at %d: make it a BIGINT", column.Name, column.ShortType(), column.MaxID())
	}
	return FreeIDs{Next: next, Last: column.MaxID()}, err
}

// filledColumn finds a column that can hold a sequence's ids.
func filledColumn(t *catalog.Table, name string) (catalog.Column, error) {
	column, ok := columnOf(t, name)
	switch {
	case !ok:
		return column, fmt.Errorf("there is no column %s: %s", name, vschema.Suggest(name, columnNames(t.Columns)))
	case !column.TakesIDs():
		return column, fmt.Errorf("the column %s is a %s, which holds no sequence's ids: make it a BIGINT", column.Name, column.DataType())
	}
	return column, nil
}

func columnNames(columns []catalog.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
