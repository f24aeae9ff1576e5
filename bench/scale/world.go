package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// fleet says what is simulated.
type fleet struct {
	gates, sequences int
	inserts          float64 // a second, of all
	zipf             float64 // the sequence of rank k is used in proportion to k to the power of minus this
	exact            int     // so many of the busiest sequences are simulated one by one
	classSize        int     // the most sequences of which one is simulated for all
	cache            int64

	cfg      sequence.Config // MinLifetime, MaxStep, PrefetchShare and Timeout
	strategy string
	costs    costs
	pool     int // connections of a seqgate to a sequence server
	most     int // max_connections of a server
	group    int // after an outage a server is opened for so many seqgates at a time; 0: for all
	servers  int
	stripes  int   // of each sequence; 0: it lies on one server
	chunk    int64 // ids of a chunk of a striped one

	away   int           // servers that are away; the first ones
	outage time.Duration // 0: none
}

// class is a set of sequences of neighbouring ranks, which are taken for equally busy. One of them is simulated.
type class struct {
	first, size int     // ranks from 0
	rate        float64 // ids a second of one sequence
	own         int     // rank of the one that is simulated
}

// classes divides the sequences: the busiest are alone, the further ones in groups that grow with the rank.
func (f fleet) classes(rng *rand.Rand) (all []class) {
	total := 0.0
	for k := 1; k <= f.sequences; k++ {
		total += math.Pow(float64(k), -f.zipf)
	}
	for first := 0; first < f.sequences; {
		c := class{first: first, size: 1}
		if first >= f.exact {
			c.size = min(max(1, first/16), f.classSize, f.sequences-first)
		}
		for k := first; k < first+c.size; k++ {
			c.rate += f.inserts * math.Pow(float64(k+1), -f.zipf) / total / float64(c.size)
		}
		c.own = first + rng.IntN(c.size)
		all = append(all, c)
		first += c.size
	}
	return all
}

// shares returns which share of the inserts goes through each seqgate: from half to one and a half of the mean.
func (f fleet) shares(rng *rand.Rand) []float64 {
	shares, total := make([]float64, f.gates), 0.0
	for i := range shares {
		shares[i] = 0.5 + rng.Float64()
		total += shares[i]
	}
	for i := range shares {
		shares[i] /= total
	}
	return shares
}

// world is a run: seqgates, of which each holds ids of all sequences, and the sequence servers.
type world struct {
	fleet
	rng     *rand.Rand
	now     int64
	source  *rand.PCG // of rng
	events  heap      // of holders: one for each
	soon    heap      // of servers: few, and soon
	class   []class
	holders []holder // of class c and seqgate g at c*gates+g
	servers []*server
	warming bool // blocks come at once, and cost nothing

	rows  []int64 // by class and stripe: ids that were reserved, for where chunks end
	owner []int32 // likewise: who reserved last
	seen  outcome
}

func newWorld(f fleet, seed uint64) *world {
	w := &world{fleet: f, source: rand.NewPCG(seed, 0), warming: true}
	w.rng = rand.New(w.source)
	w.class = f.classes(w.rng)
	w.rows = make([]int64, len(w.class)*max(1, f.stripes))
	w.owner = make([]int32, len(w.rows))
	for i := range w.rows {
		w.owner[i] = -1
		w.rows[i] = w.rng.Int64N(max(1, f.chunk))
	}
	for range f.servers {
		w.servers = append(w.servers, newServer(w))
	}
	shares := f.shares(w.rng)
	for c := range w.class {
		for _, share := range shares {
			w.holders = append(w.holders, w.newHolder(w.class[c].rate*share))
		}
	}
	for i := range w.holders {
		w.schedule(int32(i))
	}
	return w
}

// run lets time go on to until.
func (w *world) run(until time.Duration) {
	for {
		h := &w.events
		if h.isEmpty() || !w.soon.isEmpty() && w.soon.events[0].at < h.events[0].at {
			h = &w.soon
		}
		if h.isEmpty() || h.events[0].at > int64(until) {
			break
		}
		w.happens(h.pop())
	}
	w.now = int64(until)
}

func (w *world) happens(e event) {
	w.now = e.at
	switch e.kind {
	case holderWakes:
		if w.holders[e.who].gen == e.gen {
			w.wake(e.who)
		}
	case othersRefill:
		w.submit(e.who, e.row)
	default:
		w.servers[e.row].happens(e)
	}
}

func (w *world) after(d time.Duration, e event) {
	e.at = w.now + int64(d)
	w.soon.push(e)
}

// with returns a copy of w, whose servers are all away, that goes on with other servers: those that f says.
func (w *world) with(f fleet) *world {
	c := *w
	c.fleet = f
	source := *w.source
	c.source, c.rng = &source, rand.New(&source)
	c.holders, c.rows, c.owner = slices.Clone(w.holders), slices.Clone(w.rows), slices.Clone(w.owner)
	c.events.events, c.soon.events = slices.Clone(w.events.events), nil
	for _, e := range w.soon.events {
		if e.kind == othersRefill {
			c.soon.push(e)
		}
	}
	c.seen.waits = slices.Clone(w.seen.waits)
	c.servers = nil
	for range f.servers {
		s := newServer(&c)
		s.down = true
		c.servers = append(c.servers, s)
	}
	for _, s := range w.servers {
		for gate := range s.pools {
			for _, j := range s.pools[gate].waiting {
				c.submit(j.holder, j.row)
			}
		}
	}
	return &c
}
