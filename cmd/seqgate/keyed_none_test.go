package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What is asked for a value of a key and counts by none, or is not there, is no keyed sequence for those who watch.
func TestNoKeyedSequence(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		direct, _, config := keyedTable(t, s)
		run1(t, direct, "CREATE TABLE plain_seq "+vitessSequence, "INSERT INTO plain_seq VALUES (0, 1, 10)")
		text, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		watched := strings.Replace(string(text), "listen: 127.0.0.1:0\n", apiConfig, 1) + "admin: {listen: 127.0.0.1:0}\n"
		p := start(t, "serve", "--config", writeFile(t, "watched.yaml", watched))
		db := openClient(t, "app", "p", p.addr, "main")
		wantErrno(t, db, 1347, "not a keyed sequence", "SELECT NEXT VALUE FROM plain_seq FOR KEY 'x'")
		wantErrno(t, db, 1146, "no_seq", "SELECT NEXT VALUE FROM no_seq FOR KEY 'x'")
		client := &http.Client{Timeout: 20 * time.Second}
		t.Cleanup(client.CloseIdleConnections)
		status, answer, err := askAPI(t.Context(), client, "http://"+p.apiAddr(t)+"/api/v1/sequences/plain_seq/next?key=a", apiSecret)
		if err != nil || status == http.StatusOK {
			t.Errorf("got %d, %s, %v by HTTP, want an error", status, answer, err)
		}
		if got := query1[int64](t, db, "SELECT NEXT VALUE FROM msg_seq FOR KEY 'x'"); got != 1 {
			t.Errorf("got %d of the keyed one, want 1", got)
		}
		for _, page := range []string{"/keyed", "/metrics"} {
			_, got := ask(t, p.adminAddr(t), page, "")
			if strings.Contains(got, "plain_seq") || strings.Contains(got, "no_seq") || !strings.Contains(got, "msg_seq") {
				t.Errorf("%s:\n%s", page, got)
			}
		}
		if p.Logged("trying again until it does") {
			t.Error("the log says that a database does not serve a sequence")
		}
	})
}
