package driver_test

import (
	"database/sql"
	"testing"

	"github.com/seqgate/seqgate/driver"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// BenchmarkDriver compares the driver with go-sql-driver/mysql alone on one connection, whose INSERT has its own AUTO_INCREMENT.
func BenchmarkDriver(b *testing.B) {
	s := servertest.First(b)
	database := s.NewDatabase(b)
	direct := s.Open(b, database)
	for _, q := range []string{"CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)", "CREATE TABLE own (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)"} {
		if _, err := direct.ExecContext(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
	if err := sequence.Seed(b.Context(), direct, database, "t_seq", 1, 1000); err != nil {
		b.Fatal(err)
	}
	c, err := driver.NewConnector(s.DSN(database), driver.Config{})
	if err != nil {
		b.Fatal(err)
	}
	filled := sql.OpenDB(c)
	defer filled.Close()
	for _, bb := range []struct {
		name, query string
		db          *sql.DB
	}{
		{"insert/direct", "INSERT INTO own (v) VALUES (1)", direct},
		{"insert/driver", "INSERT INTO t (v) VALUES (1)", filled},
		{"do/direct", "DO 1", direct},
		{"do/driver", "DO 1", filled},
		{"next/driver", "SELECT NEXT VALUE FROM t_seq", filled},
	} {
		b.Run(bb.name, func(b *testing.B) {
			bb.db.SetMaxOpenConns(1)
			for b.Loop() {
				if _, err := bb.db.ExecContext(b.Context(), bb.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
