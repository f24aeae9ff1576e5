package sequencetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
)

// TestStore runs the conformance suite against the store that open makes, on a real server. It calls open once for each
// of its tests. The suite leaves the server as it was but for the database.
func TestStore(t *testing.T, open func(t *testing.T) Harness) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"Blocks", testBlocks},
		{"Refusals", testRefusals},
		{"SecondRow", testSecondRow},
		{"Names", testNames},
		{"End", testEnd},
		{"Sizes", testSizes},
		{"Release", testRelease},
		{"Contention", testContention},
		{"NoRowLocks", testNoRowLocks},
		{"Processes", testProcesses},
		{"LostStatement", testLostStatement},
		{"LostUnderLoad", testLostUnderLoad},
		{"Killed", testKilled},
		{"FrozenHolder", testFrozenHolder},
		{"LockedTable", testLockedTable},
		{"EditsWhileRunning", testEdits},
		{"MadeAnew", testMadeAnew},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// testBlocks checks single reservations: the rule of Vitess, each by a new process and by one that knows the row.
func testBlocks(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	for _, tt := range []struct {
		name string
		row  Row
		req  sequence.Request
		want sequence.Reservation
	}{
		{"first", Row{1, 1000}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 1000}}},
		{"larger than the cache", Row{1, 10}, sequence.Request{Need: 25},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 30}}},
		{"step", Row{1, 10}, sequence.Request{Need: 1, Step: 95},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 100}}},
		{"tail where the row adjoins", Row{11, 10}, sequence.Request{Need: 25, Tail: 5, After: 10},
			sequence.Reservation{Range: sequence.Range{First: 11, N: 20}}},
		{"tail where it does not", Row{1000, 10}, sequence.Request{Need: 25, Tail: 5, After: 10},
			sequence.Reservation{Range: sequence.Range{First: 1000, N: 30}}},
		{"set back", Row{5, 10}, sequence.Request{Need: 25, Tail: 5, After: 60},
			sequence.Reservation{Range: sequence.Range{First: 61, N: 30}, Raised: true}},
		{"next_id 0", Row{0, 10}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 10}}},
		{"negative next_id", Row{-5, 10}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 10}}},
		{"most negative next_id", Row{math.MinInt64, 10}, sequence.Request{Need: 1, After: 60},
			sequence.Reservation{Range: sequence.Range{First: 61, N: 10}, Raised: true}},
		{"a billion at cache 1", Row{1, 1}, sequence.Request{Need: sequence.MaxN},
			sequence.Reservation{Range: sequence.Range{First: 1, N: sequence.MaxN}}},
		{"large next_id", Row{math.MaxInt64 - 1000, 10}, sequence.Request{Need: 25},
			sequence.Reservation{Range: sequence.Range{First: math.MaxInt64 - 1000, N: 30}}},
		{"up to the last but one", Row{math.MaxInt64 - 10, 10}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: math.MaxInt64 - 10, N: 10}}},
	} {
		for name, known := range map[string]int64{"new": 0, "known": tt.row.Cache, "changed": tt.row.Cache + 7} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				table := strings.ReplaceAll(t.Name(), "/", "_")
				table = table[max(0, len(table)-60):]
				req := h.create(t, table, tt.row.NextID, tt.row.Cache)
				req.Need, req.Tail, req.Step, req.After, req.Cache = tt.req.Need, tt.req.Tail, tt.req.Step, tt.req.After, known
				got := reserve(t, store, req)
				want := tt.want
				want.Cache, want.Found = tt.row.Cache, tt.row.NextID
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("reservation (-want +got):\n%s", diff)
				}
				h.wantRow(t, table, Row{want.First + want.N, tt.row.Cache})
			})
		}
	}
}

// testRefusals checks what is wrong with a table or its row: the error says what to do, and when that is done all is well.
func testRefusals(t *testing.T, h Harness) {
	const columns = " (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'a vitess_sequence of ours'"
	store := h.Open(t, h.Addr)
	for _, tt := range []struct {
		table, make, row string
		kind             error
		text             string
		repair           string
	}{
		{"no_table", "", "", sequence.ErrNoTable, "does not exist", ""},
		{"no_row", "CREATE TABLE no_row" + columns, "", sequence.ErrNoRow, "", ""},
		{"row_1_only", "CREATE TABLE row_1_only" + columns, "INSERT INTO row_1_only VALUES (1, 1, 10)", sequence.ErrNoRow, "", ""},
		{"no_comment", "CREATE TABLE no_comment (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)", "INSERT INTO no_comment VALUES (0, 1, 10)",
			sequence.ErrNotSequence, "is not a sequence", ""},
		{"ordinary", "CREATE TABLE ordinary (id INT PRIMARY KEY, name TEXT)", "", sequence.ErrNotSequence, "is not a sequence",
			"ALTER TABLE ordinary ADD next_id BIGINT DEFAULT 1, ADD cache BIGINT DEFAULT 10, COMMENT 'vitess_sequence'; INSERT INTO ordinary (id) VALUES (0)"},
		{"columns", "CREATE TABLE columns (id INT PRIMARY KEY, next BIGINT, cache BIGINT) COMMENT 'vitess_sequence'", "",
			sequence.ErrNotSequence, "lacks the columns", "ALTER TABLE columns CHANGE next next_id BIGINT; INSERT INTO columns VALUES (0, 1, 10)"},
		{"cache_0", "CREATE TABLE cache_0" + columns, "INSERT INTO cache_0 VALUES (0, 5, 0)", sequence.ErrBadRow, "unusable cache: 0", ""},
		{"cache_negative", "CREATE TABLE cache_negative" + columns, "INSERT INTO cache_negative VALUES (0, 5, -3)", sequence.ErrBadRow, "unusable cache: -3", ""},
		{"cache_null", "CREATE TABLE cache_null" + columns, "INSERT INTO cache_null VALUES (0, 5, NULL)", sequence.ErrBadRow, "unusable cache: NULL", ""},
		{"next_null", "CREATE TABLE next_null" + columns, "INSERT INTO next_null VALUES (0, NULL, 10)", sequence.ErrBadRow, "unusable next_id: NULL", ""},
		{"next_text", "CREATE TABLE next_text (id INT, next_id TEXT, cache BIGINT) COMMENT 'vitess_sequence'", "INSERT INTO next_text VALUES (0, 'soon', 10)",
			sequence.ErrBadRow, "unusable next_id: soon", ""},
		{"next_unsigned", "CREATE TABLE next_unsigned (id INT, next_id BIGINT UNSIGNED, cache BIGINT) COMMENT 'vitess_sequence'",
			"INSERT INTO next_unsigned VALUES (0, 9223372036854775808, 10)", sequence.ErrBadRow, "unusable next_id: 9223372036854775808", ""},
		{"two_rows", "CREATE TABLE two_rows (id INT, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'", "INSERT INTO two_rows VALUES (0, 1, 10), (0, 500, 10)",
			sequence.ErrBadRow, "several rows with id 0", "DELETE FROM two_rows ORDER BY next_id LIMIT 1"},
	} {
		t.Run(tt.table, func(t *testing.T) {
			if tt.make != "" {
				h.exec(t, tt.make)
			}
			if tt.row != "" {
				h.exec(t, tt.row)
			}
			seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), tt.table)
			for range 2 {
				_, err := seq.Next(t.Context(), 1)
				wantError(t, err, tt.kind, "sequence "+h.Database+"."+tt.table+" ", tt.text)
				if tt.table == "no_comment" || tt.table == "next_text" {
					continue // neither is looked at again after the first block
				}
				// A process that knew a good row finds the same.
				_, err = store.Reserve(t.Context(), sequence.Request{Database: h.Database, Table: tt.table, Need: 1, Cache: 10})
				wantError(t, err, tt.kind, tt.text)
			}
			_, err := seq.Next(t.Context(), 1)
			h.exec(t, repairOf(err, tt.repair)...)
			if r, err := seq.Next(t.Context(), 1); err != nil || r.First < 1 {
				t.Errorf("after the repair: got %v, %v", r, err)
			}
		})
	}
}

// repairOf returns the statements that an error says to run, or those given.
func repairOf(err error, given string) []string {
	if given == "" {
		for _, mark := range []string{"run: ", "for example: "} {
			if _, after, ok := strings.Cut(err.Error(), mark); ok {
				given = after
			}
		}
	}
	return strings.Split(given, "; ")
}

// testSecondRow checks that only row 0 counts.
func testSecondRow(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	h.exec(t, "INSERT INTO s VALUES (1, 5000, 10)")
	req.Need = 1
	store := h.Open(t, h.Addr)
	for _, want := range []int64{1, 11, 21} {
		res := reserve(t, store, req)
		if res.First != want {
			t.Errorf("got %d, want %d", res.First, want)
		}
		req.After, req.Cache = res.Last(), res.Cache
	}
}

// testNames checks names that need quoting.
func testNames(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	for _, table := range []string{"order", "with space", "back`tick", "quo'te\"s", "größe_seq", "a.b", "semi;colon"} {
		t.Run(table, func(t *testing.T) {
			req := h.create(t, table, 1, 10)
			req.Need = 1
			for _, req.Cache = range []int64{0, 10} {
				reserve(t, store, req)
			}
			h.wantRow(t, table, Row{21, 10})
		})
	}
}

// testEnd checks the last ids there are: all are given, and then none.
func testEnd(t *testing.T, h Harness) {
	const last = math.MaxInt64
	h.create(t, "s", last-7, 1000)
	reg := h.registry(t, h.Addr, sequence.Config{})
	seq := h.sequence(t, reg, "s")
	var ids IDs
	for range 8 {
		if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) }); err != nil {
			t.Fatal(err)
		}
	}
	ids.NoDuplicates(t)
	if got := ids.sorted()[7].First; got != last {
		t.Errorf("got the last id %d, want %d", got, last)
	}
	for _, process := range []*sequence.Sequence{seq, h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")} {
		for range 2 {
			_, err := process.Next(t.Context(), 1)
			wantError(t, err, sequence.ErrExhausted, h.Database+".s", "9223372036854775807")
		}
	}

	req := h.create(t, "few_left", last-7, 3)
	store := h.Open(t, h.Addr)
	req.Need, req.Cache = 9, 3
	_, err := store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrExhausted)
	h.wantRow(t, "few_left", Row{last - 7, 3})
	req.Need = 1
	for _, want := range []sequence.Range{{First: last - 7, N: 3}, {First: last - 4, N: 3}, {First: last - 1, N: 2}} {
		if got := reserve(t, store, req); got.Range != want {
			t.Errorf("got %v, want %v", got.Range, want)
		}
	}

	// Two processes at the very last id: one of them gets it.
	h.create(t, "last", last, 10)
	var won IDs
	var all sync.WaitGroup
	for range 4 {
		other := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "last")
		all.Go(func() {
			if err := won.Take(func() (sequence.Range, error) { return other.Next(t.Context(), 1) }); err != nil {
				wantError(t, err, sequence.ErrExhausted)
			}
		})
	}
	all.Wait()
	if won.Count() != 1 {
		t.Errorf("got the last id %d times, want once", won.Count())
	}

	// An end that comes earlier leaves the row where others may go on.
	req = h.create(t, "own_end", 120, 10)
	req.Need, req.Max, req.Cache = 1, 127, 10
	if got, want := reserve(t, store, req).Range, (sequence.Range{First: 120, N: 8}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	h.wantRow(t, "own_end", Row{128, 10})
	_, err = store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrExhausted, "127")
}

// testSizes checks blocks of all sizes by one process: nothing is lost on the way, nothing twice.
func testSizes(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	reg := h.registry(t, h.Addr, sequence.Config{})
	seq := h.sequence(t, reg, "s")
	var ids IDs
	for n := range int64(200) {
		for _, n := range []int64{1, n + 1, 3} {
			if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), n) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if got := ids.Unused(); got != 0 {
		t.Errorf("got %d ids left out, want 0", got)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantRow(t, "s", Row{ids.Count() + 1, 10})
}

// testRelease checks that a tail goes back only when nobody reserved after it.
func testRelease(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	releaser, ok := store.(sequence.Releaser)
	if !ok {
		t.Skip("the store takes nothing back")
	}
	req := h.create(t, "s", 1, 10)
	req.Need = 1
	first, second := reserve(t, store, req), reserve(t, store, req)
	for _, tt := range []struct {
		unused sequence.Range
		given  bool
		next   int64
	}{
		{sequence.Range{First: 4, N: 7}, false, 21},
		{sequence.Range{First: 15, N: 6}, true, 15},
		{sequence.Range{First: 15, N: 6}, false, 15},
		{first.Range, false, 15},
	} {
		given, err := releaser.Release(t.Context(), req, tt.unused)
		if err != nil || given != tt.given {
			t.Errorf("release %v: got %v, %v, want %v", tt.unused, given, err, tt.given)
		}
		h.wantRow(t, "s", Row{tt.next, 10})
	}
	if got := reserve(t, store, req); got.First != 15 {
		t.Errorf("got %v after %v of %v went back", got, 6, second)
	}
}

// testContention has 8 stores with pools of their own reserve from one row.
func testContention(t *testing.T, h Harness) { contend(t, h, h.create(t, "s", 1, 10)) }

// testNoRowLocks does it with an engine that has neither row locks nor transactions.
func testNoRowLocks(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	h.exec(t, "ALTER TABLE s ENGINE = MyISAM")
	contend(t, h, req)
}

func contend(t *testing.T, h Harness, req sequence.Request) {
	var ids IDs
	var failures atomic.Int64
	var all sync.WaitGroup
	for i := range int64(8) {
		store := h.Open(t, h.Addr)
		all.Go(func() {
			req := req
			if i == 0 {
				req.Cache = 10 // one of them knows the row, and must not shut the others out
			}
			for n := range int64(40) {
				req.Need = 1 + (n+i)%25
				for !reserveAmongOthers(t, store, &req, &ids) {
					failures.Add(1)
				}
			}
		})
	}
	all.Wait()
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if failures.Load() > 0 {
		t.Logf("%d reservations lost against the others", failures.Load())
		return
	}
	if got := ids.Unused(); got != 0 {
		t.Errorf("got %d ids reserved for nobody, want 0", got)
	}
	h.wantRow(t, "s", Row{1 + ids.Count(), 10})
}

// reserveAmongOthers reports false when the others kept the store from the row, which happens on a machine that is busy.
func reserveAmongOthers(t *testing.T, store sequence.Store, req *sequence.Request, ids *IDs) bool {
	err := ids.Take(func() (sequence.Range, error) {
		res, err := store.Reserve(t.Context(), *req)
		if err == nil {
			req.After, req.Cache = res.Last(), res.Cache
		}
		return res.Range, err
	})
	var own *sequence.Error
	if errors.As(err, &own) {
		t.Error(err)
		return true
	}
	return err == nil || t.Context().Err() != nil
}

// testProcesses has 8 registries with pools of their own, as 8 processes of seqgate have, give ids to 4 callers each.
func testProcesses(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	var together IDs
	var all sync.WaitGroup
	own := make([]IDs, 8)
	for i := range own {
		reg := h.registry(t, h.Addr, sequence.Config{MaxStep: 100})
		seq := h.sequence(t, reg, "s")
		for caller := range int64(4) {
			all.Go(func() {
				for n := range int64(300) {
					n := 1 + (n*caller)%7
					err := together.Take(func() (r sequence.Range, err error) {
						err = own[i].Take(func() (sequence.Range, error) {
							r, err = seq.Next(t.Context(), n)
							return r, err
						})
						return r, err
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	together.NoDuplicates(t)
	for i := range own {
		own[i].Increasing(t)
	}
}

// testLostStatement cuts the connection at each statement that can reserve, before and after the server runs it.
func testLostStatement(t *testing.T, h Harness) {
	for name, when := range map[string]Cut{"Unsent": CutUnsent, "Unanswered": CutUnanswered} {
		for _, statement := range []string{"UPDATE", "COMMIT", "SELECT"} {
			t.Run(statement+name, func(t *testing.T) {
				table := "s_" + strings.ToLower(statement+name)
				h.create(t, table, 1, 10)
				proxy := NewProxy(t, h.Addr)
				seq := h.sequence(t, h.registry(t, proxy.Addr(), sequence.Config{}), table)
				rival := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), table)
				var ids IDs
				take := func(seq *sequence.Sequence) {
					t.Helper()
					if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 10) }); err != nil {
						t.Error(err)
					}
				}
				take(seq)
				for range 3 {
					proxy.CutNext(when, statement)
					take(seq)
					take(rival)
				}
				ids.NoDuplicates(t)
				// A store uses two of the three statements at most.
				if st := seq.Status(); st.Failures != int64(proxy.Cuts()) {
					t.Errorf("got %d failures at %d cuts", st.Failures, proxy.Cuts())
				}
				if statement == "UPDATE" && proxy.Cuts() != 3 {
					t.Errorf("got %d cuts, want 3", proxy.Cuts())
				}
			})
		}
	}
}

// testLostUnderLoad cuts connections at random moments while two processes use the sequence.
func testLostUnderLoad(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	proxy := NewProxy(t, h.Addr)
	var ids IDs
	load := startLoad()
	for range 2 {
		seq := h.sequence(t, h.registry(t, proxy.Addr(), sequence.Config{MaxStep: 10}), "s")
		load.add(t, 4, seq, &ids)
	}
	for range 20 {
		for _, when := range []Cut{CutUnsent, CutUnanswered} {
			proxy.CutNext(when, "UPDATE", "COMMIT")
			await(t, func() bool { return !proxy.isArmed() })
		}
		proxy.CutAll()
	}
	load.stop()
	ids.NoDuplicates(t)
}

// load is callers that take ids one by one until they are stopped.
type load struct {
	done    chan struct{}
	callers sync.WaitGroup
}

func startLoad() *load { return &load{done: make(chan struct{})} }

// add starts n callers. Each fails the test at an error.
func (l *load) add(t *testing.T, n int, seq *sequence.Sequence, ids *IDs) {
	for range n {
		l.callers.Go(func() {
			for {
				select {
				case <-l.done:
					return
				default:
				}
				if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) }); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
}

func (l *load) stop() {
	close(l.done)
	l.callers.Wait()
}

// await waits until ready says so, or the test is out of time.
func await(t *testing.T, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain for 30s")
		}
	}
}

// testKilled kills the connection of a reservation that waits for the row's lock.
func testKilled(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{Timeout: 20 * time.Second}), "s")
	unlock := h.lockRow(t, "s")
	got := make(chan error, 1)
	go func() {
		_, err := seq.Next(t.Context(), 1)
		got <- err
	}()
	await(t, func() bool { return h.kill(t, "%`"+h.Database+"`.`s`%") > 0 })
	unlock()
	if err := <-got; err != nil {
		t.Errorf("got %v, want the ids of another attempt", err)
	}
	if st := seq.Status(); st.Failures == 0 {
		t.Errorf("got no failure, want the killed one")
	}
}

// lockRow takes the row's lock, as a client that freezes in its transaction holds it, and returns what lets it go.
func (h Harness) lockRow(t *testing.T, table string) (unlock func()) {
	t.Helper()
	tx, err := h.Admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := tx.QueryRowContext(t.Context(), "SELECT id FROM "+table+" WHERE id = 0 FOR UPDATE").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// testFrozenHolder checks that a lock on the row costs an error in time, and nothing when it is gone.
func testFrozenHolder(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	store := h.Open(t, h.Addr)
	unlock := h.lockRow(t, "s")
	begin := time.Now()
	req.Need = 1
	if res, err := store.Reserve(t.Context(), req); err == nil {
		t.Errorf("got %v of a locked row", res)
	}
	if got := time.Since(begin); got > 10*time.Second {
		t.Errorf("waited %v for the lock, want about 2s", got)
	}

	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := seq.Next(ctx, 1)
	wantError(t, err, sequence.ErrUnavailable, h.Database+".s", "1205")
	unlock()
	if _, err := seq.Next(t.Context(), 1); err != nil {
		t.Errorf("after the lock is gone: %v", err)
	}
}

// testLockedTable checks the same for a lock on the table, which is not InnoDB's.
func testLockedTable(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	store := h.Open(t, h.Addr)
	conn, err := h.Admin.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES s WRITE"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	req.Need, req.Cache = 1, 10
	if res, err := store.Reserve(t.Context(), req); err == nil {
		t.Errorf("got %v of a locked table", res)
	}
	if got := time.Since(begin); got > 10*time.Second {
		t.Errorf("waited %v for the lock, want about 2s", got)
	}
	if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	reserve(t, store, req)
}

// testEdits sets the row forwards and backwards and changes its cache while callers take ids.
func testEdits(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{MaxStep: 50}), "s")
	var ids IDs
	load := startLoad()
	load.add(t, 4, seq, &ids)
	for range 20 {
		for _, edit := range []string{"next_id = next_id + 1000", "next_id = next_id - 500", "cache = 7", "next_id = 1", "cache = 20"} {
			refills := seq.Status().Refills
			h.exec(t, "UPDATE s SET "+edit+" WHERE id = 0")
			await(t, func() bool { return seq.Status().Refills > refills })
		}
	}
	load.stop()
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if st := seq.Status(); st.Raised < 20 {
		t.Errorf("got %d raises counted, want 20 at least", st.Raised)
	}
}

// testMadeAnew drops the table while a process uses it, and makes it anew with a row from 1.
func testMadeAnew(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")
	next := func() (sequence.Range, error) { return seq.Next(t.Context(), 10) }
	var ids IDs
	if err := ids.Take(next); err != nil {
		t.Fatal(err)
	}
	h.exec(t, "DROP TABLE s")
	wantError(t, ids.Take(next), sequence.ErrNoTable, "VALUES (0, 11, 1000)")
	h.exec(t, "CREATE TABLE s (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)", "INSERT INTO s VALUES (0, 1, 10)")
	wantError(t, ids.Take(next), sequence.ErrNotSequence)
	h.exec(t, "DROP TABLE s")
	h.create(t, "s", 1, 10)
	if err := ids.Take(next); err != nil {
		t.Fatal(err)
	}
	ids.NoDuplicates(t)
	h.wantRow(t, "s", Row{21, 10})
}
