package chaos

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/soak"
)

// How long faults last and how far they go at most.
const (
	mostPause  = 600 * time.Millisecond // between two faults of a kind
	mostFreeze = 2500 * time.Millisecond
	mostFull   = 2 * time.Second // for which a disk is full, or a server read-only
	leastJump  = time.Second     // for which a clock is wrong: generators look at it once a second
	mostJump   = 1500 * time.Millisecond
	mostDelay  = 100 * time.Millisecond // of each piece of data
	mostNoisy  = time.Second            // for which a network is faulty
	mostBytes  = 300                    // after which a connection is cut
	cuts       = 12                     // of each of half the connections, at most, while a network is faulty
	patience   = 10 * time.Second       // for a server to answer that nothing is done to
	// fullTimeout is how long a server may take to answer again after its disk was full, for which it may have to be started.
	fullTimeout = time.Minute
	// lockTimeout is how many seconds a statement of the test's own waits for locks of others.
	lockTimeout = "5"
)

// shake has faults befall gates, servers and networks independently of each other, so that they overlap, for faultTime and until
// each kind has come, and leaves everything running. The seed decides what is done and in which order; what it meets differs
// from run to run.
func (c *cluster) shake(t *testing.T, seed uint64) {
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	for i, shake := range []func(context.Context, *rand.Rand) error{c.shakeGates, c.shakeNetwork} {
		others.Go(func() {
			if err := shake(ctx, rand.New(rand.NewPCG(seed, uint64(1+i)<<32))); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	c.shakeServers(ctx, t, rand.New(rand.NewPCG(seed, 1<<40)))
}

// shuffled gives the numbers from 0 to n-1 in random order, again and again, with pauses, until faultTime is over and each has
// come, or ctx ends.
func shuffled(ctx context.Context, rng *rand.Rand, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		over := time.Now().Add(faultTime)
		for all := false; ; all = true {
			for _, i := range rng.Perm(n) {
				select {
				case <-ctx.Done():
					return
				case <-time.After(upTo(rng, mostPause)):
				}
				if all && time.Now().After(over) || !yield(i) {
					return
				}
			}
		}
	}
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }

// away are the errors of statements that need a server which cannot be reached, is gone, or stops: also of ids that are not
// there in time, and of a COMMIT that only some shards have done.
var away = []uint16{1040, 1053, 1158, 1180, 1205, 1317, 1429, 1614, 1615, 1927}

// What clients see of each kind of fault.
var (
	gateEnds     = Causes{Lost: true, Linger: []uint16{1053, 1205}} // its next process leases worker ids first
	gateFreezes  = Causes{Linger: []uint16{1205, 1614}}             // its leases of worker ids end, and recovery may be done before it
	clockJumps   = Causes{Linger: []uint16{1205}}                   // ids of a time that is not there are waited for
	rowGoesBack  = Causes{}                                         // it is raised again
	clientsCut   = Causes{Lost: true}
	serverAway   = Causes{Lost: true, Linger: away}
	serverFull   = Causes{Lost: true, During: []uint16{1021, 1114}, Linger: away} // it may end, at once or later
	serverLocked = Causes{During: []uint16{1290, 1836, 1180}, Linger: []uint16{1205}}
)

// note collects a fault that began at begin and has just ended. gate is the only one that feels it; 0: any does.
func (c *cluster) note(begin time.Duration, gate int, causes Causes, kind, where string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on, _, _ := strings.Cut(where, " ")
	c.kinds[kind+" "+on]++
	what := kind + " " + where
	c.faults = append(c.faults, Fault{soak.Fault{Span: soak.Span{Begin: begin, End: c.since()}, What: what}, gate, causes})
}

// shakeGates kills, stops and freezes one gate after another, sets its clock, and sets its own sequence back.
func (c *cluster) shakeGates(ctx context.Context, rng *rand.Rand) error {
	kinds := []struct {
		what   string
		causes Causes
		do     func(ctx context.Context, g *gate, rng *rand.Rand) error
	}{{"kill -9", gateEnds, killGate}, {"stop and start", gateEnds, restartGate}, {"freeze", gateFreezes, freezeGate},
		{"set the clock of", clockJumps, jumpGate}, {"set the clock of", clockJumps, jumpGate}, {"set back the sequence of", rowGoesBack, c.setBack}}
	for i := range shuffled(ctx, rng, len(kinds)) {
		g, begin := c.gates[rng.IntN(len(c.gates))], c.since()
		name := g.process().Name
		if err := kinds[i].do(ctx, g, rng); err != nil {
			return fmt.Errorf("%s process %s: %w", kinds[i].what, name, err)
		}
		c.note(begin, g.number, kinds[i].causes, kinds[i].what, "process "+name)
	}
	return nil
}

func killGate(_ context.Context, g *gate, rng *rand.Rand) error {
	g.process().Kill()
	time.Sleep(upTo(rng, mostPause))
	return g.start()
}

func restartGate(_ context.Context, g *gate, _ *rand.Rand) error {
	if err := g.process().Stop(); err != nil {
		return err
	}
	return g.start()
}

func freezeGate(_ context.Context, g *gate, rng *rand.Rand) error {
	if err := g.process().Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(upTo(rng, mostFreeze))
	return g.process().Signal(syscall.SIGCONT)
}

// jumpGate sets the clock of a gate's machine, within what is allowed, by seconds or by hours, and right again later.
func jumpGate(_ context.Context, g *gate, rng *rand.Rand) error {
	most := []time.Duration{10 * time.Millisecond, time.Second, 3 * time.Second, 5 * time.Hour}[rng.IntN(4)]
	if err := g.setClock(upTo(rng, 2*most) - most); err != nil {
		return err
	}
	time.Sleep(leastJump + upTo(rng, mostJump-leastJump))
	return g.setClock(0)
}

// setBack sets the sequence that the gate has for itself back behind all that was given out. It must have reserved ids since
// its start, as it goes by these, and is to raise the row before anything else is done to it.
func (c *cluster) setBack(ctx context.Context, g *gate, _ *rand.Rand) error {
	own := fmt.Sprintf("own%d", g.number)
	moving, cancel := context.WithTimeout(ctx, recoveryTimeout+mostFreeze+mostFull)
	defer cancel()
	before, err := c.awaitNextID(moving, own, 0)
	if err == nil {
		_, err = c.awaitNextID(moving, own, before)
	}
	if ctx.Err() != nil { // something else failed
		return nil
	} else if err != nil {
		return err
	}
	if _, err := c.main().admin.ExecContext(context.Background(), fmt.Sprintf("UPDATE %s.%s_seq SET next_id = 1", c.database, own)); err != nil {
		c.note(c.since(), g.number, rowGoesBack, "maybe set back the sequence of", fmt.Sprintf("gate %d: %v", g.number, err))
	}
	raise, cancel := context.WithTimeout(context.Background(), recoveryTimeout+mostFreeze+mostFull)
	defer cancel()
	_, err = c.awaitNextID(raise, own, 1)
	return err
}

// shakeNetwork cuts connections within packets, delays what they carry, and refuses new ones, at one place or several.
func (c *cluster) shakeNetwork(ctx context.Context, rng *rand.Rand) error {
	kinds := []struct {
		what string
		do   func(r *relay, rng *rand.Rand) error
	}{{"cut connections", cutLinks}, {"cut connections", cutLinks}, {"delay", delayLinks}, {"refuse connections", refuseLinks}}
	for i := range shuffled(ctx, rng, len(kinds)) {
		g, begin := c.gates[rng.IntN(len(c.gates))], c.since()
		place := rng.IntN(len(g.links()))
		if err := kinds[i].do(g.links()[place], rng); err != nil {
			return err
		}
		where, causes := fmt.Sprintf("between gate %d and server %d", g.number, place+1), serverAway
		if place == len(g.servers) {
			where, causes = fmt.Sprintf("between gate %d and clients", g.number), clientsCut
		}
		c.note(begin, g.number, causes, kinds[i].what, where)
	}
	return nil
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

// shakeServers kills, stops and freezes one server after another, makes it read-only, and fills its disk.
func (c *cluster) shakeServers(ctx context.Context, t *testing.T, rng *rand.Rand) {
	kinds := []struct {
		what   string
		causes Causes
		do     func(t *testing.T, s *server, rng *rand.Rand)
	}{{"kill -9", serverAway, killServer}, {"stop and start", serverAway, restartServer}, {"freeze", serverAway, freezeServer},
		{"read-only", serverLocked, lockServer}, {"full disk of", serverFull, fillServer}}
	for i := range shuffled(ctx, rng, len(kinds)) {
		s, begin := c.servers[rng.IntN(len(c.servers))], c.since()
		s.StartIfEnded(t) // it may have taken a while to end of a full disk
		kinds[i].do(t, s, rng)
		c.note(begin, 0, kinds[i].causes, kinds[i].what, fmt.Sprintf("server %d", s.number))
	}
}

func killServer(t *testing.T, s *server, _ *rand.Rand)    { s.Kill(t); s.Start(t) }
func restartServer(t *testing.T, s *server, _ *rand.Rand) { s.Stop(t); s.Start(t) }

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

// fillServer fills the server's disk for a while.
func fillServer(t *testing.T, s *server, rng *rand.Rand) {
	if s.disk == nil {
		return
	}
	err := s.disk.Fill()
	time.Sleep(upTo(rng, mostFull))
	if err := errors.Join(err, s.disk.Free()); err != nil {
		t.Fatal(err)
	}
	s.awaitAnswer(t)
}

// awaitAnswer returns when the server answers again. One that has ended for want of room is started.
func (s *server) awaitAnswer(t *testing.T) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		s.StartIfEnded(t)
		err := s.ping(t)
		if err == nil {
			return
		}
		if took := time.Since(begun); took > fullTimeout {
			t.Fatalf("server %d does not answer %v after its disk was full: %v", s.number, took, err)
		}
	}
}

func (s *server) ping(t *testing.T) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.admin.PingContext(ctx)
}
