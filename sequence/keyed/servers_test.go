package keyed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// openPool returns a pool of its own to s that goes through addr.
func openPool(tb testing.TB, s *servertest.Server, addr string) *sql.DB {
	tb.Helper()
	cfg, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Addr = addr
	cfg.ClientFoundRows = !s.IsMariaDB() // the statements must not care
	pool, err := sequence.NewPool(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pool.Close() })
	return pool
}

// seeded makes a keyed sequence in a database of its own.
func seeded(tb testing.TB, s *servertest.Server, sections int, cache int64) (sequence.Name, *sql.DB) {
	tb.Helper()
	name := sequence.Name{Keyspace: "main", Database: s.NewDatabase(tb), Table: "msg`seq"}
	db := openPool(tb, s, s.Addr)
	if err := Seed(tb.Context(), db, name.Database, name.Table, sections, 1, cache); err != nil {
		tb.Fatal(err)
	}
	return name, db
}

func TestSeed(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 3, 100)
		ctx := t.Context()
		want := func(want ...int64) {
			t.Helper()
			rows, err := db.QueryContext(ctx, "SELECT next_id FROM "+sqlName(name.Database, name.Table)+" ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var got []int64
			for rows.Next() {
				var next int64
				if err := rows.Scan(&next); err != nil {
					t.Fatal(err)
				}
				got = append(got, next)
			}
			if diff := cmp.Diff(want, got); diff != "" || rows.Err() != nil {
				t.Errorf("next_ids (-want +got), %v:\n%s", rows.Err(), diff)
			}
		}
		want(1, 1, 1)
		p := Open(db, name, Config{Lease: time.Second, Timeout: 20 * time.Second})
		if r, err := p.Next(ctx, []byte("a"), 1); err != nil || r.First != 1 {
			t.Errorf("Next: got %v, %v, want 1", r, err)
		}
		for _, next := range []int64{50, 40} { // it only ever raises, while the sequence is in use too
			if err := Seed(ctx, db, name.Database, name.Table, 99, next, 100); err != nil {
				t.Fatal(err)
			}
		}
		renewed := time.Now().Add(time.Second)
		for last := int64(1); last < 50; time.Sleep(10 * time.Millisecond) {
			r, err := p.Next(ctx, []byte("a"), 1)
			if err != nil || r.First <= last || time.Now().After(renewed.Add(30*time.Second)) {
				t.Fatalf("got %v after %d, %v, want 50 when the lease is renewed", r, last, err)
			}
			last = r.First
		}
		if err := Seed(ctx, db, name.Database, name.Table, 3, 60, 100); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(ctx); err != nil { // which lowers what it holds
			t.Error(err)
		}
		want(60, 60, 60)
		if err := Check(ctx, db, name.Database, name.Table); err != nil {
			t.Errorf("Check: %v", err)
		}
		if err := Seed(ctx, db, name.Database, name.Table, 0, 1, 1); err == nil {
			t.Error("Seed with 0 sections: got no error")
		}
	})
}

func TestUnfitTables(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, test := range []struct {
			name, damage string // of a sound table
			want         error
			text         string
		}{
			{"dropped", "DROP TABLE %s", sequence.ErrNoTable, "CREATE TABLE"},
			{"plain sequence", "ALTER TABLE %s COMMENT 'vitess_sequence'", sequence.ErrNotSequence, "vitess_sequence"},
			{"no number", "ALTER TABLE %s COMMENT 'seqgate_keyed '", sequence.ErrNotSequence, "number of sections"},
			{"other number", "ALTER TABLE %s COMMENT 'seqgate_keyed 5'", sequence.ErrNoRow, "4 rows"},
			{"missing row", "DELETE FROM %s WHERE id = 3", sequence.ErrNoRow, "3 rows"},
			{"missing column", "ALTER TABLE %s DROP COLUMN fence", sequence.ErrNotSequence, "columns"},
			{"cache 0", "UPDATE %s SET cache = 0", sequence.ErrBadRow, "SET cache = 10000"},
		} {
			t.Run(test.name, func(t *testing.T) {
				name, db := seeded(t, s, 4, 100)
				if _, err := db.ExecContext(t.Context(), fmt.Sprintf(test.damage, sqlName(name.Database, name.Table))); err != nil {
					t.Fatal(err)
				}
				p := Open(db, name, Config{})
				_, nextErr := p.Next(t.Context(), []byte("a"), 1)
				if err := p.Close(t.Context()); err != nil {
					t.Errorf("Close: %v", err)
				}
				for act, err := range map[string]error{"Next": nextErr, "Check": Check(t.Context(), db, name.Database, name.Table)} {
					if !errors.Is(err, test.want) || !strings.Contains(fmt.Sprint(err), test.text) {
						t.Errorf("%s: got %v, want %v with %q", act, err, test.want, test.text)
					}
				}
			})
		}
	})
}

// A privilege that is missing is the server's own error at once, no outage, and says what is needed.
func TestMissingPrivilege(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, test := range []struct{ name, granted string }{
			{"UPDATE", "SELECT"},
			{"UPDATE of a column", "SELECT, UPDATE (owner, address, fence, expires)"},
		} {
			t.Run(test.name, func(t *testing.T) {
				name, admin := seeded(t, s, 2, 100)
				user := fmt.Sprintf("keyed_%x", rand.Uint64())
				for _, query := range []string{
					fmt.Sprintf("CREATE USER %s IDENTIFIED BY 'Secret-1'", user),
					fmt.Sprintf("GRANT %s ON %s TO %s", test.granted, sqlName(name.Database, name.Table), user),
				} {
					if _, err := admin.ExecContext(t.Context(), query); err != nil {
						t.Fatal(err)
					}
				}
				t.Cleanup(func() {
					if _, err := admin.ExecContext(context.Background(), "DROP USER "+user); err != nil {
						t.Error(err)
					}
				})
				cfg, err := mysql.ParseDSN(s.DSN(""))
				if err != nil {
					t.Fatal(err)
				}
				cfg.User, cfg.Passwd = user, "Secret-1"
				db, err := sequence.NewPool(cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				p := Open(db, name, Config{Lease: time.Second, Timeout: 20 * time.Second})
				_, nextErr := p.Next(t.Context(), []byte("a"), 1)
				_ = p.Close(t.Context()) // may lack the privilege to release
				for act, err := range map[string]error{"Next": nextErr, "Check": Check(t.Context(), db, name.Database, name.Table)} {
					number, _, _ := sequence.ServerError(err)
					if number != 1142 && number != 1143 || errors.Is(err, sequence.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "needs the privileges SELECT and UPDATE") {
						t.Errorf("%s: got %v, want error 1142 or 1143 with the privileges needed", act, err)
					}
				}
			})
		}
	})
}

// Rows that were restored past the sequence: the sections of their keys alone are raised, while the sequence is in use.
func TestRaise(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const sections = chunkSize + 2
		name, db := seeded(t, s, sections, 100)
		ctx := t.Context()
		p := Open(db, name, Config{Lease: time.Second, Timeout: 20 * time.Second})
		key := []byte("User-1")
		if r, err := p.Next(ctx, key, 10); err != nil || r.First != 1 {
			t.Fatalf("Next: got %v, %v, want 10 from 1", r, err)
		}
		own := SectionOf(key, sections)
		last := sections - 1
		if last == own {
			last--
		}
		first := 0
		if first == own {
			first++
		}
		raise := map[int]int64{own: 5000, first: 70, last: 80}
		for _, next := range []map[int]int64{raise, {last: 3, own: 6}, {}} { // it only ever raises
			if err := Raise(ctx, db, name.Database, name.Table, next); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Rows(ctx, db, name.Database, name.Table)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]Row, sections)
		for id := range want {
			want[id] = Row{Section: id, NextID: 1, MinValue: 1}
			if next, ok := raise[id]; ok {
				want[id] = Row{Section: id, NextID: next, MinValue: next}
			}
		}
		if got[own].NextID > 5000 { // the holder has raised it further
			want[own].NextID = got[own].NextID
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		deadline := time.Now().Add(20 * time.Second)
		for value := int64(0); value < 5000; time.Sleep(10 * time.Millisecond) {
			r, err := p.Next(ctx, key, 1)
			if err != nil || r.First <= value || time.Now().After(deadline) {
				t.Fatalf("got %v after %d, %v, want 5000 when the lease is renewed", r, value, err)
			}
			value = r.First
		}
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		for _, next := range []map[int]int64{{-1: 5}, {sections: 5}, {0: 0}} {
			if err := Raise(ctx, db, name.Database, name.Table, next); err == nil {
				t.Errorf("Raise(%v): got no error", next)
			}
		}
		if _, err := db.ExecContext(ctx, "DELETE FROM "+sqlName(name.Database, name.Table)+" WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		if _, err := Rows(ctx, db, name.Database, name.Table); !errors.Is(err, sequence.ErrNoRow) {
			t.Errorf("Rows without one: got %v, want ErrNoRow", err)
		}
		if err := Raise(ctx, db, name.Database, name.Table, raise); !errors.Is(err, sequence.ErrNoRow) {
			t.Errorf("Raise without one: got %v, want ErrNoRow", err)
		}
	})
}

// members are processes on one table that reach each other, each through a proxy of its own to the database.
type members struct {
	t    *testing.T
	s    *servertest.Server
	name sequence.Name

	mu     sync.Mutex
	by     map[string]*Sequence
	starts int
}

func (m *members) start(p *sequencetest.Proxy) *Sequence {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts++
	address := fmt.Sprint("process:", m.starts)
	s := Open(openPool(m.t, m.s, p.Addr()), m.name, Config{Address: address, Forward: m.forward, Lease: time.Second, Timeout: 20 * time.Second, MaxKeys: 64})
	m.by[address] = s
	return s
}

func (m *members) forward(ctx context.Context, address string, _ sequence.Name, wants []Want) ([]sequence.Range, error) {
	m.mu.Lock()
	s := m.by[address]
	m.mu.Unlock()
	return s.Local(ctx, wants)
}

// crash ends s as if it were killed: it can release nothing.
func crash(s *Sequence) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Close(ctx) // fails, as it should
}

// history is what callers of some keys saw.
type history struct {
	ids [20]sequencetest.IDs // by key
}

func (h *history) take(ctx context.Context, s *Sequence, key int, n int64) error {
	return h.ids[key].Take(func() (sequence.Range, error) { return s.Next(ctx, fmt.Appendf(nil, "user-%d", key), n) })
}

func (h *history) check(t *testing.T) {
	t.Helper()
	for key := range h.ids {
		if h.ids[key].Count() == 0 {
			t.Errorf("key %d got no values", key)
		}
		h.ids[key].NoDuplicates(t)
		h.ids[key].Increasing(t)
	}
}

// Eight processes start at once on one table, are killed, released and cut off at random, and start again: no key gets a
// value twice, and each key's values increase in real time over all processes.
func TestProcesses(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 16, 10)
		m := &members{t: t, s: s, name: name, by: map[string]*Sequence{}}
		var h history
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 8 {
			proxy := sequencetest.NewProxy(t, s.Addr)
			all.Go(func() { m.live(ctx, proxy, &h) })
		}
		all.Wait()
		last := Open(db, name, Config{})
		for key := range h.ids {
			if err := h.take(t.Context(), last, key, 1); err != nil {
				t.Error(err)
			}
		}
		if err := last.Close(t.Context()); err != nil {
			t.Error(err)
		}
		h.check(t)
	})
}

// live runs one process after another until ctx ends, with two callers and faults.
func (m *members) live(ctx context.Context, proxy *sequencetest.Proxy, h *history) {
	for ctx.Err() == nil {
		s := m.start(proxy)
		life, end := context.WithTimeout(ctx, time.Second+rand.N(2*time.Second))
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				for life.Err() == nil {
					err := h.take(context.Background(), s, rand.IntN(len(h.ids)), 1+rand.Int64N(3))
					if err != nil && !errors.Is(err, sequence.ErrClosed) {
						m.t.Errorf("Next: %v", err)
						return
					}
				}
			})
		}
		for life.Err() == nil {
			switch rand.IntN(3) {
			case 0:
				proxy.CutNext(sequencetest.CutUnanswered, "UPDATE", "SELECT")
			case 1:
				proxy.CutNext(sequencetest.CutUnsent, "UPDATE", "SELECT")
			case 2:
				proxy.CutAll()
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-life.Done():
			}
		}
		end()
		if rand.IntN(2) == 0 {
			crash(s)
		} else {
			_ = s.Close(context.Background()) // its connection may be cut, and then it was a crash
		}
		callers.Wait()
	}
}

// A database that freezes while leases run: values go on until the lease ends, and again when it is back.
func TestServerFreezes(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 1, 1_000_000)
		p := Open(db, name, Config{Lease: 2 * time.Second, Timeout: 20 * time.Second})
		next := func(timeout time.Duration) (int64, error) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			r, err := p.Next(ctx, []byte("a"), 1)
			return r.First, err
		}
		last, err := next(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		// outage returns how many values came while the database was frozen.
		outage := func() (given int) {
			s.Freeze(t)
			var err error
			for err == nil {
				var got int64
				if got, err = next(300 * time.Millisecond); err == nil && got <= last {
					t.Fatalf("got %d after %d", got, last)
				}
				last = max(last, got)
				given++
				time.Sleep(time.Millisecond)
			}
			if !errors.Is(err, sequence.ErrUnavailable) {
				t.Errorf("from a frozen database: got %v, want ErrUnavailable when the lease is over", err)
			}
			s.Thaw(t)
			got, err := next(20 * time.Second)
			if err != nil || got != last+1 {
				t.Errorf("after the thaw: got %d, %v, want %d", got, err, last+1)
			}
			last = got
			return given
		}
		for range 2 {
			given := outage()
			for tries := 1; given < 10 && tries < 3; tries++ { // on a busy machine the lease may have been almost over
				given = outage()
			}
			if given < 10 {
				t.Errorf("got %d values from a frozen database, want as many as come in 2 s", given)
			}
		}
		s.Kill(t)
		s.Start(t)
		if got, err := next(20 * time.Second); err != nil || got <= last {
			t.Errorf("after a crash of the server: got %d, %v, want more than %d", got, err, last)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
