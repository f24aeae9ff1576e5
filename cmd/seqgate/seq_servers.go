package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seqgate/seqgate/internal/config"
)

// servers are those that were reached.
type servers []*server

// of finds the server of an unsharded keyspace, nil when it was not reached.
func (ss servers) of(keyspace string) *server {
	if all := ss.all(keyspace); len(all) > 0 && all[0].shard == "" {
		return all[0]
	}
	return nil
}

// all are the servers of a keyspace, in the order of its shards, as far as they were reached.
func (ss servers) all(keyspace string) (found servers) {
	for _, s := range ss {
		if s.keyspace == keyspace {
			found = append(found, s)
		}
	}
	return found
}

func (ss servers) close() error {
	var errs []error
	for _, s := range ss {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// cluster is the servers of a configuration. Each is connected to when it is first asked for, so that a command about one
// sequence needs no other servers than those of what it fills. It is safe for concurrent use.
type cluster struct {
	cfg  *config.Config
	open map[string][]func() (*server, error) // by keyspace, one for each shard

	mu     sync.Mutex // guards opened
	opened servers
}

func newCluster(ctx context.Context, cfg *config.Config) *cluster {
	c := &cluster{cfg: cfg, open: map[string][]func() (*server, error){}}
	for _, k := range cfg.Keyspaces {
		for _, shard := range k.Shards {
			c.open[k.Name] = append(c.open[k.Name], sync.OnceValues(func() (*server, error) {
				s, err := connect(ctx, k, shard)
				if err != nil {
					return nil, err
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				c.opened = append(c.opened, s)
				return s, nil
			}))
		}
	}
	return c
}

// server connects to the server of an unsharded keyspace, once: where sequences are.
func (c *cluster) server(keyspace string) (*server, error) {
	if _, err := c.unsharded(keyspace); err != nil {
		return nil, err
	}
	return c.open[keyspace][0]()
}

// unsharded finds a keyspace that sequences may be in.
func (c *cluster) unsharded(name string) (config.Keyspace, error) {
	k, err := c.keyspace(name)
	if err == nil && k.Sharded() {
		err = fmt.Errorf("keyspace %s is sharded: sequences are in unsharded keyspaces, each in one row", name)
	}
	return k, err
}

// shards connects to all servers of a keyspace, at the same time and once. It returns them in the order of the
// configuration, or why not all are there.
func (c *cluster) shards(keyspace string) (servers, error) {
	if _, err := c.keyspace(keyspace); err != nil {
		return nil, err
	}
	open := c.open[keyspace]
	found, errs := make(servers, len(open)), make([]error, len(open))
	var group sync.WaitGroup
	for i := range open {
		group.Go(func() { found[i], errs[i] = open[i]() })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return found, nil
}

// serversOf connects to the servers that have a table: all of its keyspace, or the one shard that a pinned table is in.
func (c *cluster) serversOf(name tableName) (servers, error) {
	at := pinned(c.cfg, name)
	if at < 0 {
		return c.shards(name.keyspace)
	}
	s, err := c.open[name.keyspace][at]()
	return servers{s}, err
}

func (c *cluster) keyspace(name string) (config.Keyspace, error) {
	k, ok := c.cfg.Keyspace(name)
	if !ok {
		return k, fmt.Errorf("keyspace %q is not configured", name)
	}
	return k, nil
}

// reach connects to all servers at the same time. It returns those that it reached, and why not the others.
func (c *cluster) reach() (servers, error) {
	errs := make([]error, len(c.cfg.Keyspaces))
	var group sync.WaitGroup
	for i, k := range c.cfg.Keyspaces {
		group.Go(func() { _, errs[i] = c.shards(k.Name) })
	}
	group.Wait()
	return c.opened, errors.Join(errs...)
}

// close closes what was opened. Nothing may be asked for afterwards.
func (c *cluster) close() error { return c.opened.close() }

// table finds the table that an argument names, as table in the default keyspace or as keyspace.table.
func (c *cluster) table(arg string) tableName {
	if keyspace, table, ok := strings.Cut(arg, "."); ok {
		if _, ok := c.cfg.Keyspace(keyspace); ok {
			return tableName{keyspace, table}
		}
	}
	return tableName{c.cfg.DefaultKeyspace, arg}
}

// noTable says that there is no table of that name.
func (c *cluster) noTable(name tableName) error {
	if keyspace, _, ok := strings.Cut(name.table, "."); ok {
		return usagef("there is no table %s, and no keyspace %q: write keyspace.table", name, printable(keyspace))
	}
	return usagef("there is no table %s", name)
}

// binding says what a sequence fills, by the vschema or else by the convention. The sequence itself need not exist.
func (c *cluster) binding(name tableName) (binding, error) {
	if c.cfg.VSchema != nil {
		all := map[tableName][]filled{}
		vschemaBindings(c.cfg, all)
		return binding{name, all[name]}, nil
	}
	s, err := c.server(name.keyspace)
	if err != nil {
		return binding{}, err
	}
	if f, ok := s.conventionFill(name.table); ok {
		return binding{name, []filled{f}}, nil
	}
	return binding{sequence: name}, nil
}

// oneRow returns an error for a sequence that does not lie in one row.
func (c *cluster) oneRow(name tableName) error {
	switch {
	case c.isStriped(name):
		return errors.New("it lies in stripes on several servers, not in one row: see seqgate seq stripes")
	case c.isKeyed(name):
		return errors.New("it counts by key, not in one row")
	}
	return nil
}

// isStriped reports whether a sequence lies on several servers.
func (c *cluster) isStriped(name tableName) bool {
	return len(c.cfg.Sequences.Of(name.keyspace, name.table).Stores) > 0
}

// isKeyed reports whether a sequence counts by key.
func (c *cluster) isKeyed(name tableName) bool {
	return c.cfg.IsKeyed(name.keyspace, name.table)
}
