package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// idleMemory returns how many bytes of the hop's memory one idle session takes: one that has logged
// in and run a statement. Sessions are opened one by one. The memory is what the system sees, with
// the garbage that logging in has left and the hop's runtime keeps.
func idleMemory(ctx context.Context, t *target, sessions int) (perSession float64, err error) {
	var conns []driver.Conn
	defer func() {
		for _, c := range conns {
			err = errors.Join(err, c.Close())
		}
	}()
	var before int64
	for i := range sessions + 1 {
		conn, err := connect(ctx, t.client)
		if err != nil {
			return 0, fmt.Errorf("idle session %d through %s: %w", i, t.name, err)
		}
		conns = append(conns, conn)
		if err := textQuery(ctx, conn, func() string { return "SELECT 1" })(); err != nil {
			return 0, err
		}
		if i == 0 { // the first one pays for what is set up once
			if before, err = settledMemory(ctx, t); err != nil {
				return 0, err
			}
		}
	}
	after, err := settledMemory(ctx, t)
	return float64(after-before) / float64(sessions), err
}

// memory returns the resident memory of the hop's processes.
func (t *target) memory() (all int64, err error) {
	for _, pid := range t.pids {
		bytes, err := residentMemory(pid)
		if err != nil {
			return 0, err
		}
		all += bytes
	}
	return all, nil
}

// settledMemory returns the hop's resident memory once it has not shrunk for a second.
func settledMemory(ctx context.Context, t *target) (int64, error) {
	least, since := int64(-1), time.Now()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		now, err := t.memory()
		if err != nil {
			return 0, err
		}
		if least < 0 || now < least {
			least, since = now, time.Now()
		}
		if time.Since(since) > time.Second {
			return least, nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
