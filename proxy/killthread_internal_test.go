package proxy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
)

// killServer is a driver for a server that has one connection with id 7, and notes what it is asked to kill.
type killServer struct {
	host, command string
	variables     map[string]string
	killed        []string
	asked         func() // called when somebody asks for its connections; nil: nothing
}

func (s *killServer) Connect(context.Context) (driver.Conn, error) { return killConn{s}, nil }
func (s *killServer) Driver() driver.Driver                        { return nil }

type killConn struct{ *killServer }

func (killConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("no prepared statements")
}
func (killConn) Begin() (driver.Tx, error) { return nil, errors.New("no transactions") }
func (killConn) Close() error              { return nil }

func (c killConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if query == "SHOW PROCESSLIST" {
		if c.asked != nil {
			c.asked()
		}
		return &killRows{columns: 8, rows: [][]driver.Value{{"7", "app", c.host, "d", c.command, "1", "", ""}}}, nil
	}
	rows := &killRows{columns: 2}
	for name, value := range c.variables {
		if strings.Contains(query, "'"+name+"'") {
			rows.rows = append(rows.rows, []driver.Value{name, value})
		}
	}
	return rows, nil
}

func (c killConn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	c.killed = append(c.killed, query)
	return driver.ResultNoRows, nil
}

type killRows struct {
	columns int
	rows    [][]driver.Value
}

func (r *killRows) Columns() []string { return make([]string, r.columns) }
func (r *killRows) Close() error      { return nil }

func (r *killRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

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
		{"stranger", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", galera, false, "", errOtherServer},
		{"stranger, query", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", group, true, "", errOtherServer},
		{"nobody", backend.Thread{ID: 8, Port: "4711"}, "10.0.0.9:5000", "Query", group, false, "", errOtherServer},
		{"behind a translation of addresses", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", single, false, "", errUnsure},
		{"behind a translation of addresses, query", backend.Thread{ID: 7, Port: "4711"}, "10.0.0.9:5000", "Query", single, true, "", errUnsure},
		{"nobody, one server", backend.Thread{ID: 8, Port: "4711"}, "10.0.0.9:5000", "Query", single, false, "", errUnsure},
		{"socket", backend.Thread{ID: 7, Port: ""}, "localhost", "Query", galera, false, "KILL 7", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := &killServer{host: tt.host, command: tt.command, variables: tt.variables}
			db := sql.OpenDB(server)
			defer db.Close()
			err := killThread(t.Context(), db, tt.thread, tt.query)
			if !errors.Is(err, tt.err) {
				t.Errorf("got the error %v", err)
			}
			if got := strings.Join(slices.Clone(server.killed), "; "); got != tt.want {
				t.Errorf("ran %q, want %q", got, tt.want)
			}
		})
	}
}
