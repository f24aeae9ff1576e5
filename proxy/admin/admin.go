// Package admin answers over HTTP what operators and load balancers ask: whether
// seqgate lives, whether it takes clients, and how its sequences stand.
package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// New gives the handler of the admin address. ready reports whether new clients
// are taken, sequences and keyed the state of each sequence.
//
//	GET /livez      200 as long as the process answers
//	GET /readyz     200 while clients are taken, 503 once seqgate drains
//	GET /sequences  the sequences of this process, as JSON
//	GET /keyed      those that count by key, as JSON
func New(ready func() bool, sequences func() []sequence.Status, keyed func() []keyed.Status) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			say(w, http.StatusServiceUnavailable, "draining")
			return
		}
		say(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /sequences", func(w http.ResponseWriter, _ *http.Request) { list(w, sequences(), stateOf) })
	mux.HandleFunc("GET /keyed", func(w http.ResponseWriter, _ *http.Request) { list(w, keyed(), keyedStateOf) })
	return mux
}

// list answers with the JSON of each status.
func list[S, J any](w http.ResponseWriter, statuses []S, of func(S) J) {
	all := make([]J, 0, len(statuses))
	for _, s := range statuses {
		all = append(all, of(s))
	}
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(all) // the client has gone, if anything
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client has gone, if anything
}

// state is a sequence as JSON. Ids are strings: JavaScript's numbers end at 2^53.
type state struct {
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

func stateOf(s sequence.Status) state {
	st := state{
		Keyspace: s.Name.Keyspace, Name: s.Name.String(), Strategy: s.Strategy, NextID: s.Current.First,
		Remaining: s.Current.N + s.Next.N, Cache: s.Cache, Step: s.Step, Rate: s.Rate, Runway: s.Runway.Seconds(),
		Ordered: s.Ordered, Waiting: s.Waiting, Waits: s.Waits, Refills: s.Refills, Dropped: s.Dropped, Raised: s.Raised,
		Failures: s.Failures, Server: s.Server, Skipped: s.Skipped, AwaySince: s.AwaySince,
	}
	if s.LastError != nil {
		st.LastError = s.LastError.Error()
	}
	return st
}

// keyedState is a keyed sequence as JSON.
type keyedState struct {
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

func keyedStateOf(s keyed.Status) keyedState {
	st := keyedState{
		Keyspace: s.Name.Keyspace, Name: s.Name.String(), Sections: s.Sections, Held: s.Held, Keys: s.Keys, Opened: s.Opened,
		Lost: s.Lost, Forwards: s.Forwards, Failures: s.Failures, AwaySince: s.AwaySince,
	}
	if s.LastError != nil {
		st.LastError = s.LastError.Error()
	}
	return st
}
