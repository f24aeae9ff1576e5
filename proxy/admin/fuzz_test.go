package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/vschema"
)

const fuzzPassword = "a password"

var (
	htmlTag   = regexp.MustCompile(`<[^>\s]*`)
	urlScheme = regexp.MustCompile(`(?i)(?:href|src)="\s*(?:javascript|data|vbscript):`)
)

// Whatever is asked, and whatever the names and errors say that are told: no panic, no 500, nothing told and nothing
// reloaded without the password, no reload for clients from elsewhere, and nothing in a text becomes a tag of a page, or
// breaks JSON.
func FuzzAdmin(f *testing.F) {
	for _, text := range []string{"users_seq", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a' b`c\\", "\xff\x00\x1b[31m", "{{.}}", "&lt;", "]]>-->", "\u2028 é 漢字", "javascript:alert(1)"} {
		for i, request := range adminSeeds() {
			f.Add([]byte(request), text, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string, client uint8) {
		q, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // net/http's server answers it
		}
		q.RemoteAddr = []string{"127.0.0.1:4711", "[::1]:4711", "10.0.0.7:4711", "@"}[client%4]
		password := ""
		if client&4 > 0 {
			password = fuzzPassword
		}
		reloaded := false
		w := httptest.NewRecorder()
		Guard(password, New(hostileConfig("x"+text, &reloaded))).ServeHTTP(w, q)
		if w.Code >= 500 {
			t.Fatalf("%s %q: %d %s", q.Method, q.URL, w.Code, w.Body)
		}
		_, given, _ := q.BasicAuth()
		if denied := password != "" && given != password; denied && q.URL.Path != "/livez" && q.URL.Path != "/readyz" && (w.Code != http.StatusUnauthorized || reloaded) {
			t.Errorf("%s %q without the password: %d", q.Method, q.URL, w.Code)
		}
		if reloaded && (client%4 > 1 || q.Method != http.MethodPost || q.Header.Get("X-Forwarded-For") != "") {
			t.Errorf("reloaded by %s of %s", q.Method, q.RemoteAddr)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("headers %v", w.Header())
		}
		if w.Code == http.StatusOK {
			checkTold(t, q, w, text)
		}
	})
}

// checkTold holds that what is told of a text is told as text.
func checkTold(t *testing.T, q *http.Request, w *httptest.ResponseRecorder, text string) {
	t.Helper()
	body := w.Body.Bytes()
	switch kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); {
	case kind == "application/json" && len(body) > 0 && !json.Valid(body):
		t.Errorf("%q with %q is no JSON: %s", q.URL, text, body)
	case kind == "application/json" && bytes.ContainsAny(body, "<>"):
		t.Errorf("%q with %q: HTML might read it: %s", q.URL, text, body)
	case kind == "text/html":
		plain := httptest.NewRecorder()
		same := q.Clone(q.Context())
		New(hostileConfig("x", new(bool))).ServeHTTP(plain, same)
		if want, got := htmlTag.FindAllString(plain.Body.String(), -1), htmlTag.FindAllString(string(body), -1); !slices.Equal(want, got) {
			t.Errorf("%q has %d tags, and with %q %d", q.URL, len(want), text, len(got))
		}
		if urlScheme.Match(body) {
			t.Errorf("%q with %q has a link that runs: %s", q.URL, text, urlScheme.Find(body))
		}
	}
}

// adminSeeds are requests for all that the admin address has.
func adminSeeds() (all []string) {
	const withPassword = "Authorization: Basic OmEgcGFzc3dvcmQ=\r\n"
	for _, path := range []string{"/", "/livez", "/readyz", "/sequences", "/keyed", "/metrics", "/sessions", "/statements", "/statements.json", "/vschema", "/history.json", "/app.js", "/style.css", "/favicon.svg", "/nothing", "//", "/../etc/passwd"} {
		all = append(all, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET "+path+" HTTP/1.1\r\nHost: 127.0.0.1:3308\r\n"+withPassword+"\r\n")
	}
	const reload = "POST /-/reload HTTP/1.1\r\n"
	return append(all, reload+"Host: localhost\r\n\r\n", reload+"Host: localhost\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n", reload+"Host: localhost\r\nOrigin: https://elsewhere\r\n\r\n",
		reload+"Host: rebound.example\r\n\r\n", reload+"Host: localhost\r\n"+withPassword+"\r\n", "GET /-/reload HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text; version=1.0.0\r\nAccept-Encoding: gzip\r\n\r\n",
		"GET /app.js HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-,1-,2-\r\nIf-None-Match: *\r\n\r\n")
}

// hostileConfig tells of a text wherever there is a name or an error to tell.
func hostileConfig(text string, reloaded *bool) Config {
	name := sequence.Name{Keyspace: text, Database: text, Table: text}
	failed := errors.New(text)
	return Config{
		Version: text,
		Sequences: func() []sequence.Status {
			return []sequence.Status{{Name: name, Strategy: text, Current: sequence.Range{First: 1 << 60, N: 10}, Server: text, LastError: failed}}
		},
		Keyed: func() []keyed.Status { return []keyed.Status{{Name: name, LastError: failed}} },
		Generators: func() []GeneratorStatus {
			return []GeneratorStatus{{Keyspace: text, Name: text, Layout: text, From: text, Err: failed}}
		},
		Sessions: func(context.Context, int) ([]Session, int, error) {
			return []Session{{User: text, Host: text, Keyspace: text, Database: text, Command: text, Time: text, State: text}}, 2, failed
		},
		Servers: []Server{{Keyspace: text, Shard: text, Addr: text, Database: text}},
		VSchema: func() *vschema.VSchema { return namedVSchema(text) },
		Reload: func() (ReloadReport, error) {
			*reloaded = true
			return ReloadReport{Reloaded: []string{text}}, nil
		},
	}
}

// namedVSchema has a table of that name, or nothing when no table can have it.
func namedVSchema(name string) *vschema.VSchema {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil
	}
	v, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"main": {"tables": {`+string(quoted)+`: {}}}}}`))
	if err != nil {
		return nil
	}
	return v
}
