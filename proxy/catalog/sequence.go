package catalog

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Source is what a name stands for that is written as a sequence's, or why that cannot be said. It is not Ours where the
// server answers for it: by a sequence of its own, or what it has else.
type Source struct {
	Name sequence.Name
	Ours bool
	Err  error
}

// Source tells it. In SELECT NEXT VALUE all but the server's own sequences is taken for one, or a table whose column "next"
// is read under the name "value"; in a call, where it may be a column as well, only what has the columns of one.
func (c *Cache) Source(ctx context.Context, k *Keyspace, schema, table string, call bool) Source {
	s, known := c.namedSource(k, schema, table, call)
	if known {
		return s
	}
	e, err := c.Lookup(ctx, k, schema, table)
	if err != nil {
		s.Err = err
		return s
	}
	return s.of(e, call)
}

// KnownSource is Source, but asks nobody: it reports false where the server has to be asked.
func (c *Cache) KnownSource(k *Keyspace, schema, table string, call bool) (Source, bool) {
	s, known := c.namedSource(k, schema, table, call)
	if known {
		return s, true
	}
	_, e, fresh := c.kept(k, catalogKey{k.String(), schema, table}, false)
	if !fresh {
		return s, false
	}
	return s.of(e, call), true
}

// namedSource is KnownSource as far as the table need not be known.
func (c *Cache) namedSource(k *Keyspace, schema, table string, call bool) (s Source, known bool) {
	if keyspace, ok := c.DeclaredSequence(k, schema, table); ok {
		return Source{Name: c.SequenceName(keyspace, table), Ours: true}, true
	}
	s.Name = k.SequenceName(schema, table)
	if schema == "" {
		return s, true // the server answers 1046
	}
	s.Ours = !call && c.wasSequence(catalogKey{k.String(), schema, table})
	return s, s.Ours
}

// of is s with what the server says of the table.
func (s Source) of(e *Entry, call bool) Source {
	switch {
	case call:
		s.Ours = e.Table.LooksLikeSequence()
	case !e.Table.Exists:
		s.Err = mysql.NewDefaultError(mysql.ER_NO_SUCH_TABLE, e.Key.Schema, e.Key.Table)
	default:
		s.Ours = e.Table.Kind != "SEQUENCE" && e.Table.Column("next") == nil
	}
	return s
}

// wasSequence reports whether a name was that of a sequence table in the last sequenceFresh.
func (c *Cache) wasSequence(key catalogKey) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e := c.entries[key]
	return e != nil && c.Now().Sub(e.asked) < sequenceFresh && e.Table.LooksLikeSequence() && e.Table.Column("next") == nil
}

// Doubt has the server asked anew what a name is whose table turned out to be no sequence: it was made anew, as something else.
// What was known still serves while the server cannot be asked.
func (c *Cache) Doubt(k *Keyspace, name sequence.Name) {
	key := catalogKey{k.String(), name.Database, name.Table}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil && c.Now().Sub(e.asked) >= Fresh {
		old := *e // others may be reading e
		old.asked = time.Time{}
		c.entries[key] = &old
	}
}

// DeclaredSequence finds a sequence or a generator of the vschema by its keyspace's name, by
// the session's, or by being the only one of its name.
func (c *Cache) DeclaredSequence(k *Keyspace, schema, table string) (keyspace string, ok bool) {
	v := c.loaded.vschema()
	if v == nil {
		return "", false
	}
	inKeyspace := func(name string) bool {
		ks, ok := v.Keyspace(name)
		if !ok {
			return false
		}
		if _, ok := ks.Generator(table); ok {
			return true
		}
		t, ok := ks.Table(table)
		return ok && t.Type == vschema.Sequence
	}
	if schema == k.Database || schema == "" {
		schema = k.Name
	}
	if inKeyspace(schema) {
		return schema, true
	}
	found := ""
	for name := range c.keyspaces {
		if inKeyspace(name) {
			if found != "" {
				return "", false
			}
			found = name
		}
	}
	return found, found != "" && schema == k.Name
}

func (c *Cache) SequenceName(keyspace, table string) sequence.Name {
	name := sequence.Name{Keyspace: keyspace, Database: keyspace, Table: table}
	if k := c.keyspaces[keyspace]; k != nil {
		name.Database = k.Database
	}
	return name
}

// FilledFrom returns a table that is filled from a sequence, "" when there is none.
func (c *Cache) FilledFrom(ctx context.Context, k *Keyspace, schema, name string) (string, error) {
	type candidate struct {
		keyspace      *Keyspace
		schema, table string
	}
	var candidates []candidate
	v := c.loaded.vschema()
	if table, ok := strings.CutSuffix(name, SequenceSuffix); ok && v == nil {
		candidates = append(candidates, candidate{k, schema, table})
	}
	for _, other := range c.keyspaces {
		filled := tablesFilledFrom(v, other, name)
		if len(filled) == 0 {
			continue // its server need not be there
		}
		if same, err := c.sameServer(ctx, k, other); err != nil {
			return "", &DescribeError{schema + "." + name, err}
		} else if same {
			for _, t := range filled {
				candidates = append(candidates, candidate{other, other.Database, t.Name})
			}
		}
	}
	for _, of := range candidates {
		b, err := c.Binding(ctx, of.keyspace, of.schema, of.table)
		var missing *mysql.MyError
		switch {
		case errors.As(err, &missing) && missing.Code == mysql.ER_NO_SUCH_TABLE:
		case err != nil:
			return "", err
		case b != nil && strings.EqualFold(b.Sequence.Database, schema) && strings.EqualFold(b.Sequence.Table, name):
			return of.schema + "." + b.Table, nil
		}
	}
	return "", nil
}

// tablesFilledFrom returns the tables of a keyspace that the vschema fills from what has this name, in whichever database it is.
func tablesFilledFrom(v *vschema.VSchema, k *Keyspace, name string) (tables []*vschema.Table) {
	if v == nil {
		return nil
	}
	declared, ok := v.Keyspace(k.Name)
	if !ok {
		return nil
	}
	for _, t := range declared.Tables() {
		a := t.AutoIncrement
		if a != nil && (strings.EqualFold(a.SequenceTable, name) || a.Generator != nil && strings.EqualFold(a.Generator.Name, name)) {
			tables = append(tables, t)
		}
	}
	return tables
}

// ColumnMax returns, of sequences, the largest id that the columns hold which they fill: of the tables whose description
// is known at present, as those in use.
func (c *Cache) ColumnMax() map[sequence.Name]int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make(map[sequence.Name]int64)
	for _, e := range c.entries {
		if e.Binding == nil || e.Binding.Numbers != nil || e.Binding.Form != 0 || e.Binding.Max <= 0 {
			continue
		}
		if known, ok := all[e.Binding.Sequence]; !ok || e.Binding.Max < known {
			all[e.Binding.Sequence] = e.Binding.Max
		}
	}
	return all
}
