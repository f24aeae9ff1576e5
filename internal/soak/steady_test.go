package soak

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/testgate"
	"github.com/seqgate/seqgate/sequence"
)

var (
	rate       = flag.Float64("soak.rate", 300, "operations a second of the profile steady")
	reportFile = flag.String("soak.report", "", "write what came of the profile steady to this `file`, as Markdown")
)

// What the even load is made of.
const (
	sessions    = 64   // that stay, and share the operations
	churners    = 8    // that connect and quit
	churnRate   = 20.0 // connects a second
	controllers = 8    // sessions past seqgate
	control     = 0.1  // of the operations' rate
	manyRows    = 10   // of a multi-row INSERT
	executions  = 50   // of a prepared statement, before it is closed and made anew
	keepRows    = 30   // seconds that rows stay

	shortRun = 4 * time.Second
	// window is that of a long run; a short one has fewer than leastWindows of that length, and takes shorter ones.
	window       = 10 * time.Second
	leastWindows = 20
	reportEvery  = 5 * time.Minute
)

// The blocks of steady stay small, so that refills go on through the run. Nobody inserts into free, and into plain only past seqgate.
var (
	filled = table{name: "filled", column: "BIGINT PRIMARY KEY"}
	flaked = table{name: "flaked", column: "BIGINT PRIMARY KEY", generator: "main.flake"}
	free   = table{name: "free", column: "BIGINT PRIMARY KEY"}
	plain  = table{name: "plain", column: "BIGINT AUTO_INCREMENT PRIMARY KEY"}
	steady = profile{
		tables: []table{filled, flaked, free, plain}, gates: []settings{{sequence.StrategyForUpdate, 1000, "in_order"}},
		config: "worker_id: 1", cache: 1000, timeout: 5 * time.Second,
	}
)

// A seqgate under an even load does not grow, answers as fast at the end as at the beginning, and gives no id twice.
func TestSteady(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	s, binary := servertest.First(t), testgate.BuildReleased(t)
	t.Run("even", func(t *testing.T) {
		lasts := *duration
		if lasts == 0 {
			lasts = shortRun
		}
		samples, given := even(t, s, binary, lasts, *rate, false)
		for _, f := range Grown(samples) {
			if t.Logf("%+v", f); f.Failed {
				t.Errorf("%s grows", f.What)
			}
		}
		if *reportFile == "" {
			return
		}
		f, err := os.Create(*reportFile)
		if err != nil {
			t.Fatal(err)
		}
		title := fmt.Sprintf("%v at %.0f operations a second, in front of %s. %d ids were given, each once", lasts, *rate, s.Version, given)
		if err := errors.Join(WriteReport(f, title, samples, reportEvery), f.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Run("leak", func(t *testing.T) { // clients do not quit
		failed := map[string]bool{}
		samples, _ := even(t, s, binary, 6*time.Second, 100, true)
		for _, f := range Grown(samples) {
			failed[f.What] = f.Failed
		}
		if !failed["goroutines"] || !failed["descriptors"] {
			t.Errorf("connections that stay open are not seen: %v", failed)
		}
	})
}

// Nothing is wrong in a steady run: warnings fail it, but for those of a database that was slow, as on a busy machine.
var (
	wrong = regexp.MustCompile(`level=(WARN|ERROR)|panic|fatal`)
	slow  = regexp.MustCompile(`level=WARN msg="(the database of a sequence gives no ids;|unused ids not handed back)`)
)

// even puts the load on a new seqgate, and checks the ids, of which it returns how many there were.
func even(t *testing.T, s *servertest.Server, binary string, lasts time.Duration, rate float64, leak bool) (samples []Sample, given int64) {
	t.Helper()
	c := newCluster(t, steady, open(t, s), binary)
	l := newEvenLoad(t, c, leak)
	l.start(rate)
	samples = l.watch(t, lasts)
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	c.stop(t)
	for line := range strings.Lines(c.gates[0].process().Log()) {
		if wrong.MatchString(line) && !slow.MatchString(line) {
			t.Errorf("seqgate logged: %s", line)
		}
	}
	for name, ids := range l.given {
		n, err := ids.Twice()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		given += n
	}
	for _, table := range []table{filled, flaked} {
		rows := c.read(t, table, c.main(), -1)
		for _, r := range rows {
			if !l.given[table.name].Has(r.ID) {
				t.Errorf("no client was told of %v", r)
			}
		}
		if len(rows) == 0 {
			t.Errorf("%s has no rows: nothing was checked", table.name)
		}
	}
	return samples, given
}

// evenLoad is what clients do. It ends with ctx, or with the first error, which is the cause then.
type evenLoad struct {
	*cluster
	ctx     context.Context
	fail    context.CancelCauseFunc
	past    *mysql.Config // of the server, past seqgate
	leak    bool          // who connects does not quit
	began   time.Time
	running sync.WaitGroup
	given   map[string]*Blocks
	through []*steadySession
	control []*steadySession

	operations, connects, controlled recorder

	mu     sync.Mutex
	leaked []*steadySession // to the end of the load
}

// recorder collects how long operations took.
type recorder struct {
	mu   sync.Mutex
	took []time.Duration
}

func (r *recorder) add(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, d)
}

// window returns what has ended since the last call.
func (r *recorder) window() Latency {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := NewLatency(r.took)
	r.took = r.took[:0]
	return l
}

func newEvenLoad(t *testing.T, c *cluster, leak bool) *evenLoad {
	t.Helper()
	l := &evenLoad{cluster: c, leak: leak, given: map[string]*Blocks{}}
	l.ctx, l.fail = context.WithCancelCause(context.Background())
	for _, table := range c.tables {
		l.given[table.name] = &Blocks{}
	}
	var err error
	if l.past, err = mysql.ParseDSN(c.main().DSN(c.main().name)); err != nil {
		t.Fatal(err)
	}
	for i := range sessions + controllers {
		s, err := l.connect(i, i >= sessions)
		if err == nil {
			err = s.do(func() { s.insertAlone([]table{filled, plain}[i/sessions], 1) }) // for read
		}
		if err != nil {
			t.Fatal(err)
		}
		if i < sessions {
			l.through = append(l.through, s)
		} else {
			l.control = append(l.control, s)
		}
	}
	return l
}

// start starts rate operations a second, the connects and the control.
func (l *evenLoad) start(rate float64) {
	l.began = time.Now()
	for i, s := range l.through {
		l.pace(i, sessions, rate, &l.operations, func(k int) error { return s.do(func() { s.operate(k + i) }) })
	}
	for i := range churners {
		l.pace(i, churners, churnRate, &l.connects, func(int) error { return l.churn(i) })
	}
	for i, s := range l.control {
		l.pace(i, controllers, rate*control, &l.controlled, func(int) error { return s.do(func() { s.insertAlone(plain, 1) }) })
	}
	l.running.Go(func() {
		if err := l.trim(); err != nil {
			l.fail(err)
		}
	})
}

// end returns when all operations have been answered.
func (l *evenLoad) end() error {
	l.fail(nil)
	l.running.Wait()
	for _, s := range slices.Concat(l.through, l.control, l.leaked) {
		s.close()
	}
	if cause := context.Cause(l.ctx); cause != context.Canceled {
		return cause
	}
	return nil
}

// pace has one of several workers, which together do rate operations a second, do its share of them, at times that were set
// beforehand. An operation that begins late, as the one before it took long, is counted from when it was due.
func (l *evenLoad) pace(worker, workers int, rate float64, r *recorder, do func(k int) error) {
	l.running.Go(func() {
		for k := 0; ; k++ {
			due := l.began.Add(time.Duration(float64(k*workers+worker) / rate * float64(time.Second)))
			select {
			case <-l.ctx.Done():
				return
			case <-time.After(time.Until(due)):
			}
			if err := do(k); err != nil {
				l.fail(err)
				return
			}
			r.add(time.Since(due))
		}
	})
}

// watch takes samples, at least leastWindows, until the load has lasted so long, or has failed.
func (l *evenLoad) watch(t *testing.T, lasts time.Duration) (samples []Sample) {
	t.Helper()
	ticker := time.NewTicker(min(window, lasts/leastWindows))
	defer ticker.Stop()
	last := time.Duration(0)
	for last < lasts || len(samples) < leastWindows { // a busy machine loses ticks
		select {
		case <-l.ctx.Done():
			return samples
		case <-ticker.C:
		}
		u, err := l.gates[0].process().Usage()
		if err != nil {
			t.Fatal(err)
		}
		at := time.Since(l.began)
		samples = append(samples, Sample{At: at, Lasted: at - last, RSS: u.Resident, Heap: u.Heap, Goroutines: u.Goroutines, Descriptors: u.Descriptors,
			Operations: l.operations.window(), Connects: l.connects.window(), Control: l.controlled.window()})
		last = at
		if len(samples)%int(reportEvery/window) == 0 {
			t.Logf("%+v", samples[len(samples)-1])
		}
	}
	return samples
}

// steadySession is a session whose calls all succeed, and are forgotten as soon as their ids are noted.
type steadySession struct {
	*session
	load     *evenLoad
	prepared *sql.Stmt
	used     int // executions of prepared
}

func (l *evenLoad) connect(number int, past bool) (*steadySession, error) {
	c := &client{number: number, cluster: l.cluster, rng: rand.New(rand.NewPCG(uint64(number), 0))}
	s := &steadySession{load: l}
	if past {
		s.session, _ = c.connect(l.gates[0], "the server", l.past.Clone())
	} else {
		s.session, _ = c.open(l.gates[0], false)
	}
	return s, s.do(func() {})
}

// do runs what makes calls.
func (s *steadySession) do(run func()) error {
	run()
	for _, c := range s.calls {
		if c.Outcome != Done {
			return errors.New(c.String())
		}
		if c.Sequence != "" && c.First < 1 {
			return fmt.Errorf("no id: %s", c)
		}
		if c.First != 0 {
			s.load.given[c.Sequence].Add(c.First, c.N)
		}
	}
	s.calls = s.calls[:0]
	s.kept = slices.Delete(s.kept, 0, max(0, len(s.kept)-1))
	return nil
}

// operate does the k-th operation, of all kinds in turn.
func (s *steadySession) operate(k int) {
	switch k % 7 {
	case 0:
		s.insertAlone(filled, 1)
	case 1:
		s.insertPrepared()
	case 2:
		s.insertAlone(filled, manyRows)
	case 3:
		s.exec("START TRANSACTION")
		id := s.insert(filled, 1).First
		s.exec(fmt.Sprintf("UPDATE filled SET pad = 'y' WHERE id = %d", id))
		s.exec("COMMIT")
	case 4:
		s.next(free, 1)
	case 5:
		s.insertAlone(flaked, 1)
	case 6:
		s.read(s.kept[0])
	}
}

// insertPrepared adds a row by a prepared statement, which is closed and made anew now and then.
func (s *steadySession) insertPrepared() {
	s.call(Call{Statement: "insert prepared", Sequence: filled.name, N: 1}, func(ctx context.Context) (_ int64, err error) {
		if s.used++; s.used > executions {
			if err := s.prepared.Close(); err != nil {
				return 0, err
			}
			s.prepared, s.used = nil, 1
		}
		if s.prepared == nil {
			if s.prepared, err = s.conn.PrepareContext(ctx, "INSERT INTO filled (client, number, pos) VALUES (?, 1, 0)"); err != nil {
				return 0, err
			}
		}
		r, err := s.prepared.ExecContext(ctx, s.number)
		if err != nil {
			return 0, err
		}
		return r.LastInsertId()
	})
}

// churn is a client that stays for two statements.
func (l *evenLoad) churn(worker int) error {
	s, err := l.connect(worker, false)
	if err != nil {
		return err
	}
	if l.leak {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leaked = append(l.leaked, s)
	} else {
		defer s.close()
	}
	return s.do(func() {
		if s.insertAlone(filled, 1).Outcome == Done {
			s.read(s.kept[0])
		}
	})
}

// trim deletes the rows that were inserted longer than keepRows seconds ago, past seqgate.
func (l *evenLoad) trim() error {
	s, err := l.connect(0, true)
	if err != nil {
		return err
	}
	defer s.close()
	var old []map[string]int64 // the largest id of each second
	for every := time.NewTicker(time.Second); ; {
		select {
		case <-l.ctx.Done():
			every.Stop()
			return nil
		case <-every.C:
		}
		largest := map[string]int64{}
		for name, ids := range l.given {
			largest[name] = ids.Max()
		}
		if old = append(old, largest); len(old) <= keepRows {
			continue
		}
		for name, id := range old[0] {
			if err := s.do(func() { s.exec(fmt.Sprintf("DELETE FROM %s WHERE id <= %d", name, id)) }); err != nil {
				return err
			}
		}
		old = old[1:]
	}
}
