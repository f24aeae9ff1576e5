package soak

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/testgate"
	"github.com/seqgate/seqgate/sequence"
)

var (
	duration = flag.Duration("soak.for", 0, "how long each profile takes, half of it on each kind of server; 0: as short as it can be")
	seed     = flag.Int64("soak.seed", -1, "what the first round begins from, the next with 1 more; 0 takes any, and so does -1 but for chaos, which takes 9")
	inserts  = flag.Int("soak.inserts", 100, "INSERTs of each of 32 sessions of the profile shards; 8 sessions more make an eighth as many of 100 rows")
)

// A round has faultTime with faults, then everything must be back in time, and calmTime without an error.
const (
	calmTime      = 2 * time.Second
	decideTimeout = 30 * time.Second // in which transactions that are prepared are ended
	roundTime     = 28 * time.Second // about
	// busyRecovery is how long after the last fault everything must be back: some seconds on an idle machine, a minute and more on
	// one with a load of 30.
	busyRecovery = 90 * time.Second
)

func TestMain(m *testing.M) {
	leaseMain()
	_ = mysql.SetLogger(&mysql.NopLogger{}) // never fails; connections that break are no news here
	servertest.Main(m)
}

// Whatever befalls seqgates, servers and networks, ids are given once, and what clients were told is true.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	binary := buildWithClock(t)
	for name, run := range map[string]func(t *testing.T, binary string){"ids": soakIDs, "shards": soakShards, "chaos": soakChaos} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, binary)
		})
	}
}

// rounds runs rounds for half of the duration, until one fails. usual is the seed when none is asked for; 0: any.
func rounds(t *testing.T, usual uint64, round func(t *testing.T, seed uint64)) {
	first := usual
	if *seed >= 0 {
		first = uint64(*seed)
	}
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	for i := range max(1, uint64(*duration/2/roundTime)) {
		if ok := t.Run(fmt.Sprintf("seed=%d", first+i), func(t *testing.T) { round(t, first+i) }); !ok {
			return
		}
	}
}

// ids are many refills: each table has a strategy of its own for its row, but for mixed, on whose row each gate uses another, and
// those that each gate has for itself. The caches are small.
var ids = profile{
	tables: []table{
		{name: "locked", column: "BIGINT PRIMARY KEY", refill: sequence.StrategyForUpdate},
		{name: "swapped", column: counted, refill: sequence.StrategyCAS},
		{name: "incremented", column: counted, refill: sequence.StrategyIncrement},
		{name: "mixed", column: counted},
		{name: "ordered", column: "BIGINT PRIMARY KEY", refill: sequence.StrategyIncrement, ordered: true},
		{name: "own1", column: counted, gate: 1}, {name: "own2", column: counted, gate: 2}, {name: "own3", column: counted, gate: 3},
	},
	gates: []settings{{sequence.StrategyForUpdate, 10, "in_order"}, {sequence.StrategyCAS, 30, "in_order"}, {sequence.StrategyIncrement, 120, "in_order"}},
	config: "drain_timeout: 2s\n" +
		"tls: {backend: disabled} # so that connections can be cut at chosen statements",
	cache: 5, timeout: 2 * time.Second, statements: true, bounded: true, clients: 24, rows: 5, recovery: busyRecovery,
}

func soakIDs(t *testing.T, binary string) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		servers := open(t, s)
		rounds(t, 0, func(t *testing.T, seed uint64) {
			ids.round(t, servers, binary, seed, slices.Concat(serverFaults, editFaults), slices.Concat(gateFaults, statementFaults))
		})
	})
}

// chaos is a server of sequences and two shards. The rows have padding so that disks have to grow.
var chaos = profile{
	tables: []table{
		{name: "plain", column: anyID},
		{name: "pieces", column: anyID, sharded: true},
		{name: "flakes", column: anyID, sharded: true, generator: "main.flake"},
		{name: "own1", column: anyID, gate: 1}, {name: "own2", column: anyID, gate: 2}, {name: "own3", column: anyID, gate: 3},
	},
	shards: []string{"-80", "80-"},
	gates:  []settings{{sequence.StrategyForUpdate, 60, "in_order"}, {sequence.StrategyCAS, 60, "xa"}, {sequence.StrategyIncrement, 60, "in_order"}},
	config: "worker_ids: {lease: 10s, quarantine: 1s}\ndrain_timeout: 2s\n" +
		"tls: {backend: disabled} # so that packets can be cut anywhere",
	user: "gate", cache: 8, timeout: 2 * time.Second, bytes: true, clients: 18, rows: 8, recovery: busyRecovery,
}

// room is how much of a server's disk is free.
const room = 96 << 20

func soakChaos(t *testing.T, binary string) {
	servertest.PrivateSet(t, 3, func(t *testing.T, private []*servertest.Server) {
		disks, err := servertest.OnSmallDisks(t, private, room)
		if err != nil {
			t.Logf("no full disks: %v", err)
		}
		servers := open(t, private...)
		for i, d := range disks {
			servers[i].disk = d
		}
		rounds(t, 9, func(t *testing.T, seed uint64) {
			chaos.round(t, servers, binary, seed, slices.Concat(serverFaults, diskFaults), slices.Concat(gateFaults, clockFaults), networkFaults)
		})
	}, "--skip-log-bin") // MySQL waits a minute for room for that log
}

// round has faults befall a new cluster on the servers, and judges what was seen.
func (p profile) round(t *testing.T, servers []*server, binary string, seed uint64, faults ...[]kind) {
	t.Logf("repeat it with -soak.seed=%d", seed)
	c := newCluster(t, p, servers, binary)
	h := &History{Bounded: p.bounded}
	probe := newClient(p.clients+1, c, seed)
	probe.awaitAll(t)
	for _, g := range c.gates {
		h.Gates = append(h.Gates, Gate{Before: g.resources(t), Race: testgate.HasRaceDetector()})
	}
	end := startLoad(t, c, seed, (*client).run)
	c.shake(t, seed, faults...)
	shaken := c.since()
	probe.awaitAll(t)
	h.Calm = c.awaitCalm(t)
	h.Calls, h.Faults = slices.Concat(end(), probe.calls, c.calls), c.faults
	c.awaitDecided(t)
	for i, g := range c.gates {
		h.Gates[i].Process = g.process().Name
		for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			if h.Gates[i].After = g.resources(t); h.Gates[i].recovered() || time.Since(begun) > p.recovery {
				break
			}
		}
	}
	c.stop(t)
	c.collect(t, h)
	c.checkCuts(t)
	report(t, h)
	t.Logf("the faults: %v; what gates used: %+v", c.kinds, h.Gates)
	t.Logf("all back %v after the last fault; whole round %v", ms(h.Calm.Begin-shaken), c.since().Round(time.Second))
}

func report(t *testing.T, h *History) {
	t.Helper()
	t.Log(h.Summary())
	vs := h.Check()
	for _, v := range vs[:min(len(vs), mostReported)] {
		t.Error(v)
	}
	if len(vs) > mostReported {
		t.Errorf("%d violations", len(vs))
	}
}

func (g *gate) resources(t *testing.T) Resources {
	t.Helper()
	u, err := g.process().Usage()
	if err != nil {
		t.Fatal(err)
	}
	return Resources{u.Goroutines, u.Resident}
}

const (
	mostStall = 500 * time.Millisecond // in the calm
	mostCalms = 10                     // that are begun
)

// awaitCalm returns a span of calmTime at least in which neither the machine nor a server stood still: calls that time out in a
// stall are no fault of seqgate's. The last of mostCalms counts whatever is in it.
func (c *cluster) awaitCalm(t *testing.T) Span {
	t.Helper()
	begin := c.since()
	for end, calms := begin, 1; ; {
		before := end
		time.Sleep(20 * time.Millisecond)
		for _, s := range c.servers {
			if _, err := s.admin.ExecContext(t.Context(), "DO 1"); err != nil {
				t.Fatal(err)
			}
		}
		end = c.since()
		if stall := end - before; stall > mostStall && calms < mostCalms {
			t.Logf("a stall of %v; the calm begins again", stall)
			begin, calms = end, calms+1
		}
		if end-begin >= calmTime {
			return Span{Begin: begin, End: end}
		}
	}
}

// awaitDecided returns when no transaction is prepared any more.
func (c *cluster) awaitDecided(t *testing.T) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		left := 0
		for _, s := range c.servers {
			left += prepared(t, s.admin)
		}
		if left == 0 {
			t.Logf("all transactions were decided in %v", ms(time.Since(begun)))
			return
		}
		if time.Since(begun) > decideTimeout {
			t.Fatalf("%d transactions are still prepared after %v", left, decideTimeout)
		}
	}
}

func prepared(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "XA RECOVER")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// checkCuts logs what the networks did, among which must be connections that were cut in the middle of a packet.
func (c *cluster) checkCuts(t *testing.T) {
	t.Helper()
	var cuts, within, delayed, refused, lost int64
	for _, g := range c.gates {
		for _, r := range g.networks {
			cuts, within, delayed = cuts+r.counts.cuts.Load(), within+r.counts.within.Load(), delayed+r.counts.delayed.Load()
			refused, lost = refused+r.counts.refused.Load(), lost+r.counts.lost.Load()
		}
	}
	t.Logf("the networks cut %d connections, %d of them within a packet, delayed %d pieces, and refused connections %d times; %d found no server",
		cuts, within, delayed, refused, lost)
	if within == 0 && c.bytes {
		t.Error("no connection was cut within a packet")
	}
}

// sharded is cases C30 to C32 of the list of cases: 32 sessions with 1000 INSERTs each. A tenth of them shows the same.
var sharded = profile{
	tables:  []table{{name: "user", column: "BIGINT PRIMARY KEY", sharded: true}},
	shards:  []string{"-40", "40-80", "80-c0", "c0-"},
	gates:   []settings{{sequence.StrategyForUpdate, 200, "in_order"}, {sequence.StrategyForUpdate, 200, "in_order"}},
	config:  "tls: {backend: disabled}",
	cache:   200,
	timeout: 30 * time.Second, bounded: true, clients: 40, rows: 100, recovery: busyRecovery,
}

// Ids of INSERTs into shards are given once, in order in each process, and without a gap in each statement: C30 by one seqgate, C31
// by two on one sequence, C32 by two of which one is killed.
func soakShards(t *testing.T, binary string) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		servers := open(t, s)
		one := sharded
		one.gates = one.gates[:1]
		t.Run("one seqgate", func(t *testing.T) { one.insertAll(t, servers, binary) })
		t.Run("two seqgates", func(t *testing.T) { sharded.insertAll(t, servers, binary) })
		t.Run("kill", func(t *testing.T) { sharded.insertAll(t, servers, binary, onGate("kill -9", gateEnds, killGate)) })
	})
}

// insertAll has 32 sessions insert a row at a time and 8 sessions many, and faults come amid.
func (p profile) insertAll(t *testing.T, servers []*server, binary string, faults ...kind) {
	c := newCluster(t, p, servers, binary)
	var left sync.WaitGroup
	left.Add(p.clients)
	amid := sync.OnceFunc(func() {
		for _, k := range faults {
			if err := c.befall(t.Context(), t, k, rand.New(rand.NewPCG(1, 1))); err != nil {
				t.Error(err)
			}
		}
	})
	end := startLoad(t, c, 1, func(client *client, _ <-chan struct{}) {
		defer left.Done()
		rows, calls := int64(1), *inserts
		if client.number%5 == 0 {
			rows, calls = p.rows, max(1, *inserts/8)
		}
		var s *session
		for n, ok := 0, false; n < calls; n++ {
			if n == calls/3 && client.number == 1 {
				amid()
			}
			for begun := time.Now(); !ok && time.Since(begun) < p.recovery; time.Sleep(mostThinking) {
				if s, ok = client.open(c.gates[client.number%len(c.gates)], false); !ok {
					s.close()
				}
			}
			if ok {
				ok = s.insertAlone(p.tables[0], rows).Outcome == Done
			}
			if !ok {
				s.close()
			}
		}
		s.close()
	})
	left.Wait()
	h := &History{Calls: end(), Faults: c.faults, Bounded: true}
	c.stop(t)
	c.collect(t, h)
	report(t, h)
}
