package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What a column without AUTO_INCREMENT has to be helped to: each statement tells what a native AUTO_INCREMENT column does.
func TestPlainIDAnswers(t *testing.T) {
	t.Parallel()
	type answer struct {
		id, affected, last int64
		rows               string
	}
	cases := []struct {
		name   string
		column string
		params string
		before []string
		insert string
		args   []any
	}{
		{name: "upsert that reads LAST_INSERT_ID()", insert: "INSERT INTO t (u, n) VALUES (1, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID() + 1"},
		{name: "... of a new row", insert: "INSERT INTO t (u, n) VALUES (2, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID() + 1"},
		{name: "... of the same value", insert: "INSERT INTO t (u, n) VALUES (1, LAST_INSERT_ID()) ON DUPLICATE KEY UPDATE n = n"},
		{name: "... with found rows", params: "clientFoundRows=true", insert: "INSERT INTO t (u, n) VALUES (1, LAST_INSERT_ID()) ON DUPLICATE KEY UPDATE n = n"},
		{name: "... found rows, changed", params: "clientFoundRows=true", insert: "INSERT INTO t (u, n) VALUES (1, LAST_INSERT_ID()) ON DUPLICATE KEY UPDATE n = n + 7"},
		{name: "... @@last_insert_id", insert: "INSERT INTO t (u, n) VALUES (1, 5) ON DUPLICATE KEY UPDATE n = @@last_insert_id + @@identity"},
		{name: "... with an id of its own", insert: "INSERT INTO t (id, u, n) VALUES (77, 1, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID() + 1"},
		{name: "... with a new id of its own", insert: "INSERT INTO t (id, u, n) VALUES (77, 9, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID() + 1"},
		{name: "... prepared", insert: "INSERT INTO t (u, n) VALUES (?, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID() + ?", args: []any{1, 3}},
		{name: "... prepared, new", insert: "INSERT INTO t (id, u, n) VALUES (?, ?, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID() + 1", args: []any{nil, 3}},
		{name: "upsert that sets it", insert: "INSERT INTO t (u, n) VALUES (1, 5) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 8"},
		{name: "upsert that counts by it", insert: "INSERT INTO t (u, n) VALUES (1, 5) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(n + 40)"},
		{name: "clipped", column: "TINYINT", before: []string{"SET sql_mode = ''"}, insert: "INSERT INTO t (id, u) VALUES (300, 5)"},
		{name: "clipped, ignored", column: "TINYINT", insert: "INSERT IGNORE INTO t (id, u) VALUES (300, 5)"},
		{name: "clipped, unsigned", column: "TINYINT UNSIGNED", insert: "INSERT IGNORE INTO t (id, u) VALUES (300, 5)"},
		{name: "clipped below", column: "TINYINT", insert: "INSERT IGNORE INTO t (id, u) VALUES (-300, 5)"},
		{name: "clipped, many rows", column: "SMALLINT", insert: "INSERT IGNORE INTO t (id, u) VALUES (5, 4), (70000, 5)"},
		{name: "clipped, prepared", column: "TINYINT", before: []string{"SET sql_mode = ''"}, insert: "INSERT INTO t (id, u) VALUES (?, 5)", args: []any{300}},
		{name: "clipped, upsert", column: "TINYINT", before: []string{"SET sql_mode = ''"}, insert: "INSERT INTO t (id, u) VALUES (300, 5) ON DUPLICATE KEY UPDATE n = 4"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range cases {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				var answers []answer
				for _, extra := range []string{" AUTO_INCREMENT", ""} {
					g := newGate(t, s, gateOptions{})
					c := conn(t, g.open(t, tt.params))
					if extra != "" {
						c = conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), tt.params)))
					} else {
						createSequence(t, c, "t_seq", 1, 100)
					}
					column := tt.column
					if column == "" {
						column = "BIGINT"
					}
					exec(t, c, fmt.Sprintf("CREATE TABLE t (id %s PRIMARY KEY%s, u INT UNIQUE, n BIGINT DEFAULT 0)", column, extra),
						"INSERT INTO t (u) VALUES (1)", "INSERT INTO t (u) VALUES (11)")
					exec(t, c, tt.before...)
					result, err := c.ExecContext(t.Context(), tt.insert, tt.args...)
					if err != nil {
						t.Fatal(err)
					}
					var a answer
					a.id, _ = result.LastInsertId()
					a.affected, _ = result.RowsAffected()
					a.last = value[int64](t, c, "SELECT LAST_INSERT_ID()")
					a.rows = value[string](t, c, "SELECT GROUP_CONCAT(CONCAT_WS('/', id, u, n) ORDER BY u) FROM t")
					answers = append(answers, a)
				}
				if answers[0] != answers[1] {
					t.Errorf("%s: got %+v, natively %+v", tt.insert, answers[1], answers[0])
				}
			})
		}
	})
}
