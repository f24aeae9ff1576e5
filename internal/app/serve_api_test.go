package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A fault of seqgate's own is told of in the log, and ends the client's connection.
func TestAPIPanic(t *testing.T) {
	var out strings.Builder
	server := httptest.NewServer(loggedPanics(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }), slog.New(slog.NewTextHandler(&out, nil))))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	if r, err := server.Client().Get(server.URL + "/x"); err == nil {
		_ = r.Body.Close()
		t.Errorf("got an answer: %s", r.Status)
	}
	server.Close()
	if got := out.String(); !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "fault=broken") || !strings.Contains(got, "serve_api_test.go") {
		t.Errorf("the log says %q", got)
	}
}
