package shapes

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// brief is a Count that tests compare.
type brief struct {
	user, text          string
	calls, failed, rows int64
}

func briefly(c Count) brief { return brief{c.User, c.Text, c.Took.Count(), c.Failed, c.Rows} }

func TestTable(t *testing.T) {
	table := New(2)
	table.Find("app", "main", []byte("SELECT ?")).Count(time.Millisecond, false, 1)
	table.Find("app", "main", []byte("UPDATE t SET a = ?")).Count(time.Second, true, 0)
	table.Find("app", "main", []byte("SELECT ?")).Count(time.Millisecond, false, 2)
	table.Find("ops", "main", []byte("SELECT ?")).Count(time.Millisecond, true, 3) // has no room
	table.Find("app", "main", []byte("SELECT ?")).Fetched(7)
	all, others := table.Snapshot()
	var got []brief
	for _, c := range append(all, others) {
		got = append(got, briefly(c))
	}
	want := []brief{{"app", "UPDATE t SET a = ?", 1, 1, 0}, {"app", "SELECT ?", 2, 0, 10}, {"", "", 1, 1, 3}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(brief{})); diff != "" {
		t.Error(diff)
	}
}

// Buckets do not make the quantiles of statements longer than the slowest of them.
func TestQuantileOfSlowest(t *testing.T) {
	table := New(1)
	shape := table.Find("app", "main", []byte("SELECT ?"))
	for _, took := range []time.Duration{260 * time.Microsecond, 300 * time.Microsecond, 255 * time.Microsecond} {
		shape.Count(took, false, 1)
	}
	all, _ := table.Snapshot()
	for _, q := range []float64{0.5, 0.99} {
		if got := all[0].Quantile(q); got <= 250*time.Microsecond || got > 300*time.Microsecond {
			t.Errorf("%v: %v, want within the bucket from 250µs and at most 300µs", q, got)
		}
	}
}

// What is only prepared is not shown.
func TestTableWithoutCalls(t *testing.T) {
	table := New(2)
	table.Find("app", "main", []byte("SELECT ?"))
	if all, others := table.Snapshot(); len(all) != 0 || others.Took.Count() != 0 {
		t.Errorf("got %v and %v", all, others)
	}
}

// However many come at the same time, each is counted, and there is room for so many shapes only.
func TestTableAtOnce(t *testing.T) {
	const most, sessions, each = 20, 8, 100
	table := New(most)
	var running sync.WaitGroup
	for range sessions {
		running.Go(func() {
			for i := range each {
				table.Find("app", "main", []byte("SELECT "+strconv.Itoa(i%30))).Count(time.Millisecond, false, 1)
				table.Snapshot()
			}
		})
	}
	running.Wait()
	all, others := table.Snapshot()
	n := others.Took.Count()
	for _, c := range all {
		n += c.Took.Count()
	}
	if len(all) != most || n != sessions*each {
		t.Errorf("got %d shapes of %d statements, want %d of %d", len(all), n, most, sessions*each)
	}
}

func TestTableAllocations(t *testing.T) {
	table, user, text := New(1), "app", []byte("SELECT ?")
	count := func() { table.Find(user, "main", text).Count(time.Millisecond, true, 1) }
	count()
	if n := testing.AllocsPerRun(100, count); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestSlowList(t *testing.T) {
	var l SlowList
	if got := l.Latest(); len(got) != 0 {
		t.Errorf("got %v of an empty list", got)
	}
	const n = 2*maxSlow + 3
	for i := range n {
		l.Add(Slow{Rows: uint64(i)})
		got := l.Latest()
		if len(got) != min(i+1, maxSlow) || got[0].Rows != uint64(i) || got[len(got)-1].Rows != uint64(max(0, i+1-maxSlow)) {
			t.Fatalf("after %d: got %d from %d down to %d", i+1, len(got), got[0].Rows, got[len(got)-1].Rows)
		}
	}
}
