package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The last id that a column holds is given, and none that it cannot hold, or not
// tell from its neighbours: also where the server would cut it without an error.
func TestLargestIDs(t *testing.T) {
	t.Parallel()
	largest := map[string]int64{
		"SMALLINT UNSIGNED": 65535, "SMALLINT": 32767, "DECIMAL(20,0)": 9223372036854775807, "DECIMAL(4,0)": 9999, "DECIMAL(6,2)": 9999,
		"FLOAT": 1 << 24, "DOUBLE": 1 << 53, "VARCHAR(3)": 999, "CHAR(30)": 9223372036854775807, "BINARY(2)": 99,
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for typ, last := range largest {
			t.Run(typ, func(t *testing.T) {
				g := newGate(t, s, gateOptions{vschema: `{"keyspaces": {"main": {"tables": {"t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}, "t_seq": {"type": "sequence"}}}}}`})
				exec(t, g.direct, "CREATE TABLE t (id "+typ+" NOT NULL, u VARCHAR(20))")
				createSequence(t, g.direct, "t_seq", last-1, 1)
				c := conn(t, g.open(t, ""))
				exec(t, c, "SET sql_mode = ''", "INSERT INTO t (u) VALUES ('a'), ('b')")
				_, err := c.ExecContext(t.Context(), "INSERT INTO t (u) VALUES ('c')")
				checkErrno(t, err, 1467)
				if got := value[int](t, g.direct, "SELECT COUNT(DISTINCT id) FROM t"); got != 2 {
					t.Errorf("%d ids, want 2", got)
				}
			})
		}
	})
}

// A column of one of MySQL's older AUTO_INCREMENT types, as far as the server has it.
func TestFloatIDs(t *testing.T) {
	cases := []insertCase{
		{name: "omitted", stmt: "INSERT INTO t (u) VALUES ('a'), ('b')"},
		{name: "zero", stmt: "INSERT INTO t (id, u) VALUES (0, 'a'), ('0.0', 'b')"},
		{name: "one", stmt: "INSERT INTO t (id, u) VALUES (1, 'a'), (2e0, 'b')"},
		{name: "explicit", stmt: "INSERT INTO t (id, u) VALUES (7, 'a')"},
		{name: "fraction", stmt: "INSERT INTO t (id, u) VALUES (7.25, 'a')"},
	}
	refused := []insertCase{
		{stmt: "INSERT INTO t (id, u) VALUES (0.5, 'a')"}, {stmt: "INSERT INTO t (id, u) VALUES ('-0.5', 'a')"}, {stmt: "INSERT INTO t (id, u) VALUES (5e-1, 'a')"},
		{stmt: "INSERT INTO t (id, u) VALUES (?, 'a')", args: []any{0.5}}, {stmt: "INSERT INTO t (id, u) VALUES (@a, 'a')"}, {stmt: "INSERT INTO t (id, u) VALUES (@a, ?)", args: []any{"a"}},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		a, b := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, g.open(t, ""))
		for i, typ := range []string{"FLOAT", "DOUBLE"} {
			for j, tt := range cases {
				tt := tt.on(fmt.Sprintf("f%d_%d", i, j))
				create := "CREATE TABLE " + tt.table + " (id " + typ + " PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20), n INT)"
				if _, err := a.ExecContext(t.Context(), create); err != nil {
					t.Logf("%s: %v", typ, err)
					break
				}
				exec(t, b, create)
				createSequence(t, g.direct, tt.table+"_seq", 100, 10)
				exec(t, a, "ALTER TABLE "+tt.table+" AUTO_INCREMENT = 100")
				if diff := cmp.Diff(runInsert(t, a, tt), runInsert(t, b, tt)); diff != "" {
					t.Errorf("%s: %s (-native +seqgate):\n%s", typ, tt.stmt, diff)
				}
				const ids = "SELECT GROUP_CONCAT(id ORDER BY u) FROM "
				if want, got := value[string](t, a, ids+tt.table), value[string](t, b, ids+tt.table); want != got {
					t.Errorf("%s: %s: ids %s, natively %s", typ, tt.stmt, got, want)
				}
				for _, no := range refused {
					no = no.on(tt.table)
					_, err := b.ExecContext(t.Context(), no.stmt, no.args...)
					checkErrno(t, err, 1235)
				}
			}
		}
	})
}

// What a client writes in a character set in which the second byte of a character
// can be a quote, a backslash or a bar arrives as it was written.
func TestInsertInWideCharsets(t *testing.T) {
	t.Parallel()
	charsets := map[string][]string{
		"gbk": {"\xd5\x5c", "\xc0\x7c", "\xbf\x60"}, "sjis": {"\x95\x5c", "\x83\x7c", "\x83\x60"}, "big5": {"\xa5\x5c", "\xaf\x7c", "\xa7\x60"},
	}
	forms := []string{
		"INSERT INTO t (u) VALUES ('%s'), ('b')", "INSERT INTO t VALUES (NULL, '%s', 1)", "INSERT INTO t SET u = '%s\\'', id = 0",
		"INSERT INTO t (id, `u`) VALUES (0, 'x%s') ON DUPLICATE KEY UPDATE u = '%s'", "REPLACE t (u) VALUES ('%s' /* %s */)", "INSERT INTO t (u) VALUES (\"%s\")",
		"INSERT INTO t (u) VALUES ('%s'", "INSERT INTO t (u) VALUES ('%s\\')",
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for charset, characters := range charsets {
			t.Run(charset, func(t *testing.T) {
				t.Parallel()
				g := newGate(t, s, gateOptions{})
				a, b := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, g.open(t, ""))
				n := 0
				for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES"} {
					for _, character := range characters {
						for _, form := range forms {
							n++
							tt := insertCase{stmt: strings.ReplaceAll(form, "%s", character)}.on(fmt.Sprintf("w%d", n))
							create := "CREATE TABLE " + tt.table + " (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARBINARY(20), n INT)"
							exec(t, a, "SET NAMES utf8mb4", create, "SET NAMES "+charset, "SET sql_mode = '"+mode+"'")
							exec(t, b, "SET NAMES utf8mb4", create)
							createSequence(t, g.direct, tt.table+"_seq", 1, 10)
							exec(t, b, "SET NAMES "+charset, "SET sql_mode = '"+mode+"'")
							want, got := runInsert(t, a, tt), runInsert(t, b, tt)
							if diff := cmp.Diff(want, got); diff != "" {
								t.Errorf("%s, sql_mode %q: %q (-native +seqgate):\n%s", charset, mode, tt.stmt, diff)
							}
						}
					}
				}
			})
		}
	})
}

// PARTITION says where rows may go.
func TestInsertPartition(t *testing.T) {
	cases := []string{
		"INSERT INTO t PARTITION (p0) (u) VALUES ('a'), ('b')", "INSERT INTO t PARTITION (p0, p1) VALUES (NULL, 'a', 1)", "INSERT INTO t PARTITION (p1) (u) VALUES ('a')",
		"INSERT IGNORE INTO t PARTITION (p0) (id, u) VALUES (0, 'a'), (200, 'b')", "REPLACE t PARTITION (p0) SET u = 'a'", "INSERT INTO t PARTITION (nosuch) (u) VALUES ('a')",
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		a, b := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, g.open(t, ""))
		for i, stmt := range cases {
			tt := insertCase{stmt: stmt}.on(fmt.Sprintf("p%d", i))
			create := "CREATE TABLE " + tt.table + " (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20), n INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (100), PARTITION p1 VALUES LESS THAN MAXVALUE)"
			exec(t, a, create)
			exec(t, b, create)
			createSequence(t, g.direct, tt.table+"_seq", 1, 10)
			if diff := cmp.Diff(runInsert(t, a, tt), runInsert(t, b, tt)); diff != "" {
				t.Errorf("%s (-native +seqgate):\n%s", tt.stmt, diff)
			}
		}
	})
}

// SET GLOBAL sql_mode holds for sessions that begin afterwards.
func TestGlobalSQLMode(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		before := conn(t, g.open(t, ""))
		const insert = "INSERT INTO users (id, u) VALUES (0, '%s')"
		exec(t, before, fmt.Sprintf(insert, "a"), "SET GLOBAL sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ANSI_QUOTES'", fmt.Sprintf(insert, "b"))
		after := conn(t, g.open(t, ""))
		exec(t, after, fmt.Sprintf(insert, "c"), `INSERT INTO users ("id", u) VALUES (NULL, 'd')`)
		g.checkUsers(t, "0/c,1000000/a,1000001/b,1000002/d")
	})
}
