package etcd

import (
	"context"
	"fmt"
	"time"

	"github.com/seqgate/seqgate/sequence/worker"
)

// lazy is a [Leaser] that connects with its first call.
type lazy struct {
	client *Client
	set    string
	most   int64
	rivals func(set string) bool
}

var _ worker.Leaser = lazy{}

func (l lazy) leaser(ctx context.Context) (*Leaser, error) {
	client, err := l.client.connected(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to etcd %v for the worker ids of %s: %w", l.client.cfg.Endpoints, l.set, err)
	}
	return New(client, l.client.prefix, l.set, l.most, l.rivals), nil
}

// Look implements [worker.Leaser].
func (l lazy) Look(ctx context.Context) (worker.View, error) {
	own, err := l.leaser(ctx)
	if err != nil {
		return worker.View{}, err
	}
	return own.Look(ctx)
}

// Acquire implements [worker.Leaser].
func (l lazy) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	own, err := l.leaser(ctx)
	if err != nil {
		return worker.Lease{}, err
	}
	return own.Acquire(ctx, c)
}

// Extend implements [worker.Leaser].
func (l lazy) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	own, err := l.leaser(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return own.Extend(ctx, id, c)
}

// Release implements [worker.Leaser].
func (l lazy) Release(ctx context.Context, id int64, c worker.Claim) error {
	own, err := l.leaser(ctx)
	if err != nil {
		return err
	}
	return own.Release(ctx, id, c)
}
