package chaos

import (
	"bufio"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/soak"
	"github.com/seqgate/seqgate/internal/testgate"
)

var (
	duration = flag.Duration("chaos.for", time.Minute, "how long the rounds take, half of it on each kind of server")
	seed     = flag.Uint64("chaos.seed", 9, "what the first round begins from, the next with 1 more; 0 takes any")
)

// A round has faultTime with faults, then everything must be back within recoveryTimeout, and calmTime without an error.
const (
	faultTime       = 11 * time.Second
	recoveryTimeout = 45 * time.Second
	calmTime        = time.Second
	decideTimeout   = 30 * time.Second // in which transactions that are prepared are ended
	roundTime       = 30 * time.Second // about
)

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // never fails; connections that break are no news here
	servertest.Main(m)
}

// Whatever befalls gates, servers and networks, ids are given once, and what clients were told is true.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	binary := buildWithClock(t)
	servertest.PrivateSet(t, 3, func(t *testing.T, private []*servertest.Server) {
		servers := prepareServers(t, private)
		rounds := max(1, uint64(*duration/2/roundTime))
		for i := range rounds {
			if ok := t.Run(fmt.Sprintf("seed=%d", first+i), func(t *testing.T) { round(t, servers, binary, first+i) }); !ok {
				return
			}
		}
	}, "--skip-log-bin") // MySQL waits a minute for room for that log
}

// room is how much of a server's disk is free.
const room = 96 << 20

func prepareServers(t *testing.T, private []*servertest.Server) (servers []*server) {
	t.Helper()
	disks, err := servertest.OnSmallDisks(t, private, room)
	if err != nil {
		t.Logf("no full disks: %v", err)
	}
	for i, p := range private {
		s := &server{Server: p, number: i + 1, admin: openAdmin(t, p)}
		if disks != nil {
			s.disk = disks[i]
		}
		servers = append(servers, s)
	}
	return servers
}

// openAdmin opens a pool whose statements all come to an end: those on tables that a transaction has locks of would wait for a day,
// as long as it is prepared.
func openAdmin(t *testing.T, s *servertest.Server) *sql.DB {
	t.Helper()
	config, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	config.ReadTimeout, config.WriteTimeout = 2*patience, 2*patience
	config.Params = map[string]string{"lock_wait_timeout": lockTimeout, "innodb_lock_wait_timeout": lockTimeout}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// round has faults befall a new cluster on the servers, and judges what was seen.
func round(t *testing.T, servers []*server, binary string, seed uint64) {
	t.Logf("repeat it with -chaos.seed=%d", seed)
	c := newCluster(t, servers, binary, seed)
	h := &History{}
	t.Cleanup(func() { c.logIfFailed(t) })
	probe := newClient(clients+1, c, seed)
	probe.awaitAll(t)
	for _, g := range c.gates {
		h.Gates = append(h.Gates, Usage{Process: g.process().Name, Before: g.resources(t), Race: testgate.HasRaceDetector()})
	}
	stop := startLoad(t, c, seed)
	c.shake(t, seed)
	shaken := c.since()
	probe.awaitAll(t)
	h.Calm = soak.AwaitCalm(t, c.since, calmTime, c.main().admin, c.servers[1].admin, c.servers[2].admin)
	h.Calls = append(stop(), probe.calls...)
	h.Faults = c.faults
	c.awaitDecided(t)
	for i, g := range c.gates {
		h.Gates[i].Process = g.process().Name
		g.awaitResources(t, &h.Gates[i])
		t.Logf("process %s used %v before the load, %v after it", h.Gates[i].Process, h.Gates[i].Before, h.Gates[i].After)
	}
	c.stop(t)
	c.collect(t, h)
	c.checkCuts(t)
	report(t, h)
	t.Logf("the faults: %v", c.kinds)
	t.Logf("%s; all back %v after the last fault; whole round %v", h.Summary(), (h.Calm.Begin - shaken).Round(time.Millisecond), c.since().Round(time.Second))
}

// checkCuts logs what the networks did, among which must be connections that were cut in the middle of a packet.
func (c *cluster) checkCuts(t *testing.T) {
	t.Helper()
	var cuts, within, delayed, refused, lost int64
	for _, g := range c.gates {
		for _, r := range g.links() {
			cuts, within, delayed = cuts+r.counts.cuts.Load(), within+r.counts.within.Load(), delayed+r.counts.delayed.Load()
			refused, lost = refused+r.counts.refused.Load(), lost+r.counts.lost.Load()
		}
	}
	t.Logf("the networks cut %d connections, %d of them within a packet, delayed %d pieces, and refused connections %d times; %d found no server",
		cuts, within, delayed, refused, lost)
	if within == 0 {
		t.Error("no connection was cut within a packet")
	}
}

// felt matches the errors in a log by which a gate tells of a fault that it goes on from by itself: worker ids that cannot be
// leased, and a server that is gone in the second phase of a COMMIT.
var felt = regexp.MustCompile(`msg="worker id: |msg="generators have no worker ids yet;|recovery (does it|decides)"`)

// stop stops the gates, whose logs must tell of no bug.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	for _, g := range c.gates {
		if err := g.process().Stop(); err != nil {
			t.Error(err)
		}
		for _, p := range g.all {
			bugs := slices.DeleteFunc(p.Bugs(), felt.MatchString)
			if len(bugs) > 0 {
				_, behind, _ := strings.Cut(p.Log(), bugs[0])
				t.Errorf("process %s logged %s%s", p.Name, bugs[0], behind[:min(len(behind), 4000)])
			}
		}
	}
}

// logIfFailed shows the faults of a round that failed.
func (c *cluster) logIfFailed(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, f := range c.faults {
		t.Log(f)
	}
	for _, stacks := range c.hung {
		t.Log(stacks)
	}
}

// awaitAll inserts through every gate into every table, and fails the test when that does not succeed in time.
func (c *client) awaitAll(t *testing.T) {
	t.Helper()
	begun := time.Now()
	for _, g := range c.cluster.gates {
		for _, table := range tables {
			if table.gate != 0 && table.gate != g.number {
				continue
			}
			for !c.insertOnce(g, table) {
				if time.Since(begun) > recoveryTimeout {
					t.Fatalf("%v after the last fault process %s does not fill %s: %s; its log:\n%s",
						recoveryTimeout, g.process().Name, table.name, c.calls[len(c.calls)-1], g.process().Dump())
				}
				for _, s := range c.cluster.servers { // one may have answered once more before it ended of a full disk
					s.StartIfEnded(t)
				}
			}
		}
	}
}

func (c *client) insertOnce(g *gate, table table) bool {
	s, ok := c.open(g, false)
	defer s.close()
	if !ok {
		return false
	}
	call := s.insert(table, 1)
	call.Rows, call.Parts = fate(call, false)
	if call.Outcome == soak.Done {
		s.keep(table, call, false)
	}
	return call.Outcome == soak.Done
}

// awaitDecided returns when no transaction is prepared any more.
func (c *cluster) awaitDecided(t *testing.T) {
	t.Helper()
	begun, most := time.Now(), 0
	for ; ; time.Sleep(50 * time.Millisecond) {
		left := 0
		for _, s := range c.servers {
			left += s.prepared(t)
		}
		if left == 0 {
			t.Logf("%d transactions were prepared still; all were decided in %v", most, time.Since(begun).Round(time.Millisecond))
			return
		}
		most = max(most, left)
		if time.Since(begun) > decideTimeout {
			t.Fatalf("%d transactions are still prepared after %v", left, decideTimeout)
		}
	}
}

func (s *server) prepared(t *testing.T) (n int) {
	t.Helper()
	rows, err := s.admin.QueryContext(t.Context(), "XA RECOVER")
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

// resources reads what the gate's process uses from its metrics.
func (g *gate) resources(t *testing.T) Resources {
	t.Helper()
	asking := http.Client{Timeout: recoveryTimeout}
	defer asking.CloseIdleConnections()
	answer, err := asking.Get("http://" + g.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	values := metrics(t, answer.Body)
	r := Resources{Goroutines: int64(values["go_goroutines"]), Memory: int64(values["process_resident_memory_bytes"])}
	if r.Goroutines == 0 || r.Memory == 0 {
		t.Fatalf("the metrics of process %s tell of no goroutines, or no memory: %v", g.process().Name, r)
	}
	return r
}

func metrics(t *testing.T, body io.Reader) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if slices.Contains([]string{"go_goroutines", "process_resident_memory_bytes"}, name) {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			values[name] = n
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// awaitResources returns when the process uses as little again as it may, or else after recoveryTimeout.
func (g *gate) awaitResources(t *testing.T, u *Usage) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if u.After = g.resources(t); u.settled() || time.Since(begun) > recoveryTimeout {
			return
		}
	}
}

// mostReported is how many violations are printed: one wrong id can make thousands.
const mostReported = 10

func report(t *testing.T, h *History) {
	t.Helper()
	vs := h.Check()
	if len(vs) == 0 {
		return
	}
	for _, v := range vs[:min(len(vs), mostReported)] {
		t.Error(v)
	}
	t.Errorf("%d violations", len(vs))
}
