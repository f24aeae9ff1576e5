// Package redis reserves blocks of ids by INCRBY of a Redis counter, which other programs may go on to use.
package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seqgate/seqgate/sequence"
)

// Store is a counter of Redis, held against a sequence table. A Redis can come back with less than it had: restarted from
// an old snapshot, failed over to a replica that lagged, or emptied. So each block that INCRBY gives is reserved in the
// sequence as well, which is durable: a block below what that has given is not used, and the counter is moved above it.
// The other programs that use the counter have no such guard.
type Store struct {
	Client *redis.Client
	Key    string // of the counter
	Step   int64  // ids in a block, or a multiple
	// Prefix has the ids begin with the date; the zero value: they are the count itself.
	Prefix Prefix
	// Guard reserves in the sequence of GuardName, which nothing else uses.
	Guard     sequence.Store
	GuardName sequence.Name
}

var (
	_ sequence.Store     = Store{}
	_ sequence.Selective = Store{}
)

// tries is how often a block is asked for anew because the counter was behind, or others were faster.
const tries = 10

// giveBackTimeout bounds how long an attempt that has failed goes on to give back.
const giveBackTimeout = time.Second

// Reserve implements [sequence.Store]. The errors are those of the guard's Reserve, and Redis's own; ErrBadRow when the key
// holds no counter, ErrExhausted when it cannot count any further.
func (s Store) Reserve(ctx context.Context, q sequence.Request) (sequence.Reservation, error) {
	if s.Prefix.Layout != "" {
		return s.reserveDated(ctx, q)
	}
	p := plain{Store: s, q: q, n: s.size(q)}
	for range tries {
		if res, err := p.attempt(ctx); err != nil || res.N > 0 {
			return res, err
		}
	}
	return sequence.Reservation{}, s.behind(s.Key)
}

// plain is an attempt to reserve a block of the count itself.
type plain struct {
	Store
	q      sequence.Request
	n      int64 // how many ids to ask for
	raised bool
}

// attempt returns no ids, and no error, when it is to be made again.
func (p *plain) attempt(ctx context.Context) (res sequence.Reservation, err error) {
	most := int64(math.MaxInt64)
	if p.q.Max > 0 {
		most = p.q.Max
	}
	if now, lacks := p.lacks(ctx, p.Key, p.q.Need, most); lacks {
		return res, p.full(now)
	}
	last, err := p.Client.IncrBy(ctx, p.Key, p.n).Result()
	if err != nil {
		return res, p.failure(p.Key, err)
	}
	got := taken{p.Key, last, p.n}
	first := last - p.n + 1
	switch {
	case first <= p.q.After || first < 1:
		p.raised = p.raised || p.q.After > 0
		return res, p.moveCounter(ctx, got, p.q.After)
	case first > most || most-first < p.q.Need-1:
		if err := p.moveCounter(ctx, got, p.q.After); err != nil {
			return res, err
		}
		return res, p.full(first - 1)
	}
	block := sequence.Range{First: first, N: min(p.n, most-first+1)}
	res, next, err := p.hold(ctx, p.q, p.Key, block, p.q.Max)
	switch {
	case err != nil:
		return res, p.giveBack(ctx, got, err)
	case next > 0:
		return sequence.Reservation{}, p.moveCounter(ctx, got, next-1)
	}
	res.Raised, res.Max = p.raised, p.q.Max
	return res, nil
}

func (p *plain) full(at int64) error {
	return problem(p.Key, sequence.ErrExhausted, nil, "is at %d, the last id allowed is %d", at, p.q.Max)
}

// hold reserves that block in the guard, and no other, as other processes that hold theirs would then have to go behind
// it. If the guard has passed the block, next is where it stands. most is the last id that it may reach.
func (s Store) hold(ctx context.Context, q sequence.Request, key string, block sequence.Range, most int64) (res sequence.Reservation, next int64, err error) {
	req := sequence.Request{Database: s.GuardName.Database, Table: s.GuardName.Table, Name: s.GuardName.String(), Need: block.N, Exact: true,
		After: block.First - 1, Max: block.Last(), Cache: q.Cache}
	if res, err = s.Guard.Reserve(ctx, req); err == nil {
		return res, 0, nil
	}
	var own *sequence.Error
	if errors.Is(err, sequence.ErrExhausted) && errors.As(err, &own) && own.Next != block.First {
		if own.Next > 0 {
			return res, own.Next, nil
		}
		// A guard that another server serves from now on skips ids first: there is no room for it within the block.
		req.Max = most
		if res, err = s.Guard.Reserve(ctx, req); err == nil {
			return res, res.Last() + 1, nil
		}
	}
	return res, 0, fmt.Errorf("guard the Redis counter %q: %w", key, err)
}

func (s Store) behind(key string) error {
	return fmt.Errorf("the Redis counter %q stayed behind sequence %s, which guards it, %d times", key, s.GuardName, tries)
}

// lacks reports whether the counter, which is at now, is known to have less than so many ids left up to most. It asks for
// more than a block has only: what one INCRBY takes is gone for those who count on at that moment, even if it is given back.
func (s Store) lacks(ctx context.Context, key string, need, most int64) (now int64, lacks bool) {
	if need <= s.Step || most == math.MaxInt64 {
		return 0, false
	}
	now, err := s.Client.Get(ctx, key).Int64()
	if err != nil {
		return 0, false // INCRBY says what is wrong, or that there is no counter yet
	}
	return now, now > most-need
}

// taken is what an INCRBY gave: n ids up to last.
type taken struct {
	key     string
	last, n int64
}

// moveCounter takes back what was taken and nobody uses, if nobody has counted on since, and brings the counter to at least
// least, which the guard or this process has given. It sets what it has seen only: were each process to add what the
// counter lacks, they would add it as often as there are processes.
func (s Store) moveCounter(ctx context.Context, t taken, least int64) error {
	err := s.Client.Watch(ctx, func(tx *redis.Tx) error {
		now, err := tx.Get(ctx, t.key).Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		to := now
		if now == t.last {
			to -= t.n
		}
		if to = max(to, least); to == now {
			return nil
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, t.key, to, redis.KeepTTL).Err() })
		return err
	}, t.key)
	if err != nil && !errors.Is(err, redis.TxFailedErr) { // which is that it has moved: the next attempt sees
		return fmt.Errorf("set the Redis counter %q, which is at %d, to %d at least: %w", t.key, t.last, least, err)
	}
	return nil
}

// giveBack moves the counter over what was taken in vain, as while the guard is away, and returns why it was.
func (s Store) giveBack(ctx context.Context, t taken, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout) // that it ended may be why
	defer cancel()
	return errors.Join(why, s.moveCounter(ctx, t, 0))
}

// size returns how many ids to ask for.
func (s Store) size(q sequence.Request) int64 {
	if q.Exact {
		return q.Need
	}
	steps := (max(q.Need, q.Step)-1)/s.Step + 1
	if steps > math.MaxInt64/s.Step {
		return q.Need
	}
	return steps * s.Step
}

// failure says what an INCRBY of the key ended with.
func (s Store) failure(key string, err error) error {
	var answer redis.Error
	if errors.As(err, &answer) {
		switch text := answer.Error(); {
		case strings.Contains(text, "overflow"):
			return problem(key, sequence.ErrExhausted, err, "cannot count any further")
		case strings.Contains(text, "not an integer"), strings.HasPrefix(text, "WRONGTYPE"):
			return problem(key, sequence.ErrBadRow, err, "holds no number: name another key, or set it above every id in use")
		}
	}
	return fmt.Errorf("INCRBY of the Redis counter %q: %w", key, err)
}

func problem(key string, kind, cause error, format string, args ...any) error {
	return &sequence.Error{Kind: kind, Sequence: "redis:" + key, Text: fmt.Sprintf(format, args...), Cause: cause}
}

// String returns "redis".
func (s Store) String() string { return "redis" }
