// Package shapes counts statements by their shape, which is their text without the values (parser.AppendDigest). Neither
// looking a shape up nor counting locks or allocates, once the shape is known.
package shapes

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/internal/buckets"
)

// Table counts the statements of as many shapes as it has room for, and all others together, as the digests of MySQL's
// performance_schema are: those that came first stay. Its methods may be called at the same time.
type Table struct {
	most   int
	known  atomic.Pointer[map[key]*Shape] // is never changed, but replaced by a larger one
	others Shape

	mu sync.Mutex // of those that replace it
}

// key is what tells shapes apart: a text has its meaning in a keyspace, and is its user's to know.
type key struct{ user, keyspace, text string }

// Shape counts the statements of one shape.
type Shape struct {
	key
	failed, rows atomic.Int64
	took         buckets.Histogram
	longest      atomic.Int64 // of took
}

// New returns a Table of so many shapes.
func New(most int) *Table {
	t := &Table{most: most}
	t.known.Store(&map[key]*Shape{})
	return t
}

// Find returns the shape with this text; where there is no room for it, the one of all others.
func (t *Table) Find(user, keyspace string, text []byte) *Shape {
	if s := (*t.known.Load())[key{user, keyspace, string(text)}]; s != nil {
		return s
	}
	return t.add(key{user, keyspace, string(text)})
}

func (t *Table) add(k key) *Shape {
	if len(*t.known.Load()) >= t.most {
		return &t.others
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := *t.known.Load()
	switch s := known[k]; {
	case s != nil:
		return s
	case len(known) >= t.most:
		return &t.others
	}
	known = maps.Clone(known)
	known[k] = &Shape{key: k}
	t.known.Store(&known)
	return known[k]
}

// Count counts a statement that has been answered, with how many rows.
func (s *Shape) Count(took time.Duration, failed bool, rows uint64) {
	for longest := s.longest.Load(); int64(took) > longest && !s.longest.CompareAndSwap(longest, int64(took)); {
		longest = s.longest.Load()
	}
	s.took.Observe(took)
	if failed {
		s.failed.Add(1)
	}
	s.Fetched(rows)
}

// Fetched counts rows of a statement that was counted before.
func (s *Shape) Fetched(rows uint64) {
	if rows > 0 {
		s.rows.Add(int64(rows))
	}
}

// Count is what was counted of one shape. Its text is empty of all others together.
type Count struct {
	User, Keyspace, Text string
	Took                 buckets.Snapshot
	Longest              time.Duration
	Failed, Rows         int64
}

// Quantile returns how long the share q of the statements took at most, as far as the buckets tell, but no longer than the
// slowest of them.
func (c Count) Quantile(q float64) time.Duration { return min(c.Took.Quantile(q), c.Longest) }

// Snapshot returns the shapes of which statements were counted, those first that took the most time together, and what was
// counted of all others.
func (t *Table) Snapshot() (all []Count, others Count) {
	for _, s := range *t.known.Load() {
		if c := s.count(); c.Took.Count() > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Took.Sum, b.Took.Sum), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Keyspace, b.Keyspace), cmp.Compare(a.User, b.User))
	})
	return all, t.others.count()
}

func (s *Shape) count() Count {
	took := s.took.Snapshot() // before longest, which then is that of all in it
	return Count{User: s.user, Keyspace: s.keyspace, Text: s.text, Took: took, Longest: time.Duration(s.longest.Load()),
		Failed: s.failed.Load(), Rows: s.rows.Load()}
}
