package zookeeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/seqgate/seqgate/sequence/worker"
)

// clockNode is written to be told the time.
const clockNode = "clock"

// unmade is the version of a node that is to be made.
const unmade = -1

// now returns ZooKeeper's time, to the millisecond.
func (l *Leaser) now() (time.Time, error) {
	for {
		stat, err := l.conn.Set(path.Join(l.root, clockNode), nil, -1)
		if err == nil {
			return time.UnixMilli(stat.Mtime).UTC(), nil
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return time.Time{}, err
		}
		if err := l.makeAll(path.Join(l.root, clockNode)); err != nil {
			return time.Time{}, err
		}
	}
}

// makeAll makes a node and those above it that are missing. It touches no others: they may be somebody else's.
func (l *Leaser) makeAll(name string) error {
	_, err := l.conn.Create(name, nil, 0, l.acl)
	if errors.Is(err, zk.ErrNoNode) {
		if err := l.makeAll(path.Dir(name)); err != nil {
			return err
		}
		_, err = l.conn.Create(name, nil, 0, l.acl)
	}
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (l *Leaser) path(id int64) string { return path.Join(l.root, strconv.FormatInt(id, 10)) }

// readAll returns the nodes of the set.
func (l *Leaser) readAll(ctx context.Context) (map[int64]node, error) {
	names, _, err := l.conn.Children(l.root)
	if err != nil {
		return nil, err
	}
	nodes := map[int64]node{}
	for _, name := range names {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			continue // the clock
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := l.read(id)
		if err != nil {
			return nil, err
		}
		nodes[id] = n
	}
	return nodes, nil
}

func (l *Leaser) read(id int64) (node, error) {
	data, stat, err := l.conn.Get(l.path(id))
	if err != nil {
		return node{}, err
	}
	n := node{worker: id, version: stat.Version}
	if err := json.Unmarshal(data, &n.record); err != nil {
		return node{}, &worker.Error{Kind: worker.ErrBroken, Set: l.set, Cause: err,
			Text: fmt.Sprintf("node %s is not what seqgate wrote; stop all holders of it, and delete it", l.path(id))}
	}
	return n, nil
}

// write writes a node, if it is as it was read.
func (l *Leaser) write(n node) (won bool, err error) {
	data, err := json.Marshal(n.record)
	if err != nil {
		return false, err
	}
	if n.version == unmade {
		_, err = l.conn.Create(l.path(n.worker), data, 0, l.acl)
	} else {
		_, err = l.conn.Set(l.path(n.worker), data, n.version)
	}
	if errors.Is(err, zk.ErrNodeExists) || errors.Is(err, zk.ErrBadVersion) {
		return false, nil
	}
	return err == nil, err
}

// change has f change a node, again when another was faster. It returns the error of f.
func (l *Leaser) change(ctx context.Context, id int64, f func(n *node, now time.Time) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now, err := l.now()
		if err != nil {
			return err
		}
		n, err := l.read(id)
		if errors.Is(err, zk.ErrNoNode) {
			return worker.Lost(l.set, id, "")
		}
		if err != nil {
			return err
		}
		if err := f(&n, now); err != nil {
			return err
		}
		if won, err := l.write(n); won || err != nil {
			return err
		}
	}
}
