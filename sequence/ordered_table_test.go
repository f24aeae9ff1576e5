package sequence_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

func commentOf(t *testing.T, db *sql.DB, database string) (text string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = 's'", database).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// A process that is configured so makes a sequence ordered for all: the others obey the table's comment, with every strategy.
func TestOrderedByTable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				h := harness(t, s, "")
				mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), "ALTER TABLE s COMMENT 'vitess_sequence start=1 it''s'", sequence.InsertRowSQL(h.Database, "s", 1, 100))
				open := func(ordered bool) *sequence.Sequence {
					reg := orderedRegistry(namedStore(t, strategy, openPool(t, s.DSN(h.Database))), ordered, sequence.Config{})
					return get(t, reg, sequence.Name{Database: h.Database, Table: "s"})
				}
				configured := open(true)
				wantIDs(t, firsts(t, configured, 1, 2), 1, 2)
				if got := commentOf(t, h.Admin, h.Database); got != "vitess_sequence it's start=1 ordered" {
					t.Errorf("the comment is %q", got)
				}
				other := open(false)
				wantIDs(t, firsts(t, other, 1, 3), 4, 5)
				wantIDs(t, firsts(t, configured, 1), 8)
				wantIDs(t, firsts(t, other, 1), 9)
				if st := other.Status(); !st.Ordered || st.Current.N+st.Next.N != 0 || st.Warm {
					t.Errorf("got %+v, want an ordered sequence with nothing in memory", st)
				}
				again := open(true)
				wantIDs(t, firsts(t, again, 1), 10)
				if got := commentOf(t, h.Admin, h.Database); got != "vitess_sequence it's start=1 ordered" {
					t.Errorf("the comment is %q", got)
				}
			})
		}
	})
}

// Callers that wait together when a process learns that the sequence is ordered all get ids, each once.
func TestOrderedByTableTogether(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), "ALTER TABLE s COMMENT 'vitess_sequence ordered'", sequence.InsertRowSQL(h.Database, "s", 1, 100))
		var ids sequencetest.IDs
		var all sync.WaitGroup
		for i := range 3 {
			seq := get(t, sequencetest.Registry(namedStore(t, strategies[i], openPool(t, s.DSN(h.Database))), sequence.Config{}), sequence.Name{Database: h.Database, Table: "s"})
			for n := range int64(10) {
				all.Go(func() {
					for range 3 {
						if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), n+1) }); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		all.Wait()
		ids.NoDuplicates(t)
		var next int
		if err := h.Admin.QueryRowContext(t.Context(), "SELECT next_id FROM s").Scan(&next); err != nil || next != 1+3*3*55 {
			t.Errorf("next_id is %d, %v, want %d: none is lost", next, err, 1+3*3*55)
		}
	})
}

// A process whose user may not change the table is ordered by itself, and says so once.
func TestOrderedUnmarked(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), sequence.InsertRowSQL(h.Database, "s", 1, 100))
		var log bytes.Buffer
		db := openPool(t, limitedUser(t, h, s, "o_", "SELECT, UPDATE"))
		reg := orderedRegistry(namedStore(t, sequence.StrategyIncrement, db), true, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		seq := get(t, reg, sequence.Name{Database: h.Database, Table: "s"})
		wantIDs(t, firsts(t, seq, 1, 2), 1, 2)
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := log.String(); strings.Count(got, "ordered by this process alone") != 1 || !strings.Contains(got, "COMMENT 'vitess_sequence ordered'") {
			t.Errorf("the log says:\n%s", got)
		}
	})
}
