package admin

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seqgate/seqgate/internal/buckets"
	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

var update = flag.Bool("update", false, "write the list of metrics in docs/operating.md from what the code does now")

// busy is a configuration that has something to tell of everything.
func busy() Config {
	var refills buckets.Histogram
	refills.Observe(2 * time.Millisecond)
	refills.Observe(time.Hour)
	users := sequence.Name{Keyspace: "main", Database: "shop", Table: "users_seq"}
	return Config{
		Sequences: func() []sequence.Status {
			return []sequence.Status{{Name: users, Strategy: sequence.StrategyCAS, Current: sequence.Range{First: 90, N: 10}, Next: sequence.Range{First: 100, N: 5},
				Given: 104, Last: 1 << 40, Values: 89, Refills: 2, Conflicts: 3, Failures: 1, Runway: 90 * time.Second, RefillTimes: refills.Snapshot()}}
		},
		Keyed: func() []keyed.Status {
			return []keyed.Status{{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: "msg_seq"}, Sections: 8, Held: 3, Forwards: 5, ForwardErrors: 1}}
		},
		ColumnMax: func() map[sequence.Name]int64 { return map[sequence.Name]int64{users: 208} },
		Generators: func() []GeneratorStatus {
			return []GeneratorStatus{{Keyspace: "main", Name: "flake", Layout: "twitter", Ends: time.Unix(1<<32, 0), Held: true, Worker: 7, Leased: true,
				LeaseLeft: 20 * time.Second, ClockKnown: true, ClockOffset: -time.Second, IDs: 4}}
		},
		Health: func() []health.Status {
			return []health.Status{{Keyspace: "main", Shard: "-", State: health.Up, Latency: time.Millisecond}}
		},
		Traffic: func() meter.Snapshot {
			return meter.Snapshot{Started: time.Unix(1000, 0), Sessions: 2, In: 5, Backends: []meter.BackendSnapshot{{Keyspace: "main", Shard: "-", Busy: 2}}}
		},
		API: func() []idapi.Count {
			return []idapi.Count{{Token: "web", Status: 200, N: 3, IDs: 40}, {Token: "web", Status: 429, N: 2}, {Status: 401, N: 1}}
		},
		Reloads: func() Reloads { return Reloads{OK: 3, Failed: 2} },
		Version: "1.2.3",
	}
}

func TestMetrics(t *testing.T) {
	w := get(t, New(busy()), "/metrics")
	if w.Code != http.StatusOK {
		t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	for _, want := range []string{
		"# TYPE seqgate_vschema_reloads_total counter",
		`seqgate_vschema_reloads_total{result="ok"} 3`, `seqgate_vschema_reloads_total{result="error"} 2`,
		`seqgate_certificate_reloads_total{result="ok"} 0`,
		`seqgate_sequence_values_total{keyspace="main",sequence="main.users_seq"} 89`,
		`seqgate_sequence_refills_total{keyspace="main",result="conflict",sequence="main.users_seq",strategy="cas"} 3`,
		`seqgate_sequence_remaining_ids{keyspace="main",sequence="main.users_seq"} 15`,
		`seqgate_sequence_last_id{keyspace="main",sequence="main.users_seq"} 208`,
		`seqgate_sequence_used_ratio{keyspace="main",sequence="main.users_seq"} 0.5`,
		`seqgate_sequence_refill_duration_seconds_bucket{keyspace="main",sequence="main.users_seq",le="0.001"} 0`,
		`seqgate_sequence_refill_duration_seconds_bucket{keyspace="main",sequence="main.users_seq",le="0.0025"} 1`,
		`seqgate_sequence_refill_duration_seconds_bucket{keyspace="main",sequence="main.users_seq",le="+Inf"} 2`,
		`seqgate_sequence_refill_duration_seconds_sum{keyspace="main",sequence="main.users_seq"} 3600.002`,
		`seqgate_keyed_forwards_total{keyspace="main",result="ok",sequence="main.msg_seq"} 4`,
		`seqgate_generator_lease_seconds{generator="flake",keyspace="main"} 20`,
		`seqgate_generator_clock_offset_seconds{generator="flake",keyspace="main"} -1`,
		`seqgate_generator_end_timestamp_seconds{generator="flake",keyspace="main",layout="twitter"} 4.294967296e+09`,
		`seqgate_connections{state="session"} 2`, `seqgate_client_received_bytes_total 5`,
		`seqgate_backend_connections{keyspace="main",shard="-",state="busy"} 2`,
		`seqgate_api_requests_total{status="429",token="web"} 2`, `seqgate_api_requests_total{status="401",token=""} 1`, `seqgate_api_ids_total{token="web"} 40`,
		`seqgate_ready 1`, "seqgate_start_time_seconds 1000", "go_goroutines ",
	} {
		if !strings.Contains(w.Body.String(), "\n"+want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", w.Body)
	}
}

// Every metric is described, and told of where there is something to tell, as client_golang's strictest registry and
// Prometheus's conventions have it.
func TestMetricsAreInOrder(t *testing.T) {
	c := newCollector(busy())
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, f := range families {
		got = append(got, f.GetName())
	}
	for _, m := range own() {
		want = append(want, m.name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-described +told):\n%s", diff)
	}
}

// However many sequences there are, the labels are bounded, and those that have theirs keep them.
func TestManySequences(t *testing.T) {
	var all []sequence.Status
	add := func(table string) {
		all = append([]sequence.Status{{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: table}, Values: 2, Refills: 1,
			Runway: time.Minute}}, all...) // before the others, as the order of names may have it
	}
	c := newCollector(Config{Sequences: func() []sequence.Status { return all }})
	values := func() int { return testutil.CollectAndCount(c, "seqgate_sequence_values_total") }
	for i := range maxSequences {
		add(fmt.Sprintf("t%d_seq", i))
	}
	if got := values(); got != maxSequences {
		t.Fatalf("got %d sequences, want %d", got, maxSequences)
	}
	for i := range 3 {
		add(fmt.Sprintf("more%d_seq", i))
	}
	if got := values(); got != maxSequences+1 {
		t.Fatalf("got %d sequences, want one more than %d for the others", got, maxSequences)
	}
	h := New(Config{Sequences: func() []sequence.Status { return all }})
	get(t, h, "/metrics")
	body := get(t, h, "/metrics").Body.String()
	if !strings.Contains(body, `seqgate_sequence_values_total{keyspace="other",sequence="other"} 6`+"\n") {
		t.Error("the others are not told of as one that gave 6 values")
	}
	if strings.Contains(body, "t2_seq") || !strings.Contains(body, "t3_seq") {
		t.Error("not the first that were seen have labels of their own")
	}
}

const (
	listBegin = "<!-- the list begins: go test ./proxy/admin -update writes it -->\n"
	listEnd   = "<!-- the list ends -->\n"
)

// docs/operating.md has all metrics, as the code has them.
func TestMetricsInDocs(t *testing.T) {
	const path = "../../docs/operating.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), listBegin)
	got, after, ended := strings.Cut(rest, listEnd)
	if !ok || !ended {
		t.Fatalf("%s has no place for the list", path)
	}
	want := metricsTable()
	if *update {
		if err := os.WriteFile(path, []byte(before+listBegin+want+listEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the code has; go test ./proxy/admin -update writes it (-code +docs):\n%s", path, diff)
	}
}

// metricsTable is the table of all metrics.
func metricsTable() string {
	var b strings.Builder
	b.WriteString("\n| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, m := range own() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.typ, strings.Join(m.labels, ", "), m.help)
	}
	b.WriteString("\n")
	return b.String()
}
