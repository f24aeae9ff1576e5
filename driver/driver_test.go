package driver_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/driver"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// place is a database with a sequenced table, and what goes to the server itself.
type place struct {
	server   *servertest.Server
	database string
	direct   *sql.DB
}

func newPlace(t *testing.T, s *servertest.Server, statements ...string) *place {
	t.Helper()
	p := &place{server: s, database: s.NewDatabase(t)}
	p.direct = s.Open(t, p.database)
	exec(t, p.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(40))")
	if err := sequence.Seed(t.Context(), p.direct, p.database, "t_seq", 1001, 100); err != nil {
		t.Fatal(err)
	}
	exec(t, p.direct, statements...)
	return p
}

// open opens the database with the driver.
func (p *place) open(t *testing.T, cfg driver.Config) *sql.DB {
	t.Helper()
	c, err := driver.NewConnector(p.server.DSN(p.database), cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Close waits for a transaction that is open, and tells of one that stays so.
func TestCloseWithOpenTransaction(t *testing.T) {
	p := newPlace(t, servertest.First(t))
	for _, ends := range []bool{true, false} {
		timeout := time.Minute
		if !ends {
			timeout = 100 * time.Millisecond
		}
		db := p.open(t, driver.Config{CloseTimeout: timeout})
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		insert(t, tx, "INSERT INTO t (v) VALUES ('a')")
		closed := make(chan error, 1)
		go func() { closed <- db.Close() }()
		if ends {
			if err := tx.Commit(); err != nil {
				t.Errorf("commit while the pool is closed: %v", err)
			}
		}
		err = <-closed
		if ends && err != nil || !ends && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "end them before Close")) {
			t.Errorf("the transaction ends: %v; Close: %v", ends, err)
		}
		if !ends {
			_ = tx.Rollback() // its connection is gone
		}
	}
	if got := value[int](t, p.direct, "SELECT COUNT(*) FROM t"); got != 1 {
		t.Errorf("%d rows, want that of the transaction that ended", got)
	}
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func exec(t *testing.T, db execer, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// insert runs an INSERT, and gives the first id that it generated.
func insert(t *testing.T, db execer, query string, args ...any) int64 {
	t.Helper()
	result, err := db.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func value[T any](t *testing.T, db querier, query string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// INSERTs in every way in which database/sql runs them: text, prepared, interpolated.
func TestFills(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		db := p.open(t, driver.Config{})
		want := int64(1001)
		check := func(what string, got, rows int64) {
			t.Helper()
			if got != want {
				t.Errorf("%s: insert id %d, want %d", what, got, want)
			}
			want += rows
		}
		check("text", insert(t, db, "INSERT INTO t (v) VALUES ('a')"), 1)
		check("text, rows", insert(t, db, "INSERT INTO t (v) VALUES ('a'), ('b'), ('c')"), 3)
		check("text, NULL and 0", insert(t, db, "INSERT INTO t VALUES (NULL, 'a'), (0, 'b')"), 2)
		check("arguments", insert(t, db, "INSERT INTO t (v) VALUES (?), (?)", "x", "y"), 2)
		check("an argument is open", insert(t, db, "INSERT INTO t (id, v) VALUES (?, ?)", nil, "x"), 1)

		stmt, err := db.PrepareContext(t.Context(), "INSERT INTO t (id, v) VALUES (?, ?), (DEFAULT, 'z')")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for range 2 {
			result, err := stmt.ExecContext(t.Context(), nil, "x")
			if err != nil {
				t.Fatal(err)
			}
			id, err := result.LastInsertId()
			if n, rowsErr := result.RowsAffected(); err != nil || rowsErr != nil || n != 2 {
				t.Errorf("%d rows, %v, %v", n, err, rowsErr)
			}
			check("prepared", id, 2)
		}
		if got := insert(t, db, "INSERT INTO t (id, v) VALUES (?, ?)", 7, "own"); got != 7 {
			t.Errorf("own id: insert id %d, want 7", got)
		}
		if got := value[int64](t, p.direct, "SELECT COUNT(*) FROM t WHERE id >= 1001 AND id < ?", want); got != want-1001 {
			t.Errorf("%d rows, want %d", got, want-1001)
		}
		check("NEXT VALUE", value[int64](t, db, "SELECT NEXT VALUE FROM t_seq"), 1)
		check("NEXT ? VALUES", value[int64](t, db, "SELECT NEXT ? VALUES FROM t_seq", 5), 5)
	})
}

// LAST_INSERT_ID() and transactions are those of one session.
func TestTransaction(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		db := p.open(t, driver.Config{Refill: sequence.StrategyIncrement})
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			t.Fatal(err)
		}
		id := insert(t, tx, "INSERT INTO t (v) VALUES ('a'), ('b')")
		if got := value[int64](t, tx, "SELECT LAST_INSERT_ID()"); got != id {
			t.Errorf("LAST_INSERT_ID() is %d, want %d", got, id)
		}
		if got := value[int](t, p.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows are seen before COMMIT", got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if next := insert(t, db, "INSERT INTO t (v) VALUES ('c')"); next <= id {
			t.Errorf("id %d after %d, which was rolled back", next, id)
		}
		if got := value[int](t, p.direct, "SELECT COUNT(*) FROM t"); got != 1 {
			t.Errorf("%d rows, want 1", got)
		}
	})
}

const schema = `{"keyspaces": {"shop": {
	"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter", "zone": 2}}, "u": {"type": "uuid7"}},
	"tables": {
		"numbers": {"type": "sequence"},
		"t": {"auto_increment": {"column": "id", "sequence": "numbers"}},
		"f": {"auto_increment": {"column": "id", "generator": "flake"}},
		"u": {"auto_increment": {"column": "id", "generator": "u"}}}}}}`

// A vschema says which columns are filled, and by what. Worker ids are given, or leased.
func TestVSchema(t *testing.T) {
	for name, id := range map[string]*int64{"worker id given": new(int64(3)), "leased": nil} {
		t.Run(name, func(t *testing.T) { testVSchema(t, id) })
	}
}

func testVSchema(t *testing.T, workerID *int64) {
	schema := strings.Replace(schema, `"u": {"type": "uuid7"}`, `"uuids": {"type": "uuid7"}`, 1)
	schema = strings.Replace(schema, `"generator": "u"`, `"generator": "uuids"`, 1)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "CREATE TABLE f (id BIGINT PRIMARY KEY, v INT)", "CREATE TABLE u (id CHAR(36) PRIMARY KEY, v INT)")
		if err := sequence.Seed(t.Context(), p.direct, p.database, "numbers", 50, 10); err != nil {
			t.Fatal(err)
		}
		v, err := vschema.Load("vschema.json", []byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		db := p.open(t, driver.Config{Keyspace: "shop", VSchema: v, WorkerID: workerID})
		if got := insert(t, db, "INSERT INTO t (v) VALUES ('a')"); got != 50 {
			t.Errorf("id %d, want 50 of the vschema's sequence", got)
		}
		id := insert(t, db, "INSERT INTO f (v) VALUES (1)")
		if got := value[int64](t, p.direct, "SELECT id FROM f"); got != id || id < 1<<50 {
			t.Errorf("the snowflake %d is told as %d", got, id)
		}
		insert(t, db, "INSERT INTO u (v) VALUES (1)")
		if got := value[string](t, p.direct, "SELECT id FROM u"); len(got) != 36 {
			t.Errorf("the UUID is %q", got)
		}
	})
}

// Processes share a sequence: ids of two drivers and of Vitess's row never meet, and unused ones go back at the end.
func TestShared(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		dbs := []*sql.DB{p.open(t, driver.Config{}), p.open(t, driver.Config{Refill: sequence.StrategyCAS})}
		var all sync.WaitGroup
		for _, db := range dbs {
			for range 3 {
				all.Go(func() {
					for range 30 {
						if _, err := db.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (?)", "x"); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		all.Wait()
		if got := value[int](t, p.direct, "SELECT COUNT(*) FROM t"); got != 180 {
			t.Errorf("%d rows, want 180", got)
		}
		lone := p.open(t, driver.Config{})
		id := insert(t, lone, "INSERT INTO t (v) VALUES ('z')")
		for _, db := range append(dbs, lone) {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := value[int64](t, p.direct, "SELECT next_id FROM t_seq"); got != id+1 {
			t.Errorf("next_id is %d after the end, want %d", got, id+1)
		}
	})
}

// What cannot be filled is refused, what the server refuses is its own error, and a cancelled statement ends.
func TestErrors(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		db := p.open(t, driver.Config{})
		for query, want := range map[string]uint16{
			"INSERT INTO t (id, v) VALUES (RAND(), 'a')":  1235,
			"INSERT INTO nowhere (v) VALUES (1)":          1146,
			"SELECT NEXT VALUE FROM nowhere_seq":          1146,
			"UPDATE t SET nothing = 1":                    1054,
			"SELECT NEXT VALUE FROM t_seq FOR KEY 'a'":    1235,
			"INSERT INTO t (id, v) VALUES (1, 2, 3)":      1136,
			"INSERT INTO t (v) SELECT v FROM t WHERE bad": 1054,
		} {
			_, err := db.ExecContext(t.Context(), query)
			var answer *mysql.MySQLError
			if !errors.As(err, &answer) || answer.Number != want {
				t.Errorf("%s: %v, want error %d", query, err, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := db.ExecContext(ctx, "INSERT INTO t (v) VALUES ('a')"); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if got := value[int](t, p.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows, want none", got)
		}
	})
}

func TestConnectorRefuses(t *testing.T) {
	sharded, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"shop": {"sharded": true, "vindexes": {"hash": {"type": "hash"}},
		"tables": {"t": {"column_vindexes": [{"column": "id", "name": "hash"}]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	two, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"shop": {}, "other": {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dsn string
		cfg       driver.Config
		text      string
	}{
		{"malformed", "nonsense", driver.Config{}, "data source name"},
		{"no database", "app@tcp(127.0.0.1:1)/", driver.Config{}, "no database"},
		{"refill", "app@tcp(127.0.0.1:1)/shop", driver.Config{Refill: "magic"}, "magic"},
		{"sharded", "app@tcp(127.0.0.1:1)/shop", driver.Config{VSchema: sharded}, "sharded"},
		{"two keyspaces", "app@tcp(127.0.0.1:1)/shop", driver.Config{VSchema: two}, "other"},
	} {
		if _, err := driver.NewConnector(tt.dsn, tt.cfg); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.text)
		}
	}
	db, err := sql.Open("seqgate", "app@tcp(127.0.0.1:1)/shop")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("a server that is not there answers")
	}
	if err := db.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := db.Driver().Open("app@tcp(127.0.0.1:1)/shop"); err == nil {
		t.Error("a connection to a server that is not there")
	}
}

// A connection that is opened by the driver itself ends with all that is its own.
func TestLoneConnection(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		conn, err := driver.Driver{}.Open(s.DSN(p.database))
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := conn.Prepare("INSERT INTO t (v) VALUES ('a')")
		if err != nil {
			t.Fatal(err)
		}
		result, err := stmt.(sqldriver.StmtExecContext).ExecContext(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := result.LastInsertId(); id != 1001 || err != nil {
			t.Errorf("insert id %d (%v), want 1001", id, err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if got := value[int64](t, p.direct, "SELECT next_id FROM t_seq"); got != 1002 {
			t.Errorf("next_id is %d at the end, want 1002", got)
		}
	})
}
