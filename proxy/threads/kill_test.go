package threads_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/proxy/threads/threadstest"
)

// A KILL goes to the server that the session is on: on another node of a cluster the same id is a stranger's.
func TestKillChecksServer(t *testing.T) {
	galera := map[string]string{"wsrep_on": "ON"}
	group := map[string]string{"group_replication_group_name": "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"}
	single := map[string]string{"wsrep_on": "OFF", "group_replication_group_name": ""}
	for _, tt := range []struct {
		name          string
		thread        backend.Thread
		host, command string
		variables     map[string]string
		query         bool
		want          string
		err           error
	}{
		{"same", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:4711", "Query", galera, false, "KILL 7", nil},
		{"same, query", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:4711", "Query", galera, true, "KILL QUERY 7", nil},
		{"same, idle", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:4711", "Sleep", galera, true, "", nil},
		{"stranger", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", galera, false, "", threads.ErrOtherServer},
		{"stranger, query", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", group, true, "", threads.ErrOtherServer},
		{"nobody", backend.Thread{ID: 8, Port: "4711"}, "10.0.0.9:5000", "Query", group, false, "", threads.ErrOtherServer},
		{"behind a translation of addresses", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", single, false, "", threads.ErrUnsure},
		{"behind a translation of addresses, query", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", single, true, "", threads.ErrUnsure},
		{"nobody, one server", backend.Thread{ID: 8, Port: "4711"}, "10.0.0.9:5000", "Query", single, false, "", threads.ErrUnsure},
		{"socket", backend.Thread{ID: 7, Port: ""}, "localhost", "Query", galera, false, "KILL 7", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := &threadstest.Server{Host: tt.host, Command: tt.command, Variables: tt.variables}
			db := sql.OpenDB(server)
			defer db.Close()
			err := threads.Kill(t.Context(), db, tt.thread, tt.query)
			if !errors.Is(err, tt.err) {
				t.Errorf("got the error %v", err)
			}
			if got := strings.Join(slices.Clone(server.Killed), "; "); got != tt.want {
				t.Errorf("ran %q, want %q", got, tt.want)
			}
		})
	}
}
