package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestHealth(t *testing.T) {
	ready := true
	h := New(Config{Ready: func() bool { return ready }})
	for _, path := range []string{"/livez", "/readyz"} {
		if got := get(t, h, path).Code; got != http.StatusOK {
			t.Errorf("%s: got %d, want 200", path, got)
		}
	}
	ready = false
	if got := get(t, h, "/readyz").Code; got != http.StatusServiceUnavailable {
		t.Errorf("/readyz while draining: got %d, want 503", got)
	}
	if got := get(t, h, "/livez").Code; got != http.StatusOK {
		t.Errorf("/livez while draining: got %d, want 200", got)
	}
}

// /readyz says that a server is away to those who ask for servers, and the page to all; neither address nor error is told
// without the password.
func TestHealthOfServers(t *testing.T) {
	status := health.Status{Keyspace: "customer", Shard: "-80", Addr: "10.0.0.9:3306", Err: errors.New("no route"), State: health.Unknown}
	h := New(Config{Health: func() []health.Status {
		return []health.Status{{Keyspace: "main", Shard: "-", State: health.ReadOnly}, status}
	},
		Servers: []Server{{"customer", "-80", "10.0.0.9:3306", "customer"}},
		Traffic: func() meter.Snapshot {
			return meter.Snapshot{Backends: []meter.BackendSnapshot{{Keyspace: "customer", Shard: "-80"}}}
		}})
	for state, want := range map[health.State]int{health.Unknown: 503, health.Down: 503, health.Up: 200, health.ReadOnly: 200} {
		status.State = state
		got := get(t, h, "/readyz?servers")
		if got.Code != want || want == 503 && got.Body.String() != "server of customer:-80 is "+string(state)+"\n" {
			t.Errorf("%s: /readyz?servers answers %d %q, want %d", state, got.Code, got.Body, want)
		}
		if got := get(t, h, "/readyz"); got.Code != 200 {
			t.Errorf("%s: /readyz answers %d", state, got.Code)
		}
		page := get(t, h, "/").Body.String()
		if down := strings.Contains(page, "server down"); down != (state == health.Down) || !strings.Contains(page, "no route") {
			t.Errorf("%s: the page says that a server is down: %v", state, down)
		}
	}
}

// The state is amber, with the reason, while logins are refused.
func TestRefusedLogins(t *testing.T) {
	var refused meter.Snapshot
	h := New(Config{Traffic: func() meter.Snapshot { return refused }})
	if page := get(t, h, "/").Body.String(); !strings.Contains(page, ">ready<") {
		t.Error("seqgate is not ready at its start")
	}
	refused.Refused[meter.RefusedLeft] = 50
	if page := get(t, h, "/").Body.String(); !strings.Contains(page, ">ready<") {
		t.Error("clients that leave by themselves are not refused")
	}
	refused.Refused[meter.RefusedLogin], refused.Refused[meter.RefusedTLS] = 500, 1
	if page := get(t, h, "/").Body.String(); !strings.Contains(page, "logins refused") || !strings.Contains(page, "/ s: access denied") {
		t.Errorf("the page does not tell of refused logins:\n%s", page)
	}
}

func TestSequences(t *testing.T) {
	h := New(Config{Sequences: func() []sequence.Status {
		return []sequence.Status{{
			Name:    sequence.Name{Keyspace: "main", Database: "shop", Table: "users_seq"},
			Current: sequence.Range{First: 1 << 60, N: 10}, Next: sequence.Range{First: 1<<60 + 10, N: 5},
			Runway: 90 * time.Second, LastError: errors.New("away"),
		}}
	}, Keyed: func() []keyed.Status {
		return []keyed.Status{{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: "msg_seq"}, Sections: 8, Held: 3}}
	}})
	var got []map[string]any
	if err := json.Unmarshal(get(t, h, "/sequences").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0]["name"] != "shop.users_seq" || got[0]["next_id"] != "1152921504606846976" ||
		got[0]["remaining"] != 15.0 || got[0]["runway_seconds"] != 90.0 || got[0]["last_error"] != "away" {
		t.Errorf("got %v", got)
	}
	if err := json.Unmarshal(get(t, h, "/keyed").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0]["name"] != "shop.msg_seq" || got[0]["sections"] != 8.0 || got[0]["held"] != 3.0 {
		t.Errorf("got %v", got)
	}
}
