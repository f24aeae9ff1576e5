package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// docPath is the document that has the figures.
const docPath = "../../docs/internals/scale.md"

// The document has the figures that the code gives by its seed. The large fleets take too long for a test: -check is for
// those.
func TestDocumentHasTheFigures(t *testing.T) {
	doc, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := compare(docPath, string(doc), smallTables(defaultSeed), false); err != nil {
		t.Error(err)
	}
	other := smallTables(defaultSeed + 1)
	if err := compare(docPath, string(doc), other, false); err == nil {
		t.Error("another seed gives the same figures: the test looks at nothing")
	}
}

func TestSplice(t *testing.T) {
	const doc = "a\n<!-- table: x -->\nold\n<!-- end -->\nb\n"
	got, err := splice(doc, namedTable{"x", table{{"h", "i"}, {"1", "2"}}})
	if want := "a\n<!-- table: x -->\n\n| h | i |\n|---|---:|\n| 1 | 2 |\n\n<!-- end -->\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, bad := range []string{"no place", "<!-- table: x -->\nno end"} {
		if _, err := splice(bad, namedTable{"x", table{{"h"}}}); err == nil {
			t.Errorf("spliced into %q", bad)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-seed", "x"}, {"more"}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("accepts %q", args)
		}
	}
}

// Every id that a holder reserved is in memory or used, and inserts use ids at the rate that the fleet has.
func TestIDsAreAccountedFor(t *testing.T) {
	f := small()
	f.stripes, f.chunk = 4, 5000
	w := newWorld(f, 3)
	w.run(3 * time.Hour)
	w.warming = false
	gone := func(h *holder) float64 { return float64(h.gone + h.used(w.now)) }
	reserved := func() (n int64) {
		for _, row := range w.rows {
			n += row
		}
		return n
	}
	left := func() (n int64) {
		for i := range w.holders {
			n += w.holders[i].left(w.now)
		}
		return n
	}
	began, before, inMemory := make([]float64, len(w.holders)), reserved(), left()
	for i := range w.holders {
		began[i] = gone(&w.holders[i])
	}
	w.run(4 * time.Hour)
	used := int64(0)
	for i := range w.holders {
		h := &w.holders[i]
		n := gone(h) - began[i]
		used += int64(n)
		if want := h.rate * 3600; n < want-2 || n > want+2 {
			t.Fatalf("holder %d used %.0f ids in an hour, want %.0f", i, n, want)
		}
	}
	if got := reserved() - before - (left() - inMemory); got != used {
		t.Errorf("%d ids were reserved and are gone, but %d were used", got, used)
	}
	if w.seen.everDry > 0 {
		t.Errorf("%d pairs ran dry", w.seen.everDry)
	}
}

// refillOf is a refill: when it began, and of which size.
type refillOf struct {
	at   time.Duration
	size int64
}

// The course of the comparison with a real Sequence.
const (
	outageFrom = 100 * time.Minute
	outageTo   = 160 * time.Minute
	courseEnd  = 230 * time.Minute
	interval   = 143 * time.Millisecond // of inserts
	courseRate = float64(time.Second) / float64(interval)
)

// The simulation refills when a real Sequence does on the same course, with blocks of the same size, and runs dry with
// it. The first refill of the real one comes a little later: a sequence is cold at first, which the simulation leaves out.
func TestRefillsAsTheRealSequence(t *testing.T) {
	real, realDry := realCourse(t)
	simulated, simulatedDry := simulatedCourse(t)
	if len(real) != len(simulated) || len(real) < 10 {
		t.Fatalf("the real one refills %d times, the simulated one %d: %v, %v", len(real), len(simulated), real, simulated)
	}
	for i, r := range real {
		s := simulated[i]
		limit := time.Second
		if i == 0 {
			limit = 10 * time.Second
		}
		if r.size != s.size || (r.at-s.at).Abs() > limit {
			t.Errorf("refill %d: real %v, simulated %v", i, r, s)
		}
	}
	if (realDry - simulatedDry).Abs() > time.Second {
		t.Errorf("the real one is dry at %v, the simulated one at %v", realDry, simulatedDry)
	}
}

func courseFleet() fleet {
	return small().but(through(1), caches(100), func(f *fleet) { f.sequences, f.inserts, f.exact = 1, courseRate, 1 })
}

// realCourse runs a Sequence in virtual time.
func realCourse(t *testing.T) (refills []refillOf, dry time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		store, failed := sequencetest.NewStore(1, 100), false
		store.Before = func(_ context.Context, req sequence.Request) error {
			at := time.Since(began)
			if !failed && at > 0 { // not another attempt of the same refill, nor the first one of all
				refills = append(refills, refillOf{at, req.Step})
			}
			if failed = at >= outageFrom && at < outageTo; failed {
				return errors.New("away")
			}
			return nil
		}
		s := sequence.Open(sequence.Name{Table: "s"}, sequence.Settings{Store: store}, courseFleet().cfg)
		for n := 0; time.Since(began) < courseEnd; n++ {
			if _, err := s.Next(t.Context(), 1); err != nil && dry == 0 {
				dry = time.Since(began) - sequence.DefaultTimeout
			}
			time.Sleep(interval)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return refills, dry
}

func simulatedCourse(t *testing.T) (refills []refillOf, dry time.Duration) {
	t.Helper()
	w := newWorld(courseFleet(), defaultSeed)
	w.warming = false
	h := &w.holders[0]
	*h = holder{rate: courseRate, size: 100, block: 100, step: 100, mark: 10}
	w.schedule(0)
	for at := time.Second; at < courseEnd; at += time.Second {
		before := h.paceAt
		w.run(at)
		if h.paceAt != before {
			refills = append(refills, refillOf{time.Duration(h.paceAt), h.step})
		}
		if h.dry && dry == 0 {
			dry = time.Duration(h.since)
		}
		switch at {
		case outageFrom:
			w.servers[0].goAway()
		case outageTo:
			w.servers[0].comeBack(1)
		}
	}
	return refills, dry
}

// A herd on one server with enough time is served at the rate that the costs of its statements allow.
func TestServerIsAsFastAsItsCosts(t *testing.T) {
	for _, strategy := range strategies {
		f := small().but(by(strategy), func(f *fleet) { f.pool = 4 })
		w := newWorld(f, 1)
		w.warming = false
		s, cost := w.servers[0], time.Duration(0)
		for _, c := range s.costs {
			cost += c
		}
		const jobs = 20_000
		for i := range jobs {
			s.pending++
			s.put(job{holder: int32(i % len(w.holders)), row: int32(f.sequences + i)})
		}
		before := s.load.refills
		for w.now < int64(time.Minute) && s.load.refills-before < jobs {
			w.happens(w.soon.pop())
		}
		if got, want := time.Duration(w.now), jobs*cost; got < want || got > want+want/5 {
			t.Errorf("%s: %d refills took %v, want %v", strategy, jobs, got, want)
		}
	}
}

// Of several refills of one row at the same time, for_update has them wait for each other and cas has them begin anew.
func TestRefillsOfOneRow(t *testing.T) {
	for _, tt := range []struct {
		strategy         string
		conflicts, waits bool
	}{{sequence.StrategyIncrement, false, false}, {sequence.StrategyCAS, true, false}, {sequence.StrategyForUpdate, false, true}} {
		w := newWorld(small().but(by(tt.strategy)), 1)
		w.warming = false
		s := w.servers[0]
		for gate := range 10 {
			s.pending++
			s.put(job{holder: int32(gate), row: 1_000_000})
		}
		for s.load.refills < 10 {
			w.happens(w.soon.pop())
		}
		if s.load.conflicts > 0 != tt.conflicts || s.load.lockWaits > 0 != tt.waits {
			t.Errorf("%s: %d conflicts and %d waits", tt.strategy, s.load.conflicts, s.load.lockWaits)
		}
	}
}

func TestTable(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567"} {
		if got := whole(f); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 s", time.Minute: "60 s", time.Hour: "60.0 min", 3 * time.Hour: "3.0 h"} {
		if got := short(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if n := strings.Count(table{{"a"}, {"b"}}.String(), "\n"); n != 3 {
		t.Errorf("got %d lines, want 3", n)
	}
}
