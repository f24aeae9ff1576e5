// Package admin answers over HTTP what operators and load balancers ask: whether
// seqgate lives, whether it takes clients, and how its sequences stand.
package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// New gives the handler of the admin address. ready reports whether new clients
// are taken, sequences the state of each sequence.
//
//	GET /livez      200 as long as the process answers
//	GET /readyz     200 while clients are taken, 503 once seqgate drains
//	GET /sequences  the sequences of this process, as JSON
func New(ready func() bool, sequences func() []sequence.Status) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			say(w, http.StatusServiceUnavailable, "draining")
			return
		}
		say(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /sequences", func(w http.ResponseWriter, _ *http.Request) {
		all := make([]state, 0)
		for _, s := range sequences() {
			all = append(all, stateOf(s))
		}
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(all) // the client has gone, if anything
	})
	return mux
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
	Waiting   int       `json:"waiting"`
	Refills   int64     `json:"refills"`
	Raised    int64     `json:"raised"`
	Failures  int64     `json:"failures"`
	LastError string    `json:"last_error,omitempty"`
	AwaySince time.Time `json:"away_since,omitzero"`
}

func stateOf(s sequence.Status) state {
	st := state{
		Keyspace: s.Name.Keyspace, Name: s.Name.String(), Strategy: s.Strategy, NextID: s.Current.First,
		Remaining: s.Current.N + s.Next.N, Cache: s.Cache, Step: s.Step, Rate: s.Rate, Waiting: s.Waiting,
		Refills: s.Refills, Raised: s.Raised, Failures: s.Failures, AwaySince: s.AwaySince,
	}
	if s.LastError != nil {
		st.LastError = s.LastError.Error()
	}
	return st
}
