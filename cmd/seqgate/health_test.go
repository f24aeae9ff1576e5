package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// healthCommand runs the command, and gives its exit code and what it says. It waits long, for a busy machine, unless told otherwise.
func healthCommand(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), append([]string{"health", "--timeout", "20s"}, args...), &out, &out)
	if err != nil {
		fmt.Fprint(&out, err)
	}
	return exitCode(err), out.String()
}

func TestHealthByAdminAddress(t *testing.T) {
	var ready atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && !ready.Load() {
			http.Error(w, "draining", http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "c.yaml", mainKeyspace+"admin: {listen: '0.0.0.0:"+port+"'}\n")
	for _, from := range [][]string{{"--admin", ":" + port}, {"--config", file}} {
		ready.Store(false)
		if code, text := healthCommand(t, from...); code != 1 || !strings.Contains(text, "draining") {
			t.Errorf("%v while it drains: %d, %q", from, code, text)
		}
		if code, text := healthCommand(t, append(from, "--live")...); code != 0 {
			t.Errorf("%v --live while it drains: %d, %q", from, code, text)
		}
		ready.Store(true)
		if code, text := healthCommand(t, from...); code != 0 || text != "ok\n" {
			t.Errorf("%v: %d, %q, want ok", from, code, text)
		}
	}
	s.Close()
	if code, text := healthCommand(t, "--admin", ":"+port); code != 1 || !strings.Contains(text, "refused") {
		t.Errorf("without a server: %d, %q", code, text)
	}
}

// What was edited since seqgate started, and the secrets that it alone has, do not make it ill.
func TestHealthOfEditedConfig(t *testing.T) {
	s := servertest.First(t)
	_, _, args := sequencedTable(t, s)
	p := start(t, args...)
	admin, _ := freeAddr(t)
	for _, text := range []string{
		"nonsense: 1\n",
		"keyspaces: {main: {shards: {\"-\": {dsn_env: NOT_SET_HERE}}}}\n",
		"users: [{name: a, password_env: NOT_SET_HERE}]\nvschema: away.json\n",
		mainKeyspace + "admin: {listen: '" + admin + "'}\n", // where it will listen after a restart
	} {
		if code, text := healthCommand(t, "--config", writeFile(t, "c.yaml", text+"listen: "+p.addr+"\n")); code != 0 {
			t.Errorf("%d, %q, want ok", code, text)
		}
	}
	for _, text := range []string{"a: [\n", "", "just text\n"} {
		if code, said := healthCommand(t, "--config", writeFile(t, "c.yaml", text)); code == 0 {
			t.Errorf("%q, which is no configuration: %d, %q", text, code, said)
		}
	}
}

// Without an admin address the greeting is what counts.
func TestHealthByGreeting(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		_, _, args := sequencedTable(t, s)
		p := start(t, args...)
		file := writeFile(t, "c.yaml", mainKeyspace+"listen: "+p.addr+"\n")
		if code, text := healthCommand(t, "--config", file); code != 0 {
			t.Errorf("%d, %q, want ok", code, text)
		}
	})
}

func TestHealthOfOtherServers(t *testing.T) {
	for _, tt := range []struct{ name, greeting, timeout, want string }{
		{"full", "\x17\x00\x00\x00\xff\x10\x04Too many connections", "20s", "refuses clients"},
		{"another protocol", "HTTP/1.1 400 Bad Request", "20s", "does not speak"},
		{"silent", "", "100ms", "sends no greeting"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			done := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				c, err := l.Accept()
				if err == nil {
					_, err = c.Write([]byte(tt.greeting))
					<-ctx.Done()
					_ = c.Close()
				}
				done <- err
			}()
			file := writeFile(t, "c.yaml", mainKeyspace+"listen: unix:"+path+"\n")
			if code, text := healthCommand(t, "--config", file, "--timeout", tt.timeout); code != 1 || !strings.Contains(text, tt.want) {
				t.Errorf("%d, %q, want %q", code, text, tt.want)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{
		"0.0.0.0:1": "127.0.0.1:1", ":1": "127.0.0.1:1", "[::]:1": "[::1]:1", "10.0.0.1:1": "10.0.0.1:1", "host:1": "host:1", "odd": "odd",
	} {
		if got := reachable(addr); got != want {
			t.Errorf("%s is reachable at %s, want %s", addr, got, want)
		}
	}
}
