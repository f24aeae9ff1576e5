package admin

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
)

// StatusReport is how a seqgate stands, in one answer for programs.
type StatusReport struct {
	Version   string          `json:"version"`
	Started   time.Time       `json:"started"`
	Ready     bool            `json:"ready"`
	Problem   string          `json:"problem,omitempty"` // why clients should not come, or a server that does not answer
	Sessions  int             `json:"sessions"`
	Limit     int             `json:"limit"` // of sessions; 0: none
	Pinned    int             `json:"pinned"`
	Servers   []ServerReport  `json:"servers"`
	Sequences []SequenceState `json:"sequences"`
	Keyed     []KeyedState    `json:"keyed"`
}

// ServerReport is how the server of a shard stands.
type ServerReport struct {
	Keyspace  string    `json:"keyspace"`
	Shard     string    `json:"shard"` // "-" of an unsharded keyspace
	Address   string    `json:"address"`
	State     string    `json:"state"`
	Since     time.Time `json:"since,omitzero"`
	LatencyMS float64   `json:"latency_ms"`
	Version   string    `json:"version,omitempty"`
	LastError string    `json:"last_error,omitempty"`
	Paused    time.Time `json:"paused_since,omitzero"` // by seqgate shard pause
	Waiting   int64     `json:"waiting,omitempty"`     // statements and logins, until it is resumed
}

// SessionsReport lists clients' sessions.
type SessionsReport struct {
	Total    int           `json:"total"` // all of them, listed or not
	Sessions []SessionInfo `json:"sessions"`
	Problem  string        `json:"problem,omitempty"` // what a server did not tell of them
}

// SessionInfo is a session as JSON.
type SessionInfo struct {
	ID       uint64 `json:"id,string"`
	User     string `json:"user"`
	Host     string `json:"host"`
	Keyspace string `json:"keyspace"`
	Database string `json:"database"` // this and what follows as the server tells
	Command  string `json:"command"`
	Seconds  string `json:"seconds"`
	State    string `json:"state"`
	Pinned   bool   `json:"pinned"`
}

func registerReports(mux *http.ServeMux, cfg Config) {
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) { answer(w, cfg.status()) })
	mux.HandleFunc("GET /statements.json", func(w http.ResponseWriter, _ *http.Request) { answer(w, cfg.statements()) })
	mux.HandleFunc("GET /sessions.json", func(w http.ResponseWriter, r *http.Request) { answer(w, cfg.sessions(r.Context())) })
}

func (c *Config) status() StatusReport {
	traffic := c.Traffic()
	report := StatusReport{
		Version: c.Version, Started: traffic.Started, Ready: c.Ready(), Problem: c.unready(true),
		Sessions: traffic.Sessions, Limit: traffic.Limit, Pinned: traffic.Pinned,
		Servers: []ServerReport{}, Sequences: []SequenceState{}, Keyed: []KeyedState{}, // lists in JSON, also when they are empty
	}
	for _, s := range c.Health() {
		server := serverReport(s)
		for _, b := range traffic.Backends {
			if b.Keyspace == server.Keyspace && b.Shard == server.Shard {
				server.Paused, server.Waiting = b.Paused, b.Waiting
			}
		}
		report.Servers = append(report.Servers, server)
	}
	for _, s := range c.Sequences() {
		report.Sequences = append(report.Sequences, c.stateOf(s))
	}
	for _, s := range c.Keyed() {
		report.Keyed = append(report.Keyed, c.keyedStateOf(s))
	}
	return report
}

func serverReport(s health.Status) ServerReport {
	report := ServerReport{
		Keyspace: s.Keyspace, Shard: cmp.Or(s.Shard, "-"), Address: s.Addr, State: string(s.State), Since: s.Since,
		LatencyMS: float64(s.Latency.Microseconds()) / 1000, Version: s.Version,
	}
	if s.Err != nil {
		report.LastError = s.Err.Error()
	}
	return report
}

func (c *Config) sessions(ctx context.Context) SessionsReport {
	ctx, cancel := context.WithTimeout(ctx, sessionsTimeout)
	defer cancel()
	all, total, err := c.Sessions(ctx, maxSessions)
	report := SessionsReport{Total: total, Sessions: []SessionInfo{}}
	for _, s := range all {
		report.Sessions = append(report.Sessions, SessionInfo{s.ID, s.User, s.Host, s.Keyspace, s.Database, s.Command, s.Time, s.State, s.Pinned})
	}
	if err != nil {
		report.Problem = err.Error()
	}
	return report
}

// killHandler answers POST /-/kill.
func killHandler(kill func(context.Context, uint64, bool) (bool, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		id, err := strconv.ParseUint(asked.Get("id"), 10, 64)
		if err != nil {
			say(w, http.StatusBadRequest, "write the id of a session, as in /-/kill?id=7")
			return
		}
		switch found, err := kill(r.Context(), id, asked.Has("query")); {
		case err != nil:
			say(w, http.StatusBadGateway, err.Error())
		case !found:
			say(w, http.StatusNotFound, "there is no session "+asked.Get("id"))
		default:
			say(w, http.StatusOK, "ok")
		}
	}
}
