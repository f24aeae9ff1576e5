package keyed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// remade is how a table is made by this version and by older ones, whose rows do not say how many there are.
var remade = map[string][]string{"now": nil, "older": {"ALTER TABLE %s DROP COLUMN sections"}}

// A table that is made anew with another number of sections, under a process that holds leases: it counts no key by a row
// that is another one's now, and ends.
func TestRemade(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for from, before := range remade {
			for to, after := range remade {
				t.Run(from+" to "+to, func(t *testing.T) {
					t.Parallel()
					testRemade(t, s, before, after)
				})
			}
		}
	})
}

func testRemade(t *testing.T, s *servertest.Server, before, after []string) {
	const start = 1_000_000 // of the new one
	name, db := seeded(t, s, 4, 100)
	run(t, db, name, before...)
	ended := make(chan *Sequence, 9)
	p := Open(db, name, Config{Lease: 10 * time.Second, Timeout: time.Minute, Ended: func(s *Sequence) { ended <- s }})
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e"), []byte("f")}
	for _, key := range keys {
		if r, err := p.Next(t.Context(), key, 1); err != nil || r.First != 1 {
			t.Fatalf("got %v, %v, want 1", r, err)
		}
	}
	run(t, db, name, "DROP TABLE %s")
	if err := Seed(t.Context(), db, name.Database, name.Table, 3, start, 100); err != nil {
		t.Fatal(err)
	}
	run(t, db, name, after...)
	for err := error(nil); err == nil; time.Sleep(time.Millisecond) {
		for _, key := range keys {
			var r sequence.Range
			if r, err = p.Next(t.Context(), key, 1); err == nil && r.First >= start {
				t.Fatalf("a process that counts by 4 sections got %v of 3", r)
			}
			if err != nil && !errors.Is(err, ErrRemade) {
				t.Fatalf("got %v, want ErrRemade", err)
			}
		}
	}
	if got := <-ended; got != p || len(ended) > 0 {
		t.Errorf("%v has ended, and %d others, want %v", got, len(ended), p)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	var least int64
	if err := db.QueryRowContext(t.Context(), "SELECT MIN(next_id) FROM "+sqlName(name.Database, name.Table)).Scan(&least); err != nil || least < start {
		t.Errorf("a row has next_id %d, %v: the end of a process lowered it", least, err)
	}
	again := Open(db, name, Config{Lease: time.Second, Timeout: time.Minute})
	for _, key := range keys {
		if r, err := again.Next(t.Context(), key, 1); err != nil || r.First < start {
			t.Errorf("the new one: got %v, %v, want %d or more", r, err, start)
		}
	}
	if err := again.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Seeding has the rows of an older table say how many there are, while a process counts by it.
func TestSeedOlder(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 4, 100)
		run(t, db, name, remade["older"]...)
		p := Open(db, name, Config{Lease: time.Minute, Timeout: time.Minute})
		if r, err := p.Next(t.Context(), []byte("a"), 1); err != nil || r.First != 1 {
			t.Fatalf("got %v, %v, want 1", r, err)
		}
		for range 2 {
			if err := Seed(t.Context(), db, name.Database, name.Table, 9, 1, 100); err != nil {
				t.Fatal(err)
			}
		}
		run(t, db, name, "UPDATE %s SET cache = 100 WHERE sections = 4")
		if r, err := p.Next(t.Context(), []byte("a"), 200); err != nil || r.First != 2 {
			t.Errorf("got %v, %v, want 2", r, err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		run(t, db, name, "ALTER TABLE %s COMMENT 'seqgate_keyed 3'", "DELETE FROM %s WHERE id = 3")
		if err := Check(t.Context(), db, name.Database, name.Table); !errors.Is(err, sequence.ErrBadRow) {
			t.Errorf("the comment says another number than the rows: got %v, want ErrBadRow", err)
		}
	})
}

// What is no keyed sequence ends one that was opened by its name alone.
func TestNotKeyed(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 4, 100)
		for _, st := range []struct {
			step string
			want error
		}{{"ALTER TABLE %s COMMENT 'vitess_sequence'", sequence.ErrNotSequence}, {"DROP TABLE %s", sequence.ErrNoTable}} {
			step, want := st.step, st.want
			run(t, db, name, step)
			for _, declared := range []bool{false, true} {
				ended := 0
				p := Open(db, name, Config{Declared: declared, Ended: func(*Sequence) { ended++ }})
				for range 2 {
					if _, err := p.Next(t.Context(), []byte("a"), 1); !errors.Is(err, want) {
						t.Errorf("%s: got %v, want %v", step, err, want)
					}
				}
				if want := map[bool]int{false: 1}[declared]; ended != want {
					t.Errorf("%s, declared %v: it has ended %d times, want %d", step, declared, ended, want)
				}
				if err := p.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// run runs statements on the table.
func run(t *testing.T, db *sql.DB, name sequence.Name, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), fmt.Sprintf(s, sqlName(name.Database, name.Table))); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
