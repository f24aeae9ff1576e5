package worker_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// The process of a static worker id is started again and again, at times after a crash while it wrote its file, and its clock
// jumps while it runs and while it is away: the ids increase, are of times that the file has, and go on when the clock is
// right.
func TestStaticJumps(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		p := &staticLife{rng: rand.New(rand.NewPCG(seed, 0)), host: newHost(), path: filepath.Join(t.TempDir(), "worker")}
		for range 10 {
			p.live(t)
		}
		p.ids.NoDuplicates(t)
		if p.ids.Count() < 50 || p.refused == 0 {
			t.Errorf("%d ids were given, and %d calls refused: want some of both to tell anything", p.ids.Count(), p.refused)
		}
	})
}

// staticLife is a process that is started again and again on a host.
type staticLife struct {
	rng     *rand.Rand
	host    *host
	path    string
	ids     checker
	refused int
}

func (p *staticLife) live(t *testing.T) {
	h, err := worker.Open(worker.NewStatic(7, p.path), "test", sequencetest.HolderLayout(), 0, worker.Config{Lease: worker.StaticLease,
		Generator: snowflake.Config{Clock: p.host, Timeout: unionTimeout}})
	if err != nil {
		t.Fatal(err)
	}
	for range p.rng.IntN(30) {
		if p.rng.IntN(8) == 0 {
			p.jump()
		}
		p.ask(t, h)
		time.Sleep(time.Duration(p.rng.Int64N(int64(time.Second))))
	}
	if p.rng.IntN(4) > 0 {
		p.comesBack(t, h)
		for range 10 {
			p.ask(t, h)
			time.Sleep(50 * time.Millisecond)
		}
	}
	if err := h.Close(t.Context()); err != nil { // as for a crash: there is nothing that it writes
		t.Error(err)
	}
	if p.rng.IntN(2) == 0 {
		if err := os.WriteFile(p.path+".new", []byte(`{"worker_id": 7, "reserv`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p.rng.IntN(2) == 0 {
		p.jump() // while it is away
	}
}

func (p *staticLife) jump() {
	most := []time.Duration{10 * time.Millisecond, 2 * time.Second, 10 * time.Second, 5 * time.Hour}[p.rng.IntN(4)]
	p.host.set(time.Duration(p.rng.Int64N(int64(2*most))) - most)
}

// ask takes an id, if there is one.
func (p *staticLife) ask(t *testing.T, h *worker.Holder) {
	t.Helper()
	run, err := ask(t, p.rng, h, p.host, 1)
	if err != nil {
		p.refused++
		return
	}
	p.add(t, run)
}

func (p *staticLife) add(t *testing.T, run snowflake.Run) {
	t.Helper()
	p.ids.add(t, run)
	at := decode(t, run.First).Time
	if until := p.kept(t); at.After(until) {
		t.Errorf("id %d is of %v, after %v, which is kept", run.First, at, until)
	}
	if clock := p.host.latest(); at.After(clock.Add(unionBorrow)) {
		t.Errorf("id %d is of %v, more than %v after the clock's %v", run.First, at, unionBorrow, clock)
	}
}

// kept reads the file.
func (p *staticLife) kept(t *testing.T) time.Time {
	t.Helper()
	data, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		ReservedUntil time.Time `json:"reserved_until"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.ReservedUntil
}

// comesBack sets the clock right, which is at the time of the ids at least, and has an id given as soon as that is noticed.
func (p *staticLife) comesBack(t *testing.T, h *worker.Holder) {
	t.Helper()
	p.host.set(-time.Duration(p.host.wall.Load() - newHost().wall.Load()))
	if _, err := os.Stat(p.path); err == nil {
		if behind := p.kept(t).Sub(p.host.now()); behind > 0 {
			p.host.set(behind)
		}
	}
	began := time.Now()
	for {
		run, err := h.Next(t.Context(), 1)
		if err == nil {
			p.add(t, run)
			return
		}
		if waited := time.Since(began); waited > 2*worker.StaticLease {
			t.Fatalf("no id %v after the clock was set right: %v", waited, err)
		}
	}
}
