package leasesoak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// How long faults last at most.
const (
	mostPause  = 400 * time.Millisecond // between two faults of a lane
	mostFreeze = 3 * lease              // past the end of a lease and a quarantine
	mostJump   = 3 * lease / 2          // for which a clock is wrong
	mostAway   = 3 * lease / 2          // for which the network is cut, or the server frozen
	serverRest = 2 * time.Second        // between two faults of the server, at least
)

// lane is some places of processes, which share a network to the server. Each lane has its faults one after the other, and
// all lanes at a time.
type lane struct {
	places  []*place
	network *sequencetest.Proxy
	server  string // the address behind the network
}

// run has faults befall the lane until ctx ends, and leaves all running with clocks that are right. The seed decides which
// faults, for how long and in which order; what they meet differs from run to run.
func (l *lane) run(ctx context.Context, rng *rand.Rand, note func(string)) error {
	kinds := []struct {
		what string
		do   func(p *place, rng *rand.Rand) error
	}{
		{"kill -9", l.kill}, {"kill -9, and start with another clock", l.killAndJump}, {"stop", l.stop},
		{"freeze", l.freeze}, {"freeze and set the clock of", l.freezeAndJump}, {"set the clock of", l.jump},
		{"cut the network of", l.cut}, {"cut statements of", l.cutStatements},
	}
	for {
		for _, i := range rng.Perm(len(kinds)) {
			p := l.places[rng.IntN(len(l.places))]
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(upTo(rng, mostPause)):
			}
			note(kinds[i].what + " " + p.process().name)
			if err := kinds[i].do(p, rng); err != nil {
				return fmt.Errorf("%s: %w", kinds[i].what, err)
			}
		}
	}
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }

// step returns by how much a clock is set: within what is allowed, by seconds or by hours, either way.
func step(rng *rand.Rand) time.Duration {
	most := []time.Duration{10 * time.Millisecond, maxSkew, maxSkew, 5 * time.Second, 5 * time.Hour}[rng.IntN(5)]
	return upTo(rng, 2*most) - most
}

func (l *lane) kill(p *place, rng *rand.Rand) error {
	p.process().kill()
	time.Sleep(upTo(rng, lease/2))
	return p.start(rng.Uint64(), 0)
}

// killAndJump is a machine that is started again with a clock that NTP sets right a while later.
func (l *lane) killAndJump(p *place, rng *rand.Rand) error {
	p.process().kill()
	if err := p.start(rng.Uint64(), step(rng)); err != nil {
		return err
	}
	time.Sleep(upTo(rng, mostJump))
	return p.setClock(0)
}

func (l *lane) stop(p *place, rng *rand.Rand) error {
	if err := p.process().stop(); err != nil {
		return err
	}
	return p.start(rng.Uint64(), 0)
}

func (l *lane) freeze(p *place, rng *rand.Rand) error {
	if err := p.process().signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(upTo(rng, mostFreeze))
	return p.process().signal(syscall.SIGCONT)
}

// freezeAndJump is a virtual machine that is suspended, and goes on with a clock that is behind or ahead.
func (l *lane) freezeAndJump(p *place, rng *rand.Rand) error {
	if err := p.process().signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := p.setClock(step(rng)); err != nil { // it reads that when it goes on
		return err
	}
	time.Sleep(upTo(rng, mostFreeze))
	if err := p.process().signal(syscall.SIGCONT); err != nil {
		return err
	}
	time.Sleep(upTo(rng, mostJump))
	return p.setClock(0)
}

func (l *lane) jump(p *place, rng *rand.Rand) error {
	if err := p.setClock(step(rng)); err != nil {
		return err
	}
	time.Sleep(upTo(rng, mostJump))
	return p.setClock(0)
}

// nowhere is an address at which nobody answers.
const nowhere = "127.0.0.1:1"

func (l *lane) cut(_ *place, rng *rand.Rand) error {
	l.network.Switch(nowhere)
	l.network.CutAll()
	time.Sleep(upTo(rng, mostAway))
	l.network.Switch(l.server)
	return nil
}

// cutStatements cuts the connections of some statements: before they get to the server, before the answer does, or so that
// they get there late.
func (l *lane) cutStatements(_ *place, rng *rand.Rand) error {
	const cuts = 10
	for range cuts {
		l.network.CutNext(sequencetest.Cut(rng.IntN(3)), "UPDATE", "INSERT", "SELECT worker_id")
		time.Sleep(upTo(rng, lease/5))
	}
	l.network.CutNext(sequencetest.CutUnsent) // at no statement
	return nil
}

// shakeServer has faults befall the server until ctx ends.
func shakeServer(ctx context.Context, t *testing.T, s *servertest.Server, rng *rand.Rand, note func(string)) {
	kinds := []struct {
		what string
		do   func()
	}{
		{"kill -9 the server", func() { s.Kill(t); s.Start(t) }},
		{"stop the server", func() { s.Stop(t); s.Start(t) }},
		{"freeze the server", func() { s.Freeze(t); time.Sleep(upTo(rng, mostAway)); s.Thaw(t) }},
		{"freeze the server", func() { s.Freeze(t); time.Sleep(upTo(rng, mostAway)); s.Thaw(t) }},
	}
	for {
		for _, i := range rng.Perm(len(kinds)) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(serverRest/2 + upTo(rng, serverRest)):
			}
			note(kinds[i].what)
			kinds[i].do()
		}
	}
}

// shake has faults befall all lanes and the server for some time, or until ctx ends, and leaves everything running.
func (c *cluster) shake(ctx context.Context, t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var shaking sync.WaitGroup
	for i, l := range c.lanes {
		shaking.Go(func() {
			if err := l.run(ctx, rand.New(rand.NewPCG(c.seed, uint64(1+i))), c.note); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	shakeServer(ctx, t, c.server, rand.New(rand.NewPCG(c.seed, 0)), c.note)
	shaking.Wait()
}
