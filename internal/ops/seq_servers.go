package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seqgate/seqgate/internal/config"
)

// servers are those that were reached.
type servers []*Server

// of finds the server of an unsharded keyspace, nil when it was not reached.
func (ss servers) of(keyspace string) *Server {
	if all := ss.all(keyspace); len(all) > 0 && all[0].Shard == "" {
		return all[0]
	}
	return nil
}

// all are the servers of a keyspace, in the order of its shards, as far as they were reached.
func (ss servers) all(keyspace string) (found servers) {
	for _, s := range ss {
		if s.Keyspace == keyspace {
			found = append(found, s)
		}
	}
	return found
}

func (ss servers) Close() error {
	var errs []error
	for _, s := range ss {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Cluster is the servers of a configuration. Each is connected to when it is first asked for, so that a command about one
// sequence needs no other servers than those of what it fills. It is safe for concurrent use.
type Cluster struct {
	cfg  *config.Config
	open map[string][]func() (*Server, error) // by keyspace, one for each shard

	mu     sync.Mutex // guards opened
	opened servers
}

func NewCluster(ctx context.Context, cfg *config.Config) *Cluster {
	c := &Cluster{cfg: cfg, open: map[string][]func() (*Server, error){}}
	for _, k := range cfg.Keyspaces {
		for _, shard := range k.Shards {
			c.open[k.Name] = append(c.open[k.Name], sync.OnceValues(func() (*Server, error) {
				s, err := Connect(ctx, k, shard)
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
func (c *Cluster) server(keyspace string) (*Server, error) {
	if _, err := c.unsharded(keyspace); err != nil {
		return nil, err
	}
	return c.open[keyspace][0]()
}

// unsharded finds a keyspace that sequences may be in.
func (c *Cluster) unsharded(name string) (config.Keyspace, error) {
	k, err := c.keyspace(name)
	if err == nil && k.Sharded() {
		err = fmt.Errorf("keyspace %s is sharded: sequences are in unsharded keyspaces, each in one row", name)
	}
	return k, err
}

// shards connects to all servers of a keyspace, at the same time and once. It returns them in the order of the
// configuration, or why not all are there.
func (c *Cluster) shards(keyspace string) (servers, error) {
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
func (c *Cluster) serversOf(name TableName) (servers, error) {
	at := pinned(c.cfg, name)
	if at < 0 {
		return c.shards(name.Keyspace)
	}
	s, err := c.open[name.Keyspace][at]()
	return servers{s}, err
}

func (c *Cluster) keyspace(name string) (config.Keyspace, error) {
	k, ok := c.cfg.Keyspace(name)
	if !ok {
		return k, fmt.Errorf("keyspace %q is not configured", name)
	}
	return k, nil
}

// reach connects to all servers at the same time. It returns those that it reached, and why not the others.
func (c *Cluster) reach() (servers, error) {
	errs := make([]error, len(c.cfg.Keyspaces))
	var group sync.WaitGroup
	for i, k := range c.cfg.Keyspaces {
		group.Go(func() { _, errs[i] = c.shards(k.Name) })
	}
	group.Wait()
	return c.opened, errors.Join(errs...)
}

// Close closes what was opened. Nothing may be asked for afterwards.
func (c *Cluster) Close() error { return c.opened.Close() }

// Table finds the table that an argument names, as table in the default keyspace or as keyspace.table.
func (c *Cluster) Table(arg string) TableName {
	if keyspace, table, ok := strings.Cut(arg, "."); ok {
		if _, ok := c.cfg.Keyspace(keyspace); ok {
			return TableName{keyspace, table}
		}
	}
	return TableName{c.cfg.DefaultKeyspace, arg}
}

// NoTable says that there is no table of that name.
func (c *Cluster) NoTable(name TableName) error {
	if keyspace, _, ok := strings.Cut(name.Table, "."); ok {
		return Usagef("there is no table %s, and no keyspace %q: write keyspace.table", name, printable(keyspace))
	}
	return Usagef("there is no table %s", name)
}

// binding says what a sequence fills, by the vschema or else by the convention. The sequence itself need not exist.
func (c *Cluster) binding(name TableName) (binding, error) {
	if c.cfg.VSchema != nil {
		all := map[TableName][]filled{}
		vschemaBindings(c.cfg, all)
		return binding{name, all[name]}, nil
	}
	s, err := c.server(name.Keyspace)
	if err != nil {
		return binding{}, err
	}
	if f, ok := s.conventionFill(name.Table); ok {
		return binding{name, []filled{f}}, nil
	}
	return binding{sequence: name}, nil
}

// oneRow returns an error for a sequence that does not lie in one row.
func (c *Cluster) oneRow(name TableName) error {
	switch {
	case c.isStriped(name):
		return errors.New("it lies in stripes on several servers, not in one row: see seqgate seq stripes")
	case c.isKeyed(name):
		return errors.New("it counts by key, not in one row")
	}
	return nil
}

// isStriped reports whether a sequence lies on several servers.
func (c *Cluster) isStriped(name TableName) bool {
	return len(c.cfg.Sequences.Of(name.Keyspace, name.Table).Stores) > 0
}

// isKeyed reports whether a sequence counts by key.
func (c *Cluster) isKeyed(name TableName) bool {
	return c.cfg.IsKeyed(name.Keyspace, name.Table)
}
