package main

import "time"

// How long the parts of a run last.
const (
	settles  = 5 * time.Minute
	measured = 15 * time.Minute
	patience = 30 * time.Minute // for the recovery
)

// steady is what a fleet does day by day, and what an outage does to it up to its end.
type steady struct {
	fleet
	load      load // in the time measured
	dry       int64
	memory    memory
	firstDry  time.Duration // after the outage began; 0: none ran dry
	refusedAt [4]float64    // share of inserts refused after each quarter of the outage
	dryPairs  int64         // at its end
	pending   int           // refills that wait at its end
	herd      load          // during the outage: what the servers did that were not away
}

// simulate runs a fleet: it is warmed up, measured, and then has its outage, if any. The world is as the outage ends.
func simulate(f fleet, seed uint64) (*world, steady) {
	w, r := newWorld(f, seed), steady{fleet: f}
	t := 2*time.Hour + 4*f.cfg.MinLifetime
	w.run(t)
	w.warming = false
	t += settles
	w.run(t)
	w.load()
	w.seen = outcome{dry: w.seen.dry}
	t += measured
	w.run(t)
	r.load, r.dry, r.memory = w.load(), w.seen.everDry, w.memory()
	if f.outage > 0 {
		r.goThrough(w, t)
	}
	return w, r
}

// goThrough has servers go away at t, and waits until they come back.
func (r *steady) goThrough(w *world, t time.Duration) {
	w.seen = outcome{dry: w.seen.dry}
	for _, s := range w.servers[:w.away] {
		s.down = true
	}
	for _, s := range w.servers[:w.away] {
		s.goAway()
	}
	for i := range r.refusedAt {
		w.run(t + w.outage*time.Duration(i+1)/time.Duration(len(r.refusedAt)))
		r.refusedAt[i] = w.refusedShare()
	}
	if w.seen.everDry > 0 {
		r.firstDry = w.seen.firstDry - t
	}
	r.dryPairs, r.pending, r.herd = w.seen.dry, w.pending(), w.load()
}

// recovery is what comes after an outage. Times are -1 when that was not seen.
type recovery struct {
	fleet
	dry       int64         // pairs, when it begins
	half, all time.Duration // when half of the pairs that were dry, and all, had ids
	backlog   time.Duration // when fewer refills waited than a hundredth of those at the outage's end
	left      int           // refills that wait at the end
	load      load          // until then
	lasted    time.Duration // how long that was
}

// recover has the servers come back, and waits for ids everywhere and for the end of the backlog. It gives up when a
// whole minute has ended less than a hundredth of that.
func (w *world) recover() recovery {
	r, pending := recovery{fleet: w.fleet, dry: w.seen.dry, half: -1, all: -1, backlog: -1}, w.pending()
	begin, before := time.Duration(w.now), pending
	w.seen.back = w.now
	w.load()
	for _, s := range w.servers {
		if s.down {
			s.comeBack(w.groups())
		}
	}
	for r.lasted < patience && (r.all < 0 || r.backlog < 0) {
		r.lasted += time.Second
		w.run(begin + r.lasted)
		for _, s := range w.servers {
			if s.admitted < w.gates && s.isDone() {
				s.admit(w.groups())
			}
		}
		r.left = w.pending()
		if r.all < 0 && w.seen.dry == 0 {
			r.all, r.half = r.lasted, quantile(w.seen.waits, 0.5)
		}
		if r.backlog < 0 && r.left <= pending/100 {
			r.backlog = r.lasted
		}
		if r.lasted%time.Minute == 0 {
			if r.left > before-pending/100 {
				break
			}
			before = r.left
		}
	}
	r.load = w.load()
	return r
}

// groups returns how many seqgates a server is opened for at a time.
func (w *world) groups() int {
	if w.group == 0 {
		return w.gates
	}
	return w.group
}
