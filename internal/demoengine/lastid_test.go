//go:build !slim

package demoengine

import (
	"context"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

func TestInsertID(t *testing.T) {
	for _, tc := range []struct {
		name      string
		statement string
		args      []any
		ok, fn    int64 // insert id in the OK packet, LAST_INSERT_ID() afterwards
	}{
		{"one row", "INSERT INTO accounts (name, id) VALUES ('a', LAST_INSERT_ID(12))", nil, 12, 12},
		{"three rows", "INSERT INTO accounts (name, id) VALUES ('a', LAST_INSERT_ID(12)), ('b', 13), ('c', 14)", nil, 12, 12},
		{"prepared", "INSERT INTO accounts (name, id) VALUES (?, LAST_INSERT_ID(?))", []any{"a", 12}, 12, 12},
		{"SET", "INSERT INTO accounts SET name = 'a', id = LAST_INSERT_ID(12)", nil, 12, 12},
		{"REPLACE", "REPLACE INTO accounts (name, id) VALUES ('old', LAST_INSERT_ID(12))", nil, 12, 12},
		{"explicit id", "INSERT INTO accounts (name, id) VALUES ('a', 12)", nil, 0, 5},
		{"function in a string", "INSERT INTO accounts (name, id) VALUES ('LAST_INSERT_ID(7)', 12)", nil, 0, 5},
		{"existing row", "INSERT INTO accounts (name, id) VALUES ('old', LAST_INSERT_ID(12)) ON DUPLICATE KEY UPDATE accounts.id = LAST_INSERT_ID(accounts.id)", nil, 1, 1},
		{"AUTO_INCREMENT", "INSERT INTO native (name) VALUES ('a'), ('b')", nil, 1, 1},
		{"AUTO_INCREMENT and function", "INSERT INTO native (name, id) VALUES ('a', LAST_INSERT_ID(12))", nil, 12, 12},
		{"increment a sequence", "UPDATE users_seq SET next_id = LAST_INSERT_ID(GREATEST(next_id, 30)) + 10 WHERE id = 0", nil, 30, 30},
		{"no row changed", "UPDATE users_seq SET next_id = LAST_INSERT_ID(next_id + 1) WHERE id = 1", nil, 0, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEngine(t)
			c := connect(t, e, "root", "")
			run(t, c, "CREATE TABLE native (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64))",
				"CREATE TABLE accounts (id BIGINT PRIMARY KEY, name VARCHAR(64), UNIQUE KEY (name))",
				"INSERT INTO accounts VALUES (1, 'old')")
			queryInt(t, c, "SELECT LAST_INSERT_ID(5)")
			r, err := c.ExecContext(t.Context(), tc.statement, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.LastInsertId(); got != tc.ok || err != nil {
				t.Errorf("insert id of the OK packet: got %d, error %v, want %d", got, err, tc.ok)
			}
			if got := queryInt(t, c, "SELECT LAST_INSERT_ID()"); got != tc.fn {
				t.Errorf("LAST_INSERT_ID(): got %d, want %d", got, tc.fn)
			}
			if got := queryInt(t, connect(t, e, "root", ""), "SELECT LAST_INSERT_ID()"); got != 0 {
				t.Errorf("LAST_INSERT_ID() of another connection: got %d, want 0", got)
			}
		})
	}
}

// reusing is an engine that overwrites a row's bytes when the statement ends.
type reusing struct{ mysql.Handler }

func (reusing) ComQuery(_ context.Context, _ *mysql.Conn, _ string, send mysql.ResultSpoolFn) error {
	value := []byte("row")
	defer copy(value, "XXX")
	return send(&sqltypes.Result{Rows: [][]sqltypes.Value{{sqltypes.MakeTrusted(sqltypes.VarChar, value), sqltypes.NULL}}}, false)
}

func TestAnswerKeepsValues(t *testing.T) {
	var got *sqltypes.Result
	err := newHandler(reusing{}).ComQuery(t.Context(), &mysql.Conn{ClientData: &session{}}, "SELECT 1",
		func(r *sqltypes.Result, _ bool) error { got = r; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if row := got.Rows[0]; row[0].ToString() != "row" || !row[1].IsNull() {
		t.Errorf("row: got %v, want row and NULL", row)
	}
}
