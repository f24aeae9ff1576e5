package keyed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// Forward asks the process at address for values: its [Sequence.Local] of that name, once, with these wants. It returns
// one block per want, in order. After an error that matches [sequence.ErrExhausted] the asker gives up; any other, as
// [ErrMoved] and those of the connection, makes it look for the holder again and go on until its deadline.
type Forward func(ctx context.Context, address string, name sequence.Name, wants []Want) ([]sequence.Range, error)

// forwardTimeout is how long another process may take to answer before its lease is looked at again: it may be frozen.
const forwardTimeout = time.Second

// forwardChunk is for how many keys a process is asked at once: one that is well answers long before forwardTimeout.
const forwardChunk = 500

// forward asks all holders at once, and returns what is pending still. asked is why a process gave nothing, err why there
// is no use in going on.
func (s *Sequence) forward(ctx context.Context, l left) (pending []request, asked, err error) {
	var mu sync.Mutex // guards the results
	var all sync.WaitGroup
	pending = l.here
	for address, requests := range l.elsewhere {
		all.Go(func() {
			missing, failed := s.askAll(ctx, address, requests)
			if failed == nil {
				return
			}
			for _, q := range missing {
				q.section.forget(q.holder)
			}
			mu.Lock()
			defer mu.Unlock()
			pending = append(pending, missing...)
			asked = failed
			if errors.Is(failed, sequence.ErrExhausted) {
				err = failed
			}
		})
	}
	all.Wait()
	if err == nil {
		err = ctx.Err()
	}
	if len(pending) == 0 {
		err = nil
	}
	return pending, asked, err
}

// askAll asks one process, chunk by chunk, and fills the requests in. After an error it returns those that are missing.
func (s *Sequence) askAll(ctx context.Context, address string, requests []request) (missing []request, err error) {
	for len(requests) > 0 {
		n := min(len(requests), forwardChunk)
		err := s.ask(ctx, address, requests[:n])
		s.forwarded(err)
		if err != nil {
			return requests, err
		}
		requests = requests[n:]
	}
	return nil, nil
}

// ask asks one process for a chunk.
func (s *Sequence) ask(ctx context.Context, address string, requests []request) error {
	ctx, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	wants := make([]Want, len(requests))
	for i, q := range requests {
		wants[i] = q.Want
	}
	got, err := s.cfg.Forward(ctx, address, s.name, wants)
	if err != nil {
		return fmt.Errorf("ask the process at %s: %w", address, err)
	}
	if len(got) != len(wants) {
		return fmt.Errorf("ask the process at %s: got %d blocks for %d keys", address, len(got), len(wants))
	}
	for i, r := range got {
		if r.First < 1 || r.N != wants[i].N {
			return fmt.Errorf("ask the process at %s: got the block %v for %d values", address, r, wants[i].N)
		}
	}
	for i, q := range requests {
		*q.got = got[i]
	}
	return nil
}
