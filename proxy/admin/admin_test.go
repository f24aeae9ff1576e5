package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

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
