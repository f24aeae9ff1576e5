package worker_test

import (
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

// The statement that extends a lease gets to the server when its holder has been cut off, has come back and released the
// lease, and somebody else has the worker id: it does nothing to the lease of that one.
func TestTableLateStatement(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		proxy, database := sequencetest.NewProxy(t, s.Addr), s.NewDatabase(t)
		cut := worker.NewTable(openPool(t, s, proxy.Addr()), database, "test", 0, worker.TableConfig{})
		direct := worker.NewTable(openPool(t, s, s.Addr), database, "test", 0, worker.TableConfig{})
		now := time.Now().UTC().Truncate(time.Second)
		claim := func(token string, until time.Duration) worker.Claim {
			return worker.Claim{Token: token, Address: token, Until: now.Add(until), Lease: time.Hour, Clock: now}
		}
		if _, err := direct.Acquire(t.Context(), claim("a", time.Second)); err != nil {
			t.Fatal(err)
		}
		proxy.CutNext(sequencetest.CutLate, "UPDATE")
		if _, err := cut.Extend(t.Context(), 0, claim("a", 30*time.Minute)); err == nil {
			t.Fatal("an extension that was cut off: got no error")
		}
		if err := direct.Release(t.Context(), 0, claim("a", time.Second)); err != nil {
			t.Fatal(err)
		}
		next, err := direct.Acquire(t.Context(), claim("b", 2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		proxy.Settle()

		// Where it was in time after all, the next holder was told.
		want := next.Until
		if next.After.After(want) {
			want = next.After
		}
		var holder string
		var micros int64
		if err := s.Open(t, database).QueryRowContext(t.Context(), "SELECT holder, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', reserved_until)"+
			" FROM seqgate_workers WHERE worker_id = 0").Scan(&holder, &micros); err != nil {
			t.Fatal(err)
		}
		if reserved := time.UnixMicro(micros); holder != "b" || !reserved.Equal(want) {
			t.Errorf("got the holder %q and reserved up to %v, want b and %v", holder, reserved, want)
		}
	})
}
