package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seqgate/seqgate/internal/servertest"
)

const deployed = "../../deploy"

// promtool runs Prometheus's tool in the folder of the rules.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), servertest.Promtool(t), args...)
	cmd.Dir = filepath.Join(deployed, "prometheus")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAlertRules(t *testing.T) {
	promtool(t, "check", "rules", "--lint=all", "--lint-fatal", "alerts.yml")
	promtool(t, "check", "config", "prometheus.yml")
	promtool(t, "test", "rules", "alerts_test.yml")
	for _, r := range alertRules(t) {
		if !strings.HasPrefix(r.Alert, "Seqgate") || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || len(r.Annotations["description"]) < 80 {
			t.Errorf("alert %s lacks a severity, a summary or a description that says what to do", r.Alert)
		}
	}
}

type alertRule struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func alertRules(t *testing.T) (all []alertRule) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployed, "prometheus", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alertRule } }
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no rules")
	}
	return all
}

// dashboard gives the queries of the Grafana dashboard, with values in the places of its variables.
func dashboard(t *testing.T) (exprs []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployed, "grafana", "seqgate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Definition string }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %s has no query", p.Title)
		}
		for _, target := range p.Targets {
			exprs = append(exprs, strings.NewReplacer("$__rate_interval", "1m", "$instance", ".*", "$sequence", ".*").Replace(target.Expr))
		}
	}
	for _, v := range file.Templating.List {
		if series, _, ok := strings.Cut(strings.TrimPrefix(v.Definition, "label_values("), ", "); ok {
			exprs = append(exprs, series)
		}
	}
	return exprs
}

// fetch gives what an address answers.
func fetch(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return string(body), err
}

// query asks a Prometheus, and gives how many series answer.
func query(t *testing.T, prometheus, expr string) int {
	t.Helper()
	body, err := fetch(t.Context(), "http://"+prometheus+"/api/v1/query?query="+url.QueryEscape(expr))
	var answer struct {
		Status   string
		Warnings []string
		Data     struct{ Result []any }
	}
	if err == nil {
		err = json.Unmarshal([]byte(body), &answer)
	}
	if err != nil || answer.Status != "success" || len(answer.Warnings) > 0 {
		t.Errorf("%s: %v %s", expr, err, body)
	}
	return len(answer.Data.Result)
}

// measuredVSchema has a sequence of each kind and a generator.
const measuredVSchema = `{"keyspaces": {"main": {
	"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter"}}},
	"tables": {
		"users": {"auto_increment": {"column": "id", "sequence": "users_seq"}},
		"flakes": {"auto_increment": {"column": "id", "generator": "flake"}},
		"messages": {"auto_increment": {"column": "seq_no", "sequence": "msg_seq", "key": "user_id"}},
		"users_seq": {"type": "sequence"}, "msg_seq": {"type": "sequence"}
	}}}}`

// serveMeasured starts a seqgate that has something to tell of everything, with this section of the configuration, and
// gives its admin address and a client.
func serveMeasured(t *testing.T, s *servertest.Server, section string) (admin string, db *sql.DB) {
	t.Helper()
	p := newPlace(t, s, measuredVSchema, "CREATE TABLE users (id INT PRIMARY KEY, n INT)", "CREATE TABLE flakes (id BIGINT PRIMARY KEY, n INT)",
		"CREATE TABLE messages (user_id BIGINT, seq_no BIGINT, PRIMARY KEY (user_id, seq_no))")
	config, err := os.ReadFile(p.from[1])
	if err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, "measured.yaml", string(config)+`
listen: 127.0.0.1:0
`+section+"\n")
	if err := run(t.Context(), []string{"init", "--config", path}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	gate := start(t, "serve", "--config", path)
	db = openClient(t, s.User, s.Password, gate.addr, "main")
	run1(t, db, "INSERT INTO users (n) VALUES (1)", "INSERT INTO flakes (n) VALUES (1)", "INSERT INTO messages (user_id) VALUES (7)", "SELECT * FROM users")
	return gate.adminAddr(t), db
}

// metricNames are those of metrics in an expression.
var metricNames = regexp.MustCompile(`\b(seqgate|go|process)_[a-z0-9_]+`)

// The queries of the dashboard and of the alerts run without errors in a Prometheus that scrapes a seqgate, which has
// every metric that they use.
func TestQueriesInPrometheus(t *testing.T) {
	servertest.Promtool(t) // else all the rest would be for nothing
	admin, _ := serveMeasured(t, servertest.First(t), `admin: {listen: "127.0.0.1:0"}`)
	rules, err := filepath.Abs(filepath.Join(deployed, "prometheus", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	prometheus := servertest.StartPrometheus(t, writeFile(t, "prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 200ms}
rule_files: [%q]
scrape_configs: [{job_name: seqgate, static_configs: [{targets: [%q]}]}]
`, rules, admin)))
	deadline := time.Now().Add(30 * time.Second)
	for query(t, prometheus, `count_over_time(up{job="seqgate"}[1m]) >= 2 and up == 1`) == 0 {
		if t.Failed() || time.Now().After(deadline) {
			t.Fatal("Prometheus has not scraped seqgate twice in 30 s")
		}
		time.Sleep(50 * time.Millisecond)
	}
	page, err := fetch(t.Context(), "http://"+admin+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	exprs := dashboard(t)
	for _, r := range alertRules(t) {
		exprs = append(exprs, r.Expr)
	}
	for _, expr := range exprs {
		query(t, prometheus, expr)
		for _, name := range metricNames.FindAllString(expr, -1) {
			if !strings.Contains(page, "\n"+name+"{") && !strings.Contains(page, "\n"+name+" ") {
				t.Errorf("%s: /metrics has no %s", expr, name)
			}
		}
	}
	rulesWork(t, prometheus, len(alertRules(t)))
	for what, expr := range map[string]string{ // a scrape on a busy machine may have taken too long, and the next is as good
		"the ids that were given":  `sum(seqgate_sequence_values_total) >= 1 and sum(seqgate_generator_ids_total) == 1 and sum(seqgate_keyed_keys) == 1`,
		"the end of an INT column": `seqgate_sequence_last_id{sequence=~".*users_seq"} == 2147483647`,
	} {
		awaitThat(t, what, func() bool { return query(t, prometheus, expr) > 0 })
	}
}

// rulesWork waits until Prometheus has evaluated each rule, and wants no errors of that.
func rulesWork(t *testing.T, prometheus string, want int) {
	t.Helper()
	type rule struct{ Name, Health, LastError string }
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		body, err := fetch(t.Context(), "http://"+prometheus+"/api/v1/rules")
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Data struct{ Groups []struct{ Rules []rule } }
		}
		if err := json.NewDecoder(bytes.NewBufferString(body)).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		good := 0
		for _, g := range answer.Data.Groups {
			for _, r := range g.Rules {
				if r.Health == "ok" {
					good++
				} else if r.Health == "err" {
					t.Fatalf("%s: %s", r.Name, r.LastError)
				}
			}
		}
		if good == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d rules of %d were evaluated in 30 s:\n%s", good, want, body)
		}
	}
}
