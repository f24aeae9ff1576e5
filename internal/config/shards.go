package config

import (
	"errors"
	"slices"

	"github.com/seqgate/seqgate/vschema"
)

// Sharded reports whether the keyspace's rows are divided among several servers.
func (k Keyspace) Sharded() bool { return k.Layout != nil }

// givenShards are the names of a keyspace's shards as they are written, and where.
type givenShards struct {
	at    value
	names []string // also those whose DSN is wrong
}

// layOutShards finds out which keyspaces are sharded, and puts the shards of each into the order of their key ranges.
func (r *reader) layOutShards() {
	if r.vschemaFile != "" && r.cfg.VSchema == nil {
		return // it says which are sharded, and was not read
	}
	sharded := ""
	for i := range r.cfg.Keyspaces {
		k := &r.cfg.Keyspaces[i]
		given, ok := r.shardsOf[k.Name]
		declared := r.cfg.Declared(k.Name)
		switch whole := []string{WholeRange}; {
		case declared != nil && declared.Sharded && !ok:
			r.fail(r.set["vschema"], "the keyspace %q is sharded: name its shards in a configuration file", k.Name)
		case declared != nil && declared.Sharded:
			sharded = k.Name
			r.layOut(k, declared, given)
		case len(given.names) > 0 && !slices.Equal(given.names, whole) && !slices.Equal(given.names, []string{"0"}):
			r.fail(given.at, `the keyspace has shards, but is not sharded: write one shard named "-", or give it "sharded": true and vindexes in the vschema`)
		}
	}
	if r.cfg.Transactions == TransactionsXA && !slices.ContainsFunc(r.cfg.Keyspaces, func(k Keyspace) bool { return !k.Sharded() }) {
		r.fail(r.set["transactions"], "xa keeps its decisions in an unsharded keyspace, and there is none: add one to keyspaces")
	}
	if sharded != "" && r.cfg.Users == nil {
		r.fail(r.shardsOf[sharded].at, "clients of a sharded keyspace log in to seqgate itself: write users")
	}
}

// Declared returns what the vschema says of a keyspace, nil for nothing.
func (c *Config) Declared(keyspace string) *vschema.Keyspace {
	if c.VSchema == nil {
		return nil
	}
	k, _ := c.VSchema.Keyspace(keyspace)
	return k
}

// layOut checks that the shards hold all keyspace ids once, and orders them.
func (r *reader) layOut(k *Keyspace, declared *vschema.Keyspace, given givenShards) {
	if len(given.names) == 0 {
		return // that is told already
	}
	layout, err := declared.NewShards(given.names)
	if err != nil {
		for _, err := range unjoin(err) {
			r.fail(given.at, "%v", err)
		}
		return
	}
	k.Layout = layout
	order := func(name string) int {
		for i := range layout.Len() {
			if layout.Name(i) == name {
				return i
			}
		}
		return layout.Len()
	}
	slices.SortFunc(k.Shards, func(a, b Shard) int { return order(a.Name) - order(b.Name) })
}

// unjoin returns the errors that errors.Join has joined.
func unjoin(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

// ServerName is the name by which a client reaches a shard alone, and by which what the commands print names it.
func (k Keyspace) ServerName(s Shard) string {
	if !k.Sharded() {
		return k.Name
	}
	return k.Name + ":" + s.Name
}
