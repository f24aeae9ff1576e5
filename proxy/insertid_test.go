package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// insertCase is one line of the truth table of insert ids: what a statement
// reports and leaves behind must be the same on a native AUTO_INCREMENT column
// and through seqgate.
type insertCase struct {
	name  string
	setup []string
	table string
	stmt  string
	args  []any
}

// old is what LAST_INSERT_ID() gives before the statement.
const old = 777

var insertCases = []insertCase{
	{name: "column omitted", stmt: "INSERT INTO t (u) VALUES ('a')"},
	{name: "three rows", stmt: "INSERT INTO t (u) VALUES ('a'), ('b'), ('c')"},
	{name: "NULL", stmt: "INSERT INTO t (id, u) VALUES (NULL, 'a')"},
	{name: "zero", stmt: "INSERT INTO t (id, u) VALUES (0, 'a')"},
	{name: "zero in quotes", stmt: "INSERT INTO t (id, u) VALUES ('0', 'a')"},
	{name: "DEFAULT", stmt: "INSERT INTO t (id, u) VALUES (DEFAULT, 'a')"},
	{name: "zero by arithmetic", stmt: "INSERT INTO t (id, u) VALUES (1-1, 'a')"},
	{name: "no column list", stmt: "INSERT INTO t VALUES (NULL, 'a', 1)"},
	{name: "SET", stmt: "INSERT INTO t SET u = 'a'"},
	{name: "SET with NULL", stmt: "INSERT INTO t SET id = NULL, u = 'a'"},
	{name: "prepared, omitted", stmt: "INSERT INTO t (u) VALUES (?)", args: []any{"a"}},
	{name: "prepared NULL", stmt: "INSERT INTO t (id, u) VALUES (?, ?)", args: []any{nil, "a"}},
	{name: "prepared zero", stmt: "INSERT INTO t (id, u) VALUES (?, ?)", args: []any{0, "a"}},
	{name: "prepared zero as text", stmt: "INSERT INTO t (id, u) VALUES (?, ?)", args: []any{"0", "a"}},
	{name: "prepared zero as double", stmt: "INSERT INTO t (id, u) VALUES (?, ?)", args: []any{0.4, "a"}},
	{name: "prepared explicit", stmt: "INSERT INTO t (id, u) VALUES (?, ?)", args: []any{100, "a"}},
	{name: "prepared mixed", stmt: "INSERT INTO t (id, u) VALUES (?, ?), (?, ?), (?, ?)", args: []any{200, "a", nil, "b", 0, "c"}},
	{name: "prepared literal and parameter", stmt: "INSERT INTO t (id, u) VALUES (NULL, ?), (?, ?)", args: []any{"a", nil, "b"}},
	{name: "prepared three rows", stmt: "INSERT INTO t (u, n) VALUES (?, ?), (?, ?), (?, ?)", args: []any{"a", 1, "b", 2, "c", 3}},
	{name: "prepared SET", stmt: "INSERT INTO t SET id = ?, u = ?", args: []any{nil, "a"}},
	{name: "explicit", stmt: "INSERT INTO t (id, u) VALUES (100, 'a')"},
	{name: "explicit in quotes", stmt: "INSERT INTO t (id, u) VALUES ('100', 'a')"},
	{name: "explicit rows", stmt: "INSERT INTO t (id, u) VALUES (100, 'a'), (101, 'b')"},
	{name: "negative explicit", stmt: "INSERT INTO t (id, u) VALUES (-5, 'a')"},
	{name: "explicit then open", stmt: "INSERT INTO t (id, u) VALUES (3, 'a'), (NULL, 'b'), (NULL, 'c')",
		setup: []string{"INSERT INTO t (id, u) VALUES (9, 'x')"}},
	{name: "open then explicit", stmt: "INSERT INTO t (id, u) VALUES (NULL, 'a'), (300, 'b')"},
	{name: "IGNORE, new", stmt: "INSERT IGNORE INTO t (u) VALUES ('a')"},
	{name: "IGNORE, all duplicates", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a'), (2, 'b')"},
		stmt: "INSERT IGNORE INTO t (u) VALUES ('a'), ('b')"},
	{name: "IGNORE, one duplicate", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a')"},
		stmt: "INSERT IGNORE INTO t (u) VALUES ('a')"},
	{name: "IGNORE, duplicate, new, duplicate", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a'), (2, 'c')"},
		stmt: "INSERT IGNORE INTO t (u) VALUES ('a'), ('b'), ('c')"},
	{name: "prepared IGNORE, duplicate, new", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a')"},
		stmt: "INSERT IGNORE INTO t (u) VALUES (?), (?)", args: []any{"a", "b"}},
	{name: "IGNORE, new, duplicate", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a')"},
		stmt: "INSERT IGNORE INTO t (u) VALUES ('b'), ('a')"},
	{name: "IGNORE, explicit duplicate", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a')"},
		stmt: "INSERT IGNORE INTO t (id, u) VALUES (1, 'b')"},
	{name: "ON DUPLICATE KEY, new", stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, changed", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, unchanged", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = 0"},
	{name: "prepared ON DUPLICATE KEY, changed", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (id, u) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + ?", args: []any{nil, "a", 3}},
	{name: "ON DUPLICATE KEY, id = LAST_INSERT_ID(id)", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)"},
	{name: "ON DUPLICATE KEY, id = LAST_INSERT_ID(id), changed", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = n + 1"},
	{name: "ON DUPLICATE KEY, id = LAST_INSERT_ID(id), new",
		stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)"},
	{name: "ON DUPLICATE KEY, existing, new, existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a'), ('b'), ('c') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, two existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a'), ('c') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, two existing, unchanged", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"},
		stmt: "INSERT INTO t (u) VALUES ('a'), ('c') ON DUPLICATE KEY UPDATE n = 0"},
	{name: "prepared ON DUPLICATE KEY, explicit new", args: []any{5, "x"},
		stmt: "INSERT INTO t (id, u) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "prepared ON DUPLICATE KEY, explicit existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (id, u) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + 1", args: []any{9, "a"}},
	{name: "ON DUPLICATE KEY, explicit new", stmt: "INSERT INTO t (id, u) VALUES (5, 'x') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, explicit existing, unchanged", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (id, u) VALUES (5, 'x') ON DUPLICATE KEY UPDATE n = 0"},
	{name: "ON DUPLICATE KEY, explicit existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (id, u) VALUES (5, 'x') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "REPLACE, new", stmt: "REPLACE INTO t (u) VALUES ('a')"},
	{name: "REPLACE, existing", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "REPLACE INTO t (u) VALUES ('a'), ('b')"},
	{name: "REPLACE SET", stmt: "REPLACE INTO t SET u = 'a'"},
	{name: "duplicate key", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u) VALUES ('a')"},
	{name: "prepared duplicate key", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"},
		stmt: "INSERT INTO t (u) VALUES (?)", args: []any{"a"}},
	{name: "wrong number of values", stmt: "INSERT INTO t (u) VALUES ('a', 'b')"},
	{name: "unknown column", stmt: "INSERT INTO t (nosuch) VALUES ('a')"},
	{name: "column named twice", stmt: "INSERT INTO t (id, id) VALUES (1, 2)"},
	{name: "data too long", stmt: "INSERT INTO t (u) VALUES ('" + string(make([]byte, 100)) + "')"},
	{name: "out of range", stmt: "INSERT INTO t (id, u) VALUES (18446744073709551615, 'a')"},
	{name: "LAST_INSERT_ID() as a value", stmt: "INSERT INTO t (u, n) VALUES ('a', LAST_INSERT_ID()), ('b', LAST_INSERT_ID())"},
	{name: "LAST_INSERT_ID() behind the id", stmt: "INSERT INTO t (id, n) VALUES (NULL, LAST_INSERT_ID())"},
	{name: "NO_AUTO_VALUE_ON_ZERO with 0", setup: []string{"SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"},
		stmt: "INSERT INTO t (id, u) VALUES (0, 'a')"},
	{name: "NO_AUTO_VALUE_ON_ZERO with NULL", setup: []string{"SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"},
		stmt: "INSERT INTO t (id, u) VALUES (NULL, 'a')"},
	{name: "prepared NO_AUTO_VALUE_ON_ZERO with 0", setup: []string{"SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"},
		stmt: "INSERT INTO t (id, u) VALUES (?, 'a')", args: []any{0}},
}

// insertOutcome is what a client can see of an INSERT.
type insertOutcome struct {
	Errno      uint16
	InsertID   string // this and the next three: which row's id it is, or its value
	LastID     string // LAST_INSERT_ID() afterwards
	Identity   string // @@identity afterwards
	LastIDThen string // LAST_INSERT_ID() once more
	Affected   int64
	RowCount   int64  // ROW_COUNT() afterwards
	Warnings   int64  // SHOW WARNINGS afterwards
	Rows       string // of the table, without generated ids
}

func TestInsertIDs(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		eachNativePair(t, s, "", func(t *testing.T, w *nativePair) { testInsertIDs(t, w, insertCases) })
		eachNativePair(t, s, "clientFoundRows=true", func(t *testing.T, w *nativePair) { testInsertIDs(t, w, upserts(insertCases)) })
	})
}

func testInsertIDs(t *testing.T, w *nativePair, cases []insertCase) {
	for i, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			tt := numbered(tt, i)
			a, b := w.open(t, tt)
			w.compare(t, a, b, tt, nil)
		})
	}
}

func nativeDSN(s *servertest.Server, database, params string) string {
	dsn, err := mysql.ParseDSN(s.DSN(database))
	if err != nil {
		panic(err)
	}
	dsn.ClientFoundRows = params != ""
	return dsn.FormatDSN()
}

// on gives the case for a table of the given name.
func (tt insertCase) on(table string) insertCase {
	name := regexp.MustCompile(`\bt\b`)
	tt.table = table
	tt.stmt = name.ReplaceAllString(tt.stmt, table)
	tt.setup = slices.Clone(tt.setup)
	for i := range tt.setup {
		tt.setup[i] = name.ReplaceAllString(tt.setup[i], table)
	}
	return tt
}

// runInsert runs the statement, and then asks what a client may ask.
func runInsert(t *testing.T, c *sql.Conn, tt insertCase) insertOutcome {
	t.Helper()
	return runInsertBy(t, c, tt, func() (sql.Result, error) { return c.ExecContext(t.Context(), tt.stmt, tt.args...) })
}

// runInsertBy is runInsert for a statement that run runs.
func runInsertBy(t *testing.T, c *sql.Conn, tt insertCase, run func() (sql.Result, error)) insertOutcome {
	t.Helper()
	ctx := t.Context()
	value[int64](t, c, fmt.Sprintf("SELECT LAST_INSERT_ID(%d)", old))
	result, err := run()
	o := insertOutcome{Errno: errno(err)}
	var insertID int64
	if err == nil {
		insertID, _ = result.LastInsertId()
		o.Affected, _ = result.RowsAffected()
	}
	o.Warnings = countRows(ctx, t, c, "SHOW WARNINGS")
	o.RowCount = value[int64](t, c, "SELECT ROW_COUNT()")
	lastID := value[int64](t, c, "SELECT LAST_INSERT_ID()")
	identity := value[int64](t, c, "SELECT @@identity")
	o.Rows = value[string](t, c, "SELECT COALESCE(GROUP_CONCAT(CONCAT_WS('/', u, n) ORDER BY u, n), '') FROM "+tt.table)
	then := value[int64](t, c, "SELECT LAST_INSERT_ID()")
	for into, id := range map[*string]int64{&o.InsertID: insertID, &o.LastID: lastID, &o.Identity: identity, &o.LastIDThen: then} {
		*into = value[string](t, c, fmt.Sprintf("SELECT COALESCE((SELECT CONCAT('id of row ', u) FROM %s WHERE id = %d), '%d')", tt.table, id, id))
	}
	return o
}

func countRows(ctx context.Context, t *testing.T, c *sql.Conn, query string) int64 {
	t.Helper()
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := int64(0)
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}
