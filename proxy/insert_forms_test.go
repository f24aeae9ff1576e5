package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// formCases are forms of INSERT that insertCases do not have. only names the server
// that has the form.
var formCases = []struct {
	insertCase
	only string
}{
	{insertCase: insertCase{name: "VALUE", stmt: "INSERT INTO t (u) VALUE ('a')"}},
	{insertCase: insertCase{name: "VALUES ROW", stmt: "INSERT INTO t (u, n) VALUES ROW('a', 1), ROW('b', 2)"}, only: "mysql97"},
	{insertCase: insertCase{name: "LOW_PRIORITY", stmt: "INSERT LOW_PRIORITY IGNORE t (u) VALUES ('a')"}},
	{insertCase: insertCase{name: "HIGH_PRIORITY", stmt: "INSERT HIGH_PRIORITY INTO t SET u = 'a', id = DEFAULT"}},
	{insertCase: insertCase{name: "values of the rows", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u, n) VALUES ('a', 7) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1"}},
	{insertCase: insertCase{name: "row alias", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u, n) VALUES ('a', 7) AS new ON DUPLICATE KEY UPDATE n = new.n + 1"}, only: "mysql97"},
	{insertCase: insertCase{name: "column aliases", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT INTO t (u, n) VALUES ('a', 7) AS new(x, y) ON DUPLICATE KEY UPDATE n = y + 1"}, only: "mysql97"},
	{insertCase: insertCase{name: "hint", stmt: "INSERT /*+ NO_RANGE_OPTIMIZATION(t) */ INTO t (u) VALUES ('a')"}},
	{insertCase: insertCase{name: "comments everywhere", stmt: "/* a */ INSERT -- b\n INTO /* c */ t # d\n ( /* e */ u /* f */ ) /* g */ VALUES /* h */ ( /* i */ 'a' /* j */ ) /* k */ , /* l */ ('b') /* m */ ; /* n */"}},
	{insertCase: insertCase{name: "parameters beside literals", stmt: "INSERT INTO t (u, n) VALUES (_latin1'a', ?), (?, b'1'), ('d' 'e', 1e0), (X'62', ?)", args: []any{7, "c", nil}}},
	{insertCase: insertCase{name: "parameters, VALUES ROW", stmt: "INSERT INTO t (u, id) VALUES ROW(?, NULL), ROW('b', ?)", args: []any{"a", 0}}, only: "mysql97"},
	{insertCase: insertCase{name: "parameters, VALUE", stmt: "INSERT t VALUE (?, ?, ?)", args: []any{nil, "a", 1}}},
	{insertCase: insertCase{name: "parameters, SET", stmt: "INSERT HIGH_PRIORITY INTO t SET u = ?, id = DEFAULT, n = ? + 1", args: []any{"a", 1}}},
	{insertCase: insertCase{name: "parameters, VALUES()", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"},
		stmt: "INSERT INTO t (u, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = VALUES(n) + ?", args: []any{"a", 7, 1}}},
	{insertCase: insertCase{name: "parameters, row alias", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"},
		stmt: "INSERT INTO t (u, n) VALUES (?, ?) AS new ON DUPLICATE KEY UPDATE n = new.n + ?", args: []any{"a", 7, 1}}, only: "mysql97"},
	{insertCase: insertCase{name: "parameters and comments", stmt: "INSERT /* ? */ INTO t (u -- ?\n) VALUES (/* ? */ ?), ('?'), (?) # ?", args: []any{"a", "b"}}},
	{insertCase: insertCase{name: "literals", stmt: "INSERT INTO t (u, n) VALUES (_latin1'a', 0x01), (X'62', b'1'), (N'c', +1), ('d' 'e', 1e0), ('f\\'g', -1), ('h''i', 1)"}},
}

// Each form reports and leaves behind what it does on a native column: as text, in a
// text of several, prepared by the driver and by SQL.
func TestInsertForms(t *testing.T) {
	t.Parallel()
	ways := []struct {
		name, params string
		run          func(*testing.T, *sql.Conn, insertCase) insertOutcome
	}{
		{"text", "", runInsert},
		{"several", "multiStatements=true", runAmongOthers},
		{"prepared", "", runPrepared},
		{"PREPARE", "", runSQLPrepared},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		for j, way := range ways {
			native, through := openDSN(t, s.DSN(s.NewDatabase(t))+"?interpolateParams=false&"+way.params), g.open(t, way.params)
			for i, tt := range formCases {
				if tt.only != "" && tt.only != s.Name {
					continue
				}
				t.Run(way.name+"/"+tt.name, func(t *testing.T) {
					c := tt.on(fmt.Sprintf("t%d_%d", i, j))
					exec(t, native, "CREATE TABLE "+c.table+" (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)")
					exec(t, through, "CREATE TABLE "+c.table+" (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)")
					a, b := conn(t, native), conn(t, through)
					exec(t, a, c.setup...)
					exec(t, b, c.setup...)
					createSequence(t, through, c.table+"_seq", firstID, 10)
					if diff := cmp.Diff(way.run(t, a, c), way.run(t, b, c)); diff != "" {
						t.Errorf("%s (-native +seqgate):\n%s", c.stmt, diff)
					}
				})
			}
		}
	})
}

// runAmongOthers is runInsert for a statement in a text of several.
func runAmongOthers(t *testing.T, c *sql.Conn, tt insertCase) insertOutcome {
	t.Helper()
	if tt.args == nil {
		tt.stmt = "DO 1; SET @before = 1; " + strings.TrimRight(tt.stmt, "; ")
	}
	return runInsert(t, c, tt)
}

// runPrepared is runInsert for a statement that the driver prepares.
func runPrepared(t *testing.T, c *sql.Conn, tt insertCase) insertOutcome {
	t.Helper()
	st, err := c.PrepareContext(t.Context(), tt.stmt)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	return runInsertBy(t, c, tt, func() (sql.Result, error) { return st.ExecContext(t.Context(), tt.args...) })
}

// runSQLPrepared is runInsert for a statement that SQL's PREPARE prepares.
func runSQLPrepared(t *testing.T, c *sql.Conn, tt insertCase) insertOutcome {
	t.Helper()
	set, using := tt.setArgs()
	errnos(t, c, []string{"PREPARE p FROM " + quote(tt.stmt), set})
	tt.stmt, tt.args = "EXECUTE p"+using, nil
	return runInsert(t, c, tt)
}

// Types of the id's column, its place, and the shape of its key.
func TestIDColumns(t *testing.T) {
	t.Parallel()
	tables := map[string]string{
		"INT": "id INT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)", "MEDIUMINT UNSIGNED": "id MEDIUMINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)",
		"BIGINT UNSIGNED": "id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)", "not first": "u VARCHAR(20), id BIGINT AUTO_INCREMENT, PRIMARY KEY (id)",
		"composite": "id BIGINT AUTO_INCREMENT, u VARCHAR(20), PRIMARY KEY (id, u)", "generated column": "id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20), g INT AS (1) VIRTUAL",
		"invisible column": "id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20), h INT DEFAULT 3 INVISIBLE",
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, columns := range tables {
			t.Run(name, func(t *testing.T) {
				g := newGate(t, s, gateOptions{})
				exec(t, g.direct, "CREATE TABLE users ("+columns+")")
				createSequence(t, g.direct, "users_seq", firstID, 10)
				c := conn(t, g.open(t, ""))
				row := map[string]string{"not first": "('b', NULL)", "generated column": "(NULL, 'b', DEFAULT)"}[name]
				if row == "" {
					row = "(NULL, 'b')"
				}
				exec(t, c, "INSERT INTO users (u) VALUES ('a')", "INSERT INTO users VALUES "+row, "ALTER TABLE users ADD COLUMN x INT DEFAULT 4 FIRST",
					"INSERT INTO users VALUES (4, "+row[1:], "INSERT INTO users SET u = 'c', id = 0")
				g.checkUsers(t, "1000000/a,1000001/b,1000002/b,1000003/c")
			})
		}
	})
}
