package proxy_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// returningCases are run on a native AUTO_INCREMENT column and through seqgate.
var returningCases = []insertCase{
	{name: "one row", stmt: "INSERT INTO t (u) VALUES ('a') RETURNING id"},
	{name: "rows", stmt: "INSERT INTO t (u) VALUES ('a'), ('b'), ('c') RETURNING id, u, id + 1 AS x"},
	{name: "all columns", stmt: "INSERT INTO t VALUES (NULL, 'a', 1), (DEFAULT, 'b', 2) RETURNING *"},
	{name: "SET", stmt: "INSERT INTO t SET u = 'a' RETURNING id, n"},
	{name: "semicolon and comments", stmt: "INSERT INTO t (u) VALUES ('a') /* x */ RETURNING /* y */ id -- z\n;"},
	{name: "subquery", stmt: "INSERT INTO t (u) VALUES ('a') RETURNING (SELECT COUNT(*) FROM (SELECT 1) AS z), id"},
	{name: "LAST_INSERT_ID()", stmt: "INSERT INTO t (u) VALUES ('a'), ('b') RETURNING LAST_INSERT_ID(), id"},
	{name: "explicit", stmt: "INSERT INTO t (id, u) VALUES (2000000, 'a') RETURNING id"},
	{name: "negative", stmt: "INSERT INTO t (id, u) VALUES (-5, 'a') RETURNING id"},
	{name: "explicit, open", stmt: "INSERT INTO t (id, u) VALUES (5, 'a'), (NULL, 'b') RETURNING id"},
	{name: "prepared", stmt: "INSERT INTO t (id, u) VALUES (?, ?), (?, ?) RETURNING id, u", args: []any{nil, "a", 0, "b"}},
	{name: "prepared, parameter behind", stmt: "INSERT INTO t (u) VALUES (?) RETURNING id + ?", args: []any{"a", 7}},
	{name: "prepared, explicit", stmt: "INSERT INTO t (id, u) VALUES (?, ?) RETURNING id", args: []any{2000000, "a"}},
	{name: "REPLACE", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "REPLACE INTO t (u) VALUES ('a'), ('b') RETURNING id"},
	{name: "REPLACE SET", stmt: "REPLACE INTO t SET u = 'a' RETURNING id"},
	{name: "IGNORE, new", stmt: "INSERT IGNORE INTO t (u) VALUES ('a'), ('b') RETURNING id"},
	{name: "IGNORE, none", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT IGNORE INTO t (u) VALUES ('a') RETURNING id"},
	{name: "IGNORE, duplicate, new", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT IGNORE INTO t (u) VALUES ('a'), ('b') RETURNING id"},
	{name: "upsert, new", stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n + 1 RETURNING id"},
	{name: "upsert, changed", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n + 1 RETURNING id, n"},
	{name: "upsert, unchanged", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n RETURNING id, n"},
	{name: "upsert, existing, new", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u) VALUES ('a'), ('b') ON DUPLICATE KEY UPDATE n = n + 1 RETURNING id, n"},
	{name: "upsert, LAST_INSERT_ID(id)", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id) RETURNING id"},
	{name: "duplicate", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u) VALUES ('a') RETURNING id"},
	{name: "unknown column", stmt: "INSERT INTO t (u) VALUES ('a') RETURNING nosuch"},
	{name: "version comment", stmt: "INSERT INTO t (u) VALUES ('a') /*M!100500 RETURNING id */"},
	{name: "no rows wanted", stmt: "INSERT INTO t (u) VALUES ('a') RETURNING"},
}

// returned is what a client can see of a statement with RETURNING.
type returned struct {
	Errno            uint16
	Answer           string
	RowCount         int64
	LastID, Variable string // LAST_INSERT_ID() and @@last_insert_id
	Rows             string
}

// MariaDB's RETURNING gives the ids of the sequence, and leaves behind what it
// leaves behind on a native column.
func TestReturning(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MySQL has no RETURNING")
		}
		for _, column := range []string{"id BIGINT PRIMARY KEY AUTO_INCREMENT", "id BIGINT PRIMARY KEY"} {
			t.Run(column, func(t *testing.T) { testReturning(t, s, column) })
		}
	})
}

func testReturning(t *testing.T, s *servertest.Server, column string) {
	g := newGate(t, s, gateOptions{})
	native := openDSN(t, s.DSN(s.NewDatabase(t))+"?multiStatements=true")
	through := g.open(t, "multiStatements=true")
	for i, tt := range returningCases {
		for _, several := range []bool{false, true} {
			if several && tt.args != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s, several %v", tt.name, several), func(t *testing.T) {
				tt := tt.on(fmt.Sprintf("t%d%v", i, several))
				const rest = ", u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)"
				exec(t, native, "CREATE TABLE "+tt.table+" (id BIGINT PRIMARY KEY AUTO_INCREMENT"+rest+fmt.Sprint(" AUTO_INCREMENT = ", firstID))
				exec(t, through, "CREATE TABLE "+tt.table+" ("+column+rest)
				createSequence(t, through, tt.table+"_seq", firstID, 10)
				want, got := runReturning(t, conn(t, native), tt, several), runReturning(t, conn(t, through), tt, several)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-native +seqgate):\n%s", tt.stmt, diff)
				}
			})
		}
	}
}

func runReturning(t *testing.T, c *sql.Conn, tt insertCase, several bool) (o returned) {
	t.Helper()
	ctx := t.Context()
	exec(t, c, tt.setup...)
	value[int64](t, c, fmt.Sprintf("SELECT LAST_INSERT_ID(%d)", old))
	stmt := tt.stmt
	if several {
		stmt = "SELECT 'before'; " + strings.TrimSuffix(stmt, ";") + "\n; SELECT 'behind'"
	}
	rows, err := c.QueryContext(ctx, stmt, tt.args...)
	if o.Errno = errno(err); err == nil {
		o.Answer, o.Errno = readResults(t, rows)
	}
	o.RowCount = value[int64](t, c, "SELECT ROW_COUNT()")
	o.LastID = value[string](t, c, "SELECT LAST_INSERT_ID()")
	o.Rows = value[string](t, c, "SELECT COALESCE(GROUP_CONCAT(CONCAT_WS('/', id, u, n) ORDER BY id), '') FROM "+tt.table)
	o.Variable = value[string](t, c, "SELECT @@last_insert_id")
	return o.numbered()
}

var generatedID = regexp.MustCompile(`\b1\d{6}\b`)

// numbered gives the outcome with generated ids numbered in their order: of rows that
// were not inserted, a native column may use one again.
func (o returned) numbered() returned {
	ids := generatedID.FindAllString(o.Answer+o.Rows, -1)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, text := range []*string{&o.Answer, &o.Rows, &o.LastID, &o.Variable} {
		*text = generatedID.ReplaceAllStringFunc(*text, func(id string) string { return fmt.Sprint("generated ", slices.Index(ids, id)) })
	}
	return o
}

// readResults reads all results, as lines of values.
func readResults(t *testing.T, rows *sql.Rows) (text string, number uint16) {
	t.Helper()
	defer rows.Close()
	var lines strings.Builder
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&lines, columns)
		for rows.Next() {
			values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				lines.WriteString(v.String + " ")
			}
			lines.WriteString("\n")
		}
	}
	return lines.String(), errno(rows.Err())
}
