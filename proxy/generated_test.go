package proxy_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

// Layouts of each kind: with runs of 4096, of 128, and without.
var testLayouts = map[string]string{
	"twitter": `{"layout": "twitter", "worker": 3, "zone": 2}`,
	"js53":    `{"layout": "js53", "worker": 3}`,
	"apart":   `{"epoch": "2024-01-01", "bits": {"time": 41, "sequence": 12, "worker": 10}, "worker": 3}`,
}

// generatorSchema is a vschema in which generator g fills the column id of the tables t0 to t(n-1), and t.
func generatorSchema(generator string, n int) string {
	tables := []string{`"t": {"auto_increment": {"column": "id", "generator": "g"}}`}
	for i := range n {
		tables = append(tables, fmt.Sprintf(`"t%d": {"auto_increment": {"column": "id", "generator": "g"}}`, i))
	}
	return fmt.Sprintf(`{"keyspaces": {"main": {"generators": {"g": %s}, "tables": {%s}}}}`, generator, strings.Join(tables, ", "))
}

func snowflakeSchema(params string, n int) string {
	return generatorSchema(`{"type": "snowflake", "params": `+params+`}`, n)
}

// What clients see of the ids of a snowflake is what they see of a native column's.
func TestSnowflakeInsertIDs(t *testing.T) {
	t.Parallel()
	// One without a name for its row would compare the ids themselves.
	cases := slices.DeleteFunc(slices.Clone(insertCases), func(tt insertCase) bool { return tt.name == "LAST_INSERT_ID() behind the id" })
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, params := range testLayouts {
			for _, column := range []string{autoIncrement, plainID} {
				t.Run(name+"/"+column, func(t *testing.T) {
					t.Parallel()
					g := newGate(t, s, gateOptions{vschema: snowflakeSchema(params, len(cases))})
					w := &nativePair{openDSN(t, nativeDSN(s, s.NewDatabase(t), "")), g.open(t, ""), column}
					testInsertIDs(t, w, cases)
				})
			}
		}
	})
}

// A statement of more rows than the layout has ids that follow each other gets others, and tells the first.
func TestSnowflakeManyRows(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, params := range testLayouts {
			t.Run(name, func(t *testing.T) {
				g := newGate(t, s, gateOptions{vschema: snowflakeSchema(params, 0)})
				db := g.open(t, "")
				exec(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT UNIQUE)", "INSERT INTO t (n) VALUES (-1)")
				c := conn(t, db)
				var rows []string
				for i := range 5000 {
					rows = append(rows, fmt.Sprintf("(%d)", i))
				}
				exec(t, c, "INSERT INTO t (n) VALUES "+strings.Join(rows, ", "))
				if got := value[string](t, c, "SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT id), SUM(id = LAST_INSERT_ID() AND n = 0)) FROM t"); got != "5001 5001 1" {
					t.Errorf("got %s, want 5001 5001 1", got)
				}
				if n := value[int](t, c, "SELECT COUNT(*) FROM t a JOIN t b ON a.n = b.n - 1 WHERE a.id >= b.id"); n != 0 {
					t.Errorf("%d ids are not above that of the row before", n)
				}
				// One that was skipped, in a block that does not follow.
				exec(t, c, "DELETE FROM t WHERE n > 0", "INSERT IGNORE INTO t (n) VALUES "+strings.Join(rows, ", "))
				if got := value[int](t, c, "SELECT n FROM t WHERE id = LAST_INSERT_ID()"); got != 1 {
					t.Errorf("LAST_INSERT_ID() is that of row %d, want 1", got)
				}
			})
		}
	})
}

// An INSERT ... SELECT numbers its rows in the server: as many as follow each other.
func TestSnowflakeInsertSelect(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: snowflakeSchema(testLayouts["js53"], 0)})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE q (n INT)", "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)", "INSERT INTO q VALUES (1), (2), (3), (4), (5), (6)",
			"INSERT INTO t (n) SELECT n FROM q")
		if got := value[string](t, c, "SELECT CONCAT_WS(' ', COUNT(*), MAX(id) - MIN(id), MIN(id) = LAST_INSERT_ID()) FROM t"); got != "6 5 1" {
			t.Errorf("got %s, want 6 5 1", got)
		}
		_, err := c.ExecContext(t.Context(), "INSERT INTO t (n) SELECT a.n FROM q a, q b, q c")
		if errno(err) != 1210 || !strings.Contains(err.Error(), "128 at most") {
			t.Errorf("216 rows: %v, want error 1210 that names 128", err)
		}
	})
}

func TestSnowflakeColumns(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range []struct {
			layout, column string
			fits           bool
		}{
			{"twitter", "BIGINT", true}, {"twitter", "BIGINT UNSIGNED", true}, {"twitter", "DECIMAL(19)", true}, {"twitter", "VARCHAR(19)", true},
			{"twitter", "INT", false}, {"twitter", "DOUBLE", false}, {"js53", "DOUBLE", true}, {"js53", "BIGINT", true}, {"js53", "INT UNSIGNED", false},
			{"js53", "DECIMAL(15)", false},
		} {
			t.Run(tt.layout+" in "+tt.column, func(t *testing.T) {
				g := newGate(t, s, gateOptions{vschema: snowflakeSchema(testLayouts[tt.layout], 0)})
				db := g.open(t, "")
				exec(t, g.direct, "CREATE TABLE t (id "+tt.column+" PRIMARY KEY, n INT)")
				_, err := db.ExecContext(t.Context(), "INSERT INTO t (n) VALUES (1), (2)")
				switch {
				case tt.fits && err != nil:
					t.Error(err)
				case tt.fits:
					preset, _ := snowflake.Preset(tt.layout)
					id := value[int64](t, db, "SELECT CAST(MAX(id) AS UNSIGNED) FROM t")
					if d, err := preset.Decode(id); err != nil || d.Worker != 3 || time.Since(d.Time) > time.Minute {
						t.Errorf("id %d decodes to %+v, %v; want worker 3 and now", id, d, err)
					}
				case err == nil || !strings.Contains(err.Error(), "cannot be filled from generator g"):
					t.Errorf("got %v, want a refusal", err)
				}
			})
		}
	})
}

// LOAD DATA gets ids in blocks.
func TestSnowflakeLoadData(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: snowflakeSchema(testLayouts["apart"], 0)})
		db := g.open(t, "")
		exec(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY, u VARCHAR(10))")
		c := conn(t, db)
		exec(t, c, "LOAD DATA LOCAL INFILE '"+readerFor(t, strings.NewReader(strings.Repeat("x\n", 300)))+"' INTO TABLE t (u)")
		if got := value[string](t, c, "SELECT CONCAT_WS(' ', COUNT(DISTINCT id), MIN(id) = LAST_INSERT_ID()) FROM t"); got != "300 1" {
			t.Errorf("got %s, want 300 1", got)
		}
	})
}

// Columns and the ids that they get.
var textColumns = []struct {
	generator, column, show string
	want                    *regexp.Regexp
}{
	{"uuid", "CHAR(36)", "id", regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)},
	{"uuid", "VARCHAR(64)", "id", regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4`)},
	{"uuid", "VARCHAR(32)", "id", regexp.MustCompile(`^[0-9a-f]{12}4[0-9a-f]{19}$`)},
	{"uuid", "BINARY(16)", "LOWER(HEX(id))", regexp.MustCompile(`^[0-9a-f]{12}4[0-9a-f]{19}$`)},
	{"uuid7", "CHAR(36) CHARACTER SET ascii", "id", regexp.MustCompile(`^0[0-9a-f]{7}-[0-9a-f]{4}-7`)},
	{"uuid7", "VARBINARY(20)", "LOWER(HEX(id))", regexp.MustCompile(`^0[0-9a-f]{11}7[0-9a-f]{19}$`)},
	{"objectid", "CHAR(24)", "id", regexp.MustCompile(`^[0-9a-f]{24}$`)},
	{"objectid", "BINARY(12)", "LOWER(HEX(id))", regexp.MustCompile(`^[0-9a-f]{24}$`)},
}

// Ids that are no numbers: text and prepared, several rows, own values kept; no insert id is told, as by a native column
// of such a type.
func TestTextIDs(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range textColumns {
			t.Run(tt.generator+" in "+tt.column, func(t *testing.T) {
				g := newGate(t, s, gateOptions{vschema: generatorSchema(`{"type": "`+tt.generator+`"}`, 0)})
				db := g.open(t, "")
				exec(t, db, "CREATE TABLE t (id "+tt.column+" PRIMARY KEY, u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)")
				c := conn(t, db)
				value[int64](t, c, "SELECT LAST_INSERT_ID(777)")
				testTextInserts(t, c)
				rows, err := c.QueryContext(t.Context(), "SELECT "+tt.show+", u FROM t WHERE u <> 'own'")
				if err != nil {
					t.Fatal(err)
				}
				seen := map[string]bool{}
				for rows.Next() {
					var id, u string
					if err := rows.Scan(&id, &u); err != nil {
						t.Fatal(err)
					}
					if seen[id] || !tt.want.MatchString(id) {
						t.Errorf("row %s has id %q, want one like %v, once", u, id, tt.want)
					}
					seen[id] = true
				}
				if err := rows.Err(); err != nil || len(seen) != 15 {
					t.Errorf("%d rows with ids, %v; want 15", len(seen), err)
				}
				if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != 777 {
					t.Errorf("LAST_INSERT_ID() is %d, want 777 as before", got)
				}
			})
		}
	})
}

// testTextInserts inserts 15 rows with new ids, and one with its own.
func testTextInserts(t *testing.T, c *sql.Conn) {
	t.Helper()
	for _, st := range []struct {
		query    string
		args     []any
		affected int64
	}{
		{"INSERT INTO t (u) VALUES ('a')", nil, 1},
		{"INSERT INTO t (u) VALUES ('b'), ('c'), ('d')", nil, 3},
		{"INSERT INTO t VALUES (NULL, 'e', 1), (DEFAULT, 'f', 2), ('own', 'own', 3)", nil, 3},
		{"INSERT INTO t SET u = 'g'", nil, 1},
		{"INSERT INTO t (u) VALUES (?), (?)", []any{"h", "i"}, 2},
		{"INSERT INTO t (id, u) VALUES (?, ?), (NULL, ?)", []any{nil, "j", "k"}, 2},
		{"INSERT IGNORE INTO t (u) VALUES ('a'), ('l')", nil, 1},
		{"INSERT INTO t (u) VALUES ('a'), ('m') ON DUPLICATE KEY UPDATE n = n + 1", nil, 3},
		{"INSERT INTO t (u, n) VALUES ('n', LAST_INSERT_ID())", nil, 1},
		{"REPLACE INTO t (u) VALUES ('o')", nil, 1},
	} {
		result, err := c.ExecContext(t.Context(), st.query, st.args...)
		if err != nil {
			t.Fatalf("%s: %v", st.query, err)
		}
		id, _ := result.LastInsertId()
		if n, _ := result.RowsAffected(); n != st.affected || id != 0 && !strings.Contains(st.query, "UPDATE n") {
			t.Errorf("%s: %d rows affected, insert id %d; want %d and 0", st.query, n, id, st.affected)
		}
	}
	if got := value[int64](t, c, "SELECT n FROM t WHERE u = 'n'"); got != 777 {
		t.Errorf("LAST_INSERT_ID() in a value is %d, want 777", got)
	}
}

// What a client sees of a row that got its id, and what stands in the column, is what it sees with an own value of that
// kind at the server itself: in columns of any character set, and from sessions of any.
func TestTextIDsInCharsets(t *testing.T) {
	columns := []string{"CHAR(36)", "CHAR(36) CHARACTER SET utf16", "VARCHAR(40) CHARACTER SET ucs2", "CHAR(36) CHARACTER SET latin1",
		"CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "CHAR(36) CHARACTER SET ascii", "VARBINARY(16)"}
	sessions := []string{"SET NAMES utf8mb4", "SET NAMES latin1", "SET NAMES gbk", "SET character_set_connection = utf16"}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: generatorSchema(`{"type": "uuid7"}`, len(columns))})
		native := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), "")))
		c := conn(t, g.open(t, ""))
		for i, column := range columns {
			table := fmt.Sprint("t", i)
			for _, c := range []*sql.Conn{c, native} {
				exec(t, c, "CREATE TABLE "+table+" (id "+column+" PRIMARY KEY, n INT)")
			}
			for j, set := range sessions {
				if column == "VARBINARY(16)" && strings.Contains(set, "utf16") {
					continue // the driver sends bytes as a text, which the server itself converts to something else there
				}
				var seen [2]string
				for k, c := range []*sql.Conn{c, native} {
					exec(t, c, set)
					value[int64](t, c, "SELECT LAST_INSERT_ID(777)")
					var own any
					text := "DEFAULT"
					if k == 1 {
						a, b := uuid.New(), uuid.New()
						own, text = a.String(), "'"+b.String()+"'"
						if strings.HasPrefix(column, "VARBINARY") {
							own, text = a[:], fmt.Sprintf("0x%x", b[:])
						}
					}
					for _, insert := range []struct {
						query string
						args  []any
					}{
						{"INSERT INTO " + table + " (id, n) VALUES (?, ?)", []any{own, 2 * j}},
						{"INSERT INTO " + table + " (id, n) VALUES (" + text + fmt.Sprintf(", %d)", 2*j+1), nil},
					} {
						result, err := c.ExecContext(t.Context(), insert.query, insert.args...)
						if err != nil {
							t.Fatalf("%s, %s: %s: %v", column, set, insert.query, err)
						}
						id, _ := result.LastInsertId()
						affected, _ := result.RowsAffected()
						seen[k] += fmt.Sprintln(id, affected, value[int64](t, c, "SELECT LAST_INSERT_ID()"))
					}
					exec(t, c, "SET NAMES utf8mb4")
					seen[k] += value[string](t, c, fmt.Sprintf("SELECT GROUP_CONCAT(CONCAT_WS('/', n, LENGTH(id), CHAR_LENGTH(id), CONVERT(id USING utf8mb4) REGEXP '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$') ORDER BY n) FROM %s WHERE n >= %d", table, 2*j))
					if n := value[int](t, c, "SELECT COUNT(DISTINCT id) FROM "+table); n != 2*(j+1) {
						t.Errorf("%s, %s: %d ids, want %d", column, set, n, 2*(j+1))
					}
				}
				if seen[0] != seen[1] {
					t.Errorf("%s, %s: got\n%s\nand with own values at the server\n%s", column, set, seen[0], seen[1])
				}
			}
		}
	})
}

func TestTextIDsOfTheRowsOwn(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: generatorSchema(`{"type": "uuid"}`, 1)})
		db := g.open(t, "")
		exec(t, db, "CREATE TABLE t (id CHAR(36) PRIMARY KEY, n INT)", "CREATE TABLE t0 (id CHAR(36) UNIQUE, n INT)")
		c := conn(t, db)
		exec(t, c, "SET @mine = 'mine', @none = NULL",
			"INSERT INTO t VALUES ('0', 1), ('', 2), (7, 3), (@mine, 4), (@none, 5), (CONCAT('a', 'b'), 6), (X'4344', 7)")
		for _, args := range [][]any{{"x", 8}, {nil, 9}, {12, 10}} {
			if _, err := c.ExecContext(t.Context(), "INSERT INTO t VALUES (?, ?)", args...); err != nil {
				t.Fatal(err)
			}
		}
		const want = "0/1 /2 7/3 mine/4 36/5 ab/6 CD/7 x/8 36/9 12/10"
		if got := value[string](t, c, "SELECT GROUP_CONCAT(IF(LENGTH(id) = 36, '36', id), '/', n ORDER BY n SEPARATOR ' ') FROM t"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		// In a column that can be NULL, an expression may be.
		_, err := c.ExecContext(t.Context(), "INSERT INTO t0 VALUES (UUID(), 1)")
		if errno(err) != 1235 {
			t.Errorf("an expression in a column that may be NULL: %v, want error 1235", err)
		}
	})
}

func TestTextIDsRefused(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: generatorSchema(`{"type": "uuid"}`, 3)})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id CHAR(36) PRIMARY KEY, n INT)", "CREATE TABLE t0 (id BIGINT PRIMARY KEY, n INT)", "CREATE TABLE t1 (id CHAR(20) PRIMARY KEY, n INT)",
			"CREATE TABLE t2 (id CHAR(36) CHARACTER SET binary PRIMARY KEY, n INT)")
		for _, tt := range []struct {
			stmt, text string
		}{
			{"INSERT INTO t (n) SELECT 1", "INSERT ... SELECT"},
			{"LOAD DATA LOCAL INFILE 'x' INTO TABLE t (n)", "LOAD DATA"},
			{"INSERT INTO t0 (n) VALUES (1)", "make it CHAR(36)"},
			{"INSERT INTO t1 (n) VALUES (1)", "make it CHAR(36)"},
			{"INSERT INTO t2 (n) VALUES (1)", "a binary(36) holds no uuid"},
		} {
			if _, err := c.ExecContext(t.Context(), tt.stmt); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: %v, want an error with %q", tt.stmt, err, tt.text)
			}
		}
	})
}

// An AUTO_INCREMENT column beside one of UUIDs goes on telling its own ids.
func TestTextIDsBesideACounter(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: generatorSchema(`{"type": "uuid7"}`, 0)})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BINARY(16) PRIMARY KEY, n INT AUTO_INCREMENT UNIQUE)")
		value[int64](t, c, "SELECT LAST_INSERT_ID(777)")
		for i, st := range []struct {
			query string
			args  []any
		}{{"INSERT INTO t (n) VALUES (NULL)", nil}, {"INSERT INTO t (n) VALUES (?)", []any{nil}}, {"INSERT INTO t () VALUES ()", nil}} {
			result, err := c.ExecContext(t.Context(), st.query, st.args...)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := result.LastInsertId()
			if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); id != int64(i+1) || got != id {
				t.Errorf("%s: insert id %d, LAST_INSERT_ID() %d; want %d", st.query, id, got, i+1)
			}
		}
		var id []byte
		if err := c.QueryRowContext(t.Context(), "SELECT id FROM t WHERE n = 1").Scan(&id); err != nil {
			t.Fatal(err)
		}
		if u, err := uuid.FromBytes(id); err != nil || u.Version() != 7 {
			t.Errorf("id %x is of version %d, %v; want 7", id, u.Version(), err)
		}
	})
}
