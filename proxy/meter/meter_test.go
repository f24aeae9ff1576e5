package meter

import (
	"sync"
	"testing"
	"time"
)

// What sessions count in different stripes is one sum, whoever counts at the same time.
func TestSnapshotAddsUp(t *testing.T) {
	m, b := New(), NewBackend()
	var all sync.WaitGroup
	const sessions, each = 64, 100
	for id := range uint32(sessions) {
		all.Go(func() {
			s := m.Stripe(id)
			in, out := s.Bytes()
			for range each {
				in.Add(2)
				out.Add(3)
				s.Command(Select, time.Millisecond, NoError, Single)
				s.Command(Insert, time.Millisecond, DuplicateKey, Scatter)
				b.Stripe(id).Queries.Add(1)
			}
			m.Accepted()
			m.Refused(RefusedTLS)
			m.Snapshot() // as a scrape would
		})
	}
	all.Wait()
	s := m.Snapshot()
	const n = sessions * each
	if s.In != 2*n || s.Out != 3*n || s.Queries[Select].Took.Count() != n || s.Queries[Select].OK != n || s.Queries[Select].Failed != 0 ||
		s.Queries[Insert].Took.Count() != n || s.Queries[Insert].OK != 0 || s.Queries[Insert].Failed != n || s.Errors[DuplicateKey] != n || s.Errors[NoError] != 0 ||
		s.Routes[Single] != n || s.Routes[Scatter] != n || s.Accepted != sessions || s.Refused[RefusedTLS] != sessions {
		t.Errorf("got %+v", s)
	}
	if got := b.Snapshot().Queries; got != n {
		t.Errorf("got %d commands of a server, want %d", got, n)
	}
}

// Every value has a name of its own.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	name := func(of, s string) {
		t.Helper()
		if s == "" || seen[of+s] {
			t.Errorf("%s: the name %q is empty or another's", of, s)
		}
		seen[of+s] = true
	}
	for _, k := range Kinds() {
		name("kind ", k.String())
	}
	for _, c := range Classes() {
		name("class ", c.String())
	}
	for _, r := range Routes() {
		name("route ", r.String())
	}
	for _, r := range Refusals() {
		name("refusal ", r.String())
	}
	if len(seen) != int(kinds)-1+int(classes)-1+int(routes)-1+int(refusals) {
		t.Errorf("got %d names", len(seen))
	}
}

func TestClassOf(t *testing.T) {
	for errno, want := range map[uint16]Class{1062: DuplicateKey, 1213: Deadlock, 1205: LockTimeout, 1064: Syntax, 1045: Access, 1146: Missing,
		1235: NotSupported, 1467: Exhausted, 1290: ReadOnly, 3024: Timeout, 1429: Connection, 1053: Shutdown, 1040: Limit, 1366: Data,
		1452: Constraint, 1105: OtherError, 65535: OtherError, 0: OtherError} {
		if got := ClassOf(errno); got != want {
			t.Errorf("error %d: got %s, want %s", errno, got, want)
		}
	}
}
