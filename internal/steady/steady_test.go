package steady

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

var (
	duration = flag.Duration("steady.for", 4*time.Second, "how long the load lasts")
	rate     = flag.Float64("steady.rate", 300, "operations a second")
	report   = flag.String("steady.report", "", "write what came of it to this `file`, as Markdown")
)

// window is that of a long run; a short one has fewer than leastWindows of that length, and takes shorter ones.
const (
	window       = 10 * time.Second
	leastWindows = 20
	reportEvery  = 5 * time.Minute
)

func TestMain(m *testing.M) { servertest.Main(m) }

// A seqgate under an even load does not grow, answers as fast at the end as at the beginning, and gives no id twice.
func TestSteady(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	s, binary := servertest.First(t), build(t)
	t.Run("even", func(t *testing.T) { even(t, s, binary) })
	t.Run("leak", func(t *testing.T) { leak(t, s, binary) })
}

// even is the load of the flags, under which nothing may grow.
func even(t *testing.T, s *servertest.Server, binary string) {
	r := soak(t, s, binary, *duration, *rate, false)
	r.Title = fmt.Sprintf("%v at %.0f operations a second, in front of %s", *duration, *rate, s.Version)
	for _, f := range Judge(r.Samples) {
		t.Logf("%+v", f)
		if f.Failed {
			t.Errorf("%s: %s in the first third, %s in the last, growth %s, allowed %s", f.What, number(f.First), number(f.Last), number(f.Growth), number(f.Allowed))
		}
	}
	if *report != "" {
		f, err := os.Create(*report)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := r.WriteTo(f); err != nil {
			t.Error(err)
		}
	}
}

// leak is a run in which clients do not quit. It is found to grow.
func leak(t *testing.T, s *servertest.Server, binary string) {
	failed := map[string]bool{}
	for _, f := range Judge(soak(t, s, binary, 6*time.Second, 100, true).Samples) {
		failed[f.What] = f.Failed
	}
	if !failed["goroutines"] || !failed["descriptors"] {
		t.Errorf("connections that stay open are not seen: %v", failed)
	}
}

// tables are those of the load.
var tables = []string{
	"CREATE TABLE filled (id BIGINT PRIMARY KEY, worker INT, changed INT DEFAULT 0)",
	"CREATE TABLE flaked (id BIGINT PRIMARY KEY, worker INT)",
	"CREATE TABLE plain (id BIGINT PRIMARY KEY AUTO_INCREMENT, worker INT)",
}

// soak puts the load on a new seqgate, and checks the ids.
func soak(t *testing.T, s *servertest.Server, binary string, lasts time.Duration, rate float64, leaky bool) Report {
	t.Helper()
	database := s.NewDatabase(t)
	statements := tables
	for _, name := range []string{"filled_seq", "free_seq"} {
		statements = append(statements, sequence.CreateTableSQL(database, name), sequence.InsertRowSQL(database, name, 1, 1000))
	}
	direct := s.Open(t, database)
	for _, text := range statements {
		if _, err := direct.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	g := startGate(t, binary, s.DSN(database))
	l, end := startLoad(t, "app:app@tcp("+g.addr+")/main", s.DSN(database), rate, leaky)
	r := Report{Every: reportEvery, Samples: watch(t, g, l, lasts)}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		ids  *Blocks
	}{{"filled", &l.filled}, {"flaked", &l.flaked}, {"free_seq", &l.free}} {
		if err := x.ids.Twice(); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		r.IDs += x.ids.Len()
	}
	checkRows(t, direct, "filled", &l.filled)
	checkRows(t, direct, "flaked", &l.flaked)
	return r
}

// watch takes samples, at least leastWindows, until the load has lasted so long, or has failed.
func watch(t *testing.T, g *gate, l *load, lasts time.Duration) (samples []Sample) {
	t.Helper()
	every := min(window, lasts/leastWindows)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for time.Since(l.began) < lasts || len(samples) < leastWindows { // a busy machine loses ticks
		select {
		case <-l.ctx.Done():
			return samples
		case <-ticker.C:
		}
		sample, err := g.sample()
		if err != nil {
			t.Fatal(err)
		}
		sample.At = time.Since(l.began)
		sample.Operations, sample.Connects, sample.Control = l.operations.window(), l.connects.window(), l.controlled.window()
		samples = append(samples, sample)
		if len(samples)%int(reportEvery/window) == 0 {
			t.Logf("%+v", sample)
		}
	}
	return samples
}

// checkRows says whether all rows that a table has were acknowledged.
func checkRows(t *testing.T, db *sql.DB, table string, ids *Blocks) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT id FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		if !ids.Has(id) {
			t.Errorf("%s has a row %d that no client was told of", table, id)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Errorf("%s has no rows: nothing was checked", table)
	}
}
