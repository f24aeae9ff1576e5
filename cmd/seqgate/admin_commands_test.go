package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/admin"
)

// The help and the text of each command that asks a running seqgate.
func TestAdminCommandsText(t *testing.T) {
	for _, name := range []string{"status", "sessions", "reload", "kill", "shard pause"} {
		var out bytes.Buffer
		if err := run(t.Context(), append(strings.Fields(name), "--help"), &out, io.Discard); err != nil {
			t.Errorf("%s --help: %v", name, err)
		}
		golden(t, "testdata/admin/"+strings.ReplaceAll(name, " ", "_")+"_help.golden", out.String())
	}
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	status := admin.StatusReport{
		Version: "v1.2.3", Started: now.Add(-3*time.Hour - 90*time.Second), Ready: true, Problem: "server of customer:-80 is down", Sessions: 12, Limit: 10000, Pinned: 3,
		Servers: []admin.ServerReport{
			{Keyspace: "main", Shard: "-", Address: "10.0.0.1:3306", State: "up", Since: now.Add(-3 * time.Hour), LatencyMS: 0.412, Version: "9.7.0"},
			{Keyspace: "customer", Shard: "-80", Address: "10.0.0.2:3306", State: "down", Since: now.Add(-12 * time.Second), LastError: "connection refused\x1b[2J"},
			{Keyspace: "customer", Shard: "80-", Address: "10.0.0.3:3306", State: "unknown", Paused: now.Add(-8 * time.Second), Waiting: 3},
		},
		Sequences: []admin.SequenceState{
			{Sequence: "main.orders_seq", Strategy: "for_update", NextID: 1042, Remaining: 4958, Rate: 12.25, Runway: 404.7, Refills: 7, Failures: 1, LastError: "it timed out",
				AwaySince: now.Add(-4 * time.Second)},
			{Sequence: "main.tickets_seq", Strategy: "cas", Ordered: true, Waiting: 2, Refills: 90},
			{Sequence: "main.old_seq", Strategy: "for_update", NextID: 1 << 62, Remaining: 1000, Runway: 365 * 24 * 3600, Refills: 1},
		},
		Keyed: []admin.KeyedState{{Sequence: "main.messages_seq", Sections: 64, Held: 32, Keys: 10, Forwards: 5, LastError: "away"}},
	}
	var out bytes.Buffer
	if err := printStatus(&out, status, now); err != nil {
		t.Error(err)
	}
	golden(t, "testdata/admin/status.golden", out.String())
	out.Reset()
	if err := printStatus(&out, admin.StatusReport{Version: "v1.2.3", Started: now, Problem: "draining"}, now); err != nil {
		t.Error(err)
	}
	golden(t, "testdata/admin/status_draining.golden", out.String())
	out.Reset()
	sessions := admin.SessionsReport{Total: 3, Problem: "ask the server what its sessions do: away", Sessions: []admin.SessionInfo{
		{ID: 1 << 30, User: "app", Host: "10.0.0.9:4711", Keyspace: "main", Database: "shop", Command: "Query", Seconds: "3", State: "executing", Pinned: true},
		{ID: 7, User: "re\x1b[2Jport", Host: "localhost", Keyspace: "main"},
	}}
	if err := printSessions(&out, sessions); err != nil {
		t.Error(err)
	}
	golden(t, "testdata/admin/sessions.golden", out.String())
	out.Reset()
	for _, r := range []admin.ReloadReport{{}, {Reloaded: []string{"limits.per_user", "users"}, NeedsRestart: []string{"listen"}}} {
		if err := printReload(&out, r); err != nil {
			t.Error(err)
		}
	}
	golden(t, "testdata/admin/reload.golden", out.String())
}

// What goes wrong says what to do.
func TestAdminCommandsErrors(t *testing.T) {
	t.Setenv("SEQGATE_CONFIG", "")
	s := httptest.NewServer(admin.Guard("secret", admin.New(admin.Config{
		Pause: func(name string) bool { return name == "customer:-80" }, Resume: func(name string) bool { return name == "main" },
		Kill: func(_ context.Context, id uint64, _ bool) (bool, error) { return id == 7, nil },
		Reload: func() (admin.ReloadReport, error) {
			return admin.ReloadReport{}, io.ErrUnexpectedEOF
		},
	})))
	defer s.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer other.Close()
	addr := s.Listener.Addr().String()
	without := writeFile(t, "c.yaml", mainKeyspace)
	noFile := writeFile(t, "c.yaml", "admin: {listen: '"+addr+"', password_file: nowhere/pw}\n"+mainKeyspace)
	for _, tt := range []struct {
		name, password string
		args           []string
		code           int
		want           string
	}{
		{"no address", "", []string{"status"}, 2, "give --config FILE or --admin ADDR"},
		{"not configured", "", []string{"status", "--config", without}, 1, "set admin.listen and restart seqgate"},
		{"surplus argument", "", []string{"status", "main"}, 2, "unexpected argument"},
		{"no id", "", []string{"kill", "--admin", addr}, 2, "write the id"},
		{"two ids", "", []string{"kill", "7", "8", "--admin", addr}, 2, "write the id"},
		{"bad id", "", []string{"kill", "seven", "--admin", addr}, 2, "whole number"},
		{"no password", "", []string{"status", "--admin", addr}, 1, "SEQGATE_ADMIN_PASSWORD"},
		{"nobody there", "", []string{"status", "--admin", "127.0.0.1:1"}, 1, "no answer at the admin address 127.0.0.1:1"},
		{"no socket there", "", []string{"status", "--admin", "unix:/nowhere/s"}, 1, "no answer at the admin address unix:/nowhere/s"},
		{"something else there", "", []string{"sessions", "--admin", other.Listener.Addr().String()}, 1, "something else"},
		{"no such session", "secret", []string{"kill", "8", "--admin", addr}, 1, "there is no session 8"},
		{"killed", "secret", []string{"kill", "7", "--admin", addr}, 0, "session 7 was ended"},
		{"killed query", "secret", []string{"kill", "--query", "7", "--admin", addr}, 0, "what session 7 ran, if anything, was ended\n"},
		{"paused", "secret", []string{"shard", "pause", "customer:-80", "--admin", addr}, 0, "customer:-80 is paused\n"},
		{"resumed", "secret", []string{"shard", "resume", "main", "--admin", addr}, 0, "main is resumed\n"},
		{"no such shard", "secret", []string{"shard", "pause", "customer", "--admin", addr}, 1, "there is no keyspace or shard 'customer'; seqgate status lists them"},
		{"no shard", "", []string{"shard", "pause", "--admin", addr}, 2, "write one shard, such as customer:-80, or a keyspace"},
		{"no time", "", []string{"status", "--admin", addr, "--timeout", "0s"}, 2, "--timeout 0s: write a time above 0"},
		{"less than no time", "", []string{"health", "--admin", addr, "--timeout", "-1s"}, 2, "--timeout -1s: write a time above 0"},
		{"a path alone", "", []string{"status", "--admin", "/nowhere/s"}, 1, "no answer at the admin address unix:/nowhere/s: dial unix /nowhere/s: connect: no such file or directory"},
		{"health of a path alone", "", []string{"health", "--admin", "/nowhere/s"}, 1, "no answer at the admin address unix:/nowhere/s: dial unix"},
		{"no password file", "", []string{"status", "--config", noFile}, 2, ": admin.password_file: " + filepath.Join(filepath.Dir(noFile), "nowhere/pw") + ": no such file or directory"},
		{"no password file, and none needed", "secret", []string{"kill", "7", "--admin", addr, "--config", noFile}, 0, "session 7 was ended"},
		{"bad configuration", "secret", []string{"reload", "--admin", addr}, 1, "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("SEQGATE_ADMIN_PASSWORD", tt.password)
			code, text := runCommand(t, tt.args...)
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("got %d, %q, want %d and %q", code, text, tt.code, tt.want)
			}
		})
	}
}

// runCommand gives the exit code of a command and all that it says.
func runCommand(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), args, &out, &out)
	if err != nil {
		out.WriteString(err.Error())
	}
	return exitCode(err), out.String()
}

// The commands ask a running seqgate over a Unix socket, and what they change is changed.
func TestAdminCommands(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		_, database, _ := sequencedTable(t, s)
		dir, err := os.MkdirTemp("", "seqgate") // the path of a test's own may be too long for a socket
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		socket := filepath.Join(dir, "admin.sock")
		text := "listen: 127.0.0.1:0\nadmin: {listen: 'unix:" + socket + "', password: secret-word}\nkeyspaces: {main: {shards: {\"-\": \"" + s.DSN(database) +
			"\"}}}\nusers: [{name: app, password: app-password}]\n"
		file := writeFile(t, "seqgate.yaml", text)
		p := start(t, "serve", "--config", file)
		db := openClient(t, "app", "app-password", p.addr, "main")
		run1(t, db, "INSERT INTO t (v) VALUES (1)")

		succeeds := func(args ...string) string {
			t.Helper()
			code, text := runCommand(t, append(args, "--config", file, "--timeout", "60s")...)
			if code != 0 {
				t.Fatalf("%s: %d, %s", args, code, text)
			}
			return text
		}
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != app.AdminSocketMode {
			t.Errorf("the socket is %v, %v", info, err)
		}
		t.Setenv("SEQGATE_ADMIN_PASSWORD", "secret-word")
		if code, text := runCommand(t, "status", "--admin", socket, "--timeout", "60s"); code != 0 || !strings.Contains(text, ": ready") {
			t.Errorf("status --admin %s: %d, %s", socket, code, text)
		}
		if text := succeeds("health"); text != "ok\n" {
			t.Errorf("health: %q", text)
		}
		if text := succeeds("status"); !strings.Contains(text, ": ready") || !strings.Contains(text, "\nmain.t_seq ") {
			t.Errorf("status:\n%s", text)
		}
		var status admin.StatusReport
		if err := json.Unmarshal([]byte(succeeds("status", "--json")), &status); err != nil || len(status.Sequences) != 1 || status.Sessions != 1 {
			t.Errorf("status --json: %v, %+v", err, status)
		}
		if err := os.WriteFile(file, []byte(text+"limits: {per_user: 5}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := succeeds("reload"); text != "reloaded: limits.per_user\n" {
			t.Errorf("reload: %q", text)
		}
		if text := succeeds("sessions"); !strings.Contains(text, "app") || strings.Count(text, "\n") != 2 {
			t.Errorf("sessions:\n%s", text)
		}
		var sessions admin.SessionsReport
		if err := json.Unmarshal([]byte(succeeds("sessions", "--json")), &sessions); err != nil || len(sessions.Sessions) != 1 {
			t.Fatalf("sessions --json: %v, %+v", err, sessions)
		}
		succeeds("kill", strconv.FormatUint(sessions.Sessions[0].ID, 10))
		for deadline := time.Now().Add(time.Minute); ; {
			if err := json.Unmarshal([]byte(succeeds("sessions", "--json")), &sessions); err != nil || len(sessions.Sessions) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the session goes on: %+v", sessions)
			}
		}
	})
}
