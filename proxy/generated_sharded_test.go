package proxy_test

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/vschema"
)

const generatedShards = `{"keyspaces": {
	"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter", "worker": 3}}}},
	"customer": {"sharded": true,
		"generators": {"far": {"type": "snowflake", "params": {"epoch": "2024-01-01", "bits": {"time": 41, "sequence": 12, "worker": 10}, "worker": 3}},
			"u": {"type": "uuid"}, "u7": {"type": "uuid7"}},
		"vindexes": {"hash": {"type": "hash"}, "text": {"type": "unicode_loose_md5"}, "bytes": {"type": "binary_md5"}},
		"tables": {
			"a": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "generator": "flake"}},
			"b": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "generator": "far"}},
			"c": {"column_vindexes": [{"column": "id", "name": "text"}], "auto_increment": {"column": "id", "generator": "u"}},
			"d": {"column_vindexes": [{"column": "id", "name": "bytes"}], "auto_increment": {"column": "id", "generator": "u7"}},
			"e": {"column_vindexes": [{"column": "k", "name": "hash"}], "auto_increment": {"column": "id", "generator": "u"}}
		}}}}`

var generatedTables = []string{
	"CREATE TABLE a (id BIGINT PRIMARY KEY, u VARCHAR(10))",
	"CREATE TABLE b (id BIGINT PRIMARY KEY, u VARCHAR(10))",
	"CREATE TABLE c (id CHAR(36) PRIMARY KEY, u VARCHAR(10))",
	"CREATE TABLE d (id BINARY(16) PRIMARY KEY, u VARCHAR(10))",
	"CREATE TABLE e (id CHAR(36) PRIMARY KEY, k BIGINT, u VARCHAR(10))",
}

// Rows go to the shard of the id that they get, and are found by it.
func TestGeneratedShards(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{vschema: generatedShards}, generatedTables...)
		c := conn(t, openDSN(t, strings.Replace(g.dsn(""), "/"+g.database, "/customer", 1)))
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			t.Run(name, func(t *testing.T) {
				extra, values := "", []any{"p"}
				if name == "e" {
					extra = "k, "
				}
				row := func(k, u string) string {
					if name == "e" {
						return "(" + k + ", '" + u + "')"
					}
					return "('" + u + "')"
				}
				exec(t, c, "INSERT INTO "+name+" ("+extra+"u) VALUES "+row("1", "one"))
				var rows []string
				for _, k := range strings.Fields("2 3 4 5 6 7 8 9") {
					rows = append(rows, row(k, "r"+k))
				}
				exec(t, c, "INSERT INTO "+name+" ("+extra+"u) VALUES "+strings.Join(rows, ", "))
				marks := "(?)"
				if name == "e" {
					marks, values = "(?, ?)", []any{10, "p"}
				}
				if _, err := c.ExecContext(t.Context(), "INSERT INTO "+name+" ("+extra+"u) VALUES "+marks, values...); err != nil {
					t.Fatal(err)
				}
				if n := value[int](t, c, "SELECT COUNT(*) FROM "+name); n != 10 {
					t.Errorf("%d rows, want 10", n)
				}
				shards := 0
				for _, shard := range g.shards {
					rows, err := shard.QueryContext(t.Context(), "SELECT u, HEX(id) FROM "+name)
					if err != nil {
						t.Fatal(err)
					}
					defer rows.Close()
					found := false
					for rows.Next() {
						found = true
						var u, hexID string
						if err := rows.Scan(&u, &hexID); err != nil {
							t.Fatal(err)
						}
						id := "0x" + hexID
						switch name {
						case "a", "b":
							id = value[string](t, shard, "SELECT CONV('"+hexID+"', 16, 10)")
						case "c", "e":
							id = "'" + value[string](t, shard, "SELECT UNHEX('"+hexID+"')") + "'"
						}
						if got := value[string](t, c, "SELECT MAX(u) FROM "+name+" WHERE id = "+id); got != u {
							t.Errorf("by id %s: row %q, want %q", id, got, u)
						}
					}
					if err := rows.Err(); err != nil {
						t.Fatal(err)
					}
					if found {
						shards++
					}
				}
				if shards < 2 {
					t.Errorf("the rows are on %d shard, want more", shards)
				}
			})
		}
		if got := value[string](t, c, "SELECT LASTVAL(flake) IS NULL"); got != "1" {
			t.Errorf("LASTVAL before a value gives %s", got)
		}
		first := value[int64](t, c, "SELECT NEXT 10 VALUES FROM flake")
		if next := value[int64](t, c, "SELECT NEXT VALUE FROM flake"); next < first+10 {
			t.Errorf("a value %d after 10 from %d", next, first)
		}
	})
}

// The insert id of rows on several shards is the first.
func TestGeneratedShardsInsertID(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{vschema: generatedShards}, generatedTables...)
		c := conn(t, openDSN(t, strings.Replace(g.dsn(""), "/"+g.database, "/customer", 1)))
		for _, name := range []string{"a", "b"} {
			result, err := c.ExecContext(t.Context(), "INSERT INTO "+name+" (u) VALUES ('x'), ('y'), ('z'), ('w')")
			if err != nil {
				t.Fatal(err)
			}
			id, _ := result.LastInsertId()
			last := value[int64](t, c, "SELECT LAST_INSERT_ID()")
			if want := value[int64](t, c, "SELECT MIN(id) FROM "+name); id != want || last != want {
				t.Errorf("%s: insert id %d, LAST_INSERT_ID() %d, want %d", name, id, last, want)
			}
		}
	})
}

// A vschema that declares a counter of another system otherwise is not taken over: its segments are in memory.
func TestSegmentsStay(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const text = `{"keyspaces": {"main": {"generators": {"g": {"type": "leaf", "params": {"biz_tag": "x"}}}, "tables": {}}}}`
		g := newGate(t, s, gateOptions{vschema: text})
		for _, tt := range []struct {
			change string
			fits   bool
		}{{text, true}, {`{"keyspaces": {"main": {}}}`, true}, {strings.Replace(text, `"x"`, `"y"`, 1), false}, {text, true}} {
			v, err := vschema.Load("v.json", []byte(tt.change))
			if err != nil {
				t.Fatal(err)
			}
			if err := g.proxy.SetVSchema(v); (err == nil) != tt.fits || err != nil && !strings.Contains(err.Error(), "keyspaces.main.generators.g: it was declared otherwise") {
				t.Errorf("%s: %v", tt.change, err)
			}
		}
	})
}
