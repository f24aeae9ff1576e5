// Package soak proves the promises of seqgate against what clients see. Its tests run real seqgates and clients in front of real
// servers, in profiles that share the Cluster, the Load, the Faults and the Checker:
//
//   - ids: three seqgates on one server, killed, frozen, cut off and restarted, whose sequences are edited;
//   - shards: a table in four shards, with one seqgate, with two, and with one of two killed;
//   - chaos: every kind of fault at once on a server of sequences and two shards, their disks, networks and clocks;
//   - leases: processes that lease worker ids, whose clocks jump;
//   - steady: an even load without a fault, under which nothing may grow.
//
// Everything that a client is told becomes a [Call]; at the end [History.Check] holds the calls against each other, the tables
// and the sequences. [LeaseChecker] does so for leases, and [Grown] judges what a process uses. These are plain code with tests of
// their own, so that they are known to find what they are there to find.
//
// The flags of the test say how long and from which seed: see soak_test.go, or run `make soak SOAK=10m SEED=1`.
package soak

import (
	"fmt"
	"time"
)

// History is what was seen in one round, which begins with sequences of its own. All times are since its beginning.
type History struct {
	Calls  []Call
	Faults []Fault
	// Sequences are the sequences by name, with their rows before the first call and after the last.
	Sequences map[string]Sequence
	// Rows are the rows of all tables after the last call.
	Rows []Row
	// Gates are the seqgates without clients, before the load and after it.
	Gates []Gate
	// Calm is a time without faults, after the recovery from the last one: what begins and ends in it must not fail.
	Calm Span
	// Bounded says that each fault tells how many ids it may lose.
	Bounded bool
}

// Call is one statement of a client that asked for ids, or one attempt to connect.
type Call struct {
	Client, Number int    // the client, and its calls counted from 1: together they name the call
	Process        string // the seqgate process that was asked: "2.5" is the fifth process of gate 2
	Opened         time.Duration
	Span
	Sequence  string // "" when no ids were asked for
	Statement string // what kind of statement it was
	N         int64  // ids asked for
	First     int64  // the first of N contiguous ids that were acknowledged; 0: none were
	Outcome   Outcome
	Rows      Fate
	Tx        int    // which transaction of its client it is in; 0: one of its own
	Parts     bool   // its commit may leave the rows of some shards when another fails: it is not in two phases
	Error     string // when Outcome is not Done
}

// Span is a time from Begin to End, both since the beginning of the round.
type Span struct{ Begin, End time.Duration }

// Outcome is how a call ended.
type Outcome int

// The outcomes of a call.
const (
	Done       Outcome = iota
	Refused            // a MySQL error
	Lost               // the connection broke
	Hung               // no answer in the time that the longest fault explains
	Unexpected         // another error
)

func (o Outcome) String() string {
	return [...]string{"done", "refused", "lost", "hung", "unexpected error"}[o]
}

// Fate is what a client knows of the rows of its INSERT.
type Fate int

// The fates of rows. A call that asks for ids without inserting them has no rows: Undone.
const (
	Undone  Fate = iota // rolled back, or no COMMIT was sent
	Kept                // the commit was acknowledged
	Unknown             // an answer was lost: all rows are there, or none
)

func (f Fate) String() string { return [...]string{"no rows", "committed", "rows unknown"}[f] }

// Fault is something done to the cluster.
type Fault struct {
	Span
	What string
	// Gate is the only one that it can be felt at; 0: any.
	Gate   int
	Causes Causes
	// Lost is how many ids of each sequence may be lost by it at most, or of the one that Sequence names.
	Lost     int64
	Sequence string
}

// Causes is what clients may see of a fault.
type Causes struct {
	Lost   bool     // the loss of their connection
	During []uint16 // MySQL errors of calls that were under way during the fault
	Linger []uint16 // those of calls that began up to Linger after it, too
}

// Linger is how long after its end a fault may still be felt: connections that it broke are found out when they are used, and
// worker ids are leased again, and blocks of ids fetched, after pauses.
const Linger = 30 * time.Second

// Gate is a seqgate and what it uses.
type Gate struct {
	Process       string
	Before, After Resources
	Race          bool // it has the race detector
}

// Resources are those of a process.
type Resources struct {
	Goroutines int64
	Memory     int64 // resident bytes
}

// What a seqgate may use after the load more than before it. Sessions and statements leave no goroutines behind; a few are of
// refills and of connections kept open for the next session. Memory that Go has freed it gives back over minutes, and the
// race detector keeps what it has seen: 2 goroutines and 8 MiB are usual, with the race detector 18 MiB.
const (
	MostGoroutines = 20
	MostMemory     = 24 << 20
	MostRaceMemory = 48 << 20 // with the race detector
)

// Sequence is the next_id of a sequence's row before the first call and after the last.
type Sequence struct {
	Begin, End int64
	Ordered    bool // its ids increase over all processes
}

// Row is a row of the table that a sequence fills. Its payload names the call that inserted it.
type Row struct {
	Sequence       string
	ID             int64
	Client, Number int
	Pos            int64 // which row of its statement, from 0
	Shard, Want    int   // where it is, and where the vindex has it
}

func (c Call) last() int64 { return c.First + c.N - 1 }

func (c Call) String() string {
	s := fmt.Sprintf("call %d.%d of process %s (connection opened %v) at %v to %v: %s", c.Client, c.Number, c.Process,
		ms(c.Opened), ms(c.Begin), ms(c.End), c.Statement)
	if c.Sequence != "" {
		s += fmt.Sprintf(", %d of %s", c.N, c.Sequence)
	}
	if c.First != 0 {
		s += fmt.Sprintf(", ids %d to %d, %v", c.First, c.last(), c.Rows)
	}
	if c.Outcome != Done {
		s += fmt.Sprintf(", %v: %s", c.Outcome, c.Error)
	}
	return s
}

func (f Fault) String() string { return fmt.Sprintf("%v to %v: %s", ms(f.Begin), ms(f.End), f.What) }

func (r Row) String() string {
	return fmt.Sprintf("row %d of %s (call %d.%d, row %d of it)", r.ID, r.Sequence, r.Client, r.Number, r.Pos)
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
