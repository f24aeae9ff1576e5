package proxy_test

import (
	"slices"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// counts gives what a session's counters of statements say.
func counts(t *testing.T, c querier) string {
	t.Helper()
	var name, n string
	if err := c.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Com_select'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A session is asked for what concerns a sequenced table, and for nothing else.
func TestAskedOnlyForSequencedTables(t *testing.T) {
	tests := []struct {
		name      string
		statement string
		asked     bool
	}{
		{"INSERT", "INSERT INTO other VALUES (1)", false},
		{"INSERT, quoted", "INSERT INTO `other` VALUES (\"a\\\"\")", false},
		{"INSERT of text outside ASCII", "INSERT INTO other VALUES ('größe')", false},
		{"INSERT ... SELECT", "INSERT INTO other SELECT 1 UNION SELECT 2", false},
		{"INSERT in a version comment", "/*!40000 INSERT INTO other VALUES (1) */", false},
		{"PREPARE", "PREPARE p FROM 'INSERT INTO other VALUES (?)'", false},
		{"several", "SET @a = \"it's\"; INSERT INTO other VALUES (1); INSERT INTO other VALUES ('ä')", false},
		{"several after a USE", "USE {database}; INSERT INTO other VALUES (1)", false},
		{"filled INSERT", "INSERT INTO users (u) VALUES ('a'), ('b')", false},
		{"filled INSERT, several", "SET @a = 1; INSERT INTO {database}.users SET u = 'c'", false},
		{"filled INSERT with a value for the id", "INSERT INTO users (id, u) VALUES (0, 'd')", true},
		{"filled INSERT without a list", "INSERT INTO users VALUES (DEFAULT, 'e')", true},
		{"filled INSERT with a backslash", "INSERT INTO users (u) VALUES ('\\\\')", true},
		{"INSERT ... SELECT into a sequenced table", "INSERT INTO users (u) SELECT 'x'", true},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE other (a VARCHAR(10))")
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				c := conn(t, g.open(t, "multiStatements=true"))
				exec(t, c, "SET sql_mode = ''")
				before := counts(t, c)
				_, err := c.ExecContext(t.Context(), replaceDatabase(tt.statement, g.database))
				if refused := errno(err) == 1235; err != nil && !refused {
					t.Fatal(err)
				}
				if asked := counts(t, c) != before; asked != tt.asked {
					t.Errorf("asked %v, want %v", asked, tt.asked)
				}
			})
		}
		g.checkUsers(t, `1000000/a,1000001/b,1000002/c,1000003/d,1000004/e,1000005/\,1000006/x`)
	})
}

// ROW_COUNT() and FOUND_ROWS() after a session's first filled statement are those
// that the statement leaves.
func TestRowCountsAfterFill(t *testing.T) {
	statements := []string{"INSERT INTO users (u) VALUES ('a'), ('b')",
		"INSERT IGNORE INTO users (u) VALUES ('a'), ('c'), ('d')", "INSERT IGNORE INTO users (u) VALUES ('a')",
		"INSERT INTO users (u) VALUES ('a') ON DUPLICATE KEY UPDATE u = 'e'", "INSERT INTO users (u) VALUES ('b')", "REPLACE INTO users (u) VALUES ('b')",
		"INSERT INTO users (u) VALUES ('f'), ('g')"}
	run := func(t *testing.T, open func() execQuerier) (counts []int) {
		for _, statement := range statements {
			c := open() // nothing is known of it
			value[int](t, c, "SELECT SQL_CALC_FOUND_ROWS 1 UNION ALL SELECT 2 UNION ALL SELECT 3 LIMIT 1")
			_, err := c.ExecContext(t.Context(), statement)
			if err != nil && errno(err) != 1062 {
				t.Fatalf("%s: %v", statement, err)
			}
			var rows, found int
			if err := c.QueryRowContext(t.Context(), "SELECT ROW_COUNT(), FOUND_ROWS()").Scan(&rows, &found); err != nil {
				t.Fatal(err)
			}
			counts = append(counts, rows, found)
		}
		return counts
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		exec(t, g.direct, "ALTER TABLE users ADD UNIQUE (u)")
		through := run(t, func() execQuerier { return conn(t, g.open(t, "")) })
		exec(t, g.direct, "TRUNCATE TABLE users")
		direct := run(t, func() execQuerier { return conn(t, s.Open(t, g.database)) })
		if !slices.Equal(direct, through) {
			t.Errorf("through seqgate %v, want %v", through, direct)
		}
	})
}

type execQuerier interface {
	execer
	querier
}
