package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
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

// striping is a striped sequence on several servers, which are called a, b, c, ...
type striping struct {
	servers  []*servertest.Server
	database string
	layout   sequence.StripeLayout
}

// sharedServers returns the servers of all tests that this machine has.
func sharedServers(t *testing.T) (servers []*servertest.Server) {
	servertest.Each(t, func(_ *testing.T, s *servertest.Server) { servers = append(servers, s) })
	return servers
}

// newStriping returns a sequence s on servers, which need not be there yet. The shared servers do if none are given.
func newStriping(t *testing.T, layout sequence.StripeLayout, servers ...*servertest.Server) *striping {
	t.Helper()
	if servers == nil {
		if servers = sharedServers(t); len(servers) < 2 {
			t.Skip("this needs two servers")
		}
	}
	database := fmt.Sprintf("test_striped_%x", rand.Uint64())
	for _, s := range servers {
		admin := s.Open(t, "")
		if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+database); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_, _ = admin.ExecContext(ctx, "DROP DATABASE "+database) // a server that was killed does not
		})
	}
	return &striping{servers, database, layout}
}

func serverName(i int) string { return string(rune('a' + i)) }

// open returns the store of another process. The addresses are those of the servers, or of proxies to them.
func (s *striping) open(t *testing.T, strategy string, addrs ...string) *sequence.Striped {
	t.Helper()
	var servers []sequence.StripeServer
	for i, server := range s.servers {
		cfg, err := mysql.ParseDSN(server.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		if addrs != nil {
			cfg.Addr = addrs[i]
		}
		servers = append(servers, sequence.StripeServer{Name: serverName(i), DB: openPool(t, cfg.FormatDSN())})
	}
	return newStriped(t, servers, strategy, s.layout)
}

func newStriped(t *testing.T, servers []sequence.StripeServer, strategy string, layout sequence.StripeLayout) *sequence.Striped {
	t.Helper()
	store, err := sequence.NewStriped(servers, strategy, layout, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// seeded makes the stripes.
func (s *striping) seeded(t *testing.T, next, cache int64) *striping {
	t.Helper()
	if err := s.open(t, sequence.StrategyCAS).Seed(t.Context(), s.database, "s", next, cache); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *striping) request(need int64) sequence.Request {
	return sequence.Request{Database: s.database, Table: "s", Need: need}
}

// sequence returns the sequence in a process of its own.
func (s *striping) sequence(t *testing.T, store sequence.Store, cfg sequence.Config) *sequence.Sequence {
	t.Helper()
	reg := sequencetest.Registry(store, cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = reg.Close(ctx) // hands back only if the server answers
	})
	return get(t, reg, sequence.Name{Database: s.database, Table: "s"})
}

func (s *striping) exec(t *testing.T, server int, query string) {
	t.Helper()
	if _, err := s.servers[server].Open(t, s.database).ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// stripes lists the stripes as "1 a, 2 b, 3 a to b".
func (s *striping) stripes(t *testing.T) string {
	t.Helper()
	found, err := s.open(t, sequence.StrategyCAS).Stripes(t.Context(), s.database, "s")
	if err != nil {
		t.Fatal(err)
	}
	return describe(found)
}

func describe(found []sequence.Stripe) string {
	texts := []string{}
	for _, st := range found {
		text := fmt.Sprintf("%d %s", st.Number, st.Server)
		if st.MovedTo != "" {
			text += " to " + st.MovedTo
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// crowd is callers of several processes that take ids without pause, and to whom no error may come.
type crowd struct {
	done chan struct{}
	stop func() // closes done and waits for all; once
	all  sync.WaitGroup
	ids  sequencetest.IDs
	own  []*sequencetest.IDs
	seqs []*sequence.Sequence
}

// join starts n callers of a process.
func (c *crowd) join(t *testing.T, n int, seq *sequence.Sequence) {
	if c.done == nil {
		c.done = make(chan struct{})
		c.stop = sync.OnceFunc(func() {
			close(c.done)
			c.all.Wait()
		})
		t.Cleanup(c.stop)
	}
	own := &sequencetest.IDs{}
	c.own, c.seqs = append(c.own, own), append(c.seqs, seq)
	for range n {
		c.all.Go(func() {
			for i := int64(0); ; i++ {
				select {
				case <-c.done:
					return
				case <-time.After(100 * time.Microsecond): // about what a statement takes
				}
				err := c.ids.Take(func() (r sequence.Range, err error) {
					err = own.Take(func() (sequence.Range, error) {
						r, err = seq.Next(context.Background(), 1+i%5)
						return r, err
					})
					return r, err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// goOn waits until every process has got n blocks more.
func (c *crowd) goOn(t *testing.T, n int64) {
	t.Helper()
	for _, seq := range c.seqs {
		before := seq.Status().Refills
		end := time.Now().Add(time.Minute)
		for seq.Status().Refills < before+n {
			if time.Now().After(end) {
				t.Fatalf("%d refills in a minute: %+v", seq.Status().Refills-before, seq.Status())
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// leave stops all, and checks what they got.
func (c *crowd) leave(t *testing.T) {
	t.Helper()
	c.stop()
	c.ids.NoDuplicates(t)
	for _, own := range c.own {
		own.Increasing(t)
	}
	t.Logf("%d ids", c.ids.Count())
}

// The blocks of a process come from one stripe, within its chunks, and leave nothing out there.
func TestStripedBlocks(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			s := newStriping(t, sequence.StripeLayout{Stripes: 3, Chunk: 100}).seeded(t, 1, 30)
			store := sequence.Patient(s.open(t, strategy))
			q := s.request(1)
			var blocks [][2]int64
			var stripe int64
			for i, need := range []int64{1, 30, 31, 1, 1, 100, 1, 70} {
				q.Need = need
				res, err := store.Reserve(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					stripe = res.First / 100
				}
				blocks = append(blocks, [2]int64{res.First - stripe*100, res.N})
				if res.Raised || res.Cache != 30 {
					t.Errorf("got %+v, want no raise, cache 30", res)
				}
				q.After, q.Cache = res.Last(), res.Cache
			}
			want := [][2]int64{{1, 30}, {31, 30}, {61, 39}, {300, 30}, {330, 30}, {600, 100}, {900, 30}, {930, 70}}
			if diff := cmp.Diff(want, blocks); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
			q.Need = 101
			if _, err := store.Reserve(t.Context(), q); !errors.Is(err, sequence.ErrInvalidCount) || !strings.Contains(err.Error(), "100 ids") {
				t.Errorf("got %v, want ErrInvalidCount with the size of a chunk", err)
			}
		})
	}
}

// A block costs the statements that it costs in a plain sequence.
func TestStripedStatements(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{}).seeded(t, 1, 10)
	for strategy, want := range map[string]int{sequence.StrategyForUpdate: 4, sequence.StrategyCAS: 2, sequence.StrategyIncrement: 1} {
		proxies, addrs := s.proxies(t)
		store := sequence.Patient(s.open(t, strategy, addrs...))
		q := s.request(1)
		var before int
		for range 11 {
			res, err := store.Reserve(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if q.After == 0 { // the first block's search does not count
				before = proxies[0].Queries() + proxies[1].Queries()
			}
			q.After, q.Cache = res.Last(), res.Cache
		}
		if got := proxies[0].Queries() + proxies[1].Queries() - before; got != 10*want {
			t.Errorf("%s: got %d statements for 10 blocks, want %d", strategy, got, 10*want)
		}
	}
}

// A stripe whose next chunks were used by others meanwhile is followed.
func TestStripedOthersAhead(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 10}).seeded(t, 1, 4)
			store := sequence.Patient(s.open(t, strategy))
			q := s.request(1)
			res, err := store.Reserve(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			stripe := res.First / 10
			s.exec(t, int(stripe), "UPDATE s SET next_id = 1008") // stripe 1 is the first server's, 2 the second's
			for _, tt := range []struct{ need, first, n int64 }{
				{1, 2008, 2}, {1, 2020, 4}, {7, 2040, 8},
			} {
				q.Need, q.After, q.Cache = tt.need, res.Last(), res.Cache
				if res, err = store.Reserve(t.Context(), q); err != nil {
					t.Fatal(err)
				}
				if want := (sequence.Range{First: tt.first + stripe*10, N: tt.n}); res.Range != want {
					t.Errorf("got %v, want %v", res.Range, want)
				}
			}
			// A row that was set back is raised, and says so.
			s.exec(t, int(stripe), "UPDATE s SET next_id = 3")
			q.Need, q.After = 1, res.Last()
			if res, err = store.Reserve(t.Context(), q); err != nil || !res.Raised || res.First != q.After+1 || res.Found != 3+stripe*10 {
				t.Errorf("got %+v, %v, want a raised row and the id %d", res, err, q.After+1)
			}
		})
	}
}

// A skip after a failover that the rest of the chunk has no room for leads to the next chunk.
func TestStripedFailover(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 20}).seeded(t, 1, 4)
			store := sequence.Failover(sequence.Patient(s.open(t, strategy)), 10)
			var after, stripe int64
			for _, tt := range []struct{ count, first int64 }{{1, 11}, {12, 50}} { // of the row, and what comes of it in stripe 1
				for server := range s.servers {
					s.exec(t, server, fmt.Sprintf("UPDATE s SET next_id = %d", tt.count))
					s.exec(t, server, sequence.ServersTableSQL(s.database))
					s.exec(t, server, "DELETE FROM "+sequence.ServersTable)
				}
				q := s.request(1)
				q.After = after
				res, err := store.Reserve(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if after == 0 {
					stripe = res.First / 20
				}
				if got := res.First - stripe*20; got != tt.first || res.Skipped != 10 {
					t.Errorf("row at %d: got %+v, want the id %d of stripe %d after 10 were skipped", tt.count, res, tt.first+stripe*20, stripe+1)
				}
				after = res.Last()
			}
		})
	}
}

// Many processes with different strategies, in chunks so small that all meet in the same ones.
func TestStripedProcesses(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 5, Chunk: 20}).seeded(t, 1, 7)
	var c crowd
	for range 2 {
		for _, strategy := range strategies {
			c.join(t, 2, s.sequence(t, s.open(t, strategy), sequence.Config{MaxStep: 50, Timeout: time.Minute}))
		}
	}
	c.goOn(t, 100)
	c.leave(t)
}

// The ids end with the last one. Whoever changes stripes leaves some out, but no process does without need.
func TestStripedEnd(t *testing.T) {
	for _, tt := range []struct {
		name       string
		next, last int64
	}{
		{"own end", 1, 95},
		{"end of the ids", math.MaxInt64 - 94, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStriping(t, sequence.StripeLayout{Stripes: 3, Chunk: 10}).seeded(t, tt.next, 4)
			var ids sequencetest.IDs
			var largest int64
			for process, got := 0, true; got; process++ {
				seq := s.sequence(t, s.open(t, strategies[process%3]), sequence.Config{Max: tt.last})
				next := func() (r sequence.Range, err error) {
					r, err = seq.Next(t.Context(), 1)
					largest = max(largest, r.First)
					return r, err
				}
				err := ids.Take(next)
				for got = err == nil; err == nil; err = ids.Take(next) {
				}
				if !errors.Is(err, sequence.ErrExhausted) || !strings.Contains(err.Error(), fmt.Sprint(tt.last)) {
					t.Fatalf("got %v, want ErrExhausted at %d", err, tt.last)
				}
			}
			ids.NoDuplicates(t)
			if largest != tt.last || ids.Count() < 30 {
				t.Errorf("got %d ids up to %d, want a third of 95 at least, up to %d", ids.Count(), largest, tt.last)
			}
		})
	}
}

// What is not used goes back to the row, of two chunks that of the second.
func TestStripedRelease(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 10}).seeded(t, 1, 1)
	store := s.open(t, sequence.StrategyIncrement)
	s.exec(t, 0, "UPDATE s SET next_id = 18")
	s.exec(t, 1, "UPDATE s SET next_id = 14")
	if _, err := store.Reserve(t.Context(), s.request(1)); err != nil { // to know where the stripes are
		t.Fatal(err)
	}
	s.exec(t, 0, "UPDATE s SET next_id = 18")
	s.exec(t, 1, "UPDATE s SET next_id = 14")
	for _, tt := range []struct {
		unused sequence.Range
		given  bool
		want   int64 // next_id of the second server
	}{
		{sequence.Range{First: 30, N: 3}, false, 14},
		{sequence.Range{First: 32, N: 2}, true, 12},
		{sequence.Range{First: 28, N: 4}, true, 10},
	} {
		given, err := store.Release(t.Context(), sequence.Request{Database: s.database, Table: "s"}, tt.unused)
		if err != nil || given != tt.given {
			t.Errorf("release %v: got %v, %v, want %v", tt.unused, given, err, tt.given)
		}
		if got := s.nextID(t, 1); got != tt.want {
			t.Errorf("release %v: got next_id %d, want %d", tt.unused, got, tt.want)
		}
	}
	if got := s.nextID(t, 0); got != 18 {
		t.Errorf("got next_id %d on the other server, want 18", got)
	}
}

// nextID returns the next_id of a server's only row.
func (s *striping) nextID(t *testing.T, server int) (next int64) {
	t.Helper()
	if err := s.servers[server].Open(t, s.database).QueryRowContext(t.Context(), "SELECT next_id FROM s").Scan(&next); err != nil {
		t.Fatal(err)
	}
	return next
}

// A server is killed and frozen while processes take ids, and others start: nobody sees an error, and no id comes twice.
func TestStripedServerLost(t *testing.T) {
	t.Parallel()
	shared := sharedServers(t)
	servertest.Private(t, func(t *testing.T, private *servertest.Server) {
		servers := append([]*servertest.Server{private}, shared...)
		s := newStriping(t, sequence.StripeLayout{Stripes: 6, Chunk: 1000}, servers...).seeded(t, 1, 10)
		var c crowd
		start := func(processes int) {
			for i := range processes {
				// Not CAS: among so many with increment, a process with CAS may not get its turn.
				strategy := []string{sequence.StrategyForUpdate, sequence.StrategyIncrement}[i%2]
				c.join(t, 2, s.sequence(t, s.open(t, strategy), sequence.Config{MaxStep: 40, Timeout: time.Minute}))
			}
			c.goOn(t, 5)
		}
		start(4)
		private.Kill(t)
		c.goOn(t, 20)
		start(2)
		private.Start(t)
		start(4)
		private.Freeze(t)
		c.goOn(t, 20)
		start(2)
		private.Thaw(t)
		c.goOn(t, 5)
		c.leave(t)
	})
}

// A server that takes connections and never answers costs a second when it begins to, and later nothing; also when the
// other one fails for a moment.
func TestStripedServerHangs(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 4, Chunk: 100}).seeded(t, 1, 10)
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	for run := 1; ; run++ {
		err := s.hangs(t, hung.Addr().String())
		if err == nil {
			return
		}
		if run == 3 {
			t.Fatal(err)
		}
		t.Logf("once more, as the machine may have been busy: %v", err)
	}
}

// hangs has a server of a new process be replaced by hung, and returns what was wrong or took too long.
func (s *striping) hangs(t *testing.T, hung string) error {
	proxies, addrs := s.proxies(t)
	store := s.open(t, sequence.StrategyIncrement, addrs...)
	q := s.request(1)
	q.Cache = 10
	var wrong []error
	reserve := func(what string, most time.Duration) (server int) {
		began := time.Now()
		limited, cancel := context.WithTimeout(t.Context(), 3*time.Second) // as a Sequence does
		defer cancel()
		res, err := store.Reserve(limited, q)
		if took := time.Since(began); err != nil || took > most {
			wrong = append(wrong, fmt.Errorf("%s: got %v, %v after %v, want ids within %v", what, res, err, took, most))
		}
		q.After = res.Last()
		return int(res.First / 100 % 2) // stripes 1 and 3 are the first server's
	}
	home := reserve("at first", time.Minute)
	proxies[home].Switch(hung)
	proxies[home].CutAll()
	reserve("when the server begins to hang", 5*time.Second/2)
	for range 3 {
		reserve("while it hangs", 900*time.Millisecond)
	}
	q.Cache = 0
	reserve("when the tables are looked at again", 900*time.Millisecond)
	q.Cache = 10
	proxies[1-home].CutNext(sequencetest.CutUnsent, "UPDATE")
	limited, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if res, err := store.Reserve(limited, q); err == nil {
		wrong = append(wrong, fmt.Errorf("got %v from no server", res))
	}
	reserve("after the other server failed", 5*time.Second/2)
	return errors.Join(wrong...)
}

// proxies returns a proxy to each server, and their addresses.
func (s *striping) proxies(t *testing.T) (proxies []*sequencetest.Proxy, addrs []string) {
	t.Helper()
	for _, server := range s.servers {
		p := sequencetest.NewProxy(t, server.Addr)
		proxies, addrs = append(proxies, p), append(addrs, p.Addr())
	}
	return proxies, addrs
}

// A connection that breaks with a reservation on its way costs its block only.
func TestStripedLostStatement(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			s := newStriping(t, sequence.StripeLayout{Stripes: 4, Chunk: 100}).seeded(t, 1, 10)
			proxies, addrs := s.proxies(t)
			seq := s.sequence(t, s.open(t, strategy, addrs...), sequence.Config{})
			rival := s.sequence(t, s.open(t, strategy), sequence.Config{})
			var ids sequencetest.IDs
			for i := range 20 {
				for _, p := range proxies {
					p.CutNext([]sequencetest.Cut{sequencetest.CutUnsent, sequencetest.CutUnanswered}[i%2], "UPDATE", "COMMIT")
				}
				for _, seq := range []*sequence.Sequence{seq, rival} {
					if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 10) }); err != nil {
						t.Error(err)
					}
				}
			}
			ids.NoDuplicates(t)
			if cuts := proxies[0].Cuts() + proxies[1].Cuts(); cuts < 10 {
				t.Errorf("got %d cuts, want 10 at least", cuts)
			}
		})
	}
}

// When no server answers, the error is temporary and names all.
func TestStripedAllDown(t *testing.T) {
	store := newStriped(t, []sequence.StripeServer{
		{Name: "east", DB: openPool(t, "u:p@tcp(127.0.0.1:1)/")}, {Name: "west", DB: openPool(t, "u:p@tcp(127.0.0.1:2)/")},
	}, sequence.StrategyCAS, sequence.StripeLayout{})
	s := striping{database: "d"}
	seq := s.sequence(t, store, sequence.Config{Timeout: 500 * time.Millisecond})
	for end := time.Now().Add(20 * time.Second); ; { // a busy machine may have no time for both
		_, err := seq.Next(t.Context(), 1)
		if !errors.Is(err, sequence.ErrUnavailable) || time.Now().After(end) {
			t.Fatalf("got %v, want ErrUnavailable with both servers", err)
		}
		if strings.Contains(err.Error(), "server east: ") && strings.Contains(err.Error(), "server west: ") {
			break
		}
	}
	if got, want := store.String(), "cas striped over east, west"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Tables that contradict the configuration, or each other, are refused until that is repaired.
func TestStripedRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server int
		spoil  string
		kind   error
		text   string
		repair string
	}{
		{"other layout", 0, "ALTER TABLE s COMMENT 'seqgate_stripes 4 x 200 on a'", sequence.ErrStripes, "'seqgate_stripes 4 x 200 on a', not 'seqgate_stripes 4 x 100 on a'",
			"ALTER TABLE s COMMENT 'seqgate_stripes 4 x 100 on a'"},
		{"table of another server", 1, "ALTER TABLE s COMMENT 'seqgate_stripes 4 x 100 on a'", sequence.ErrStripes, "'seqgate_stripes 4 x 100 on a', not 'seqgate_stripes 4 x 100 on b'",
			"ALTER TABLE s COMMENT 'seqgate_stripes 4 x 100 on b'"},
		{"plain sequence", 1, "ALTER TABLE s COMMENT 'vitess_sequence'", sequence.ErrNotSequence, "'vitess_sequence'",
			"ALTER TABLE s COMMENT 'seqgate_stripes 4 x 100 on b'"},
		{"stripe on both", 1, "INSERT INTO s (id, next_id, cache) VALUES (3, 1, 10)", sequence.ErrStripes, "stripe 3 on two servers", "DELETE FROM s WHERE id = 3"},
		{"other columns", 1, "ALTER TABLE s CHANGE moved_to moved TEXT", sequence.ErrNotSequence, "lacks", "ALTER TABLE s CHANGE moved moved_to TEXT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStriping(t, sequence.StripeLayout{Stripes: 4, Chunk: 100}).seeded(t, 1, 10)
			s.exec(t, tt.server, tt.spoil)
			store := s.open(t, sequence.StrategyForUpdate)
			seq := s.sequence(t, store, sequence.Config{})
			admin := s.open(t, sequence.StrategyForUpdate)
			_, errNext := seq.Next(t.Context(), 1)
			_, errList := admin.Stripes(t.Context(), s.database, "s")
			for what, err := range map[string]error{
				"next": errNext, "list": errList,
				"seed": admin.Seed(t.Context(), s.database, "s", 1, 10), "move": admin.Move(t.Context(), s.database, "s", 1, "b"),
			} {
				if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), s.database+".s") {
					t.Errorf("%s: got %v, want %v with %q", what, err, tt.kind, tt.text)
				}
			}
			s.exec(t, tt.server, tt.repair)
			if _, err := seq.Next(t.Context(), 1); err != nil {
				t.Errorf("after the repair: %v", err)
			}
		})
	}
}

// A stripe that gives nothing is left out.
func TestStripedBadRow(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 3, Chunk: 100}).seeded(t, 1, 10)
	s.exec(t, 0, "UPDATE s SET cache = 0")
	for range 5 {
		res, err := sequence.Patient(s.open(t, sequence.StrategyIncrement)).Reserve(t.Context(), s.request(1))
		if err != nil || res.First/100 != 1 {
			t.Errorf("got %v, %v, want ids of stripe 2", res, err)
		}
	}
	s.exec(t, 1, "UPDATE s SET cache = 0")
	_, err := sequence.Patient(s.open(t, sequence.StrategyIncrement)).Reserve(t.Context(), s.request(1))
	if !errors.Is(err, sequence.ErrBadRow) || !strings.Contains(err.Error(), "WHERE id = 2") || !strings.Contains(err.Error(), "WHERE id = 3") {
		t.Errorf("got %v, want ErrBadRow with all rows", err)
	}
}

// Seed makes what is missing where nothing is, and else raises what is behind.
func TestStripedSeed(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 3, Chunk: 100})
	store := s.open(t, sequence.StrategyCAS)
	if _, err := store.Reserve(t.Context(), s.request(1)); !errors.Is(err, sequence.ErrNoRow) || !strings.Contains(err.Error(), "seqgate init") {
		t.Errorf("before: got %v, want ErrNoRow that says what to do", err)
	}
	var all sync.WaitGroup
	for range 4 { // processes that do so at the same time, with the servers in any order
		all.Go(func() {
			if err := s.open(t, sequence.StrategyCAS).Seed(t.Context(), s.database, "s", 1, 10); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, tt := range []struct {
		name        string
		next, cache int64
		want        []int64 // the next id of each stripe
	}{
		{"first", 1, 10, []int64{1, 101, 201}},
		{"again", 1, 50, []int64{1, 101, 201}},
		{"higher", 150, 10, []int64{300, 150, 201}},
		{"in a chunk of stripe 1", 351, 10, []int64{351, 400, 500}},
		{"lower", 2, 10, []int64{351, 400, 500}},
	} {
		if err := store.Seed(t.Context(), s.database, "s", tt.next, tt.cache); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		found, err := store.Stripes(t.Context(), s.database, "s")
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, st := range found {
			got = append(got, st.Next)
			if st.Cache != 10 {
				t.Errorf("%s: got the cache %d, want 10", tt.name, st.Cache)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || describe(found) != "1 a, 2 b, 3 a" {
			t.Errorf("%s: stripes %s, next ids (-want +got):\n%s", tt.name, describe(found), diff)
		}
	}
}

// Stripes that cannot be reached are neither seeded nor left behind without a word.
func TestStripedSeedNeedsAll(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 100})
	dead := s.open(t, sequence.StrategyCAS, s.servers[0].Addr, "127.0.0.1:1")
	err := dead.Seed(t.Context(), s.database, "s", 1, 10)
	if err == nil || !strings.Contains(err.Error(), "server b") {
		t.Errorf("got %v, want an error that names server b", err)
	}
	if got := s.stripes(t); got != "" {
		t.Errorf("got the stripes %s, want none", got)
	}
	s.seeded(t, 1, 10)
	_, err = dead.Raise(t.Context(), sequence.Request{Database: s.database, Table: "s", After: 1000})
	if err == nil || !strings.Contains(err.Error(), "server b") {
		t.Errorf("got %v, want an error that names server b", err)
	}
	if a, b := s.nextID(t, 0), s.nextID(t, 1); a != 501 || b != 1 {
		t.Errorf("got next_id %d and %d, want 501 and 1", a, b)
	}
}
