package proxy_test

import (
	"database/sql"
	"net"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

const sameServerVSchema = `{"keyspaces": {
	"main": {"tables": {"t_seq": {"type": "sequence"}, "t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}},
	"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"user": {"column_vindexes": [{"column": "id", "name": "hash"}]}}}}}`

// A sequenced table of another keyspace gets its ids also where that keyspace has its server under another address.
func TestSameServerOtherAddress(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{via: localhost(t, s), vschema: sameServerVSchema})
		const columns = " (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)"
		exec(t, g.direct, "CREATE TABLE t"+columns, "CREATE TABLE plain"+columns, "UPDATE t_seq SET next_id = 1000000")
		exec(t, g.shards[0], "CREATE VIEW of_t AS SELECT * FROM "+g.database+".t")
		for _, args := range [][]any{nil, {1}} {
			c, values := conn(t, g.open(t, "customer:-80", "")), "(1)"
			if args != nil {
				values = "(?)"
			}
			if id := inserted(t, c, "INSERT INTO "+g.database+".t (a) VALUES "+values, args...); id < firstFilled {
				t.Errorf("id %d, want one of the sequence", id)
			}
			if id := inserted(t, c, "INSERT INTO "+g.database+".plain (a) VALUES "+values, args...); id > 100 {
				t.Errorf("id %d, want the server's own", id)
			}
			_, err := c.ExecContext(t.Context(), "INSERT INTO of_t (a) VALUES "+values, args...)
			checkErrno(t, err, 1235)
		}
	})
}

// Where it cannot be known whether the other keyspace's server is the session's, nothing is written without its id.
func TestSameServerUnknown(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{via: localhost(t, s), vschema: sameServerVSchema, configure: func(cfg *proxy.Config) {
			dead, err := sql.Open("mysql", "app:app@tcp(127.0.0.1:1)/"+cfg.Keyspaces["main"].Database)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = dead.Close() })
			cfg.Keyspaces["main"].DB = dead
		}})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)")
		for _, args := range [][]any{nil, {1}} {
			values := "(1)"
			if args != nil {
				values = "(?)"
			}
			_, err := conn(t, g.open(t, "customer:-80", "")).ExecContext(t.Context(), "INSERT INTO "+g.database+".t (a) VALUES "+values, args...)
			if err == nil || !strings.Contains(err.Error(), "which one it is") {
				t.Errorf("got %v, want that the server is not known", err)
			}
		}
		if n := value[int64](t, g.direct, "SELECT COUNT(*) FROM t"); n != 0 {
			t.Errorf("%d rows without an id of the sequence", n)
		}
	})
}

// localhost is the server's address by another name.
func localhost(t *testing.T, s *servertest.Server) string {
	t.Helper()
	dsn, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(dsn.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return "localhost:" + port
}
