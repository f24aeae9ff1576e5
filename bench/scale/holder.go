package main

import (
	"math"
	"time"

	"github.com/seqgate/seqgate/internal/adaptive"
)

// holder is what one seqgate has of one sequence, as package sequence's Sequence: a segment in use and the next one. Its
// ids are used at an even rate, so that only the marks and ends of segments are events. What it decides, it decides by the
// functions of package adaptive, as the Sequence does.
type holder struct {
	rate  float64 // ids a second
	start int64   // when the segment in use was begun
	size  int64   // its ids
	mark  int64   // the next look, or size+1 for none
	next  int64   // ids of the next segment
	block int64   // ids of the latest block
	step  int64
	gone  int64 // ids of segments before the one in use
	since int64 // since when it is dry

	paceAt, paceGone int64
	gen              uint32
	home             int16 // stripe of the latest block
	refilling        bool
	waited           bool
	dry              bool
}

// newHolder makes one as it is at some time in the life of a sequence whose blocks are one cache each.
func (w *world) newHolder(rate float64) holder {
	h := holder{rate: rate, size: w.cache, block: w.cache, step: w.cache}
	h.home = int16(w.rng.IntN(max(1, w.stripes)))
	used := w.rng.Float64()
	h.start = -int64(used * float64(h.size) / rate * 1e9)
	h.paceAt = h.start
	if used >= w.cfg.PrefetchShare {
		h.next, h.mark = w.cache, h.size+1
	} else {
		h.mark = adaptive.NextLook(h.size, h.used(0), h.size-adaptive.LowWater(h.block, w.cfg.PrefetchShare))
	}
	return h
}

func (h *holder) used(now int64) int64 {
	if h.dry {
		return h.size
	}
	return min(h.size, int64(math.Round(float64(now-h.start)*h.rate/1e9*1e6)/1e6))
}

// left returns how many ids are in memory.
func (h *holder) left(now int64) int64 { return h.size - h.used(now) + h.next }

// reaches returns when used ids of the segment in use are gone.
func (h *holder) reaches(used int64) int64 {
	return h.start + int64(math.Ceil(float64(used)/h.rate*1e9))
}

// schedule makes the event of what comes next to h, and forgets the former one.
func (w *world) schedule(i int32) {
	h := &w.holders[i]
	h.gen++
	if !h.dry {
		w.events.push(event{at: max(w.now, h.reaches(min(h.mark, h.size))), kind: holderWakes, who: i, gen: h.gen})
	}
}

// wake does what is due at a mark, or at the end of a segment.
func (w *world) wake(i int32) {
	h := &w.holders[i]
	used := h.used(w.now)
	switch {
	case used < h.size:
		w.lookAhead(i, used)
	case h.next > 0:
		w.begin(h, h.next)
		h.next = 0
		w.lookAhead(i, 0)
	default:
		h.dry, h.waited, h.since = true, true, w.now
		w.ranDry(i)
		w.startRefill(i)
	}
	w.schedule(i)
}

// begin makes size ids the segment in use.
func (w *world) begin(h *holder, size int64) {
	h.gone += h.size
	h.start, h.size = w.now, size
}

// lookAhead is that of package sequence.
func (w *world) lookAhead(i int32, used int64) {
	h := &w.holders[i]
	rest, low := h.size-used, adaptive.LowWater(h.block, w.cfg.PrefetchShare)
	switch {
	case h.next > 0 || h.refilling:
		h.mark = h.size + 1
	case rest > low && adaptive.Lifetime(rest, h.gone+used-h.paceGone, time.Duration(w.now-h.paceAt)) >= w.cfg.Timeout:
		h.mark = adaptive.NextLook(h.size, used, h.size-low)
	default:
		h.mark = h.size + 1
		w.startRefill(i)
	}
}

// startRefill is that of package sequence, with adapt. The same happens to the other sequences of the class on the same
// seqgate, at other times.
func (w *world) startRefill(i int32) {
	h := &w.holders[i]
	if h.refilling {
		return
	}
	h.refilling = true
	gone := h.gone + h.used(w.now)
	lasts := adaptive.Lifetime(max(h.step, w.cache), gone-h.paceGone, time.Duration(w.now-h.paceAt))
	h.step = adaptive.NextStep(h.step, w.cache, w.cfg.MaxStep, adaptive.Growth(h.waited), lasts, w.cfg.MinLifetime)
	h.paceAt, h.paceGone, h.waited = w.now, gone, false
	if w.warming {
		w.arrive(i, w.reserve(i))
		return
	}
	class := w.class[int(i)/w.gates]
	w.submit(i, int32(class.own))
	for row := class.first; row < class.first+class.size; row++ {
		if row != class.own {
			w.after(time.Duration(w.rng.Int64N(int64(time.Minute))), event{kind: othersRefill, who: i, row: int32(row)})
		}
	}
}

// reserve moves the row of holder i, and returns how many ids that gave: with stripes, no more than the chunk has.
func (w *world) reserve(i int32) int64 {
	h := &w.holders[i]
	row := int(i)/w.gates*max(1, w.stripes) + int(h.home)
	n := h.step
	if h.dry { // those who wait are all served
		waiting := int64(h.rate * min(w.cfg.Timeout.Seconds(), float64(w.now-h.since)/1e9))
		n = max(n, (min(waiting, w.cfg.MaxStep)+w.cache-1)/w.cache*w.cache)
	}
	if w.stripes > 0 {
		n = min(n, w.chunk-w.rows[row]%w.chunk)
	}
	w.rows[row] += n
	w.owner[row] = i
	return n
}

// arrive gives holder i a block.
func (w *world) arrive(i int32, n int64) {
	h := &w.holders[i]
	h.refilling, h.block = false, n
	if !h.dry {
		h.next = n
		w.lookAhead(i, h.used(w.now))
	} else {
		w.gotIDs(i)
		w.begin(h, n)
		h.dry = false
		w.lookAhead(i, 0)
	}
	w.schedule(i)
}
