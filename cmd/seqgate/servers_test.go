package main

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// serve says which servers it has and what is wrong with them: at the start, when one goes away and when it is back.
func TestServersAreWatched(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		t.Parallel()
		database := s.NewDatabase(t)
		gate := start(t, "serve", "--config", writeFile(t, "servers.yaml", "listen: 127.0.0.1:0\nusers: [{name: app, password: app}]\nadmin: {listen: \"127.0.0.1:0\"}\n"+
			"keyspaces: {main: {shards: {\"-\": \""+s.DSN(database)+"\"}}}\n"))
		admin := gate.adminAddr(t)
		wait := func(what string, ok func() bool) {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%s: not within a minute", what)
				}
			}
		}
		ready := func() bool { status, _ := ask(t, admin, "/readyz?servers", ""); return status == 200 }
		wait("the server is up", ready)
		wait("it is logged", func() bool { return gate.Logged("server is up") })
		s.Stop(t)
		wait("the server is down", func() bool { return !ready() })
		if status, _ := ask(t, admin, "/readyz", ""); status != 200 {
			t.Errorf("/readyz: %d while the server is away, want 200", status)
		}
		if _, page := ask(t, admin, "/", ""); !strings.Contains(page, "server down") {
			t.Error("the page does not say that the server is down")
		}
		s.Start(t)
		wait("the server is up again", ready)
		db := openClient(t, "app", "app", gate.addr, "main")
		var row [10]sql.NullString
		if err := db.QueryRowContext(t.Context(), "SHOW SEQGATE SERVERS").Scan(&row[0], &row[1], &row[2], &row[3], &row[4], &row[5], &row[6], &row[7], &row[8], &row[9]); err != nil {
			t.Fatal(err)
		}
		if row[0].String != "main" || row[1].String != "-" || row[2].String != s.Addr || row[3].String != "up" || row[6].String != s.Version {
			t.Errorf("SHOW SEQGATE SERVERS: %v", row)
		}
		for _, want := range []string{"msg=starting version=", "server is down"} {
			if !gate.Logged(want) {
				t.Errorf("the log has no %q", want)
			}
		}
	})
}
