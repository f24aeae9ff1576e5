package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/vschema"
)

// importSystems opens a source of each system.
var importSystems = map[string]func(ctx context.Context, dsn string) (oldSystem, error){
	"leaf":           openLeaf,
	"tinyid":         openTinyid,
	"auto_increment": openAutoIncrement,
	"idgo":           openIdgo,
	"redis":          openRedis,
}

// oldSystem is one server of a system that gives ids.
type oldSystem interface {
	// counter reads where a counter stands. It fails when there is none of that key.
	counter(ctx context.Context, key string) (counter, error)
	Close() error
}

// counter is where an old system's counter stands.
type counter struct {
	next int64  // the first id that the system has not given yet
	step int64  // how many ids it reserves at once; 0 when it does not say
	note string // what an operator should know of it, if anything
}

// Importer is a seeder with counters of an old system.
type Importer struct {
	Seeder
	system        string
	Sources       []string    // of the flag --from
	pairs         [][2]string // names of sequences and their keys
	Margin, Cache int64
}

// Parse reads SYSTEM and NAME=KEY.
func (i *Importer) Parse(args []string) error {
	systems := slices.Sorted(maps.Keys(importSystems))
	switch {
	case len(args) == 0:
		return Usagef("no system given: write one of %s: see seqgate seq import --help", strings.Join(systems, ", "))
	case importSystems[args[0]] == nil:
		return Usagef("unknown system %q: %s", args[0], vschema.Suggest(args[0], systems))
	case len(i.Sources) == 0:
		return Usagef("no source given: write --from and the DSN of the old system: see seqgate seq import --help")
	case len(args) == 1:
		return Usagef("no sequences given: write NAME=KEY, such as users_seq=users: see seqgate seq import --help")
	case i.Margin < 0:
		return Usagef("--margin %d: write a whole number from 0", i.Margin)
	}
	i.system = args[0]
	for _, arg := range args[1:] {
		name, key, ok := strings.Cut(arg, "=")
		if !ok || name == "" || key == "" {
			return Usagef("%q: write NAME=KEY, such as users_seq=users", arg)
		}
		i.pairs = append(i.pairs, [2]string{name, key})
	}
	return nil
}

// Seeds says what the sequences are to become, when all counters have been read.
func (i *Importer) Seeds(ctx context.Context) (seeds []seed, err error) {
	for _, pair := range i.pairs {
		b, err := i.binding(pair[0])
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, seed{binding: b, next: 1})
	}
	servers, err := i.open(ctx)
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	for n, pair := range i.pairs {
		if err := i.read(ctx, servers, pair[1], &seeds[n]); err != nil {
			return nil, err
		}
	}
	return seeds, nil
}

// open connects to the sources; it returns those that it reached also with an error.
func (i *Importer) open(ctx context.Context) ([]oldSystem, error) {
	var servers []oldSystem
	for n, dsn := range i.Sources {
		s, err := importSystems[i.system](ctx, dsn)
		if err != nil {
			return servers, fmt.Errorf("source %d: %w", n+1, err)
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// read reads a counter on all its servers: the largest counts.
func (i *Importer) read(ctx context.Context, servers []oldSystem, key string, d *seed) error {
	for n, s := range servers {
		found, err := s.counter(ctx, key)
		if err != nil {
			return fmt.Errorf("source %d: %s %q: %w", n+1, i.system, key, err)
		}
		if err := i.note("%s: %s %q stands at %d in source %d%s", d.sequence, i.system, printable(key), found.next, n+1, found.note); err != nil {
			return err
		}
		d.next, d.cache = max(d.next, found.next), max(d.cache, found.step)
	}
	if d.cache < 1 {
		d.cache = i.Cache
	}
	if d.next > math.MaxInt64-i.Margin {
		return inSequence(d.sequence, fmt.Errorf("%d and a margin of %d are past the last id, %d", d.next, i.Margin, int64(math.MaxInt64)))
	}
	d.next += i.Margin
	return nil
}

// binding finds the sequence. In a vschema it must be named, since it is made when it is missing.
func (i *Importer) binding(arg string) (binding, error) {
	name := i.Cluster.Table(arg)
	if v := i.Cluster.cfg.VSchema; v != nil {
		k, _ := v.Keyspace(name.Keyspace)
		if t, ok := k.Table(name.Table); !ok || t.Type != vschema.Sequence {
			return binding{}, Usagef(`the vschema has no sequence %s: write "%s": {"type": "sequence"} there`, name, name.Table)
		}
	}
	if i.Cluster.isKeyed(name) {
		return binding{}, inSequence(name, i.Cluster.oneRow(name))
	}
	b, err := i.Cluster.binding(name)
	return b, inSequence(name, err)
}

// above is the id after the last one given.
func above(last int64) (int64, error) {
	if last == math.MaxInt64 {
		return 0, fmt.Errorf("its ids are used up: the last was %d", last)
	}
	return last + 1, nil
}
