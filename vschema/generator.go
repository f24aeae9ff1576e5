package vschema

import (
	"math"
	"slices"
	"time"
)

// GeneratorType is the "type" of a generator in the vschema. Vitess has no generators.
type GeneratorType string

// The types of generators.
const (
	Snowflake GeneratorType = "snowflake" // ids of time, worker id and count
	UUID      GeneratorType = "uuid"      // random, RFC 9562's version 4
	UUID7     GeneratorType = "uuid7"     // begins with the time, RFC 9562's version 7
	ObjectID  GeneratorType = "objectid"  // MongoDB's
	Redis     GeneratorType = "redis"     // segments of a Redis counter
	Leaf      GeneratorType = "leaf"      // segments of a row of Leaf's leaf_alloc
	TinyID    GeneratorType = "tinyid"    // segments of a row of tinyid's tiny_id_info
)

// Generator makes ids without a sequence table, or with one of another system.
type Generator struct {
	Keyspace, Name string
	Type           GeneratorType
	Snowflake      *SnowflakeParams // of that type
	Segments       *SegmentParams   // of Redis, Leaf and TinyID
}

// IsText reports whether the ids are no numbers.
func (g *Generator) IsText() bool {
	return g.Type == UUID || g.Type == UUID7 || g.Type == ObjectID
}

// SnowflakeParams are the params of a Snowflake, as they are written: a layout by its name, or one's own by its bits.
type SnowflakeParams struct {
	Layout     string        // the name of a preset; empty with Bits
	Bits       []BitField    // from the highest bit to the lowest
	Unit       time.Duration // of the time; 0: not given
	Epoch      time.Time     // zero: not given
	Start      string        // continue or random; empty: not given
	StartBound int64         // 0: not given
	Worker     *int64        // nil: not given
	Zone       *int64        // nil: not given, or given by ZoneName
	ZoneName   string        // to be hashed
	MaxBorrow  time.Duration // 0: not given
}

// BitField is a part of an id and its width.
type BitField struct {
	Name string // time, zone, worker or sequence
	Bits int
}

// SegmentParams are the params of a generator that takes segments of another system's counter.
type SegmentParams struct {
	URL, URLEnv string // of Redis, or the environment variable that has it
	Key         string // of Redis: the counter; of Leaf: biz_tag; of TinyID: biz_type
	Table       string // of Leaf and TinyID
	Step        int64  // of Redis: ids in a segment at least
	TimePrefix  string // of Redis: day or hour, with which the ids begin; empty: none
	Digits      int64  // of the count behind a TimePrefix
	// Guard is the sequence that a Redis counter is held against, as GuardKeyspace and GuardTable.
	GuardKeyspace, GuardTable string
}

// MaxID is the largest id behind a TimePrefix: the last one of the year 9999. Without one it is that of a BIGINT.
func (p *SegmentParams) MaxID() int64 {
	periods := map[string]int64{"day": 99991231, "hour": 9999123123}
	last, ok := periods[p.TimePrefix]
	if !ok {
		return math.MaxInt64
	}
	for range p.Digits {
		last = 10*last + 9
	}
	return last
}

// Generator returns the generator with exactly that name.
func (k *Keyspace) Generator(name string) (*Generator, bool) {
	g, ok := k.generators[name]
	return g, ok
}

// Generators returns all generators of the keyspace in the order of their names.
func (k *Keyspace) Generators() []*Generator { return sorted(k.generators) }

// generatorTypes are all types, as they are suggested.
func generatorTypes() []string {
	var names []string
	for _, t := range []GeneratorType{Snowflake, UUID, UUID7, ObjectID, Redis, Leaf, TinyID} {
		names = append(names, string(t))
	}
	return names
}

// generatorRef is the name of a generator as an auto_increment writes it.
type generatorRef struct {
	table    *Table
	keyspace *Keyspace
	name     string
	node     *node
}

// resolveGenerators finds the generator of each auto_increment, or says which there are.
func (d *decoder) resolveGenerators() {
	for _, ref := range d.generators {
		keyspace, name, ok := splitName(ref.name)
		if !ok {
			d.fail(ref.node, "%q is no name: write generator or keyspace.generator, with `backticks` around a part that has a dot", ref.name)
			continue
		}
		g := d.findGenerator(ref, keyspace, name)
		if g == nil {
			continue
		}
		if g.IsText() && ref.table.Type == Ticket {
			d.fail(ref.node, "a ticket table gives numbers, and generator %q makes a %s: take a snowflake", ref.name, g.Type)
		}
		ref.table.AutoIncrement.Generator = g
	}
}

func (d *decoder) findGenerator(ref generatorRef, keyspace, name string) *Generator {
	if keyspace == "" {
		keyspace = ref.keyspace.Name
		if g := ref.keyspace.generators[name]; g != nil {
			return g
		}
		if found := d.generatorsNamed(name); len(found) == 1 {
			return found[0]
		} else if len(found) > 1 {
			d.fail(ref.node, "generator %q is in several keyspaces: write keyspace.%s", name, name)
			return nil
		}
	} else if k := d.keyspaces[keyspace]; k != nil && k.generators[name] != nil {
		return k.generators[name]
	}
	var known []string
	for _, k := range sorted(d.keyspaces) {
		for _, g := range k.Generators() {
			known = append(known, joinName(k.Name, g.Name))
		}
	}
	d.fail(ref.node, `there is no generator %q: add it to "generators" of the keyspace%s`, ref.name,
		suggestAfter(", or ", joinName(keyspace, name), known))
	return nil
}

// generatorsNamed returns the generators that an unqualified name may reach from another keyspace.
func (d *decoder) generatorsNamed(name string) []*Generator {
	var found []*Generator
	for _, k := range sorted(d.keyspaces) {
		if g := k.generators[name]; g != nil && !k.RequireExplicitRouting {
			found = append(found, g)
		}
	}
	return found
}

// checkGeneratorNames finds generators with the name of a table: SELECT NEXT VALUE FROM it would be either.
func (d *decoder) checkGeneratorNames(k *Keyspace, nodes map[string]*node) {
	for _, g := range k.Generators() {
		if _, ok := k.tables[g.Name]; ok {
			d.fail(nodes[g.Name], "there is a table of this name: give the generator another one")
		}
	}
}

// isBitField reports whether a part of an id may have that name.
func isBitField(name string) bool {
	return slices.Contains([]string{"time", "zone", "worker", "sequence"}, name)
}
