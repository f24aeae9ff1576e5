package steady

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Blocks collects the ids that clients of one sequence or generator were given. It may be used by several goroutines.
type Blocks struct {
	mu     sync.Mutex
	all    []block
	sorted bool
	max    int64
}

type block struct{ first, n int64 }

// Add notes that n ids, from first on, were given.
func (b *Blocks) Add(first, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.sorted = append(b.all, block{first, n}), false
	b.max = max(b.max, first+n-1)
}

// Max returns the largest id that was given; 0 when none was.
func (b *Blocks) Max() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.max
}

// Len returns how many ids were given.
func (b *Blocks) Len() (n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.all {
		n += x.n
	}
	return n
}

// Twice returns an error that names an id that was given twice, or one that is none; nil when there is none.
func (b *Blocks) Twice() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sort()
	last := int64(0)
	for _, x := range b.all {
		if x.first < 1 || x.n < 1 {
			return fmt.Errorf("%d ids from %d on were given", x.n, x.first)
		}
		if x.first <= last {
			return fmt.Errorf("id %d was given twice", x.first)
		}
		last = x.first + x.n - 1
	}
	return nil
}

// Has reports whether id was given.
func (b *Blocks) Has(id int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sort()
	i, found := slices.BinarySearchFunc(b.all, id, func(x block, id int64) int { return cmp.Compare(x.first, id) })
	return found || i > 0 && id < b.all[i-1].first+b.all[i-1].n
}

// sort orders the blocks by their first ids. b.mu is held.
func (b *Blocks) sort() {
	if !b.sorted {
		slices.SortFunc(b.all, func(x, y block) int { return cmp.Compare(x.first, y.first) })
		b.sorted = true
	}
}
