package sequence_test

import (
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// However a data source name spells a setting, a connection has the one that the stores rely on.
func TestPoolSettings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, params := range []map[string]string{
			{"autocommit": "0"}, {"AUTOCOMMIT": "0"}, {"@@session.autocommit": "0"},
			{"Completion_Type": "1", "SQL_MODE": "''", "Lock_Wait_Timeout": "99", "INNODB_LOCK_WAIT_TIMEOUT": "99"},
		} {
			cfg, err := mysql.ParseDSN(s.DSN(""))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Params = params
			db, err := sequence.NewPool(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			for range 5 { // the driver sends params in any order
				conn, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close() // the pool's end closes it too
				var got string
				const query = "SELECT CONCAT_WS(' ', @@autocommit = 1, @@completion_type, @@sql_mode, @@lock_wait_timeout, @@innodb_lock_wait_timeout)"
				if err := conn.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != "1 NO_CHAIN STRICT_ALL_TABLES 2 2" {
					t.Errorf("with %v: %q, %v", params, got, err)
				}
			}
		}
	})
}
