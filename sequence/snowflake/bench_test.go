package snowflake_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

// BenchmarkNext measures goroutines that share a generator: ns/op is the time of all goroutines together divided by all
// ids. What the layouts allow per second: twitter and leaf 4,096,000, sonyflake 25,600; uid_generator borrows.
func BenchmarkNext(b *testing.B) {
	for _, name := range []string{"uid_generator", "twitter", "leaf", "sonyflake"} {
		for _, goroutines := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, goroutines), func(b *testing.B) {
				perGoroutine(b, newBench(b, name), goroutines, 1)
			})
		}
	}
}

// BenchmarkCompareAndSwap is the floor of BenchmarkNext.
func BenchmarkCompareAndSwap(b *testing.B) {
	var n atomic.Int64
	for b.Loop() {
		n.CompareAndSwap(n.Load(), n.Load()+1)
	}
}

// BenchmarkReadClock is what an id would cost on top if the system's clock were read for each.
func BenchmarkReadClock(b *testing.B) {
	start := time.Now()
	for b.Loop() {
		_ = time.Since(start)
	}
}

// BenchmarkRun measures runs of 100 ids: ns/op is for one run.
func BenchmarkRun(b *testing.B) {
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("uid_generator/goroutines=%d", goroutines), func(b *testing.B) {
			perGoroutine(b, newBench(b, "uid_generator"), goroutines, 100)
		})
	}
}

// BenchmarkSlow measures ids that come so slowly that the clock is read for each: what it costs with an injected clock.
func BenchmarkSlow(b *testing.B) {
	g := newGenerator(b, preset(b, "uid_generator"), 0, 0, snowflake.Config{After: past, MaxBorrow: decade, Clock: newTestClock()})
	perGoroutine(b, g, 1, 1)
}

// decade is so long that borrowing never ends in a benchmark.
const decade = 10 * 365 * 24 * time.Hour

func newBench(b *testing.B, name string) *snowflake.Generator {
	borrow := time.Duration(0)
	if name == "uid_generator" {
		borrow = decade
	}
	return newGenerator(b, preset(b, name), 0, 0, snowflake.Config{After: past, MaxBorrow: borrow})
}

func perGoroutine(b *testing.B, g *snowflake.Generator, goroutines int, n int64) {
	b.ReportAllocs()
	ctx := b.Context()
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range goroutines {
		all.Go(func() {
			for range (b.N + i) / goroutines {
				if _, err := g.Next(ctx, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "ids/s")
}
