package main

import (
	"context"
	"time"

	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/sony/sonyflake/v2"

	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// contender is a generator that is measured.
type contender struct {
	name  string
	block int // ids of a call
	// capped: the layout has fewer ids than the generator could make, so that the ratio to one without a cap says nothing.
	capped bool
	open   opener
	calls  func(n int) error // set by measure
}

// opener returns a function that makes n calls, and one that ends the generator.
type opener func() (calls func(n int) error, stop func() error, err error)

// Names of the peers whose layout is as wide as wideLayout: what they can do where theirs does not cap them.
const (
	wideBwmarrin  = "bwmarrin, 21 bits"
	wideSonyflake = "sonyflake, 22 bits"
)

func contenders() []contender {
	return []contender{
		{name: "seqgate, 21 bits", block: 1, open: ours(wideLayout(), 0, 1)},
		{name: "seqgate, 21 bits, worker.Holder", block: 1, open: held(1)},
		{name: "seqgate, uid_generator, borrows", block: 1, open: ours(named("uid_generator"), decade, 1)},
		{name: "seqgate, 21 bits", block: 100, open: ours(wideLayout(), 0, 100)},
		{name: "seqgate, 21 bits, worker.Holder", block: 100, open: held(100)},
		{name: wideBwmarrin, block: 1, open: openBwmarrin(1, 21)},
		{name: wideSonyflake, block: 1, open: openSonyflake(sonyflake.Settings{BitsSequence: 22, BitsMachineID: 8,
			TimeUnit: time.Millisecond, StartTime: time.Now().Add(-time.Hour)})},
		{name: "google/uuid v4", block: 1, open: openUUID(uuid.NewRandom)},
		{name: "google/uuid v7", block: 1, open: openUUID(uuid.NewV7)},
		{name: "seqgate, twitter, 12 bits, no borrowing", block: 1, capped: true, open: ours(named("twitter"), -1, 1)},
		{name: "bwmarrin, 12 bits as it comes", block: 1, capped: true, open: openBwmarrin(10, 12)},
		{name: "seqgate, sonyflake, 8 bits in 10 ms, no borrowing", block: 1, capped: true, open: ours(named("sonyflake"), -1, 1)},
		{name: "sonyflake, 8 bits in 10 ms as it comes", block: 1, capped: true, open: openSonyflake(sonyflake.Settings{})},
	}
}

// wideLayout has two million ids in a millisecond, more than any generator here makes.
func wideLayout() snowflake.Layout {
	return snowflake.Layout{Name: "wide", Epoch: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), Unit: time.Millisecond,
		Fields: [4]snowflake.Field{{Name: snowflake.Time, Bits: 41}, {Name: snowflake.Worker, Bits: 1}, {Name: snowflake.Sequence, Bits: 21}}}
}

// decade is so long that borrowing never ends while this runs.
const decade = 10 * 365 * 24 * time.Hour

func named(preset string) snowflake.Layout {
	l, _ := snowflake.Preset(preset)
	return l // the zero Layout of an unknown name is refused by snowflake.New
}

func nothing() error { return nil }

func ours(l snowflake.Layout, borrow time.Duration, block int64) opener {
	return func() (func(int) error, func() error, error) {
		g, err := snowflake.New(l, 0, 0, snowflake.Config{After: time.Now(), MaxBorrow: borrow})
		if err != nil {
			return nil, nil, err
		}
		ctx := context.Background()
		return func(n int) error {
			for range n {
				if _, err := g.Next(ctx, block); err != nil {
					return err
				}
			}
			return nil
		}, nothing, nil
	}
}

// held is what seqgate uses: a generator with a worker id that is leased.
func held(block int64) opener {
	return func() (func(int) error, func() error, error) {
		ctx := context.Background()
		h, err := worker.Open(worker.NewStatic(0, ""), "ids", wideLayout(), 0, worker.Config{Lease: worker.StaticLease})
		if err != nil {
			return nil, nil, err
		}
		stop := func() error { return h.Close(ctx) }
		if err := h.Ready(ctx); err != nil {
			return nil, nil, err
		}
		return func(n int) error {
			for range n {
				if _, err := h.Next(ctx, block); err != nil {
					return err
				}
			}
			return nil
		}, stop, nil
	}
}

// openBwmarrin takes the widths as github.com/bwmarrin/snowflake has them: in variables that a new node reads.
func openBwmarrin(nodeBits, stepBits uint8) opener {
	return func() (func(int) error, func() error, error) {
		bwmarrin.NodeBits, bwmarrin.StepBits = nodeBits, stepBits
		node, err := bwmarrin.NewNode(0)
		if err != nil {
			return nil, nil, err
		}
		return func(n int) error {
			for range n {
				node.Generate()
			}
			return nil
		}, nothing, nil
	}
}

func openSonyflake(s sonyflake.Settings) opener {
	s.MachineID = func() (int, error) { return 1, nil } // else from this host's address
	return func() (func(int) error, func() error, error) {
		sf, err := sonyflake.New(s)
		if err != nil {
			return nil, nil, err
		}
		return func(n int) error {
			for range n {
				if _, err := sf.NextID(); err != nil {
					return err
				}
			}
			return nil
		}, nothing, nil
	}
}

func openUUID(newUUID func() (uuid.UUID, error)) opener {
	return func() (func(int) error, func() error, error) {
		return func(n int) error {
			for range n {
				if _, err := newUUID(); err != nil {
					return err
				}
			}
			return nil
		}, nothing, nil
	}
}
