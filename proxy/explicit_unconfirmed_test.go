package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// largestID uses a sequence up, where it is taken for one that is stored.
const largestID = "9223372036854775807"

// A statement whose own ids the server does not store moves no sequence, beyond the few ids that it may use up itself.
func TestUnconfirmedOwnIDs(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, insert string
		args         []any
		errno        uint16
	}{
		{"unknown column", "INSERT INTO t (id, none) VALUES (" + largestID + ", 1), (NULL, 2)", nil, 1054},
		{"duplicate first row", "INSERT INTO t (id, a, u) VALUES (" + largestID + ", 2, 1), (NULL, 2, 7)", nil, 1062},
		{"duplicate row", "INSERT INTO t (id, a, u) VALUES (" + largestID + ", 2, 1)", nil, 1062},
		{"duplicate last row", "INSERT INTO t (id, a, u) VALUES (NULL, 2, 8), (" + largestID + ", 2, 1)", nil, 1062},
		{"ignored", "INSERT IGNORE INTO t (id, a, u) VALUES (" + largestID + ", 2, 1)", nil, 0},
		{"ignored beside a new row", "INSERT IGNORE INTO t (id, a, u) VALUES (" + largestID + ", 2, 1), (NULL, 2, 8)", nil, 0},
		{"upsert of another row", "INSERT INTO t (id, a, u) VALUES (" + largestID + ", 2, 1) ON DUPLICATE KEY UPDATE a = 5", nil, 0},
		{"upsert that changes nothing", "INSERT INTO t (id, a, u) VALUES (" + largestID + ", 0, 1), (NULL, 1, 8) ON DUPLICATE KEY UPDATE a = a", nil, 0},
		{"upserts that count as one row each", "INSERT INTO t (id, a, u) VALUES (" + largestID + ", 0, 1), (9000000, 0, 1) ON DUPLICATE KEY UPDATE a = IF(a = 7, 7, a + 7)", nil, 0},
		{"of a query", "INSERT INTO t (id, a, u) SELECT " + largestID + ", 2, 1 UNION ALL SELECT NULL, 2, 8", nil, 1062},
		{"of a query, no column", "INSERT INTO t (id, none) SELECT " + largestID + ", 2 UNION ALL SELECT NULL, 2", nil, 1054},
		{"of a query, ignored", "INSERT IGNORE INTO t (id, a, u) SELECT " + largestID + ", 2, 1 UNION ALL SELECT NULL, 2, 8", nil, 0},
		{"parameter", "INSERT INTO t (id, a, u) VALUES (?, 2, 1), (?, 2, 8)", []any{int64(1<<63 - 1), nil}, 1062},
		{"parameter, ignored", "INSERT IGNORE INTO t (id, a, u) VALUES (?, 2, 1)", []any{int64(1<<63 - 1)}, 0},
		{"SQL's prepared statement", "EXECUTE p USING @most, @none", nil, 1062},
		{"user variables", "INSERT INTO t (id, a, u) VALUES (@most, 2, 1), (@none, 2, 8)", nil, 1062},
		{"file", "LOAD DATA LOCAL INFILE '%s' INTO TABLE t FIELDS TERMINATED BY ',' (id, a, u)", nil, 0},
		{"replace", "REPLACE INTO t (id, none) VALUES (" + largestID + ", 1), (NULL, 2)", nil, 1054},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, column := range []string{"BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY AUTO_INCREMENT"} {
			g := newGate(t, s, gateOptions{})
			exec(t, conn(t, g.direct), "CREATE TABLE t (id "+column+", a INT, u INT UNIQUE)")
			createSequence(t, g.direct, "t_seq", 1, 1000)
			for _, tt := range cases {
				t.Run(tt.name+" "+column, func(t *testing.T) {
					c := conn(t, g.open(t, ""))
					exec(t, c, "DELETE FROM t", "INSERT INTO t (a, u) VALUES (0, 1)", "SET @most = "+largestID+", @none = NULL")
					before := value[int64](t, c, "SELECT MAX(id) FROM t")
					insert := tt.insert
					if strings.Contains(insert, "%s") {
						insert = fmt.Sprintf(insert, readerFor(t, strings.NewReader(largestID+",2,1\n\\N,2,8\n")))
					}
					exec(t, c, "PREPARE p FROM 'INSERT INTO t (id, a, u) VALUES (?, 2, 1), (?, 2, 8)'")
					_, err := c.ExecContext(t.Context(), insert, tt.args...)
					checkErrno(t, err, tt.errno)
					checkNotMoved(t, c, before)
				})
			}
		}
	})
}

// checkNotMoved checks that the next id is not far above one from before.
func checkNotMoved(t *testing.T, c *sql.Conn, before int64) {
	t.Helper()
	exec(t, c, "INSERT INTO t (a, u) VALUES (9, 9)")
	if got := value[int64](t, c, "SELECT id FROM t WHERE u = 9"); got <= before || got > before+30_000 {
		t.Errorf("the next id is %d, after %d", got, before)
	}
}

// An account without any right on a table cannot use its sequence up.
func TestOwnIDsWithoutRights(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		user := "u" + g.database[max(0, len(g.database)-20):]
		exec(t, conn(t, g.direct), "CREATE TABLE t (id BIGINT PRIMARY KEY, a INT, u INT UNIQUE)", "CREATE TABLE mine (a INT)",
			"CREATE USER "+user+" IDENTIFIED BY 'secret'", "GRANT SELECT ON mine TO "+user)
		t.Cleanup(func() { _, _ = g.direct.Exec("DROP USER " + user) })
		createSequence(t, g.direct, "t_seq", 1, 1000)
		exec(t, g.open(t, ""), "INSERT INTO t (a, u) VALUES (0, 1)")
		through := newGate(t, s, gateOptions{passThrough: true, database: g.database})
		c := conn(t, openDSN(t, fmt.Sprintf("%s:secret@tcp(%s)/%s?tls=skip-verify", user, through.addr, g.database)))
		digits := "(SELECT 0 x UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
		for _, insert := range []string{
			"INSERT INTO t (id, a) VALUES (" + largestID + ", 1), (NULL, 1)",
			"INSERT INTO t (id, a) VALUES (" + largestID + ", 1)",
			"INSERT INTO t (id, a) SELECT " + largestID + ", 1 UNION ALL SELECT NULL, 1",
			"INSERT INTO t (a) SELECT a.x FROM " + digits + " a, " + digits + " b, " + digits + " c, " + digits + " d, " + digits + " e",
			"REPLACE INTO t SET id = " + largestID,
		} {
			_, err := c.ExecContext(t.Context(), insert)
			if code := errno(err); code != 1142 {
				t.Errorf("%s: got %v, want error 1142", insert, err)
			}
		}
		_, err := c.ExecContext(t.Context(), "INSERT INTO t (id, a) VALUES (?, 1), (?, 1)", int64(1<<63-1), nil)
		if code := errno(err); code != 1142 {
			t.Errorf("prepared: got %v, want error 1142", err)
		}
		if got := value[int64](t, g.direct, "SELECT next_id FROM t_seq"); got > 20_000 {
			t.Errorf("next_id is %d", got)
		}
		checkNotMoved(t, conn(t, g.open(t, "")), 1)
	})
}

// In front of shards a statement that one of them refuses moves no sequence either.
func TestUnconfirmedOwnIDsOfShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		_, c := newInsertGate(t, s, 2)
		exec(t, c, "INSERT INTO ux (id, name) VALUES (1, 'a'), (2, 'a2'), (3, 'a3'), (4, 'a4'), (5, 'a5')", "INSERT INTO ux (name) VALUES ('first')")
		before := value[int64](t, c, "SELECT MAX(id) FROM ux")
		for _, insert := range []string{
			"INSERT INTO ux (id, name) VALUES (1, 'x'), (" + largestID + ", 'y'), (NULL, 'z')",
			"INSERT IGNORE INTO ux (id, name, none) VALUES (" + largestID + ", 'y', 1)",
			"INSERT INTO ux (id, name, none) VALUES (1, 'a', 1), (3, 'a3', 1), (5, 'a5', 1), (" + largestID + ", 'y', 1)",
		} {
			if _, err := c.ExecContext(t.Context(), insert); err == nil {
				t.Errorf("%s succeeded", insert)
			}
		}
		exec(t, c, "INSERT INTO ux (name) VALUES ('last')")
		if got := value[int64](t, c, "SELECT id FROM ux WHERE name = 'last'"); got <= before || got > before+5000 {
			t.Errorf("the next id is %d, after %d", got, before)
		}
		exec(t, c, "INSERT IGNORE INTO ux (id, name) VALUES (1, 'x'), (2, 'x'), (3, 'x'), (4, 'x'), (20000, 'new'), (30000, 'last')", "INSERT INTO ux (name) VALUES ('then')")
		if got := value[int64](t, c, "SELECT id FROM ux WHERE name = 'then'"); got <= 20000 {
			t.Errorf("the next id is %d, below one that is stored", got)
		}
	})
}

// New ids beside own ones are none of those, wherever these lie.
func TestBlockAmongOwnIDs(t *testing.T) {
	t.Parallel()
	var sparse, dense, wide strings.Builder
	for i := range 300 {
		fmt.Fprintf(&sparse, ",(%d,1)", 2+i*7)
		fmt.Fprintf(&dense, ",(%d,1)", 2+i)
	}
	for i := range 2500 {
		fmt.Fprintf(&wide, ",(%d,1)", 2+i*7)
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for i, tt := range []struct{ rows, want string }{
			{"(NULL,2),(NULL,2),(5000000000,1)", "1,2"},
			{"(5000000000,1),(NULL,2),(NULL,2)", "1,2"},
			{"(5000000000,1),(2,1),(NULL,2),(NULL,2)", "3,4"},
			{"(5000000000,1),(2,1),(5,1),(3,1),(NULL,2),(NULL,2),(NULL,2)", "6,7,8"},
			{"(1,1)" + dense.String() + ",(NULL,2),(NULL,2)", "302,303"},
			{"(NULL,2),(NULL,2),(5000000000,1)" + sparse.String(), "3,4"},
			{"(NULL,2),(NULL,2),(NULL,2),(NULL,2),(NULL,2),(NULL,2),(NULL,2),(5000000000,1)" + sparse.String(), "2096,2097,2098,2099,2100,2101,2102"},
			{"(NULL,2),(NULL,2),(NULL,2),(NULL,2),(NULL,2),(NULL,2),(NULL,2),(5000000000,1)" + wide.String(), ""},
		} {
			for _, cache := range []int64{1, 10, 1000} {
				g := newGate(t, s, gateOptions{})
				c := conn(t, g.open(t, ""))
				exec(t, c, "CREATE TABLE t (id BIGINT AUTO_INCREMENT, a INT, KEY (id))")
				createSequence(t, c, "t_seq", 1, cache)
				_, err := c.ExecContext(t.Context(), "INSERT INTO t (id, a) VALUES "+tt.rows)
				if tt.want == "" {
					checkErrno(t, err, 1235)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := value[string](t, c, "SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE a = 2"); got != tt.want {
					t.Errorf("case %d, cache %d: ids %s, want %s", i, cache, got, tt.want)
				}
				exec(t, c, "INSERT INTO t (a) VALUES (3)")
				if got := value[int64](t, c, "SELECT id FROM t WHERE a = 3"); got != value[int64](t, c, "SELECT MAX(id) FROM t WHERE a <> 3")+1 {
					t.Errorf("case %d, cache %d: then %d", i, cache, got)
				}
			}
		}
	})
}

// Of a query only the least and the largest of its own ids are known before it runs.
func TestBlockAmongOwnIDsOfQuery(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range []struct{ query, want string }{
			{"SELECT NULL, 2 UNION ALL SELECT NULL, 2 UNION ALL SELECT 5000000000, 1", "1,2"},
			{"SELECT 5000000000, 1 UNION ALL SELECT 2, 1 UNION ALL SELECT NULL, 2 UNION ALL SELECT NULL, 2", ""},
			{"SELECT id, 1 FROM many UNION ALL SELECT NULL, 2 UNION ALL SELECT NULL, 2", "3001,3002"},
		} {
			g := newGate(t, s, gateOptions{})
			c := conn(t, g.open(t, ""))
			exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INT)", "CREATE TABLE many (id BIGINT PRIMARY KEY)")
			var rows strings.Builder
			for i := range 3000 {
				fmt.Fprintf(&rows, ",(%d)", i+1)
			}
			exec(t, c, "INSERT INTO many VALUES "+rows.String()[1:])
			createSequence(t, c, "t_seq", 1, 1000)
			exec(t, c, "INSERT INTO t (id, a) "+tt.query)
			got := value[string](t, c, "SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE a = 2")
			if tt.want != "" && got != tt.want {
				t.Errorf("%s: ids %s, want %s", tt.query, got, tt.want)
			}
			if n := value[int](t, c, "SELECT COUNT(*) FROM t WHERE a = 2"); n != 2 {
				t.Errorf("%s: %d new rows, want 2", tt.query, n)
			}
		}
	})
}
