package main

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
			if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", id).Scan(&open); err != nil {
				t.Fatal(err)
			}
			if open == 0 {
				return
			}
		}
		t.Error("an unused connection stays open")
	})
}
