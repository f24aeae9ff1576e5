// Package chaos proves the promises of seqgate with every part of a deployment failing at once: several seqgates, one of them
// with transactions in two phases, in front of a server for sequences and two shards, with faulty networks in between, full
// disks, read-only servers, sequences that are set back and clocks that jump. It is the soak of internal/soak on a whole
// cluster, and judges by the same [soak.History], with rules of its own for what only several servers can break.
//
// The flags of the test say how long and from which seed: see chaos_test.go, or run `make chaos CHAOS=10m SEED=1`.
package chaos

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seqgate/seqgate/internal/soak"
)

// History is what was seen in one round.
type History struct {
	soak.History
	Faults []Fault
	Placed []Placed // the rows of History in sharded tables, with where they are
	Gates  []Usage  // before the load and after it
}

// Fault is something done to the cluster.
type Fault struct {
	soak.Fault
	Gate   int // the only one that it can be felt at; 0: any
	Causes Causes
}

// Causes is what clients may see of a fault.
type Causes struct {
	Lost   bool     // the loss of their connection
	During []uint16 // MySQL errors of calls that were under way during the fault
	Linger []uint16 // those of calls that began up to Linger after it, too
}

// Placed is a row of a sharded table.
type Placed struct {
	soak.Row
	Shard, Want int // where it is, and where the vindex has it
}

// Usage is what a seqgate uses without clients.
type Usage struct {
	Process       string
	Before, After Resources
	Race          bool // it has the race detector
}

// mostMemory is how much more memory it may use.
func (g Usage) mostMemory() int64 {
	if g.Race {
		return MostRaceMemory
	}
	return MostMemory
}

// settled reports whether it uses as little again as it may.
func (g Usage) settled() bool {
	return g.After.Goroutines <= g.Before.Goroutines+MostGoroutines && g.After.Memory <= g.Before.Memory+g.mostMemory()
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

// Linger is how long after its end a fault may still be felt: connections that it broke are found out when they are used, and
// worker ids are leased again, and blocks of ids fetched, after pauses.
const Linger = 30 * time.Second

// Check returns every broken promise: those of [soak.History.CheckPromises], and
//
//   - placed: each row of a sharded table is in the shard that its id says;
//   - atomic: a transaction whose commit was not answered has all of its rows or none, unless it says [soak.Call.Parts];
//   - explained: each call that failed has a fault at its seqgate or a server that causes such an error, beside it or not long before;
//   - resources: without clients a seqgate uses as much as before the load, but for MostGoroutines and MostMemory.
func (h *History) Check() []soak.Violation {
	return slices.Concat(h.CheckPromises(), h.placed(), h.atomic(), h.explained(), h.resources())
}

func (h *History) placed() (vs []soak.Violation) {
	for _, r := range h.Placed {
		if r.Shard != r.Want {
			vs = append(vs, soak.Violation{Rule: "placed", What: fmt.Sprintf("%v is in shard %d, want %d", r.Row, r.Shard, r.Want)})
		}
	}
	return vs
}

// call names a call: its client and number.
type call struct{ client, number int }

func (h *History) atomic() (vs []soak.Violation) {
	there := map[call]bool{}
	for _, r := range h.Rows {
		there[call{r.Client, r.Number}] = true
	}
	open := map[call][]soak.Call{} // by transaction
	for _, c := range h.Calls {
		if c.Tx != 0 && c.Rows == soak.Unknown && !c.Parts {
			tx := call{c.Client, c.Tx}
			open[tx] = append(open[tx], c)
		}
	}
	for _, calls := range open {
		first := there[call{calls[0].Client, calls[0].Number}]
		for _, c := range calls[1:] {
			if there[call{c.Client, c.Number}] != first {
				vs = append(vs, soak.Violation{Rule: "atomic", What: "half of a transaction is there", Calls: []soak.Call{calls[0], c}})
				break
			}
		}
	}
	return vs
}

func (h *History) explained() (vs []soak.Violation) {
	for _, c := range h.Calls {
		if c.Outcome != soak.Refused && c.Outcome != soak.Lost {
			continue
		}
		if !slices.ContainsFunc(h.Faults, func(f Fault) bool { return f.explains(c) }) {
			vs = append(vs, soak.Violation{Rule: "explained", What: "an error with no fault beside it", Calls: []soak.Call{c}})
		}
	}
	return vs
}

// explains reports whether the fault can have made c fail.
func (f Fault) explains(c soak.Call) bool {
	var gate, life int
	if _, err := fmt.Sscanf(c.Process, "%d.%d", &gate, &life); err != nil {
		return false // no process that this test names
	}
	if f.Gate != 0 && f.Gate != gate || f.Begin > c.End {
		return false
	}
	if c.Outcome == soak.Lost {
		return f.Causes.Lost && f.End+Linger >= c.Opened
	}
	number := ErrorNumber(c)
	return f.End >= c.Begin && slices.Contains(f.Causes.During, number) || f.End+Linger >= c.Begin && slices.Contains(f.Causes.Linger, number)
}

// ErrorNumber returns the number of the MySQL error that refused c; 0 when it was not one.
func ErrorNumber(c soak.Call) (number uint16) {
	if _, err := fmt.Sscanf(c.Error, "Error %d", &number); err != nil || c.Outcome != soak.Refused {
		return 0
	}
	return number
}

func (h *History) resources() (vs []soak.Violation) {
	add := func(g Usage, what string, before, after, most int64) {
		if after > before+most {
			vs = append(vs, soak.Violation{Rule: "resources", What: fmt.Sprintf("%s of process %s: %d before the load, %d after it", what, g.Process, before, after)})
		}
	}
	for _, g := range h.Gates {
		add(g, "goroutines", g.Before.Goroutines, g.After.Goroutines, MostGoroutines)
		add(g, "resident bytes", g.Before.Memory, g.After.Memory, g.mostMemory())
	}
	return vs
}

// Summary counts what happened, for people.
func (h *History) Summary() string {
	outcomes := map[soak.Outcome]int{}
	refusals := map[uint16]int{} // by the number of the error
	last := time.Second
	for _, c := range h.Calls {
		outcomes[c.Outcome]++
		last = max(last, c.End)
		if c.Outcome == soak.Refused {
			refusals[ErrorNumber(c)]++
		}
	}
	perMinute := func(n int) float64 { return float64(n) / last.Minutes() }
	s := fmt.Sprintf("%d statements (%.0f a minute): %d done, %d refused, %d lost; %d rows; %d faults (%.0f a minute); refused with errors", len(h.Calls),
		perMinute(len(h.Calls)), outcomes[soak.Done], outcomes[soak.Refused], outcomes[soak.Lost], len(h.Rows), len(h.Faults), perMinute(len(h.Faults)))
	for _, number := range slices.Sorted(maps.Keys(refusals)) {
		s += fmt.Sprintf(" %d (%d)", number, refusals[number])
	}
	return s
}
