package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/servertest"
)

const apiSecret = "3fa94ec5bcbf4a23a1d4cbf5b0d7a1c2"

// apiAddr is where a seqgate gives ids over HTTP.
func (p *process) apiAddr(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(p.Log()) {
		if _, addr, ok := strings.Cut(line, "msg=api addr="); ok {
			return strings.TrimSpace(addr)
		}
	}
	t.Fatal("no address of the API in the log")
	return ""
}

type apiAnswer struct {
	Sequence, Key, First, Last string
	N                          int64
	IDs                        []string
	Error                      struct{ Code, Message string }
}

// askAPI asks for ids, and gives the status and the answer.
func askAPI(ctx context.Context, client *http.Client, url, token string) (status int, body []byte, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, body, err
}

func nextByAPI(t *testing.T, client *http.Client, url string) (first int64, a apiAnswer) {
	t.Helper()
	status, body, err := askAPI(t.Context(), client, url, apiSecret)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &a); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s (%v)", url, status, body, err)
	}
	if first, err = strconv.ParseInt(a.First, 10, 64); err != nil && len(a.IDs) == 0 {
		t.Fatalf("%s: %s (%v)", url, body, err)
	}
	return first, a
}

const apiConfig = `listen: 127.0.0.1:0
users: [{name: app, password: p}]
api: {listen: 127.0.0.1:0, tokens: [{name: test, token: ` + apiSecret + `, sequences: ["*"]}]}
`

// Ids by HTTP and by SQL are of one sequence: none comes twice. Without a vschema sequences are found in the database.
func TestAPIBesideSQL(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		direct, database, _ := sequencedTable(t, s)
		p := start(t, "serve", "--config", writeFile(t, "seqgate.yaml",
			fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\n", s.DSN(database))+apiConfig))
		db := openClient(t, "app", "p", p.addr, "main")
		url := "http://" + p.apiAddr(t) + "/api/v1/sequences/"
		client := &http.Client{Timeout: 20 * time.Second}
		t.Cleanup(client.CloseIdleConnections)

		var seen sync.Map
		note := func(first, n int64) {
			for id := first; id < first+n; id++ {
				if _, twice := seen.LoadOrStore(id, true); twice {
					t.Errorf("id %d came twice", id)
				}
			}
		}
		var all sync.WaitGroup
		all.Go(func() {
			for range 50 {
				result, err := db.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (1), (2)")
				if err != nil {
					t.Error(err)
					return
				}
				id, err := result.LastInsertId()
				if err != nil {
					t.Error(err)
				}
				note(id, 2)
			}
		})
		for range 50 {
			first, a := nextByAPI(t, client, url+"main.t_seq/next?n=3")
			note(first, 3)
			if a.Sequence != "main.t_seq" || a.N != 3 || a.Last != strconv.FormatInt(first+2, 10) {
				t.Errorf("got %+v", a)
			}
		}
		all.Wait()
		if got := query1[int](t, direct, "SELECT COUNT(*) FROM t"); got != 100 {
			t.Errorf("%d rows, want 100", got)
		}
		for path, want := range map[string]int{"t_seq": 200, "t": 404, "nothing": 404, "other.t_seq": 404, "main.t_seq/next?key=k": 400} {
			path, rest, _ := strings.Cut(path, "/next")
			if status, body, err := askAPI(t.Context(), client, url+path+"/next"+rest, apiSecret); status != want || err != nil {
				t.Errorf("%s: %d %s, want %d (%v)", path, status, body, want, err)
			}
		}
	})
}

// Keyed sequences count by the key, the same as SQL's.
func TestAPIKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		_, _, config := keyedTable(t, s)
		written, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		config = writeFile(t, "api.yaml", strings.Replace(string(written), "listen: 127.0.0.1:0\n", apiConfig, 1))
		p := start(t, "serve", "--config", config)
		client := &http.Client{Timeout: 20 * time.Second}
		t.Cleanup(client.CloseIdleConnections)
		url := "http://" + p.apiAddr(t) + "/api/v1/sequences/msg_seq/next"
		a, _ := nextByAPI(t, client, url+"?key=a&n=4")
		b, answer := nextByAPI(t, client, url+"?key=b")
		db := openClient(t, "app", "p", p.addr, "main")
		if got := query1[int64](t, db, "SELECT NEXT VALUE FROM msg_seq FOR KEY 'a'"); got != a+4 || b != a || answer.Key != "b" {
			t.Errorf("SQL gives %d after %d to %d; key b has %d (%+v)", got, a, a+3, b, answer)
		}
		if status, body, err := askAPI(t.Context(), client, url, apiSecret); status != 400 || err != nil || !strings.Contains(string(body), "name the key") {
			t.Errorf("without a key: %d %s (%v)", status, body, err)
		}
	})
}

// TLS shows the certificate of the tls section. While sessions drain, ids are refused.
func TestAPIOverTLSAndDrain(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		dir := t.TempDir()
		shown := newCertificate(t, nil, "localhost")
		cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		replace(t, cert, shown.certPEM)
		replace(t, key, shown.keyPEM)
		_, database, _ := sequencedTable(t, s)
		text := strings.Replace(apiConfig, "api: {", "api: {tls: true, ", 1) + fmt.Sprintf("tls: {cert: %s, key: %s}\ndrain_timeout: 30s\n", cert, key)
		p := start(t, "serve", "--config", writeFile(t, "seqgate.yaml", fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\n", s.DSN(database))+text))
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(shown.certPEM)
		client := &http.Client{Timeout: 20 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}}
		t.Cleanup(client.CloseIdleConnections)
		url := "https://" + p.apiAddr(t) + "/api/v1/sequences/t_seq/next"
		nextByAPI(t, client, url)

		tx, err := openClient(t, "app", "p", p.addr, "main").BeginTx(t.Context(), nil) // which keeps seqgate draining
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (1)"); err != nil {
			t.Fatal(err)
		}
		p.signal(t, syscall.SIGTERM)
		awaitThat(t, "the API to refuse", func() bool {
			status, body, err := askAPI(t.Context(), client, url, apiSecret)
			return err == nil && status == http.StatusServiceUnavailable && strings.Contains(string(body), `"draining"`)
		})
		if err := tx.Commit(); err != nil {
			t.Errorf("the transaction under way: %v", err)
		}
		if got := p.exited(t); got != 0 {
			t.Errorf("exit code %d", got)
		}
	})
}

// While load balancers notice that seqgate stops, ids are given as before.
func TestAPILameduck(t *testing.T) {
	t.Parallel()
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	admin, _ := freeAddr(t)
	p := start(t, "serve", "--config", writeFile(t, "seqgate.yaml", fmt.Sprintf("lameduck_period: 8s\nadmin: {listen: %q}\nkeyspaces: {main: {shards: {\"-\": %q}}}\n",
		admin, s.DSN(database))+apiConfig))
	client := &http.Client{Timeout: 20 * time.Second}
	t.Cleanup(client.CloseIdleConnections)
	url := "http://" + p.apiAddr(t) + "/api/v1/sequences/t_seq/next"
	nextByAPI(t, client, url)
	p.signal(t, syscall.SIGTERM)
	awaitThat(t, "a seqgate that is not ready", func() bool {
		r, err := http.Get("http://" + admin + "/readyz")
		return err == nil && r.Body.Close() == nil && r.StatusCode == http.StatusServiceUnavailable
	})
	nextByAPI(t, client, url)
	if got := p.exited(t); got != 0 {
		t.Errorf("exit code %d", got)
	}
}

// check warns of tokens that are sent in the clear, and of patterns that fit nothing.
func TestCheckAPI(t *testing.T) {
	schema := writeFile(t, "vschema.json", `{"keyspaces": {"main": {"tables": {"order_seq": {"type": "sequence"}}}}}`)
	const servers = "keyspaces: {main: {shards: {\"-\": \"app:app@tcp(127.0.0.1:1)/main\"}}}\n"
	for _, tt := range []struct{ api, want string }{
		{`{listen: "0.0.0.0:1", tokens: [{name: a, token: ` + apiSecret + `, sequences: [main.order_seq]}]}`, "warning: api: tokens are sent to 0.0.0.0:1 without encryption"},
		{`{listen: "127.0.0.1:1", tokens: [{name: a, token: ` + apiSecret + `, sequences: [main.ordr_seq, "*"]}]}`, "warning: api: token a may take ids of main.ordr_seq"},
		{`{listen: ":1", tls: true, tokens: [{name: a, token: ` + apiSecret + `, sequences: ["main.*"]}]}`, ""},
		{`{listen: "127.0.0.1:1", tokens: [{name: a, token: ` + apiSecret + `, sequences: ["main.*"]}]}`, ""},
	} {
		var out strings.Builder
		err := run(t.Context(), []string{"check", "--config", writeFile(t, "c.yaml", "vschema: "+schema+"\n"+servers+"api: "+tt.api+"\n")}, &out, io.Discard)
		if tt.want != "" && !strings.Contains(out.String(), tt.want) || tt.want == "" && strings.Contains(out.String(), ": api: ") {
			t.Errorf("%s: %q is missing, or there is more (%v):\n%s", tt.api, tt.want, err, out.String())
		}
	}
}

// The configuration that docs/api.md shows is right.
func TestAPIDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	shown, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("docs/api.md shows no configuration")
	}
	c, err := app.Loader(env(map[string]string{"BATCH_TOKEN": apiSecret})).Load(writeFile(t, "c.yaml", mainKeyspace+shown))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.API.Tokens) != 1 || c.API.Tokens[0].Rate != 100 || c.API.Listen != "127.0.0.1:3309" {
		t.Errorf("docs/api.md configures %+v", c.API)
	}
}

// A reload revokes tokens that are gone, and those of files that have changed.
func TestAPITokensReloaded(t *testing.T) {
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	admin, _ := freeAddr(t)
	secret := writeFile(t, "secret", "a-token-in-a-file-0001\n")
	path := filepath.Join(t.TempDir(), "seqgate.yaml")
	write := func(more string) {
		t.Helper()
		text := fmt.Sprintf("listen: 127.0.0.1:0\nusers: [{name: app, password: p}]\nadmin: {listen: %q}\nkeyspaces: {main: {shards: {\"-\": %q}}}\n"+
			"api: {listen: 127.0.0.1:0, tokens: [{name: filed, token_file: %s, sequences: [\"*\"]}%s]}\n", admin, s.DSN(database), secret, more)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(", {name: revoked, token: " + apiSecret + ", sequences: [\"*\"]}")
	p := start(t, "serve", "--config", path)
	client := &http.Client{Timeout: 20 * time.Second}
	t.Cleanup(client.CloseIdleConnections)
	check := func(want map[string]int) {
		t.Helper()
		for token, status := range want {
			if got, body, err := askAPI(t.Context(), client, "http://"+p.apiAddr(t)+"/api/v1/sequences/t_seq/next", token); got != status || err != nil {
				t.Errorf("%s: %d %s (%v), want %d", token, got, body, err, status)
			}
		}
	}
	check(map[string]int{apiSecret: 200, "a-token-in-a-file-0001": 200, "a-token-in-a-file-0002": 401})
	write("")
	if err := os.WriteFile(secret, []byte("a-token-in-a-file-0002\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, report, text := reloadNow(t, admin)
	if status != http.StatusOK || len(report.Reloaded) != 1 || report.Reloaded[0] != "api.tokens" || len(report.NeedsRestart) > 0 {
		t.Errorf("reload: %d %s", status, text)
	}
	check(map[string]int{apiSecret: 401, "a-token-in-a-file-0001": 401, "a-token-in-a-file-0002": 200})
}
