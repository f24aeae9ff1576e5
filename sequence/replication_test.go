package sequence_test

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A MariaDB that replicates asynchronously is killed while its replica lags behind: the replica takes over, and no id is
// given twice. The table of the servers is replicated like all others.
func TestReplication(t *testing.T) {
	t.Setenv("SEQGATE_TEST_MYSQL97", "") // MySQL does not replicate between the copies of one data directory
	servertest.Private(t, func(t *testing.T, primary *servertest.Server) {
		servertest.Private(t, func(t *testing.T, replica *servertest.Server) {
			testReplication(t, primary, replica)
		}, "--server-id=2", "--log-bin=replica")
	}, "--server-id=1", "--log-bin=primary")
}

func testReplication(t *testing.T, primary, replica *servertest.Server) {
	const skip = 10_000
	follow(t, replica, primary)
	database := primary.NewDatabase(t)
	mustExec(t, primary.Open(t, database), sequence.CreateTableSQL(database, "s"), sequence.InsertRowSQL(database, "s", 1, 10))
	p := pair{a: primary, b: replica, database: database, proxy: sequencetest.NewProxy(t, primary.Addr), user: primary.User}
	req := sequence.Request{Database: database, Table: "s", Need: 1}
	running := p.store(t, sequence.StrategyIncrement, p.proxy.Addr(), skip)
	var ids sequencetest.IDs
	take := func(store sequence.Store) {
		t.Helper()
		for range 10 {
			retry(t, func() error {
				return ids.Take(func() (sequence.Range, error) {
					res, err := store.Reserve(t.Context(), req)
					return res.Range, err
				})
			})
		}
	}
	take(running)
	awaitNextID(t, replica, database, nextID(t, primary, database, "s"))
	mustExec(t, replica.Open(t, ""), "STOP SLAVE SQL_THREAD")
	take(running) // the replica will never hear of these
	lost := nextID(t, primary, database, "s") - nextID(t, replica, database, "s")
	primary.Kill(t)
	mustExec(t, replica.Open(t, ""), "STOP SLAVE", "RESET SLAVE ALL")
	p.failOver(replica)
	fresh := p.store(t, sequence.StrategyCAS, p.proxy.Addr(), skip)
	take(fresh)
	take(running)
	ids.NoDuplicates(t)
	if lost < 1 {
		t.Errorf("got %d ids lost, want some", lost)
	}
	if next := nextID(t, replica, database, "s"); next < 2*skip || next >= 3*skip {
		t.Errorf("got next_id %d, want two skips and the ids taken", next)
	}
}

// follow makes replica replicate primary.
func follow(t *testing.T, replica, primary *servertest.Server) {
	t.Helper()
	host, port, err := net.SplitHostPort(primary.Addr)
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, replica.Open(t, ""), fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos",
		host, port, primary.User, primary.Password), "START SLAVE")
}

func awaitNextID(t *testing.T, s *servertest.Server, database string, want int64) {
	t.Helper()
	db := s.Open(t, "")
	await(t, func() bool {
		var next int64
		err := db.QueryRowContext(t.Context(), "SELECT next_id FROM "+database+".s").Scan(&next)
		var missing *mysql.MySQLError
		if err != nil && !errors.As(err, &missing) {
			t.Fatal(err)
		}
		return next == want
	})
}
