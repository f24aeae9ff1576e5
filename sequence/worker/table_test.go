package worker_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

func TestTable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sequencetest.TestLeaser(t, func(t *testing.T, most int64) sequencetest.LeaserHarness {
			database := s.NewDatabase(t)
			return sequencetest.LeaserHarness{
				Open: func(tb testing.TB) worker.Leaser {
					return worker.NewTable(openPool(tb, s, s.Addr), database, "test", most, worker.TableConfig{})
				},
				Lossy: func(tb testing.TB) (worker.Leaser, func(int)) {
					proxy := sequencetest.NewProxy(tb, s.Addr)
					return worker.NewTable(openPool(tb, s, proxy.Addr()), database, "test", most, worker.TableConfig{}), func(n int) {
						proxy.CutNext(sequencetest.Cut(n%3), []string{"UPDATE", "INSERT", "SELECT worker_id"}[n/3%3])
					}
				},
				Spec: spec(s.DSN(""), database, most), Clock: true,
			}
		})
	})
}

func TestLeases(t *testing.T) {
	sequencetest.TestLeaserInBubble(t, func(_ *testing.T, most int64) sequencetest.LeaserHarness {
		leases := sequencetest.NewLeases("test", most)
		return sequencetest.LeaserHarness{
			Open:  func(testing.TB) worker.Leaser { return leases.Leaser() },
			Clock: true,
			Lossy: func(testing.TB) (worker.Leaser, func(int)) {
				l := leases.Leaser()
				var before, after atomic.Bool
				fail := func(armed *atomic.Bool) func(context.Context, string) error {
					return func(context.Context, string) error {
						if armed.Swap(false) {
							return sequencetest.ErrLost
						}
						return nil
					}
				}
				l.Hook(fail(&before), fail(&after))
				return l, func(n int) {
					before.Store(n%2 == 0)
					after.Store(n%2 == 1)
				}
			},
		}
	})
}

// A server that has not served the table before may lack leases of the one that did: none is given until these have ended.
func TestTableOnAnotherServer(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		pool := openPool(t, s, s.Addr)
		table := worker.NewTable(pool, database, "test", 7, worker.TableConfig{})
		claim := func(lease time.Duration) worker.Claim {
			return worker.Claim{Token: rand.Text(), Address: "here", Until: time.Now().Add(time.Second), Lease: lease, MaxSkew: 200 * time.Millisecond}
		}
		move := func() {
			t.Helper()
			if _, err := pool.ExecContext(t.Context(), "UPDATE "+database+".seqgate_workers SET address = 'old' WHERE worker_id = -1"); err != nil {
				t.Fatal(err)
			}
		}
		held := claim(time.Hour)
		lease, err := table.Acquire(t.Context(), held)
		if err != nil {
			t.Fatal(err)
		}
		move()
		_, err = table.Acquire(t.Context(), claim(time.Hour))
		wantError(t, err, sequence.ErrUnavailable, "another server")
		if _, err := table.Extend(t.Context(), lease.Worker, held); err != nil {
			t.Errorf("a lease that is held: %v", err)
		}
		anyone := worker.NewTable(pool, database, "test", 7, worker.TableConfig{AnyServer: true})
		if _, err := anyone.Acquire(t.Context(), claim(time.Hour)); err != nil {
			t.Errorf("with AnyServer: %v", err)
		}
		move()
		began := time.Now()
		for _, err = table.Acquire(t.Context(), claim(time.Second)); err != nil; _, err = table.Acquire(t.Context(), claim(time.Second)) {
			wantError(t, err, sequence.ErrUnavailable, "another server")
			if t.Failed() {
				return
			}
		}
		if took := time.Since(began); took < 1200*time.Millisecond {
			t.Errorf("leases were given again after %v, want 1.2s", took)
		}
	})
}

// Somebody who may not make the table can use one that is there; what is missing is said.
func TestTablePrivileges(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database, admin := s.NewDatabase(t), s.Open(t, "")
		exec := func(statements ...string) {
			t.Helper()
			for _, q := range statements {
				if _, err := admin.ExecContext(t.Context(), q); err != nil {
					t.Fatalf("%s: %v", q, err)
				}
			}
		}
		user := "u" + database
		user = user[max(len(user)-16, 0):]
		exec("CREATE USER '"+user+"'@'%' IDENTIFIED BY 'x'", "GRANT SELECT, INSERT, UPDATE ON `"+database+"`.* TO '"+user+"'@'%'")
		t.Cleanup(func() {
			if _, err := admin.ExecContext(context.Background(), "DROP USER '"+user+"'@'%'"); err != nil {
				t.Error(err)
			}
		})
		pool, err := sequence.OpenPool(user + ":x@tcp(" + s.Addr + ")/")
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close() // nothing is under way
		h, err := worker.Open(worker.NewTable(pool, database, "test", 7, worker.TableConfig{}), "test", sequencetest.HolderLayout(), 0, worker.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close(context.Background()) // it has no worker id
		err = h.Ready(t.Context())
		if err == nil || !strings.Contains(err.Error(), "CREATE") {
			t.Errorf("without the table: got %v, want the privilege named", err)
		}
		exec(worker.CreateTableSQL(database))
		table := worker.NewTable(pool, database, "test", 7, worker.TableConfig{})
		claim := worker.Claim{Token: "a", Until: time.Now(), Lease: time.Minute}
		got, err := table.Acquire(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Extend(t.Context(), got.Worker, claim); err != nil {
			t.Error(err)
		}
		exec("ALTER TABLE " + database + ".seqgate_workers DROP COLUMN after_time")
		_, err = table.Acquire(t.Context(), claim)
		wantError(t, err, worker.ErrBroken, "other columns")
	})
}
