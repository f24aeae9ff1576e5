package ops

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// sections are the largest values that are in use, by the section of their keys.
type sections map[int]int64

// behind returns the sections of a keyed sequence that would repeat values, each with the value to go on from, and how
// many sections there are.
func (c *Cluster) behind(ctx context.Context, at *Server, b binding) (next sections, of int, err error) {
	rows, err := keyed.Rows(ctx, at.DB, at.database, b.sequence.Table)
	if err != nil {
		return nil, 0, err
	}
	used, err := c.usedSections(ctx, b, len(rows))
	if err != nil {
		return nil, 0, err
	}
	// Read again: running seqgates have given values meanwhile, all of them below the next_id of now.
	if rows, err = keyed.Rows(ctx, at.DB, at.database, b.sequence.Table); err != nil {
		return nil, 0, err
	}
	next = sections{}
	for _, r := range rows {
		last, known := used[r.Section]
		switch {
		case known && last == math.MaxInt64:
			return nil, 0, fmt.Errorf("the values of a key in section %d are used up: the largest is %d", r.Section, last)
		case known && r.NextID <= last:
			next[r.Section] = last + 1
		}
	}
	return next, len(rows), nil
}

// usedSections reads the largest value of each section in all tables that a keyed sequence fills, as far as they exist.
func (c *Cluster) usedSections(ctx context.Context, b binding, of int) (sections, error) {
	used := sections{}
	places, err := c.locate(b)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		t, ok := p.server.table(p.Table)
		if !ok {
			continue
		}
		err = p.server.eachKey(ctx, t, p.filled, func(key []byte, last int64) {
			section := keyed.SectionOf(key, of)
			used[section] = max(used[section], last)
		})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", p.server.named(p.Table), err)
		}
	}
	return used, nil
}

// eachKey calls do with each key of a table and the largest value that one of its rows has.
func (s *Server) eachKey(ctx context.Context, t *catalog.Table, f filled, do func(key []byte, last int64)) error {
	column, err := filledColumn(t, f.column)
	if err != nil {
		return err
	}
	key, ok := columnOf(t, f.key)
	if !ok {
		return fmt.Errorf("there is no key column %s", f.key)
	}
	rows, err := s.DB.QueryContext(ctx, fmt.Sprintf("SELECT %s, MAX(%s) FROM %s WHERE %s IS NOT NULL GROUP BY 1",
		bytesSQL(key), idSQL(column), s.quoted(f.Table), Quote(key.Name)))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.RawBytes
		var largest sql.NullString
		if err := rows.Scan(&text, &largest); err != nil {
			return err
		}
		last, err := clampID(largest)
		if err != nil {
			return err
		}
		if strings.HasSuffix(key.DataType(), "binary") {
			text = bytes.TrimRight(text, "\x00") // with which BINARY fills up: the proxy counts without them
		}
		do(text, last)
	}
	return rows.Err()
}

// bytesSQL is the column as the key that a keyed sequence counts by: a decimal number, text in UTF-8, or bytes. Grouped
// by it, texts that the column's collation alone takes for equal stay apart.
func bytesSQL(c catalog.Column) string {
	if c.DataType() == "char" || c.DataType() == "varchar" {
		return "CAST(CONVERT(" + Quote(c.Name) + " USING utf8mb4) AS BINARY)"
	}
	return Quote(c.Name)
}

// seedKeyed makes a sequence that counts by key. In one that is fit it raises the sections that would repeat values.
func (s Seeder) seedKeyed(ctx context.Context, d seed) error {
	at, err := s.Cluster.server(d.sequence.Keyspace)
	if err != nil {
		return err
	}
	err = keyed.Check(ctx, at.DB, at.database, d.sequence.Table)
	switch {
	case err == nil:
		if !s.DryRun {
			if err := keyed.AddSections(ctx, at.DB, at.database, d.sequence.Table); err != nil {
				return err
			}
		}
		return s.raiseKeyed(ctx, at, d.binding)
	case !errors.Is(err, sequence.ErrNoTable) && !errors.Is(err, sequence.ErrNoRow):
		return err
	case errors.Is(err, sequence.ErrNoRow) && !s.Stopped:
		return fmt.Errorf("%w; processes that run may hold values of those sections in memory: stop every seqgate that uses it, and run seqgate init --stopped", err)
	}
	if errors.Is(err, sequence.ErrNoTable) {
		if err := s.neverUsed(ctx, at, d.sequence.Table); err != nil {
			return err
		}
	}
	if d.free, err = s.Cluster.free(ctx, d.binding); err != nil {
		return err
	}
	next, err := s.first(d)
	if err != nil {
		return err
	}
	if _, exists := at.table(d.sequence.Table); !exists {
		_, err := fmt.Fprintln(s.Out, keyed.CreateTableSQL(at.database, d.sequence.Table, keyed.DefaultSections)+";")
		if err != nil {
			return err
		}
	}
	if err := s.note("%s: its keys are to give %d and above: a row for each section, ids from 0, next_id %[2]d, cache %d",
		d.sequence, next, int64(keyed.DefaultCache)); err != nil || s.DryRun {
		return err
	}
	return keyed.Seed(ctx, at.DB, at.database, d.sequence.Table, keyed.DefaultSections, next, keyed.DefaultCache)
}

// raiseKeyed raises the sections that would repeat values.
func (s Seeder) raiseKeyed(ctx context.Context, at *Server, b binding) error {
	next, of, err := s.Cluster.behind(ctx, at, b)
	if err != nil {
		return err
	}
	if len(next) == 0 {
		return s.note("%s: nothing to do, its %d sections are above the values in use", b.sequence, of)
	}
	for _, section := range slices.Sorted(maps.Keys(next)) {
		if err := s.note("%s: section %d is behind: raised to next_id %d", b.sequence, section, next[section]); err != nil {
			return err
		}
	}
	if s.DryRun {
		return nil
	}
	if err := keyed.Raise(ctx, at.DB, at.database, b.sequence.Table, next); err != nil {
		return err
	}
	return s.note(KeyedNote)
}

// setKeyed raises all sections to next.
func (s Seeder) setKeyed(ctx context.Context, b binding, next int64) error {
	at, err := s.Cluster.server(b.sequence.Keyspace)
	if err != nil {
		return err
	}
	if err := keyed.Check(ctx, at.DB, at.database, b.sequence.Table); err != nil {
		return err
	}
	places, err := s.Cluster.locate(b)
	if err != nil {
		return err
	}
	for _, p := range places {
		last, err := p.lastID()
		if err != nil {
			return err
		}
		if next > last {
			return fmt.Errorf("the values of %s.%s end at %d: from %d on every INSERT would fail; give a smaller NEXT_ID", p, p.column, last, next)
		}
	}
	if _, err := s.execute(ctx, at, keyed.RaiseSQL(at.database, b.sequence.Table, next)); err != nil {
		return err
	}
	return s.note(KeyedNote)
}

// lastID is the largest id that a column holds; that of a table that does not exist yet has no end.
func (p located) lastID() (int64, error) {
	t, ok := p.server.table(p.Table)
	if !ok {
		return math.MaxInt64, nil
	}
	column, err := filledColumn(t, p.column)
	return column.MaxID(), err
}

// KeyedNote is what an operator should know of a keyed sequence that was raised.
const KeyedNote = "running seqgates go on from there when they next renew their leases, after the sequences' lease at the latest"
