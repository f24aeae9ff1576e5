package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// keep is how long a counter of a period is kept after its last use: so long a clock may be behind and still count on.
// Without the counter it counts on too, as the guard tells from where.
const keep = 3 * 24 * time.Hour

// parts bounds blocks: one has 1/parts of a period's ids at most, so that no process takes all of them ahead of need.
const parts = 100

// dated is an attempt to reserve a block whose ids begin with the date. It never carries into the next period: that would
// give ids of a date that has not come. But a period once begun is gone on with: where the clock is behind what the guard
// or this process has given, as after it was set back, or beside a host whose clock is ahead, the block is of that period.
type dated struct {
	Store
	q      sequence.Request
	scale  int64
	period int64
	n      int64 // how many ids to ask for
	raised bool
}

// reserveDated is Reserve with a prefix. A period that has no ids left is ErrExhausted, until the next one begins.
func (s Store) reserveDated(ctx context.Context, q sequence.Request) (sequence.Reservation, error) {
	d := dated{Store: s, q: q, scale: s.Prefix.scale()}
	if q.Need >= d.scale {
		return sequence.Reservation{}, problem(s.Key, sequence.ErrExhausted, nil, "cannot give %d ids at once: its counts have %d digits", q.Need, s.Prefix.Digits)
	}
	if err := d.begin(max(s.Prefix.period(), q.After/d.scale)); err != nil {
		return sequence.Reservation{}, err
	}
	for range tries {
		if res, err := d.attempt(ctx); err != nil || res.N > 0 {
			return res, err
		}
	}
	return sequence.Reservation{}, s.behind(d.key())
}

// Gives implements [sequence.Selective]: with a prefix an id has to be of a period, and that of no later one than now's or
// that of the id given.
func (s Store) Gives(id, given int64) bool {
	if s.Prefix.Layout == "" {
		return true
	}
	period := id / s.Prefix.scale()
	_, ok := s.Prefix.end(period)
	return ok && period <= max(s.Prefix.period(), given/s.Prefix.scale())
}

// begin has the next attempt be of that period.
func (d *dated) begin(period int64) error {
	if _, ok := d.Prefix.end(period); !ok {
		return problem(d.Key, sequence.ErrBadRow, nil, "is guarded by sequence %s, which has given ids that are above all with this prefix; take more digits, or a guard of its own",
			d.GuardName)
	}
	d.period, d.n = period, d.size(d.q)
	if most := max(d.Step, d.scale/parts); d.n > most {
		d.n = max(most, d.q.Need)
	}
	d.n = min(d.n, d.scale-1)
	if last := d.last(); d.q.Max > 0 && last > d.q.Max {
		return problem(d.key(), sequence.ErrExhausted, nil, "counts to %d, the last id allowed is %d", last, d.q.Max)
	}
	return nil
}

func (d *dated) key() string { return d.Key + ":" + strconv.FormatInt(d.period, 10) }

// base is the id before the first of the period.
func (d *dated) base() int64 { return d.period * d.scale }

// last is the last id of the period.
func (d *dated) last() int64 { return d.base() + d.scale - 1 }

// attempt returns no ids, and no error, when it is to be made again.
func (d *dated) attempt(ctx context.Context) (res sequence.Reservation, err error) {
	if _, lacks := d.lacks(ctx, d.key(), d.q.Need, d.scale-1); lacks {
		return res, d.pass(ctx)
	}
	count, err := d.count(ctx)
	if err != nil {
		return res, err
	}
	got := taken{d.key(), count, d.n}
	first := count - d.n + 1
	if given := max(d.q.After-d.base(), 0); first <= given {
		d.raised = d.raised || given > 0
		return res, d.moveCounter(ctx, got, given)
	}
	if first >= d.scale || d.scale-first < d.q.Need {
		if err := d.moveCounter(ctx, got, 0); err != nil {
			return res, err
		}
		return res, d.pass(ctx)
	}
	block := sequence.Range{First: d.base() + first, N: min(d.n, d.scale-first)}
	res, next, err := d.hold(ctx, d.q, d.key(), block, d.last())
	switch {
	case err != nil:
		return res, d.giveBack(ctx, got, err)
	case next > 0:
		return sequence.Reservation{}, d.goOn(ctx, got, next)
	}
	res.Raised, res.Max = d.raised, d.q.Max
	res.Until, _ = d.Prefix.end(d.period)
	return res, nil
}

// count counts on in Redis. The expiry is set each time, for the process that made the key may have died before it could.
func (d *dated) count(ctx context.Context) (int64, error) {
	count, err := d.Client.IncrBy(ctx, d.key(), d.n).Result()
	if err != nil {
		return 0, d.failure(d.key(), err)
	}
	if err := d.Client.Expire(ctx, d.key(), keep).Err(); err != nil {
		return 0, fmt.Errorf("EXPIRE of the Redis counter %q: %w", d.key(), err)
	}
	return count, nil
}

// goOn says what to do when the guard stands at next: count on from there.
func (d *dated) goOn(ctx context.Context, got taken, next int64) error {
	if latest := (next - 1) / d.scale; latest > d.period {
		return errors.Join(d.moveCounter(ctx, got, 0), d.begin(latest))
	}
	if err := d.moveCounter(ctx, got, next-1-d.base()); err != nil {
		return err
	}
	left := d.last() - next + 1
	if left < d.q.Need {
		return d.full(nil)
	}
	d.n = min(d.n, left)
	return nil
}

// pass goes on with a later period that the guard knows of, as the count of this one has no room.
func (d *dated) pass(ctx context.Context) error {
	next, err := d.stands(ctx)
	switch {
	case next == 0:
		return err
	case (next-1)/d.scale > d.period:
		return d.begin((next - 1) / d.scale)
	}
	return d.full(err)
}

// stands returns the first id of this period, or after it, that the guard has not given; 0 with why that is not known. It
// reserves nothing: it asks for more than a period has.
func (d *dated) stands(ctx context.Context) (next int64, err error) {
	_, err = d.Guard.Reserve(ctx, sequence.Request{Database: d.GuardName.Database, Table: d.GuardName.Table, Name: d.GuardName.String(), Need: d.scale, Exact: true,
		After: d.base(), Max: d.last(), Cache: d.q.Cache})
	var own *sequence.Error
	if errors.Is(err, sequence.ErrExhausted) && errors.As(err, &own) {
		next = own.Next
	}
	return next, fmt.Errorf("guard the Redis counter %q: %w", d.key(), err)
}

func (d *dated) full(cause error) error {
	end, _ := d.Prefix.end(d.period)
	return problem(d.key(), sequence.ErrExhausted, cause, "has no %d ids left of the %d that %d digits are; the next ones come at %s, and more with more digits",
		d.q.Need, d.scale-1, d.Prefix.Digits, end.Format(time.RFC3339))
}
