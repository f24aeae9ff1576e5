package soak

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// How long faults last and how far they go at most.
const (
	mostPause    = 800 * time.Millisecond // between two faults of a kind
	mostFreeze   = 4 * time.Second        // more than sequences wait for an answer, or for a lock
	mostCache    = 12
	mostSkipped  = 1000 // ids by which next_id is set forward
	mostKilled   = 5    // connections killed at once
	mostCuts     = 20   // of connections, one after the other
	setBacks     = 3    // of each sequence
	lostPerStop  = 2    // blocks in the memory of a process: the current one and the next
	lostPerBreak = 2    // blocks whose commit a process cannot know of when the server fails it, or it the server
)

// faults shakes a cluster, the gates and the server independently of each other, so that faults overlap. The seed decides
// what is done and in which order; what it meets differs from run to run.
type faults struct {
	cluster *cluster

	mu   sync.Mutex
	done []Fault
}

// run shakes the cluster until ctx ends, and leaves everything running.
func (f *faults) run(ctx context.Context, t *testing.T, seed uint64) {
	ctx, cancel := context.WithCancel(ctx)
	var gates sync.WaitGroup
	defer gates.Wait()
	defer cancel()
	gates.Go(func() {
		if err := f.shakeGates(ctx, rand.New(rand.NewPCG(seed, 1<<32))); err != nil {
			t.Error(err)
			cancel()
		}
	})
	f.shakeServer(ctx, t, rand.New(rand.NewPCG(seed, 1<<33)))
}

// shuffled gives the numbers from 0 to n-1 in random order, again and again, with pauses, until ctx ends.
func shuffled(ctx context.Context, rng *rand.Rand, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for {
			for _, i := range rng.Perm(n) {
				select {
				case <-ctx.Done():
					return
				case <-time.After(upTo(rng, mostPause)):
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }

// note collects a fault that began at begin and has just ended.
func (f *faults) note(begin time.Duration, fault Fault) {
	fault.Span = Span{begin, f.cluster.since()}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, fault)
}

// logIfFailed shows the faults of a round that failed.
func (f *faults) logIfFailed(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, fault := range f.done {
		t.Log(fault)
	}
}

// shakeGates kills, freezes and stops one gate after another, and cuts it off from the server.
func (f *faults) shakeGates(ctx context.Context, rng *rand.Rand) error {
	kinds := []struct {
		what string
		do   func(g *gate, rng *rand.Rand) (blocksLost int64, err error)
	}{{"kill -9", killGate}, {"stop and start", restartGate}, {"freeze", freezeGate}, {"cut connections of", cutGate}}
	for i := range shuffled(ctx, rng, len(kinds)) {
		g, begin := f.cluster.gates[rng.IntN(len(f.cluster.gates))], f.cluster.since()
		name := g.process().Name
		lost, err := kinds[i].do(g, rng)
		if err != nil {
			return err
		}
		f.note(begin, Fault{What: kinds[i].what + " process " + name, Lost: lost * g.block})
	}
	return nil
}

func killGate(g *gate, rng *rand.Rand) (int64, error) {
	g.process().Kill()
	time.Sleep(upTo(rng, mostPause))
	return lostPerStop, g.start()
}

func restartGate(g *gate, _ *rand.Rand) (int64, error) {
	if err := g.process().Stop(); err != nil {
		return 0, err
	}
	return lostPerStop, g.start()
}

func freezeGate(g *gate, rng *rand.Rand) (int64, error) {
	if err := g.process().Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	time.Sleep(upTo(rng, mostFreeze))
	return lostPerBreak, g.process().Signal(syscall.SIGCONT)
}

// cutGate cuts the gate's connections to the server at statements of sessions and refills.
func cutGate(g *gate, rng *rand.Rand) (int64, error) {
	statements := []string{"START TRANSACTION", "INSERT", "SELECT", "UPDATE", "COMMIT", "COMMIT"}
	before := g.network.Cuts()
	for range mostCuts {
		g.network.CutNext(sequencetest.Cut(rng.IntN(2)), statements[rng.IntN(len(statements))])
		time.Sleep(upTo(rng, mostPause/mostCuts))
	}
	g.network.CutNext(sequencetest.CutUnsent) // at no statement
	g.network.CutAll()
	return int64(g.network.Cuts()-before) + lostPerBreak, nil
}

// shakeServer kills, freezes and stops the server, kills connections of it, and edits the sequences.
func (f *faults) shakeServer(ctx context.Context, t *testing.T, rng *rand.Rand) {
	s := f.cluster.server
	kinds := []func() Fault{
		func() Fault { s.Kill(t); s.Start(t); return f.broken("kill -9 the server") },
		func() Fault { s.Stop(t); s.Start(t); return f.broken("stop and start the server") },
		func() Fault {
			s.Freeze(t)
			time.Sleep(upTo(rng, mostFreeze))
			s.Thaw(t)
			return f.broken("freeze the server")
		},
		func() Fault { return f.killConnections(t, rng) },
		func() Fault { return f.skip(t, rng) },
		func() Fault { return f.setCache(t, rng) },
	}
	for i := range shuffled(ctx, rng, len(kinds)) {
		begin := f.cluster.since()
		f.note(begin, kinds[i]())
	}
}

// broken is a fault of the server that may keep every gate from learning of a commit.
func (f *faults) broken(what string) Fault {
	fault := Fault{What: what}
	for _, g := range f.cluster.gates {
		fault.Lost += lostPerBreak * g.block
	}
	return fault
}

// killConnections kills connections to the server, of sessions and refills alike.
func (f *faults) killConnections(t *testing.T, rng *rand.Rand) Fault {
	var ids []int64
	rows, err := f.cluster.direct.QueryContext(t.Context(),
		"SELECT id FROM "+servertest.Processlist+" WHERE user = 'app' AND id <> CONNECTION_ID()")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:min(len(ids), 1+rng.IntN(mostKilled))]
	for _, id := range ids {
		_, _ = f.cluster.direct.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id)) // it may have ended by now
	}
	fault := Fault{What: fmt.Sprintf("kill connections %v", ids)}
	for _, g := range f.cluster.gates {
		fault.Lost = max(fault.Lost, int64(len(ids))*g.block)
	}
	return fault
}

// skip sets a sequence forward.
func (f *faults) skip(t *testing.T, rng *rand.Rand) Fault {
	table, n := tables[rng.IntN(len(tables))].name, 1+rng.Int64N(mostSkipped)
	edit := fmt.Sprintf("UPDATE %s_seq SET next_id = next_id + %d", table, n)
	f.cluster.exec(t, edit)
	return Fault{What: edit, Lost: n, Sequence: table}
}

// setCache changes the cache of a sequence.
func (f *faults) setCache(t *testing.T, rng *rand.Rand) Fault {
	edit := fmt.Sprintf("UPDATE %s_seq SET cache = %d", tables[rng.IntN(len(tables))].name, 1+rng.IntN(mostCache))
	f.cluster.exec(t, edit)
	return Fault{What: edit}
}

// setBack sets each sequence back while one gate is the only one to use it. That one must raise it above all it was given;
// of ids given to others it cannot know. That next_id has moved does not say that it was given what lies below: its answer may
// have been lost. An id that it gives does.
func (f *faults) setBack(t *testing.T, seed uint64, probe *client) {
	t.Helper()
	alone := int(seed % uint64(len(f.cluster.gates)))
	for i, g := range f.cluster.gates {
		if i == alone {
			continue
		}
		if err := g.process().Stop(); err != nil {
			t.Fatal(err)
		}
	}
	for range setBacks {
		for _, table := range tables {
			// From here on the latest ids are those of this gate.
			probe.awaitID(t, f.cluster.gates[alone], table.name, f.cluster.nextID(t, table.name))
			begin := f.cluster.since()
			edit := "UPDATE " + table.name + "_seq SET next_id = 1"
			f.cluster.exec(t, edit)
			f.cluster.awaitNextID(t, table.name, 1)
			f.note(begin, Fault{What: edit, Lost: f.cluster.gates[alone].block, Sequence: table.name})
		}
	}
}
