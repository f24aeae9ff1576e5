package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// How long faults last and how far they go at most.
const (
	faultTime   = 12 * time.Second       // of a round, at least
	mostPause   = 600 * time.Millisecond // between two faults of a kind
	mostFreeze  = 3 * time.Second        // more than sequences wait for an answer, or for a lock
	mostFull    = 2 * time.Second        // for which a disk is full, or a server read-only
	leastJump   = time.Second            // for which a clock is wrong: generators look at it once a second
	mostJump    = 1500 * time.Millisecond
	mostDelay   = 100 * time.Millisecond // of each piece of data
	mostNoisy   = time.Second            // for which a network is faulty
	mostBytes   = 300                    // after which a connection is cut
	cuts        = 12                     // of each of half the connections, or of statements, while a network is faulty
	mostCache   = 12
	mostSkipped = 1000             // ids by which next_id is set forward
	mostKilled  = 5                // connections killed at once
	patience    = 10 * time.Second // for a server to answer that nothing is done to
	// fullTimeout is how long a server may take to answer again after its disk was full, for which it may have to be started.
	fullTimeout = time.Minute
	// lockTimeout is how many seconds a statement of the test's own waits for locks of others.
	lockTimeout = "5"
	// lostBlocks are in the memory of a process: the current one and the next; or their commits it cannot know of when the
	// server fails it, or it the server.
	lostBlocks = 2
)

// away are the errors of statements that need a server which cannot be reached, is gone, or stops: also of ids that are not
// there in time, and of a COMMIT that only some shards have done.
var away = []uint16{1040, 1053, 1158, 1180, 1205, 1317, 1429, 1614, 1615, 1927}

// What clients see of each kind of fault.
var (
	gateEnds     = Causes{Lost: true, Linger: []uint16{1053, 1205}} // its next process leases worker ids first
	gateFreezes  = Causes{Linger: []uint16{1205, 1614}}             // its leases of worker ids end, and recovery may be done before it
	clockJumps   = Causes{Linger: []uint16{1205}}                   // ids of a time that is not there are waited for
	nothing      = Causes{}
	clientsCut   = Causes{Lost: true}
	serverAway   = Causes{Lost: true, Linger: away}
	serverFull   = Causes{Lost: true, During: []uint16{1021, 1114}, Linger: away} // it may end, at once or later
	serverLocked = Causes{During: []uint16{1290, 1836, 1180}, Linger: []uint16{1205}}
)

// kind is one of faults. It chooses where it befalls, and says there and how many ids may be lost.
type kind struct {
	what   string
	causes Causes
	do     func(ctx context.Context, t *testing.T, c *cluster, rng *rand.Rand) (Fault, error)
}

// onGate is a fault of a gate, of those named or any, which loses some blocks of ids.
func onGate(what string, causes Causes, do func(ctx context.Context, c *cluster, g *gate, rng *rand.Rand) (blocks int, err error), among ...*gate) kind {
	return kind{what, causes, func(ctx context.Context, _ *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
		gates := among
		if len(gates) == 0 {
			gates = c.gates
		}
		g := gates[rng.IntN(len(gates))]
		f := Fault{What: "process " + g.process().Name, Gate: g.number}
		blocks, err := do(ctx, c, g, rng)
		f.Lost = int64(blocks) * g.block
		return f, err
	}}
}

// onServer is a fault of a server, which may keep every gate from learning of a commit.
func onServer(what string, causes Causes, do func(t *testing.T, s *server, rng *rand.Rand)) kind {
	return kind{what, causes, func(_ context.Context, t *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
		s := c.servers[rng.IntN(len(c.servers))]
		s.startIfEnded(t) // it may have taken a while to end of a full disk
		do(t, s, rng)
		return Fault{What: fmt.Sprintf("server %d", s.number), Lost: lostBlocks * c.blocks()}, nil
	}}
}

// onNetwork is a fault between a gate and a server or clients.
func onNetwork(what string, do func(r *relay, rng *rand.Rand) error) kind {
	return kind{what, serverAway, func(_ context.Context, _ *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
		g := c.gates[rng.IntN(len(c.gates))]
		place := rng.IntN(len(g.networks))
		f := Fault{What: fmt.Sprintf("between gate %d and server %d", g.number, place+1), Gate: g.number}
		if place == len(g.networks)-1 {
			f.What, f.Causes = fmt.Sprintf("between gate %d and clients", g.number), clientsCut
		}
		return f, do(g.networks[place], rng)
	}}
}

// The faults of all rounds, and what those of a profile have beside them.
var (
	gateFaults = []kind{onGate("kill -9", gateEnds, killGate), onGate("stop and start", gateEnds, restartGate),
		onGate("freeze", gateFreezes, freezeGate), {"set back the sequence of", nothing, setBack}}
	statementFaults = []kind{onGate("cut statements of", serverAway,
		cutStatements(2, "START TRANSACTION", "INSERT", "SELECT", "UPDATE", "COMMIT", "COMMIT"))}
	clockFaults = []kind{onGate("set the clock of", clockJumps, jumpGate), onGate("set the clock of", clockJumps, jumpGate)}

	serverFaults = []kind{
		onServer("kill -9", serverAway, func(t *testing.T, s *server, _ *rand.Rand) { s.Kill(t); s.startAgain(t) }),
		onServer("stop and start", serverAway, func(t *testing.T, s *server, _ *rand.Rand) { s.Stop(t); s.startAgain(t) }),
		onServer("freeze", serverAway, freezeServer)}
	diskFaults = []kind{onServer("read-only", serverLocked, lockServer), onServer("full disk of", serverFull, fillServer)}
	editFaults = []kind{{"kill connections", serverAway, killConnections}, {"set forward", nothing, skip}, {"set the cache of", nothing, setCache}}

	networkFaults = []kind{onNetwork("cut connections", cutLinks), onNetwork("cut connections", cutLinks),
		onNetwork("delay", delayLinks), onNetwork("refuse connections", refuseLinks)}
)

// shake has the faults of several lists befall the cluster independently of each other, so that they overlap, for faultTime and
// until each has come, and leaves everything running. Those of the first list may end the test. The seed decides what is done and
// in which order; what it meets differs from run to run.
func (c *cluster) shake(t *testing.T, seed uint64, lists ...[]kind) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var others sync.WaitGroup
	var left atomic.Int64 // lists of which some fault has not come yet
	left.Store(int64(len(lists)))
	begun := time.Now()
	over := func() bool { return left.Load() == 0 && time.Since(begun) > faultTime }
	one := func(i int) {
		rng := rand.New(rand.NewPCG(seed, uint64(1+i)<<32))
		for k := range shuffled(ctx, rng, len(lists[i]), func() { left.Add(-1) }, over) {
			if err := c.befall(ctx, t, lists[i][k], rng); err != nil {
				t.Error(err)
				cancel()
			}
		}
	}
	for i := 1; i < len(lists); i++ {
		others.Go(func() { one(i) })
	}
	defer others.Wait()
	one(0)
}

// shuffled gives the numbers from 0 to n-1 in random order, again and again, with pauses, until over or ctx ends. It calls passed when
// each has come once.
func shuffled(ctx context.Context, rng *rand.Rand, n int, passed func(), over func() bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for first := true; ; first = false {
			for _, i := range rng.Perm(n) {
				select {
				case <-ctx.Done():
					return
				case <-time.After(upTo(rng, mostPause)):
				}
				if over() || !yield(i) {
					return
				}
			}
			if first {
				passed()
			}
		}
	}
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }

// befall has one fault come, and notes it.
func (c *cluster) befall(ctx context.Context, t *testing.T, k kind, rng *rand.Rand) error {
	begin := c.since()
	f, err := k.do(ctx, t, c, rng)
	if err != nil {
		return fmt.Errorf("%s %s: %w", k.what, f.What, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	on, _, _ := strings.Cut(f.What, " ")
	c.kinds[k.what+" "+on]++
	f.Span, f.What = Span{begin, c.since()}, k.what+" "+f.What
	if !f.Causes.Lost {
		f.Causes = k.causes
	}
	c.faults = append(c.faults, f)
	return nil
}

// blocks is how many ids the largest blocks of all gates have.
func (c *cluster) blocks() (n int64) {
	for _, g := range c.gates {
		n += g.block
	}
	return n
}

func killGate(_ context.Context, _ *cluster, g *gate, rng *rand.Rand) (int, error) {
	g.process().Kill()
	time.Sleep(upTo(rng, mostPause))
	return lostBlocks, g.start()
}

func restartGate(_ context.Context, _ *cluster, g *gate, _ *rand.Rand) (int, error) {
	if err := g.process().Stop(); err != nil {
		return 0, err
	}
	return lostBlocks, g.start()
}

func freezeGate(_ context.Context, _ *cluster, g *gate, rng *rand.Rand) (int, error) {
	if err := g.process().Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	time.Sleep(upTo(rng, mostFreeze))
	return lostBlocks, g.process().Signal(syscall.SIGCONT)
}

// cutStatements cuts the gate's connections to the server at statements, in some of the ways there are.
func cutStatements(ways int, statements ...string) func(_ context.Context, _ *cluster, g *gate, rng *rand.Rand) (int, error) {
	return func(_ context.Context, _ *cluster, g *gate, rng *rand.Rand) (int, error) {
		before := g.statements.Cuts()
		for range cuts {
			g.statements.CutNext(sequencetest.Cut(rng.IntN(ways)), statements[rng.IntN(len(statements))])
			time.Sleep(upTo(rng, mostNoisy/cuts))
		}
		g.statements.CutNext(sequencetest.CutUnsent) // at no statement
		g.statements.CutAll()
		return g.statements.Cuts() - before + lostBlocks, nil
	}
}

// step returns by how much a clock is set: within what is allowed, by seconds or by hours, either way.
func step(rng *rand.Rand) time.Duration {
	most := []time.Duration{10 * time.Millisecond, time.Second, time.Second, 5 * time.Second, 5 * time.Hour}[rng.IntN(5)]
	return upTo(rng, 2*most) - most
}

// jumpGate sets the clock of a gate's machine, and right again later.
func jumpGate(_ context.Context, _ *cluster, g *gate, rng *rand.Rand) (int, error) {
	if err := g.setClock(step(rng)); err != nil {
		return 0, err
	}
	time.Sleep(leastJump + upTo(rng, mostJump-leastJump))
	return 0, g.setClock(0)
}

// setBack sets the sequence that a gate has for itself back behind all that was given out. It must raise it above all that it
// was given; of ids given to others it cannot know, nor of those of its processes before. So its process must have been given the
// latest ones: that next_id has moved does not say so, as the answer may have been lost, but an id that it gives does.
func setBack(ctx context.Context, _ *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*c.recovery) // the server may be away for much of it
	defer cancel()
	g := c.gates[rng.IntN(len(c.gates))]
	own := c.tables[slices.IndexFunc(c.tables, func(t table) bool { return t.gate == g.number })]
	f := Fault{What: "process " + g.process().Name, Gate: g.number, Lost: g.block, Sequence: own.name}
	probe := newClient(c.clients+1+int(c.probes.Add(1)), c, rng.Uint64())
	defer c.add(probe)
	before, err := c.nextID(ctx, own.name)
	for ; err != nil || probe.insertOnce(g, own) < before; time.Sleep(mostThinking) {
		if ctx.Err() != nil {
			return f, fmt.Errorf("it gives no id from %d on: %w", before, ctx.Err())
		}
		if err != nil {
			before, err = c.nextID(ctx, own.name)
		}
	}
	_ = c.update(ctx, own, "next_id = 1") // maybe: the server may be away
	for next := int64(0); next <= 1; time.Sleep(2 * time.Millisecond) {
		if next, err = c.nextID(ctx, own.name); ctx.Err() != nil {
			return f, fmt.Errorf("it does not raise next_id: %w (%w)", ctx.Err(), err)
		}
	}
	return f, nil
}

// update edits the row of a table's sequence.
func (c *cluster) update(ctx context.Context, t table, set string) error {
	_, err := c.main().admin.ExecContext(ctx, fmt.Sprintf("UPDATE %s.%s_seq SET %s", c.main().name, t.name, set))
	return err
}

// add takes the calls of a client that is done.
func (c *cluster) add(done *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, done.calls...)
}

func cutLinks(r *relay, rng *rand.Rand) error {
	defer r.endCuts()
	for range cuts {
		r.cut(rng, mostBytes)
		time.Sleep(upTo(rng, 2*mostNoisy/cuts))
	}
	return nil
}

func delayLinks(r *relay, rng *rand.Rand) error {
	r.delay.Store(1 + int64(upTo(rng, mostDelay)))
	time.Sleep(upTo(rng, mostNoisy))
	r.delay.Store(0)
	return nil
}

func refuseLinks(r *relay, rng *rand.Rand) error {
	r.refuse()
	r.cut(rng, mostBytes)
	time.Sleep(upTo(rng, mostNoisy))
	r.endCuts()
	return r.listen()
}

func freezeServer(t *testing.T, s *server, rng *rand.Rand) {
	s.Freeze(t)
	time.Sleep(upTo(rng, mostFreeze))
	s.Thaw(t)
}

// lockServer makes the server read-only for a while. Servers wait for transactions under way first, for a second here.
func lockServer(t *testing.T, s *server, rng *rand.Rand) {
	conn, err := s.admin.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(statement string) error {
		_, err := conn.ExecContext(t.Context(), statement)
		return err
	}
	err = errors.Join(exec("SET lock_wait_timeout = 1"), exec("SET GLOBAL read_only = 1"))
	if err == nil {
		time.Sleep(upTo(rng, mostFull))
	}
	if err := errors.Join(exec("SET GLOBAL read_only = 0"), exec("SET lock_wait_timeout = "+lockTimeout)); err != nil {
		t.Fatal(err)
	}
}

// fillServer fills the server's disk for a while. One that has ended for want of room is started.
func fillServer(t *testing.T, s *server, rng *rand.Rand) {
	if s.disk == nil {
		return
	}
	s.filled = true
	err := s.disk.Fill()
	time.Sleep(upTo(rng, mostFull))
	if err := errors.Join(err, s.disk.Free()); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		s.startIfEnded(t)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := s.admin.PingContext(ctx)
		cancel()
		if err == nil {
			return
		}
		if took := time.Since(begun); took > fullTimeout {
			t.Fatalf("server %d does not answer %v after its disk was full: %v", s.number, took, err)
		}
	}
}

func (s *server) startAgain(t *testing.T) {
	s.filled = false
	s.Start(t)
}

// startIfEnded starts a server that has ended of a full disk. Whatever else one ends of is no fault of the round's.
func (s *server) startIfEnded(t *testing.T) {
	if s.disk != nil && s.StartIfEnded(t) && !s.filled {
		t.Errorf("server %d ended by itself", s.number)
	}
}

// killConnections kills connections to the server, of sessions and refills alike.
func killConnections(ctx context.Context, _ *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
	rows, err := c.main().admin.QueryContext(ctx, "SELECT id FROM "+servertest.Processlist+" WHERE user = 'app' AND id <> CONNECTION_ID()")
	if err != nil {
		return Fault{}, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return Fault{}, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return Fault{}, err
	}
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:min(len(ids), 1+rng.IntN(mostKilled))]
	largest := slices.MaxFunc(c.gates, func(a, b *gate) int { return cmp.Compare(a.block, b.block) })
	for _, id := range ids {
		_, _ = c.main().admin.ExecContext(ctx, fmt.Sprintf("KILL %d", id)) // it may have ended by now
	}
	return Fault{What: fmt.Sprint(ids), Lost: int64(len(ids)) * largest.block}, nil
}

// skip sets a sequence forward, setCache changes its cache.
func skip(ctx context.Context, _ *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
	n := 1 + rng.Int64N(mostSkipped)
	f := c.edit(ctx, rng, fmt.Sprintf("next_id = next_id + %d", n))
	f.Lost = n
	return f, nil
}

func setCache(ctx context.Context, _ *testing.T, c *cluster, rng *rand.Rand) (Fault, error) {
	return c.edit(ctx, rng, fmt.Sprintf("cache = %d", 1+rng.IntN(mostCache))), nil
}

// edit changes a sequence, if nobody holds its row for long: not those that are set back, which must move by their gates alone.
func (c *cluster) edit(ctx context.Context, rng *rand.Rand, set string) Fault {
	shared := slices.DeleteFunc(slices.Clone(c.tables), func(t table) bool { return t.gate != 0 })
	t := shared[rng.IntN(len(shared))]
	return Fault{What: fmt.Sprintf("%s %s (%v)", t.name, set, c.update(ctx, t, set)), Sequence: t.name}
}
