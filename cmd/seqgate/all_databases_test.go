package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/servertest"
)

// Without a database in its DSN, serve fills the tables of all databases of the server from the sequences beside them.
func TestServeAllDatabases(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var databases [2]string
		for i := range databases {
			databases[i] = s.NewDatabase(t)
			run1(t, s.Open(t, databases[i]), "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)",
				"CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
				fmt.Sprintf("INSERT INTO t_seq VALUES (0, %d, 10)", 1000*(i+1)))
		}
		addr := serveUpstream(t, s.DSN(""))
		account, err := mysql.ParseDSN(s.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		insert := func(c *sql.Conn, text string, want int64) {
			t.Helper()
			result, err := c.ExecContext(t.Context(), text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if id, err := result.LastInsertId(); err != nil || id != want {
				t.Errorf("%s: id %d, %v; want %d", text, id, err, want)
			}
		}
		client := func(database string) *sql.Conn {
			c, err := openClient(t, account.User, account.Passwd, addr, database).Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
		first, none := client(databases[0]), client("")
		insert(first, "INSERT INTO t (v) VALUES (1)", 1000)
		insert(first, "INSERT INTO "+databases[1]+".t (v) VALUES (1)", 2000)
		insert(none, "INSERT INTO "+databases[0]+".t (v) VALUES (1)", 1001)
		if _, err := none.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (1)"); err == nil || !strings.Contains(err.Error(), "1046") {
			t.Errorf("without a database: %v, want error 1046", err)
		}
		if _, err := none.ExecContext(t.Context(), "USE "+databases[1]); err != nil {
			t.Fatal(err)
		}
		insert(none, "INSERT INTO t (v) VALUES (1)", 2001)
		var id int64
		if err := none.QueryRowContext(t.Context(), "SELECT NEXT VALUE FROM t_seq").Scan(&id); err != nil || id != 2002 {
			t.Errorf("got %d, %v; want the next value, 2002", id, err)
		}
	})
}

// serveUpstream runs serve for a DSN until the test's end, and gives its address.
func serveUpstream(t *testing.T, dsn string) (addr string) {
	t.Helper()
	cfg, err := app.Loader(env(map[string]string{"SEQGATE_LISTEN": "127.0.0.1:0"})).UpstreamServer(dsn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- app.Serve(ctx, cfg, nil, &testLog{}, func(addr string) { ready <- addr }) }()
	select {
	case addr = <-ready:
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return addr
}

// Only serve takes a DSN without a database: it has no tables to make or to check.
func TestOnlyServeTakesAllDatabases(t *testing.T) {
	cfg, err := (&source{upstream: "u:p@tcp(h)/", anyDatabase: true}).load()
	if err != nil || len(cfg.Keyspaces) != 1 || cfg.Keyspaces[0].Name != "" || cfg.DefaultKeyspace != "" {
		t.Errorf("serve: got %+v, %v; want one keyspace without a name", cfg, err)
	}
	if _, err := (&source{upstream: "u:p@tcp(h)/"}).load(); err == nil || !strings.Contains(err.Error(), "names no database") {
		t.Errorf("others: got %v, want that the DSN names no database", err)
	}
}
