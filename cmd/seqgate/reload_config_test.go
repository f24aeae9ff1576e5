package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/admin"
)

// reloadNow asks a seqgate at its admin address to reload.
func reloadNow(t *testing.T, addr string) (status int, report admin.ReloadReport, text string) {
	t.Helper()
	r, err := http.Post("http://"+addr+"/-/reload", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, &report); err != nil {
			t.Fatal(err)
		}
	}
	return r.StatusCode, report, string(body)
}

// Users, limits and the log change while seqgate runs; what is wrong changes nothing, and what needs a restart is named.
func TestReloadConfig(t *testing.T) {
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	adminAddr, _ := freeAddr(t)
	path := filepath.Join(t.TempDir(), "seqgate.yaml")
	write := func(text string) {
		t.Helper()
		fixed := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: %s}\nkeyspaces: {%s: {shards: {\"-\": %q}}}\n", adminAddr, database, s.DSN(database))
		if err := os.WriteFile(path, []byte(fixed+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("users: [{name: app, password: app}]\n")
	p := start(t, "serve", "--config", path)
	app := openClient(t, "app", "app", p.addr, database)
	app.SetMaxOpenConns(1)
	run1(t, app, "INSERT INTO t (v) VALUES (1)")

	write("users: [{name: app, password: app, account: {user: nobody, password: none}}, {name: new, password: new}]\nlog: {slow: 1ns}\nsequences: {refill: cas, max_step: 77}\n")
	status, report, text := reloadNow(t, adminAddr)
	want := admin.ReloadReport{Reloaded: []string{"log.slow", "sequences.max_step", "users"}, NeedsRestart: []string{"sequences.refill"}}
	if status != http.StatusOK || !slices.Equal(report.Reloaded, want.Reloaded) || !slices.Equal(report.NeedsRestart, want.NeedsRestart) {
		t.Errorf("reload: %d %s, want %v", status, text, want)
	}
	run1(t, app, "INSERT INTO t (v) VALUES (1)") // the session goes on as it is
	if err := openClient(t, "app", "app", p.addr, database).Ping(); err == nil || !strings.Contains(err.Error(), "1429") {
		t.Errorf("a login of one whose account the server does not have: %v, want error 1429", err)
	}
	fresh := openClient(t, "new", "new", p.addr, database)
	run1(t, fresh, "INSERT INTO t (v) VALUES (2)")
	awaitThat(t, "a slow statement", func() bool { return p.Logged(`statement="INSERT INTO t(v) VALUES(?)"`) })

	for _, wrong := range []string{"users: [{name: app}]\n", "users: [{name: app, password: app}]\ndrain_timeout: hunter2\n", ""} { // the last has no users at all
		write(wrong)
		if status, _, text := reloadNow(t, adminAddr); status != http.StatusUnprocessableEntity || strings.Contains(text, "hunter2") {
			t.Errorf("reload of %q: %d %s", wrong, status, text)
		}
	}
	awaitThat(t, "the log of what is wrong", func() bool { return p.Logged("hunter2") })
	run1(t, fresh, "INSERT INTO t (v) VALUES (3)")

	write("users: [{name: last, password: last}]\nlimits: {connections: 77}\n")
	p.signal(t, syscall.SIGHUP)
	awaitThat(t, "the reload by a signal", func() bool {
		return errors.Join(openClient(t, "last", "last", p.addr, database).Ping()) == nil
	})
	for _, line := range []string{`seqgate_config_reloads_total{result="ok"} 2`, `seqgate_config_reloads_total{result="error"} 3`, "seqgate_connections_limit 77"} {
		awaitThat(t, line, func() bool { // a reload is counted when all of it is done
			_, body := ask(t, adminAddr, "/metrics", "")
			return strings.Contains(body, line)
		})
	}
}

// A reload names the keys whose files have changed, and what needs a restart each time until there is one.
func TestReloadReport(t *testing.T) {
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	adminAddr, _ := freeAddr(t)
	password := writeFile(t, "password", "first\n")
	path := filepath.Join(t.TempDir(), "seqgate.yaml")
	write := func(text string) {
		t.Helper()
		fixed := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: %s}\nkeyspaces: {%s: {shards: {\"-\": %q}}}\nusers: [{name: app, password_file: %s}]\n",
			adminAddr, database, s.DSN(database), password)
		if err := os.WriteFile(path, []byte(fixed+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	p := start(t, "serve", "--config", path)
	reload := func(what, want string) {
		t.Helper()
		if _, _, text := reloadNow(t, adminAddr); strings.TrimSpace(text) != want {
			t.Errorf("%s: got %s, want %s", what, text, want)
		}
	}
	reload("nothing has changed", `{"reloaded":[],"needs_restart":[]}`)
	if err := os.WriteFile(password, []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reload("a password's file has changed", `{"reloaded":["users"],"needs_restart":[]}`)
	if err := openClient(t, "app", "second", p.addr, database).PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	write("limits: {connections: 7, idle_backends: 3}\n")
	reload("what needs a restart has changed", `{"reloaded":["limits.connections"],"needs_restart":["limits.idle_backends"]}`)
	reload("it has not been restarted yet", `{"reloaded":[],"needs_restart":["limits.idle_backends"]}`)
	write("")
	reload("all is as it was", `{"reloaded":["limits.connections"],"needs_restart":[]}`)
}

// Between SIGTERM and the drain, SIGHUP still counts: it makes the drain longer.
func TestReloadWhileStopping(t *testing.T) {
	t.Parallel()
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	path := filepath.Join(t.TempDir(), "seqgate.yaml")
	write := func(drain string) {
		t.Helper()
		text := fmt.Sprintf("listen: 127.0.0.1:0\nlameduck_period: 8s\ndrain_timeout: %s\nusers: [{name: app, password: app}]\nkeyspaces: {%s: {shards: {\"-\": %q}}}\n",
			drain, database, s.DSN(database))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1ms")
	p := start(t, "serve", "--config", path)
	tx, err := openClient(t, "app", "app", p.addr, database).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGTERM)
	awaitThat(t, "the stop", func() bool { return p.Logged("msg=stopping") })
	write("30s")
	p.signal(t, syscall.SIGHUP)
	awaitThat(t, "the reload", func() bool { return p.Logged(`msg="configuration loaded"`) })
	awaitThat(t, "the end of the listener", func() bool {
		c, err := net.Dial("tcp", p.addr)
		if err == nil {
			_ = c.Close() // it was only a look
		}
		return err != nil
	})
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (1)"); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if code := p.exited(t); code != 0 || p.Logged("cut off") {
		t.Errorf("ended with code %d, sessions cut off: %v", code, p.Logged("cut off"))
	}
}
