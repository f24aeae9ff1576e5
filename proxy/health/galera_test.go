package health

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// A node of Galera without a majority is down, and is asked again over another connection. No other answer to the question for it
// takes a server that answers for down.
func TestDetachedNode(t *testing.T) {
	for status, detached := range map[string]bool{"non-Primary": true, "Primary": false, "Disconnected": false, "": false, "refused": false, "broken": false} {
		server := &fakeServer{status: status}
		db := sql.OpenDB(server)
		c := New([]Server{{DB: db}}, slog.New(slog.DiscardHandler))
		for range 2 {
			if a := c.ask(t.Context(), 0); (a.err != nil) != detached || a.version != "10.11.1-MariaDB" {
				t.Errorf("%q: version %q, error %v", status, a.version, a.err)
			}
		}
		if want := map[bool]int{true: 2, false: 1}[detached]; server.connections != want {
			t.Errorf("%q: %d connections, want %d", status, server.connections, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// fakeServer answers the two questions.
type fakeServer struct {
	status      string
	connections int
}

func (f *fakeServer) Connect(context.Context) (driver.Conn, error) {
	f.connections++
	return fakeConn{f}, nil
}
func (f *fakeServer) Driver() driver.Driver { return nil }

type fakeConn struct{ *fakeServer }

func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (fakeConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (fakeConn) Close() error                        { return nil }

func (f fakeConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	switch {
	case strings.HasPrefix(query, "SELECT"):
		return &fakeRows{"10.11.1-MariaDB", int64(0)}, nil
	case f.status == "":
		return &fakeRows{}, nil
	case f.status == "refused":
		return nil, errors.New("there is no such SHOW")
	case f.status == "broken":
		return &fakeRows{"wsrep_cluster_status", nil}, nil
	}
	return &fakeRows{"wsrep_cluster_status", f.status}, nil
}

// fakeRows is one row at most.
type fakeRows []driver.Value

func (r *fakeRows) Columns() []string { return []string{"a", "b"} }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(*r) == 0 {
		return io.EOF
	}
	copy(dest, *r)
	*r = nil
	return nil
}
