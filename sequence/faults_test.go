package sequence_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// process is a registry with a pool of its own and callers that go on through outages.
type process struct {
	name sequence.Name
	reg  *sequence.Registry
	seq  *sequence.Sequence
	ids  *sequencetest.IDs // of all processes on that sequence
	own  sequencetest.IDs
}

func startProcess(t *testing.T, s *servertest.Server, database, strategy string, ids *sequencetest.IDs) *process {
	name := sequence.Name{Keyspace: "main", Database: database, Table: strategy}
	reg := sequencetest.Registry(openStore(t, s, s.Addr, strategy), sequence.Config{MaxStep: 200, Timeout: time.Second})
	return &process{name: name, reg: reg, seq: get(t, reg, name), ids: ids}
}

// take takes ids until ctx ends. Only an outage may keep it from any.
func (p *process) take(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		err := p.ids.Take(func() (r sequence.Range, err error) {
			err = p.own.Take(func() (sequence.Range, error) {
				r, err = p.seq.Next(context.Background(), 3)
				return r, err
			})
			return r, err
		})
		if err != nil && !errors.Is(err, sequence.ErrUnavailable) {
			t.Errorf("%s: %v", p.name, err)
			return
		}
		time.Sleep(100 * time.Microsecond) // about what a statement takes
	}
}

// A server that is killed, frozen and started again under load: no id twice, and all goes on by itself.
func TestServerFaults(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		admin := s.Open(t, database)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var callers sync.WaitGroup
		var processes []*process
		for _, strategy := range strategies {
			if err := sequence.Seed(ctx, admin, database, strategy, 1, 10); err != nil {
				t.Fatal(err)
			}
			ids := &sequencetest.IDs{}
			for range 2 {
				p := startProcess(t, s, database, strategy, ids)
				processes = append(processes, p)
				for range 2 {
					callers.Go(func() { p.take(ctx, t) })
				}
			}
		}
		goOn := func() {
			t.Helper()
			for _, p := range processes {
				before := p.seq.Status().Refills
				await(t, func() bool { return p.seq.Status().Refills > before+3 })
			}
		}
		goOn()
		for range 2 {
			s.Kill(t)
			s.Start(t)
			goOn()
			s.Freeze(t)
			for _, p := range processes {
				await(t, func() bool { return p.seq.Status().Waiting > 0 })
			}
			s.Thaw(t)
			goOn()
		}
		s.Stop(t)
		s.Start(t)
		goOn()
		cancel()
		callers.Wait()
		for _, p := range processes {
			if err := p.reg.Close(t.Context()); err != nil {
				t.Error(err)
			}
			p.own.Increasing(t)
		}
		for i, p := range processes {
			if i%2 == 0 {
				restarted := startProcess(t, s, database, p.name.Table, p.ids)
				var err error
				await(t, func() bool {
					err = p.ids.Take(func() (sequence.Range, error) { return restarted.seq.Next(t.Context(), 1) })
					return !errors.Is(err, sequence.ErrUnavailable) // as on a busy machine
				})
				if err != nil {
					t.Error(err)
				}
				_ = restarted.reg.Close(t.Context()) // the server ends with the test
				p.ids.NoDuplicates(t)
				t.Logf("%s: %d ids, %d lost", p.name.Table, p.ids.Count(), p.ids.Unused())
			}
		}
	})
}

func await(t *testing.T, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain for a minute")
		}
	}
}

// A server whose defaults are unfit for the stores: every connection begins without autocommit, values out of range are
// clipped, LAST_INSERT_ID and identifiers are quoted by other rules. And a user who may no more than needed, while the
// server turns read-only for a time, as in a failover.
func TestServerDefaults(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		admin := openPool(t, s.DSN(database))
		exec := func(statement string) {
			t.Helper()
			if _, err := admin.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		exec("CREATE USER seq@'%' IDENTIFIED BY 'seq'")
		exec("GRANT SELECT, UPDATE ON " + database + ".* TO seq@'%'")
		readOnly := "read_only"
		if !s.IsMariaDB() {
			readOnly = "super_read_only"
		}
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				if err := sequence.Seed(t.Context(), admin, database, strategy, 1, 10); err != nil {
					t.Fatal(err)
				}
				cfg, err := mysql.ParseDSN(s.DSN(""))
				if err != nil {
					t.Fatal(err)
				}
				cfg.User, cfg.Passwd = "seq", "seq"
				store, err := sequence.NewStore(strategy, openPool(t, cfg.FormatDSN()))
				if err != nil {
					t.Fatal(err)
				}
				reg := sequencetest.Registry(store, sequence.Config{Timeout: time.Minute})
				seq := get(t, reg, sequence.Name{Database: database, Table: strategy})
				wantIDs(t, firsts(t, seq, 10, 1), 1, 11)
				wantNext := func(want int64) {
					t.Helper()
					var got int64
					if err := admin.QueryRowContext(t.Context(), "SELECT next_id FROM "+strategy).Scan(&got); err != nil || got != want {
						t.Errorf("got next_id %d, %v, want %d committed", got, err, want)
					}
				}
				wantNext(21)

				exec("SET GLOBAL " + readOnly + " = ON")
				firsts(t, seq, 9)
				await(t, func() bool { // on a busy machine the server's answer may come later
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					_, err = seq.Next(ctx, 1)
					return !errors.Is(err, sequence.ErrUnavailable) || strings.Contains(err.Error(), "1290")
				})
				exec("SET GLOBAL read_only = OFF") // super_read_only goes with it
				if !errors.Is(err, sequence.ErrUnavailable) || !strings.Contains(err.Error(), "1290") {
					t.Errorf("on a read-only server: got %v, want ErrUnavailable because of 1290", err)
				}
				wantIDs(t, firsts(t, seq, 1), 21)
				if err := reg.Close(t.Context()); err != nil {
					t.Error(err)
				}
				wantNext(22)
			})
		}
	}, "--autocommit=0", "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES", "--transaction-isolation=SERIALIZABLE", "--completion-type=CHAIN")
}
