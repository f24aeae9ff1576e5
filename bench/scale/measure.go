package main

import (
	"cmp"
	"slices"
	"time"
)

// pairs are a seqgate and a sequence each: a holder counts as many times as its class has sequences.

// outcome is what a run has seen since it was last set to zero.
type outcome struct {
	dry      int64         // pairs without ids now
	everDry  int64         // times that a pair ran dry
	firstDry time.Duration // when the first one did
	refused  float64       // inserts that waited in vain
	waits    []weighted    // of pairs that were dry when servers came back: how long after that they got ids
	back     int64         // when that was; 0: not yet
}

type weighted struct {
	value  time.Duration
	weight float64
}

func (w *world) weight(i int32) int64 { return int64(w.class[int(i)/w.gates].size) }

// ranDry notes that holder i has no ids left.
func (w *world) ranDry(i int32) {
	if w.seen.everDry == 0 {
		w.seen.firstDry = time.Duration(w.now)
	}
	w.seen.dry += w.weight(i)
	w.seen.everDry += w.weight(i)
}

// gotIDs notes that holder i, which was dry, has ids.
func (w *world) gotIDs(i int32) {
	h := &w.holders[i]
	w.seen.dry -= w.weight(i)
	w.seen.refused += w.refusedBy(h, w.weight(i))
	if w.seen.back > 0 && h.since < w.seen.back {
		w.seen.waits = append(w.seen.waits, weighted{time.Duration(w.now - w.seen.back), float64(w.weight(i))})
	}
}

// refusedBy returns how many inserts of a dry holder's pairs have waited for the whole timeout.
func (w *world) refusedBy(h *holder, pairs int64) float64 {
	return max(0, time.Duration(w.now-h.since)-w.cfg.Timeout).Seconds() * h.rate * float64(pairs)
}

// refusedShare returns which share of the inserts is refused now.
func (w *world) refusedShare() float64 {
	refused := 0.0
	for i := range w.holders {
		if h := &w.holders[i]; h.dry && time.Duration(w.now-h.since) >= w.cfg.Timeout {
			refused += h.rate * float64(w.weight(int32(i)))
		}
	}
	return refused / w.inserts
}

// memory is what the seqgates hold at some time.
type memory struct {
	ids       int64            // of all
	last      int64            // ids that would go back to their rows if all seqgates stopped in turn
	least, p1 time.Duration    // runway of pairs
	median    time.Duration    // likewise
	byUse     [2]time.Duration // p1 and median, where a pair counts as often as it is used
}

func (w *world) memory() memory {
	var m memory
	var pairs, uses []weighted
	for i := range w.holders {
		h, n := &w.holders[i], w.weight(int32(i))
		left := h.left(w.now)
		m.ids += left * n
		if w.owner[i/w.gates*max(1, w.stripes)+int(h.home)] == int32(i) {
			m.last += min(left, h.block) * n
		}
		runway := time.Duration(min(float64(left)/h.rate*1e9, float64(365*24*time.Hour)))
		pairs = append(pairs, weighted{runway, float64(n)})
		uses = append(uses, weighted{runway, float64(n) * h.rate})
	}
	m.least, m.p1, m.median = quantile(pairs, 0), quantile(pairs, 0.01), quantile(pairs, 0.5)
	m.byUse = [2]time.Duration{quantile(uses, 0.01), quantile(uses, 0.5)}
	return m
}

// quantile returns the least value that the share q of the weight does not exceed; 0 when there are none.
func quantile(values []weighted, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total := 0.0
	for _, v := range values {
		total += v.weight
	}
	sum := 0.0
	for _, v := range values {
		if sum += v.weight; sum >= q*total {
			return v.value
		}
	}
	return values[len(values)-1].value
}

// load returns what all servers did since the last call.
func (w *world) load() (all load) {
	for _, s := range w.servers {
		all.refills += s.load.refills
		all.statements += s.load.statements
		all.conflicts += s.load.conflicts
		all.lockWaits += s.load.lockWaits
		all.failed += s.load.failed
		all.lost += s.load.lost
		all.busiest += s.load.busiest
		all.work = max(all.work, s.load.work) // of the one that has most to do
		s.load = load{}
	}
	return all
}

// pending returns how many refills have no block yet.
func (w *world) pending() (n int) {
	for _, s := range w.servers {
		n += s.pending
	}
	return n
}
