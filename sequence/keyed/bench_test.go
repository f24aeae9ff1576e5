package keyed

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// ownKeys returns keys, and a sequence that has given each of them a value.
func ownKeys(b *testing.B, n int) (*Sequence, [][]byte) {
	b.Helper()
	p := newCluster(DefaultSections, 1<<40).start("p", Config{})
	b.Cleanup(p.crash)
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "user-%d", i)
		if _, err := p.Next(b.Context(), keys[i], 1); err != nil {
			b.Fatal(err)
		}
	}
	return p.Sequence, keys
}

func BenchmarkNext(b *testing.B) {
	for _, n := range []int{1, 1000, 1_000_000} {
		s, keys := ownKeys(b, n)
		for _, goroutines := range []int{1, 2, 8} {
			b.Run(fmt.Sprintf("keys=%d/goroutines=%d", n, goroutines), func(b *testing.B) {
				b.ReportAllocs()
				b.SetParallelism(max(1, goroutines/runtime.GOMAXPROCS(0)))
				if goroutines == 1 {
					i := 0
					for b.Loop() {
						_, _ = s.Next(b.Context(), keys[i], 1) // the lease holds for the benchmark
						i = (i + 7919) % n
					}
					return
				}
				var starts atomic.Int64
				b.RunParallel(func(pb *testing.PB) {
					i := int(starts.Add(1)*104_729) % n
					for pb.Next() {
						_, _ = s.Next(b.Context(), keys[i], 1) // as above
						i = (i + 7919) % n
					}
				})
			})
		}
	}
}

func BenchmarkHash(b *testing.B) {
	for _, text := range []string{"42", "user-42", "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "Jürgen Groß"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			key := []byte(text)
			for b.Loop() {
				hash(key)
			}
		})
	}
}

// BenchmarkMillionKeys measures on a server, for 1 M keys in the default number of sections: the memory that they take,
// the first value of each, and how long another process takes until it has given each a value after a clean restart, which
// a crash exceeds by the lease.
func BenchmarkMillionKeys(b *testing.B) {
	const keys = 1_000_000
	s := servertest.First(b)
	name, db := seeded(b, s, DefaultSections, DefaultCache)
	each := func(p *Sequence) time.Duration {
		began := time.Now()
		var key []byte
		for i := range keys {
			key = strconv.AppendInt(key[:0], int64(i), 10)
			if _, err := p.Next(b.Context(), key, 1); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(began)
	}
	for b.Loop() {
		before := heap()
		p := Open(db, name, Config{Lease: 30 * time.Second})
		cold := each(p)
		memory := heap() - before
		warm := each(p)
		closing := time.Now()
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		closed := time.Since(closing)
		runtime.KeepAlive(p)
		q := Open(db, name, Config{Lease: 30 * time.Second})
		again := each(q)
		if err := q.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(memory)/keys, "B/key")
		b.ReportMetric(cold.Seconds(), "s/first")
		b.ReportMetric(warm.Seconds(), "s/second")
		b.ReportMetric(closed.Seconds(), "s/close")
		b.ReportMetric(again.Seconds(), "s/restart")
	}
}

// BenchmarkClaim measures on a server how long one claim takes, the work of a renewal, for all sections at once.
func BenchmarkClaim(b *testing.B) {
	s := servertest.First(b)
	for _, n := range []int{1, DefaultSections} {
		b.Run(fmt.Sprintf("sections=%d", n), func(b *testing.B) {
			name, db := seeded(b, s, n, DefaultCache)
			st := table{db, name, "p", "", time.Minute, &layout{sections: n, inRows: true}}
			ids := make([]int, n)
			for i := range ids {
				ids[i] = i
			}
			for b.Loop() {
				if _, err := st.claim(b.Context(), ids); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
