package app

import (
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// TestPoolGoesIdle: who counts the server's sessions soon finds the clients' alone.
func TestPoolGoesIdle(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		dsn, err := mysql.ParseDSN(s.DSN(s.NewDatabase(t)))
		if err != nil {
			t.Fatal(err)
		}
		pool, err := openPool(dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pool.Close() })
		var id, open int
		if err := pool.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		db := s.Open(t, "")
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if err := db.QueryRow("SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE ID = ?", id).Scan(&open); err != nil {
				t.Fatal(err)
			}
			if open == 0 {
				return
			}
		}
		t.Error("an unused connection stays open")
	})
}

// Decisions on XA transactions are statements of these connections: whatever the DSN says, they last.
func TestOwnStatementsLast(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, name := range []string{"autocommit", "AUTOCOMMIT"} {
			dsn, err := mysql.ParseDSN(s.DSN(""))
			if err != nil {
				t.Fatal(err)
			}
			dsn.Params = map[string]string{name: "0", "completion_type": "1"}
			db, err := openPool(dsn)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			if err := db.QueryRowContext(t.Context(), "SELECT CONCAT(@@autocommit = 1, @@completion_type)").Scan(&got); err != nil || got != "1NO_CHAIN" {
				t.Errorf("with %s=0: %q, %v", name, got, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
