package proxy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// C18 to C20, and the forms around them.
func TestShardedInsertSelect(t *testing.T) {
	t.Parallel()
	people := []string{"insert into user(id,name,age) values(5000,'a',10),(5001,'b',20),(5002,'it''s \\\\ \"c\" é',30),(5003,null,40)",
		"insert into main.ua(id,val,n) values(70,'x',1),(71,'y',2),(74,'z',3)"}
	names := "SELECT id, name FROM user WHERE id NOT BETWEEN 5000 AND 5003"
	for _, tt := range []insertRow{
		{name: "C18 within the keyspace", stmt: "insert into user(name,age) select name,age from user where age >= 30 order by age desc", affected: 2, id: 5004,
			query: "SELECT id, name, age FROM user WHERE id NOT BETWEEN 5000 AND 5003", rows: []string{"5004/NULL/40", `5005/it's \ "c" é/30`}},
		{name: "C18 of one shard", stmt: "insert into user(name) select name from user where id = 5001", affected: 1, id: 5004, query: names, rows: []string{"5004/b"}},
		{name: "C19 from an unsharded keyspace", stmt: "insert into user(id,name) select id,val from main.ua order by id", affected: 3, id: 74, lastInsert: -1,
			query: names, rows: []string{"70/x", "71/y", "74/z"}},
		{name: "C19 into an unsharded keyspace", stmt: "insert into main.ua(val) select name from user where age < 30 order by age", affected: 2, id: 75,
			query: names, next: 5004},
		{name: "within the unsharded keyspace", stmt: "insert into main.ua(val) select concat(val,'-') from main.ua order by id", affected: 3, id: 75, query: names},
		{name: "C20 vindex column missing", stmt: "insert into child(v) select name from user", errno: 1105, text: "VT09003", query: names},
		{name: "without a table", stmt: "insert into user(id,name) select null,'s'", affected: 1, id: 5004, query: names, rows: []string{"5004/s"}},
		{name: "no column list", stmt: "insert into user select null, val, n from main.ua where id = 70", affected: 1, id: 5004, query: names, rows: []string{"5004/x"}},
		{name: "no rows", stmt: "insert into user(name) select name from user where age > 99", affected: 0, lastInsert: -1, query: names},
		{name: "on duplicate key", stmt: "insert into user(id,age) select id, 7 from user where age <= 20 on duplicate key update age=values(age)", affected: 4, id: 5001, lastInsert: -1,
			query: "SELECT id, age FROM user WHERE age = 7", rows: []string{"5000/7", "5001/7"}},
		{name: "ignore", stmt: "insert ignore into user(id,name) select id,'there' from user", affected: 0, lastInsert: -1, query: "SELECT id FROM user WHERE name = 'there'"},
		{name: "unroutable", stmt: "insert into child(user_id,v) select age, name from user where age <= 20 union all select null, 'n'", errno: 1235, query: names},
		{name: "failing on one shard", stmt: "insert into user(id,name) select id + 1, 'dup' from user", errno: 1062, query: names},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, c := newInsertGate(t, servertest.First(t), 4)
			if tt.name == "on duplicate key" || tt.name == "failing on one shard" {
				tt.id = 0
			}
			exec(t, c, people...)
			checkSelected(t, g, tt)
		})
	}
}

// checkSelected is checkInsert in a session of its own, whose LAST_INSERT_ID() is 0.
func checkSelected(t *testing.T, g *shardedGate, tt insertRow) {
	t.Helper()
	c := conn(t, g.open(t, "customer", "charset=utf8mb4"))
	if tt.name != "on duplicate key" {
		g.checkInsert(t, c, tt)
		return
	}
	exec(t, c, tt.stmt)
	if diff := cmp.Diff(tt.rows, g.rows(t, "hash", tt.query)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Values of all types are stored as they were.
func TestShardedInsertSelectValues(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const columns = "(id BIGINT PRIMARY KEY, i INT, u BIGINT UNSIGNED, d DECIMAL(20,5), r DOUBLE, c VARCHAR(20) CHARACTER SET utf8mb4, x VARBINARY(20), b BLOB," +
			" t TEXT CHARACTER SET latin1, day DATE, at DATETIME(6), took TIME(3), y YEAR, bits BIT(12), e ENUM('a','é') CHARACTER SET utf8mb4, j JSON)"
		vschema := strings.Replace(insertVSchema, `"plain": {`, `"kinds": {"column_vindexes": [{"column": "id", "name": "hash"}]}, "plain": {`, 1)
		g := newShardedGate(t, s, 2, gateOptions{vschema: vschema}, append(insertTables, "CREATE TABLE kinds "+columns)...)
		exec(t, g.direct, "CREATE TABLE source "+columns, "INSERT INTO source VALUES"+
			" (1, -5, 18446744073709551615, -1.50000, 0.1, 'a\\'b\\\\c', X'00FF27', X'', 'é', '2024-02-29', '2024-02-29 23:59:59.000001', '-12:00:00.5', 1999, b'101010101010', 'é', '{\"k\": \"v\\'\"}'),"+
			" (4, 0, 0, 0, 1e300, '日本', X'5C', 'blob', '', '1000-01-01', '1000-01-01', '838:59:59', 2155, 0, 'a', '[]'),"+
			" (6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
		c := conn(t, g.open(t, "customer", "charset=utf8mb4"))
		exec(t, c, "INSERT INTO kinds SELECT * FROM main.source")
		const shown = "SELECT id, i, u, d, r, HEX(c), HEX(x), HEX(b), HEX(t), day, at, took, y, HEX(bits), e, j FROM "
		want := textRows(t, g.direct, shown+"source ORDER BY id")
		var got [][]string
		for _, db := range g.shards {
			got = append(got, textRows(t, db, shown+"kinds ORDER BY id")...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-source +shards):\n%s", diff)
		}
		exec(t, g.direct, "ALTER TABLE source ADD f FLOAT")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO kinds (id, r) SELECT id + 100, f FROM main.source"); errno(err) != 1235 {
			t.Errorf("a FLOAT: %v, want 1235", err)
		}
	})
}

// Over servers, values are what INSERT ... SELECT within one server makes of them, by
// their types.
func TestShardedInsertSelectTypes(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		const columns = "z INT(8) ZEROFILL, d DOUBLE, b BIT(20), b64 BIT(64), y YEAR, bi BIGINT UNSIGNED, t VARCHAR(64)"
		for _, db := range g.shards {
			exec(t, db, "DROP TABLE user", "CREATE TABLE user (id BIGINT PRIMARY KEY, "+columns+")")
		}
		const row = "(1, 42, 1e20, b'1010', ~0, 2024, 18446744073709551615, '05'), (4, 7, 0.000001, b'1', 9, 1999, 5, ' x ')"
		exec(t, g.direct, "CREATE TABLE one (id BIGINT PRIMARY KEY, "+columns+")", "INSERT INTO one VALUES "+row)
		for _, name := range []string{"ua", "oneua"} {
			exec(t, g.direct, "CREATE TABLE "+name+" (id BIGINT PRIMARY KEY AUTO_INCREMENT, val VARCHAR(64), n DECIMAL(65), bits BIT(64))")
		}
		c := conn(t, g.open(t, "customer", "charset=utf8mb4"))
		exec(t, c, "INSERT INTO user VALUES "+row)
		for _, into := range []string{"val", "n", "bits"} {
			for _, column := range []string{"z", "d", "b", "b64", "y", "bi", "t", "z + 0", "d / 3", "CONCAT(z)", "TRUE", "1 = 1", "bi + 0.0"} {
				if into != "val" && (column == "d" || column == "d / 3" || column == "t") {
					continue // which some of these columns cannot hold
				}
				exec(t, g.direct, "TRUNCATE ua", "TRUNCATE oneua", "UPDATE t_seq SET next_id = 1")
				_, err := c.ExecContext(t.Context(), "INSERT INTO main.ua ("+into+") SELECT "+column+" FROM user ORDER BY id")
				exec(t, g.direct, "INSERT INTO oneua ("+into+") SELECT "+column+" FROM one ORDER BY id")
				query := "SELECT GROUP_CONCAT(HEX(" + into + ") ORDER BY id) FROM "
				got, want := value[string](t, g.direct, "SELECT COALESCE(("+query+"ua), '')"), value[string](t, g.direct, query+"oneua")
				if got != want || err != nil {
					t.Errorf("%s into %s: %s %v, want %s", column, into, got, err, want)
				}
			}
		}
	})
}
