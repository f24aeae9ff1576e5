package composetest

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// What the sequence server runs at its first start makes a table and the sequence beside it.
func TestSequencesSQL(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		if err := runScript(s.DSN(database), string(readFile(t, "testdata/compose/sequences.sql"))); err != nil {
			t.Fatal(err)
		}
		db := s.Open(t, database)
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

// runScript runs a file of SQL as the image does.
func runScript(dsn, text string) error {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return err
	}
	config.MultiStatements = true
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return err
	}
	_, err = db.Exec(text)
	return errors.Join(err, db.Close())
}
