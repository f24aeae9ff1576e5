package idapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestLeafPaths(t *testing.T) {
	f := newFixture(t, options{})
	for _, tt := range []struct {
		path   string
		status int
		text   string // "" for a number
	}{
		{"/api/segment/get/user_seq", 200, "1001"},
		{"/api/segment/get/main.user_seq", 200, "1002"},
		{"/api/segment/get/order-tag", 200, ""},
		{"/api/segment/get/orders", 200, ""},
		{"/api/segment/get/both", 500, "write one of main.both, other.both"},
		{"/api/segment/get/flake", 500, "there is no sequence"},
		{"/api/segment/get/usr_seq", 500, `did you mean "user_seq"?`},
		{"/api/snowflake/get/flake", 200, ""},
		{"/api/snowflake/get/whatever", 200, ""}, // as in Leaf
	} {
		w := f.request(http.MethodGet, tt.path, secret)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.text) {
			t.Errorf("%s: %d %q, want %d with %q", tt.path, w.Code, w.Body, tt.status, tt.text)
		}
		if _, err := strconv.ParseInt(w.Body.String(), 10, 64); tt.status == 200 && err != nil {
			t.Errorf("%s is not an id alone: %v", tt.path, err)
		}
		if got := w.Header().Get("Content-Type"); got != "text/plain;charset=UTF-8" {
			t.Errorf("%s: Content-Type %q", tt.path, got)
		}
	}
	if w := f.request(http.MethodGet, "/api/segment/get/user_seq", ""); w.Code != 401 {
		t.Errorf("without a token: %d", w.Code)
	}
	if w := f.request(http.MethodPost, "/api/segment/get/user_seq", secret); w.Code != 200 {
		t.Errorf("POST: %d", w.Code)
	}
}

// Of several snowflakes the key names one.
func TestLeafSeveralSnowflakes(t *testing.T) {
	f := newFixture(t, options{schema: `{"keyspaces": {"main": {"generators": {
		"a": {"type": "snowflake", "params": {"layout": "twitter", "worker": 3, "zone": 2}},
		"b": {"type": "snowflake", "params": {"layout": "leaf", "worker": 3}}}}}}`})
	for key, want := range map[string]int{"a": 200, "main.b": 200, "whatever": 500} {
		if w := f.request(http.MethodGet, "/api/snowflake/get/"+key, secret); w.Code != want {
			t.Errorf("%s: %d %s, want %d", key, w.Code, w.Body, want)
		}
	}
}
