package sequence_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

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

// BenchmarkNext measures one id: ns/op is the time of all goroutines together divided by all ids.
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

// BenchmarkAdd is the floor: one atomic addition.
func BenchmarkAdd(b *testing.B) {
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			var n atomic.Int64
			perGoroutine(b, goroutines, func() { n.Add(1) })
		})
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
func newBenchSequence(tb testing.TB) *sequence.Sequence {
	reg := sequencetest.Registry(sequencetest.NewStore(1, 1000), sequence.Config{})
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
	b.ReportAllocs()
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range goroutines {
		all.Go(func() {
			for range (b.N + i) / goroutines {
				f()
			}
		})
	}
	all.Wait()
}
