package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// What programs are told is what the page tells people.
func TestReports(t *testing.T) {
	began := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	h := New(Config{
		Version: "v1.2.3",
		Traffic: func() meter.Snapshot {
			return meter.Snapshot{Started: began, Sessions: 2, Limit: 10, Pinned: 1,
				Backends: []meter.BackendSnapshot{{Keyspace: "main", Shard: "-", Paused: began, Waiting: 3}}}
		},
		Health: func() []health.Status {
			return []health.Status{{Keyspace: "main", Shard: "-", Addr: "db:3306", State: health.Down, Since: began, Latency: 1500 * time.Microsecond, Err: errors.New("no route")}}
		},
		Sequences: func() []sequence.Status {
			return []sequence.Status{{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: "users_seq"}}}
		},
		Sessions: func(context.Context, int) ([]Session, int, error) {
			return []Session{{ID: 1 << 62, User: "app", Time: "3"}}, 7, errors.New("away")
		},
	})
	var status StatusReport
	if err := json.Unmarshal(get(t, h, "/status.json").Body.Bytes(), &status); err != nil {
		t.Fatal(err)
	}
	want := StatusReport{
		Version: "v1.2.3", Started: began, Ready: true, Problem: "server of main is down", Sessions: 2, Limit: 10, Pinned: 1, Keyed: []KeyedState{},
		Servers:   []ServerReport{{Keyspace: "main", Shard: "-", Address: "db:3306", State: "down", Since: began, LatencyMS: 1.5, LastError: "no route", Paused: began, Waiting: 3}},
		Sequences: []SequenceState{{Sequence: "main.users_seq", Keyspace: "main", Name: "shop.users_seq"}},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	var sessions SessionsReport
	if err := json.Unmarshal(get(t, h, "/sessions.json").Body.Bytes(), &sessions); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(SessionsReport{Total: 7, Problem: "away", Sessions: []SessionInfo{{ID: 1 << 62, User: "app", Seconds: "3"}}}, sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}

// Sessions are ended by clients on the same machine alone, and by no page of another site. A Unix socket is this machine's under
// any name.
func TestKill(t *testing.T) {
	for _, tt := range []struct {
		name, target, remote, host string
		header                     http.Header
		socket                     bool
		want                       int
		wantQuery                  bool
	}{
		{name: "session", target: "?id=7", want: 200},
		{name: "statement", target: "?id=7&query", want: 200, wantQuery: true},
		{name: "of nobody", target: "?id=8", want: 404},
		{name: "the server refuses", target: "?id=9", want: 502},
		{name: "without an id", want: 400},
		{name: "from elsewhere", target: "?id=7", remote: "192.0.2.7:9", want: 403},
		{name: "through a proxy", target: "?id=7", header: http.Header{"X-Forwarded-For": {"192.0.2.7"}}, want: 403},
		{name: "of another site", target: "?id=7", header: http.Header{"Sec-Fetch-Site": {"cross-site"}}, want: 403},
		{name: "under another name", target: "?id=7", host: "evil.example", want: 403},
		{name: "by a socket", target: "?id=7", remote: "@", host: "any", socket: true, want: 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			killed := map[bool]uint64{}
			h := Guard("", New(Config{Kill: func(_ context.Context, id uint64, query bool) (bool, error) {
				if id == 9 {
					return true, errors.New("access denied")
				}
				killed[query] = id
				return id == 7, nil
			}}))
			r := httptest.NewRequest(http.MethodPost, "/-/kill"+tt.target, nil)
			r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost"
			if tt.remote != "" {
				r.RemoteAddr = tt.remote
			}
			if tt.host != "" {
				r.Host = tt.host
			}
			if tt.header != nil {
				r.Header = tt.header
			}
			if tt.socket {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.UnixAddr{Net: "unix", Name: "/s"})))
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.want || tt.want == 200 && killed[tt.wantQuery] != 7 || tt.want == 403 && len(killed) > 0 {
				t.Errorf("got %d %s, killed %v, want %d", w.Code, w.Body, killed, tt.want)
			}
		})
	}
}

// The page calls sequences as reports do.
func TestNamesOnPage(t *testing.T) {
	h := New(Config{Sequences: func() []sequence.Status {
		return []sequence.Status{{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: "users_seq"}, Refills: 1}}
	}, Keyed: func() []keyed.Status {
		return []keyed.Status{{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: "messages_seq"}}}
	}, Generators: func() []GeneratorStatus { return []GeneratorStatus{{Keyspace: "main", Name: "order_id"}} }})
	page := get(t, h, "/").Body.String()
	for _, want := range []string{`<th scope="row">main.users_seq<small`, `<th scope="row">main.messages_seq</th>`, `<th scope="row">main.order_id</th>`, `<p class="detail">main.users_seq</p>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "shop.users_seq<") {
		t.Error("the page calls a sequence by its database")
	}
}

// Only clients on the same machine pause a shard.
func TestPause(t *testing.T) {
	var changed []string
	note := func(verb string) func(string) bool {
		return func(name string) bool {
			changed = append(changed, verb+" "+name)
			return name == "customer:-80"
		}
	}
	h := Guard("", New(Config{Pause: note("pause"), Resume: note("resume")}))
	for _, tt := range []struct {
		method, target, from string
		status               int
	}{
		{http.MethodPost, "/-/pause?shard=customer:-80", "127.0.0.1:1", http.StatusOK},
		{http.MethodPost, "/-/resume?shard=customer:-80", "127.0.0.1:1", http.StatusOK},
		{http.MethodPost, "/-/pause?shard=nosuch", "127.0.0.1:1", http.StatusNotFound},
		{http.MethodPost, "/-/pause?shard=customer:-80", "192.0.2.1:1", http.StatusForbidden},
		{http.MethodGet, "/-/pause?shard=customer:-80", "127.0.0.1:1", http.StatusMethodNotAllowed},
	} {
		r := httptest.NewRequest(tt.method, tt.target, nil)
		r.RemoteAddr, r.Host = tt.from, "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s %s from %s: status %d, want %d: %s", tt.method, tt.target, tt.from, w.Code, tt.status, w.Body)
		}
	}
	if want := []string{"pause customer:-80", "resume customer:-80", "pause nosuch"}; !slices.Equal(changed, want) {
		t.Errorf("got %q, want %q", changed, want)
	}
}
