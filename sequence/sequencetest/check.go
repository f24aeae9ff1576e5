package sequencetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seqgate/seqgate/sequence"
)

// IDs collects blocks of ids and the order in which callers saw them. It is safe for concurrent use; the checks run
// afterwards.
type IDs struct {
	clock atomic.Int64

	mu     sync.Mutex
	blocks []taken
}

type taken struct {
	sequence.Range
	from, to int64 // when the call began and ended
}

// Take calls next and collects what it gives. Of two calls the one that ended before the other began was first.
func (ids *IDs) Take(next func() (sequence.Range, error)) error {
	from := ids.clock.Add(1)
	r, err := next()
	to := ids.clock.Add(1)
	if err != nil {
		return err
	}
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.blocks = append(ids.blocks, taken{r, from, to})
	return nil
}

// Count returns how many ids were collected.
func (ids *IDs) Count() (n int64) {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	for _, b := range ids.blocks {
		n += b.N
	}
	return n
}

// NoDuplicates fails the test when two of the collected blocks overlap, or one holds an id under 1.
func (ids *IDs) NoDuplicates(tb testing.TB) {
	tb.Helper()
	for i, b := range ids.sorted() {
		if b.First < 1 || b.N < 1 {
			tb.Errorf("got the block %v, want ids from 1", b)
		}
		if i > 0 {
			if a := ids.blocks[i-1]; a.Last() >= b.First {
				tb.Errorf("got the overlapping blocks %v and %v", a, b)
			}
		}
	}
}

// Increasing fails the test when ids went backwards: a call that began after another had ended got smaller ids. It is
// what one process promises.
func (ids *IDs) Increasing(tb testing.TB) {
	tb.Helper()
	blocks := ids.sorted()
	earliest := taken{to: math.MaxInt64} // of the calls that got larger ids, the one that ended first
	for _, b := range slices.Backward(blocks) {
		if earliest.to < b.from {
			tb.Errorf("got %v and then %v, want increasing ids", earliest, b)
		}
		if b.to < earliest.to {
			earliest = b
		}
	}
}

// Unused returns how many ids are missing between the first and the last one collected.
func (ids *IDs) Unused() int64 {
	blocks := ids.sorted()
	if len(blocks) == 0 {
		return 0
	}
	return blocks[len(blocks)-1].Last() - blocks[0].First + 1 - ids.Count()
}

func (ids *IDs) sorted() []taken {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	slices.SortFunc(ids.blocks, func(a, b taken) int { return cmp.Compare(a.First, b.First) })
	return ids.blocks
}

func (t taken) String() string { return fmt.Sprintf("[%d,%d)", t.First, t.First+t.N) }
