package sequence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// asLeaf is a store of Leaf's on the tables of the suite, each seen through a view with Leaf's columns.
type asLeaf struct {
	pool, admin *sql.DB
	made        *sync.Map // a function that makes the view, once, by its table
}

func (s asLeaf) Reserve(ctx context.Context, q sequence.Request) (sequence.Reservation, error) {
	view := q.Table + "_v"
	once, _ := s.made.LoadOrStore(q.Table, sync.OnceValue(func() error {
		_, err := s.admin.Exec(fmt.Sprintf("CREATE VIEW `%s`.`%s` AS SELECT 'x' COLLATE utf8mb4_bin AS biz_tag, next_id AS max_id, cache AS step FROM `%s`.`%s` WHERE id = 0",
			q.Database, view, q.Database, q.Table))
		return err
	}))
	if err := once.(func() error)(); err != nil {
		return sequence.Reservation{}, err
	}
	return sequence.Leaf(s.pool, q.Database, view, "x").Reserve(ctx, q)
}

// The suite, as far as it is not about Vitess's table.
func TestLeafReservations(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sequencetest.TestReservations(t, func(t *testing.T) sequencetest.Harness {
			h, made := harness(t, s, sequence.StrategyForUpdate), new(sync.Map)
			h.Open = func(tb testing.TB, addr string) sequence.Store {
				cfg, err := mysql.ParseDSN(s.DSN(""))
				if err != nil {
					tb.Fatal(err)
				}
				cfg.Addr = addr
				return asLeaf{openPool(tb, cfg.FormatDSN()), h.Admin, made}
			}
			return h
		})
	})
}

const (
	// From Leaf's README.
	leafTable = "CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint(20) NOT NULL DEFAULT '1', step int(11) NOT NULL, " +
		"description varchar(256) DEFAULT NULL, update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag)) ENGINE=InnoDB"
	// From tinyid's create_table.sql.
	tinyTable = "CREATE TABLE tiny_id_info (id bigint(20) unsigned NOT NULL AUTO_INCREMENT, biz_type varchar(63) NOT NULL DEFAULT '', begin_id bigint(20) NOT NULL DEFAULT '0', " +
		"max_id bigint(20) NOT NULL DEFAULT '0', step int(11) DEFAULT '0', delta int(11) NOT NULL DEFAULT '1', remainder int(11) NOT NULL DEFAULT '0', " +
		"create_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00', update_time timestamp NOT NULL DEFAULT '2010-01-01 00:00:00', version bigint(20) NOT NULL DEFAULT '0', " +
		"PRIMARY KEY (id), UNIQUE KEY uniq_biz_type (biz_type))"
)

// leafServer takes a segment as a Leaf server does.
func leafServer(ctx context.Context, db *sql.DB) (r sequence.Range, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return r, err
	}
	defer tx.Rollback() // nothing is left of it after a commit
	if _, err := tx.ExecContext(ctx, "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'order'"); err != nil {
		return r, err
	}
	var last int64
	if err := tx.QueryRowContext(ctx, "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = 'order'").Scan(&last, &r.N); err != nil {
		return r, err
	}
	r.First = last - r.N
	return r, tx.Commit()
}

// tinyServer takes a segment as a tinyid server does, again when another was faster.
func tinyServer(ctx context.Context, db *sql.DB) (sequence.Range, error) {
	for {
		var id, last, step, version int64
		if err := db.QueryRowContext(ctx, "SELECT id, max_id, step, version FROM tiny_id_info WHERE biz_type = 'order'").Scan(&id, &last, &step, &version); err != nil {
			return sequence.Range{}, err
		}
		res, err := db.ExecContext(ctx, "UPDATE tiny_id_info SET max_id = ?, update_time = NOW(), version = version + 1 WHERE id = ? AND max_id = ? AND version = ? AND biz_type = 'order'",
			last+step, id, last, version)
		if err != nil {
			return sequence.Range{}, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 1 {
			return sequence.Range{First: last + 1, N: step}, err
		}
	}
}

// Servers of Leaf and tinyid go on beside seqgate, on the same row.
func TestForeignBeside(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range []struct {
			name, table, row string
			open             func(db *sql.DB, database string) sequence.Foreign
			server           func(context.Context, *sql.DB) (sequence.Range, error)
		}{
			{"leaf", leafTable, "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 10)",
				func(db *sql.DB, d string) sequence.Foreign { return sequence.Leaf(db, d, "leaf_alloc", "order") }, leafServer},
			{"tinyid", tinyTable, "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step) VALUES ('order', 1, 1, 10)",
				func(db *sql.DB, d string) sequence.Foreign { return sequence.TinyID(db, d, "tiny_id_info", "order") }, tinyServer},
		} {
			t.Run(tt.name, func(t *testing.T) {
				database := s.NewDatabase(t)
				direct := s.Open(t, database)
				execOn(t, direct, tt.table, tt.row)
				var ids sequencetest.IDs
				var all sync.WaitGroup
				for range 3 {
					reg := sequencetest.Registry(tt.open(openPool(t, s.DSN(database)), database), sequence.Config{MaxStep: 20, Timeout: time.Minute})
					defer reg.Close(t.Context())
					seq := get(t, reg, sequence.Name{Database: database, Table: tt.name})
					all.Go(func() {
						for n := range int64(100) {
							if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1+n%15) }); err != nil {
								t.Error(err)
								return
							}
						}
					})
					all.Go(func() {
						for range 30 {
							if err := ids.Take(func() (sequence.Range, error) { return tt.server(t.Context(), direct) }); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				ids.NoDuplicates(t)
			})
		}
	})
}

func TestForeignRows(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		direct := s.Open(t, database)
		execOn(t, direct, leafTable, tinyTable, "CREATE TABLE other (biz_tag VARCHAR(10), max_id BIGINT)",
			"INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('good', 1, 100), ('zero', 0, 100), ('bad', 1, 0), ('end', 9223372036854775806, 100)",
			"INSERT INTO tiny_id_info (biz_type, max_id, step, delta) VALUES ('good', 1, 100, 1), ('odd', 1, 100, 2)")
		pool := openPool(t, s.DSN(database))
		for _, tt := range []struct {
			store sequence.Foreign
			first int64
			kind  error
			text  string
		}{
			{store: sequence.Leaf(pool, database, "leaf_alloc", "good"), first: 1},
			{store: sequence.Leaf(pool, database, "leaf_alloc", "zero"), first: 1},
			{store: sequence.TinyID(pool, database, "tiny_id_info", "good"), first: 2},
			{store: sequence.Leaf(pool, database, "leaf_alloc", "bad"), kind: sequence.ErrBadRow, text: "no usable max_id or step"},
			{store: sequence.Leaf(pool, database, "leaf_alloc", "none"), kind: sequence.ErrNoRow, text: `no row with biz_tag "none"`},
			{store: sequence.TinyID(pool, database, "tiny_id_info", "odd"), kind: sequence.ErrBadRow, text: "only delta 1 is served"},
			{store: sequence.Leaf(pool, database, "missing", "x"), kind: sequence.ErrNoTable, text: "Leaf's table"},
			{store: sequence.Leaf(pool, database, "other", "x"), kind: sequence.ErrNotSequence, text: "lacks columns of Leaf's table"},
		} {
			res, err := tt.store.Reserve(t.Context(), sequence.Request{Need: 5})
			if res.First != tt.first || !errors.Is(err, tt.kind) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v: got %+v, %v; want ids from %d, or %v with %q", tt.store, res.Range, err, tt.first, tt.kind, tt.text)
			}
		}
		end := sequence.Leaf(pool, database, "leaf_alloc", "end")
		if res, err := end.Reserve(t.Context(), sequence.Request{Need: 1}); err != nil || res.N != 1 {
			t.Errorf("the last id: got %+v, %v; want one", res.Range, err)
		}
		if res, err := end.Reserve(t.Context(), sequence.Request{Need: 1}); !errors.Is(err, sequence.ErrExhausted) && !errors.Is(err, sequence.ErrBadRow) {
			t.Errorf("past the last id: got %+v, %v; want an error", res.Range, err)
		}
		good := sequence.Leaf(pool, database, "leaf_alloc", "good")
		given, err := good.Release(t.Context(), sequence.Request{}, sequence.Range{First: 61, N: 40})
		if res, again := good.Reserve(t.Context(), sequence.Request{Need: 1}); !given || err != nil || again != nil || res.First != 61 {
			t.Errorf("after a release from 61 on (%v, %v): got %+v, %v", given, err, res.Range, again)
		}
	})
}

func execOn(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
