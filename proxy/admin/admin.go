// Package admin answers over HTTP what operators and load balancers ask: whether
// seqgate lives, whether it takes clients, and how its sequences stand.
package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/shapes"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/vschema"
)

// Config is what the admin address tells. What is nil is told as empty, and a nil
// Ready as ready.
type Config struct {
	Ready     func() bool              // whether new clients are taken
	Sequences func() []sequence.Status // the sequences of this process
	Keyed     func() []keyed.Status    // those that count by key
	Reloads   func() Reloads           // how often the vschema was read again

	ConfigReloads func() Reloads        // how often the configuration was
	Certificates  func() Reloads        // how often the files of certificates were
	Traffic       func() meter.Snapshot // what clients did
	Statements    func() ([]shapes.Count, shapes.Count, []shapes.Slow)
	Generators    func() []GeneratorStatus       // the generators of type snowflake
	API           func() []idapi.Count           // the answers of ids over HTTP
	ColumnMax     func() map[sequence.Name]int64 // of sequences, the largest id that the columns hold which they fill, as far as it is known
	// Reload reads the configuration and its files again; nil: the path is not there.
	Reload func() (ReloadReport, error)
	// Kill ends the session with an id, or with query the statement that it runs; nil: the path is not there.
	Kill func(ctx context.Context, id uint64, query bool) (found bool, err error)
	// Pause has statements wait for a shard, named keyspace:shard, until Resume; nil: the paths are not there.
	Pause, Resume func(name string) (found bool)
	Version       string // seqgate's own

	History  *History                                                    // for the charts
	Sessions func(ctx context.Context, most int) ([]Session, int, error) // of the clients, and how many there are
	VSchema  func() *vschema.VSchema                                     // nil when there is none
	Servers  []Server                                                    // of all keyspaces, in the order of the configuration
	Health   func() []health.Status                                      // of those servers
}

// New returns the handler of the admin address.
//
//	GET /           the status page, with more at /sessions, /statements and /vschema (docs/operating.md)
//	GET /livez      200 as long as the process answers
//	GET /readyz     200 while clients are taken, 503 once seqgate drains; /readyz?servers also 503 with the reason while a
//	                server of a shard is not known to answer
//	GET /sequences  the sequences of this process, as JSON
//	GET /keyed      those that count by key, as JSON
//	GET /metrics    all that there is to count, in Prometheus's text format (docs/operating.md)
//	GET /status.json    a StatusReport, which `seqgate status` shows
//	GET /sessions.json  a SessionsReport
//	GET /statements.json  a StatementsReport
//	POST /-/reload  reads the configuration and its files again, for clients on the same machine: 200 with a
//	                ReloadReport as JSON, or 422 with what is wrong
//	POST /-/kill?id=N  ends a client's session, with &query the statement that it runs, for clients on the same machine:
//	                200, 404 when there is no such session, or 502 with what the server says
//	POST /-/pause?shard=K:S   has statements wait for a shard, until
//	POST /-/resume?shard=K:S  both for clients on the same machine: 200, or 404 when there is no such shard
func New(cfg Config) http.Handler {
	cfg.fill()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if reason := cfg.unready(r.URL.Query().Has("servers")); reason != "" {
			say(w, http.StatusServiceUnavailable, reason)
			return
		}
		say(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /sequences", func(w http.ResponseWriter, _ *http.Request) { list(w, cfg.Sequences(), cfg.stateOf) })
	mux.HandleFunc("GET /keyed", func(w http.ResponseWriter, _ *http.Request) { list(w, cfg.Keyed(), cfg.keyedStateOf) })
	mux.Handle("GET /metrics", metricsHandler(cfg))
	if cfg.Reload != nil {
		mux.Handle("POST /-/reload", reloadHandler(cfg.Reload))
	}
	if cfg.Kill != nil {
		mux.Handle("POST /-/kill", onThisMachine("end sessions: use a loopback address", killHandler(cfg.Kill)))
	}
	if cfg.Pause != nil {
		mux.Handle("POST /-/pause", shardHandler(cfg.Pause))
		mux.Handle("POST /-/resume", shardHandler(cfg.Resume))
	}
	registerReports(mux, cfg)
	registerPages(mux, cfg)
	return mux
}

// unready says why no clients should come; empty when they may. Servers that do not answer count if those are asked for.
func (c *Config) unready(servers bool) string {
	if !c.Ready() {
		return "draining"
	}
	if servers {
		for _, s := range c.Health() {
			if s.State == health.Down || s.State == health.Unknown {
				return "server of " + shardName(s) + " is " + string(s.State)
			}
		}
	}
	return ""
}

// shardName names a keyspace, and the shard of a sharded one, as clients name it. The server's address and errors are for those
// who know the password.
func shardName(s health.Status) string {
	if s.Shard == "-" || s.Shard == "" {
		return s.Keyspace
	}
	return s.Keyspace + ":" + s.Shard
}

// fill puts what tells nothing in the place of what is nil.
func (c *Config) fill() {
	began := time.Now()
	if c.Ready == nil {
		c.Ready = func() bool { return true }
	}
	if c.Sequences == nil {
		c.Sequences = func() []sequence.Status { return nil }
	}
	if c.Keyed == nil {
		c.Keyed = func() []keyed.Status { return nil }
	}
	if c.Reloads == nil {
		c.Reloads = func() Reloads { return Reloads{} }
	}
	if c.ConfigReloads == nil {
		c.ConfigReloads = func() Reloads { return Reloads{} }
	}
	if c.Certificates == nil {
		c.Certificates = func() Reloads { return Reloads{} }
	}
	if c.Traffic == nil {
		c.Traffic = func() meter.Snapshot { return meter.Snapshot{Started: began} }
	}
	if c.Statements == nil {
		c.Statements = func() (all []shapes.Count, others shapes.Count, slow []shapes.Slow) { return all, others, slow }
	}
	if c.Generators == nil {
		c.Generators = func() []GeneratorStatus { return nil }
	}
	if c.Health == nil {
		c.Health = func() []health.Status { return nil }
	}
	if c.API == nil {
		c.API = func() []idapi.Count { return nil }
	}
	if c.ColumnMax == nil {
		c.ColumnMax = func() map[sequence.Name]int64 { return nil }
	}
	if c.History == nil {
		c.History = NewHistory(c.Traffic, c.Sequences)
	}
	if c.Sessions == nil {
		c.Sessions = func(context.Context, int) ([]Session, int, error) { return nil, 0, nil }
	}
	if c.VSchema == nil {
		c.VSchema = func() *vschema.VSchema { return nil }
	}
}

// list answers with the JSON of each status.
func list[S, J any](w http.ResponseWriter, statuses []S, of func(S) J) {
	all := make([]J, 0, len(statuses))
	for _, s := range statuses {
		all = append(all, of(s))
	}
	answer(w, all)
}

// answer answers with JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(v) // the client has gone, if anything
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client has gone, if anything
}

// SequenceState is a sequence as JSON. Ids are strings: JavaScript's numbers end at 2^53.
type SequenceState struct {
	Sequence  string    `json:"sequence"` // keyspace.sequence
	Keyspace  string    `json:"keyspace"`
	Name      string    `json:"name"` // database.table
	Strategy  string    `json:"strategy"`
	NextID    int64     `json:"next_id,string"` // the next one from memory
	Remaining int64     `json:"remaining"`      // ids in memory
	Cache     int64     `json:"cache"`
	Step      int64     `json:"step"`
	Rate      float64   `json:"ids_per_second"`
	Runway    float64   `json:"runway_seconds"` // how long the ids in memory last at that rate
	Ordered   bool      `json:"ordered"`
	Waiting   int       `json:"waiting"`
	Waits     int64     `json:"waits"` // callers that had to wait so far
	Refills   int64     `json:"refills"`
	Dropped   int64     `json:"dropped"` // ids reserved and left out
	Raised    int64     `json:"raised"`
	Failures  int64     `json:"failures"`
	Server    string    `json:"server,omitempty"` // that gave the latest block
	Skipped   int64     `json:"skipped"`          // ids left out because of failovers
	LastError string    `json:"last_error,omitempty"`
	AwaySince time.Time `json:"away_since,omitzero"`
}

func (c *Config) stateOf(s sequence.Status) SequenceState {
	st := SequenceState{
		Sequence: s.Name.String(), Keyspace: s.Name.Keyspace, Name: s.Name.Database + "." + s.Name.Table, Strategy: s.Strategy, NextID: s.Current.First,
		Remaining: s.Current.N + s.Next.N, Cache: s.Cache, Step: s.Step, Rate: s.Rate, Runway: s.Runway.Seconds(),
		Ordered: s.Ordered, Waiting: s.Waiting, Waits: s.Waits, Refills: s.Refills, Dropped: s.Dropped, Raised: s.Raised,
		Failures: s.Failures, Server: s.Server, Skipped: s.Skipped, AwaySince: s.AwaySince,
	}
	if s.LastError != nil {
		st.LastError = s.LastError.Error()
	}
	return st
}

// KeyedState is a keyed sequence as JSON.
type KeyedState struct {
	Sequence  string    `json:"sequence"` // keyspace.sequence
	Keyspace  string    `json:"keyspace"`
	Name      string    `json:"name"` // database.table
	Sections  int       `json:"sections"`
	Held      int       `json:"held"` // sections that this process counts
	Keys      int       `json:"keys"` // keys in memory
	Opened    int64     `json:"opened"`
	Lost      int64     `json:"lost"`
	Forwards  int64     `json:"forwards"` // requests to other processes
	Failures  int64     `json:"failures"`
	LastError string    `json:"last_error,omitempty"`
	AwaySince time.Time `json:"away_since,omitzero"`
}

func (c *Config) keyedStateOf(s keyed.Status) KeyedState {
	st := KeyedState{
		Sequence: s.Name.String(), Keyspace: s.Name.Keyspace, Name: s.Name.Database + "." + s.Name.Table, Sections: s.Sections, Held: s.Held, Keys: s.Keys, Opened: s.Opened,
		Lost: s.Lost, Forwards: s.Forwards, Failures: s.Failures, AwaySince: s.AwaySince,
	}
	if s.LastError != nil {
		st.LastError = s.LastError.Error()
	}
	return st
}
