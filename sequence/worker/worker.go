// Package worker leases the worker ids of snowflake generators, so that no two processes have the same at a time.
//
// A [Leaser] is where the ids are kept: [Table], a table in the database of the sequences, is the one to use where nothing
// speaks for another; [Static] takes the id from the configuration. Packages etcd and zookeeper beside this one are modules
// of their own. A [Holder] leases an id, keeps the lease alive, and gives the snowflake ids.
//
// What holds:
//
//   - No snowflake id twice. Where the worker id is kept, it is also kept up to which time its ids may have been issued.
//     A holder gives an id only when its time has been confirmed there, and whoever has the worker id next begins above all
//     of it. No clock is part of this: not of a holder that was frozen and does not know that its lease has ended, nor of
//     one whose time of day was set.
//   - A holder stops before its lease ends: by its monotonic clock, counted from before the lease was asked for, and less a
//     tenth of the lease, by which the clocks may differ in pace.
//   - A worker id is free again when the lease has ended and a quarantine after it, by the clock of where it is kept.
//   - A process whose time of day differs too much from that clock, or from those of most other holders, gives no ids.
//
// This rests on the Leaser not forgetting. What a failover of the database can lose, see [Table].
package worker

import (
	"context"
	"time"
)

// Leaser is where worker ids are kept, those of one set: 0 to a maximum, of which each is to be had once at a time.
// Generators whose ids must differ share a set.
//
// An error that matches none of those named with a method says nothing about whether the call took effect.
type Leaser interface {
	// Look returns what a process can tell its own clock by.
	Look(ctx context.Context) (View, error)
	// Acquire makes a free worker id that of the claim's token, one that it has already if there is one. The error matches
	// ErrNoWorkerID when none is free, and ErrClock when the clock cannot be right.
	Acquire(ctx context.Context, c Claim) (Lease, error)
	// Extend has the lease end c.Lease from now, also one that has ended while nobody has taken the worker id. It returns
	// the time up to which ids may be given, c.Until or an earlier one. The error matches ErrLost when the worker id is not
	// that of the token any more.
	Extend(ctx context.Context, worker int64, c Claim) (until time.Time, err error)
	// Release ends the lease, if the token has it still.
	Release(ctx context.Context, worker int64, c Claim) error
}

// Claim is what a holder tells a Leaser.
type Claim struct {
	// Token tells this holder from all others, ever: 128 random bits in hex. It fences: nothing is done to a worker id on
	// behalf of a token that is not the holder's.
	Token string
	// Address says to people who the holder is, in at most 255 characters.
	Address string
	// Least is the lowest worker id that the holder can use.
	Least int64
	// Until is the time up to which ids are to be given. Zero: no more than up to now.
	Until time.Time
	// Lease is how long the worker id is the holder's from the time of the call on.
	Lease time.Duration
	// Quarantine is how long after the end of the lease nobody gets the worker id.
	Quarantine time.Duration
	// MaxSkew is how far the holder's clock may differ from the Leaser's. Until is cut to Lease and MaxSkew from the
	// Leaser's time, so that a clock that is ahead does not block the worker id for those who come after.
	MaxSkew time.Duration
	// Clock is the holder's time of day, and Ahead how far it is ahead of the Leaser's: for others' [View].
	Clock time.Time
	Ahead time.Duration
}

// Usable reports whether a worker id of which ids up to reserved may have been given is of use to the claim's holder. It is
// not when somebody whose clock was far ahead has had it: the holder would have to wait for that time.
func (c Claim) Usable(reserved time.Time) bool {
	return !reserved.After(c.Clock.Add(c.Lease + c.MaxSkew))
}

// Lease is a worker id that was acquired.
type Lease struct {
	Worker int64
	// After is the time up to which earlier holders may have given ids; zero when none is known.
	After time.Time
	// Until is the time up to which this holder may: Claim.Until or an earlier one.
	Until time.Time
}

// View is what a Leaser knows of the time.
type View struct {
	// Now is its own time at some moment between the call and the answer; zero when it has no clock to tell.
	Now time.Time
	// Peers are the clocks of holders whose leases have not ended, of some of them when there are many.
	Peers []Peer
}

// Peer is a holder's clock: at the moment of the [View] it said Clock, or up to Slack more.
type Peer struct {
	Worker  int64
	Address string
	Clock   time.Time
	Slack   time.Duration
}
