package sequence_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// mutexSegment is what Next is measured against: the same segment under a lock.
type mutexSegment struct {
	mu        sync.Mutex
	next, end int64
}

func (s *mutexSegment) take() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == s.end {
		s.end += 1000
	}
	s.next++
	return s.next
}

// BenchmarkNextOne measures the common case: one id, one goroutine.
func BenchmarkNextOne(b *testing.B) {
	seq, ctx := newBenchSequence(b), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := seq.Next(ctx, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddOne is its floor: one atomic addition.
func BenchmarkAddOne(b *testing.B) {
	var n atomic.Int64
	for b.Loop() {
		n.Add(1)
	}
}

// BenchmarkNext measures goroutines that share a sequence: ns/op is the time of all goroutines together divided by all ids.
func BenchmarkNext(b *testing.B) {
	for _, n := range []int64{1, 10} {
		for _, goroutines := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("ids=%d/goroutines=%d", n, goroutines), func(b *testing.B) {
				seq, ctx := newBenchSequence(b), b.Context()
				perGoroutine(b, goroutines, func() {
					if _, err := seq.Next(ctx, n); err != nil {
						b.Error(err)
					}
				})
			})
		}
	}
}

func BenchmarkMutex(b *testing.B) {
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			var s mutexSegment
			perGoroutine(b, goroutines, func() { s.take() })
		})
	}
}

// BenchmarkAdd is the floor of BenchmarkNext.
func BenchmarkAdd(b *testing.B) {
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			var n atomic.Int64
			perGoroutine(b, goroutines, func() { n.Add(1) })
		})
	}
}

// BenchmarkNextTail measures single calls, and reports the time that 9,999 of 10,000 stay under, with a database that
// answers at once and with one that answers in 20 ms: the segments in memory cover both.
func BenchmarkNextTail(b *testing.B) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(fmt.Sprintf("database=%v", delay), func(b *testing.B) {
			seq, ctx := newDelayedBenchSequence(b, delay), b.Context()
			var calls histogram
			before := seq.Status().Waits
			for b.Loop() {
				begin := time.Now()
				if _, err := seq.Next(ctx, 1); err != nil {
					b.Fatal(err)
				}
				calls.add(time.Since(begin))
			}
			b.ReportMetric(float64(calls.quantile(0.9999)), "p99.99-ns")
			b.ReportMetric(float64(seq.Status().Waits-before), "waits")
		})
	}
}

// histogram counts durations by 10 ns, up to 1 ms.
type histogram struct {
	counts [100_000]int
	all    int
}

func (h *histogram) add(d time.Duration) {
	h.counts[min(int(d/10), len(h.counts)-1)]++
	h.all++
}

// quantile returns the duration that a share q stays under.
func (h *histogram) quantile(q float64) time.Duration {
	over := h.all - int(q*float64(h.all))
	i := len(h.counts) - 1
	for n := h.counts[i]; n <= over && i > 0; n += h.counts[i] {
		i--
	}
	return time.Duration(i+1) * 10
}

// BenchmarkObserve measures what an explicit id costs that the sequence has passed, which is the common case.
func BenchmarkObserve(b *testing.B) {
	seq := newBenchSequence(b)
	b.ReportAllocs()
	for b.Loop() {
		seq.Observe(1, 1)
	}
}

func BenchmarkRegistryGet(b *testing.B) {
	reg := sequencetest.Registry(sequencetest.NewStore(1, 1000), sequence.Config{})
	name := sequence.Name{Keyspace: "main", Database: "main", Table: "user_seq"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reg.Get(name); err != nil {
			b.Fatal(err)
		}
	}
}

// newBenchSequence returns a sequence that has grown to its largest step: refills cost what they cost in use.
func newBenchSequence(tb testing.TB) *sequence.Sequence { return newDelayedBenchSequence(tb, 0) }

// newDelayedBenchSequence is newBenchSequence on a database that takes so long.
func newDelayedBenchSequence(tb testing.TB, delay time.Duration) *sequence.Sequence {
	store := sequencetest.NewStore(1, 1000)
	store.Before = func(context.Context, sequence.Request) error { time.Sleep(delay); return nil }
	reg := sequencetest.Registry(store, sequence.Config{})
	tb.Cleanup(func() { _ = reg.Close(tb.Context()) })
	seq, err := reg.Get(sequence.Name{Keyspace: "main", Database: "main", Table: "user_seq"})
	if err != nil {
		tb.Fatal(err)
	}
	for seq.Status().Step < sequence.DefaultMaxStep {
		if _, err := seq.Next(tb.Context(), 1000); err != nil {
			tb.Fatal(err)
		}
	}
	return seq
}

// perGoroutine runs f b.N times in all, shared out to goroutines.
func perGoroutine(b *testing.B, goroutines int, f func()) {
	eachGoroutine(b, goroutines, func() func() { return f })
}

// eachGoroutine is perGoroutine with an f for each goroutine, which begin makes.
func eachGoroutine(b *testing.B, goroutines int, begin func() func()) {
	b.ReportAllocs()
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range goroutines {
		all.Go(func() {
			f := begin()
			for range (b.N + i) / goroutines {
				f()
			}
		})
	}
	all.Wait()
}

// BenchmarkReserve measures refills: how fast clients with connections of their own reserve blocks from one row.
func BenchmarkReserve(b *testing.B) {
	eachServer(b, func(b *testing.B, dsn string) {
		for _, clients := range []int{1, 8} {
			for _, strategy := range strategies {
				b.Run(fmt.Sprintf("clients=%d/%s", clients, strategy), func(b *testing.B) {
					benchmarkReserve(b, dsn, strategy, clients)
				})
			}
		}
	})
}

// eachServer runs f as a benchmark for each server that this machine has.
func eachServer(b *testing.B, f func(b *testing.B, dsn string)) {
	servers, missing, err := servertest.StartShared()
	if err != nil {
		b.Fatal(err)
	}
	for _, reason := range missing {
		b.Log(reason)
	}
	for pair := range strings.SplitSeq(servers, ",") {
		server, dsn, _ := strings.Cut(pair, "=")
		b.Run(server, func(b *testing.B) { f(b, dsn) })
	}
}

func benchmarkReserve(b *testing.B, dsn, strategy string, clients int) {
	seedBench(b, dsn)
	stores := make(chan sequence.Store, clients)
	for range clients {
		stores <- openBenchStore(b, dsn, strategy)
	}
	ctx := b.Context()
	perClient := func() func() {
		store, req := <-stores, sequence.Request{Database: "seqgate_bench", Table: "s", Need: 1}
		return func() {
			res, err := store.Reserve(ctx, req)
			if err != nil {
				b.Error(err)
			}
			req.After, req.Cache = res.Last(), res.Cache
		}
	}
	eachGoroutine(b, clients, perClient)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "refills/s")
}

// BenchmarkOrdered measures ids that each come from the row: callers of one process that share round trips.
func BenchmarkOrdered(b *testing.B) {
	eachServer(b, func(b *testing.B, dsn string) {
		for _, strategy := range strategies {
			for _, callers := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/callers=%d", strategy, callers), func(b *testing.B) {
					benchmarkOrdered(b, dsn, strategy, callers)
				})
			}
		}
	})
}

func benchmarkOrdered(b *testing.B, dsn, strategy string, callers int) {
	seedBench(b, dsn)
	reg := orderedRegistry(openBenchStore(b, dsn, strategy), true, sequence.Config{})
	b.Cleanup(func() { _ = reg.Close(context.Background()) })
	seq, err := reg.Get(sequence.Name{Database: "seqgate_bench", Table: "s"})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	perGoroutine(b, callers, func() {
		if _, err := seq.Next(ctx, 1); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ids/s")
	b.ReportMetric(float64(b.N)/float64(seq.Status().Refills), "ids/trip")
}

// seedBench makes the table seqgate_bench.s anew.
func seedBench(b *testing.B, dsn string) {
	admin := openPool(b, dsn)
	for _, statement := range []string{"DROP DATABASE IF EXISTS seqgate_bench", "CREATE DATABASE seqgate_bench"} {
		if _, err := admin.ExecContext(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
	if err := sequence.Seed(b.Context(), admin, "seqgate_bench", "s", 1, 1000); err != nil {
		b.Fatal(err)
	}
}

func openBenchStore(b *testing.B, dsn, strategy string) sequence.Store {
	store, err := sequence.NewStore(strategy, openPool(b, dsn))
	if err != nil {
		b.Fatal(err)
	}
	return store
}
