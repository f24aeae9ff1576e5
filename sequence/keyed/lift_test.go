package keyed

import (
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A table that is made anew with as many sections, and taken by another process at once: what the first gave before it saw
// that is given by nobody again, from the other's next renewal on.
func TestRemadeAlike(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 1, 100)
		key := []byte("a")
		const lease = 6 * time.Second
		first := Open(db, name, Config{Lease: lease, Timeout: time.Minute})
		if _, err := first.Next(t.Context(), key, 50); err != nil {
			t.Fatal(err)
		}
		run(t, db, name, "DROP TABLE %s")
		if err := Seed(t.Context(), db, name.Database, name.Table, 1, 10, 1000); err != nil { // as the rows seen until then say
			t.Fatal(err)
		}
		second := Open(db, name, Config{Lease: lease, Timeout: time.Minute})
		if r, err := second.Next(t.Context(), key, 1); err != nil || r.First != 10 {
			t.Fatalf("got %v, %v, want 10", r, err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			var least int64
			if err := db.QueryRowContext(t.Context(), "SELECT min_value FROM "+sqlName(name.Database, name.Table)).Scan(&least); err != nil {
				t.Fatal(err)
			}
			if least >= 51 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("no key gets a value below %d, want 51: the first process gave 50", least)
			}
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			r, err := second.Next(t.Context(), key, 1)
			if err != nil {
				t.Fatal(err)
			}
			if r.First >= 51 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("got %v still, want 51 or more", r)
			}
		}
		for _, p := range []*Sequence{first, second} {
			if err := p.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})
}
