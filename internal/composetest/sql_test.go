package composetest

import (
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// What the sequence server runs at its first start makes a table and the sequence beside it.
func TestSequencesSQL(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		config, err := mysql.ParseDSN(s.DSN(s.NewDatabase(t)))
		if err != nil {
			t.Fatal(err)
		}
		config.MultiStatements = true
		db, err := sql.Open("mysql", config.FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(string(readFile(t, "testdata/compose/sequences.sql"))); err != nil {
			t.Fatal(err)
		}
		var next, cache int64
		if err := db.QueryRow("SELECT next_id, cache FROM users_seq WHERE id = 0").Scan(&next, &cache); err != nil {
			t.Fatal(err)
		}
		if next != 1 || cache < 1 {
			t.Errorf("users_seq: next_id %d, cache %d, want next_id 1 and a cache of at least 1", next, cache)
		}
		if _, err := db.Exec("INSERT INTO users (id, name) VALUES (1, 'ada')"); err != nil {
			t.Error(err)
		}
	})
}
