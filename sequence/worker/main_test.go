package worker_test

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

func TestMain(m *testing.M) {
	sequencetest.HolderMain(openSpec)
	servertest.Main(m)
}

// spec names a set in a table for another process.
func spec(dsn, database string, most int64) string {
	return fmt.Sprintf("%d %s %s", most, database, dsn)
}

func openSpec(spec string) (worker.Leaser, error) {
	parts := strings.SplitN(spec, " ", 3)
	most, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return nil, err
	}
	pool, err := sequence.OpenPool(parts[2])
	if err != nil {
		return nil, err
	}
	return worker.NewTable(pool, parts[1], "test", most, worker.TableConfig{}), nil
}

func openPool(tb testing.TB, s *servertest.Server, addr string) *sql.DB {
	tb.Helper()
	cfg, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Addr = addr
	pool, err := sequence.NewPool(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := pool.Close(); err != nil {
			tb.Error(err)
		}
	})
	return pool
}
