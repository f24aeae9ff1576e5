package proxy_test

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// With a vschema the tables that it names are filled, from the sequences that it
// names, and no others.
func TestVSchema(t *testing.T) {
	const text = `{"keyspaces": {"main": {"tables": {
		"people": {"auto_increment": {"column": "number", "sequence": "numbers"}},
		"numbers": {"type": "sequence"}
	}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: text})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE people (name VARCHAR(20), number INT UNSIGNED, extra INT DEFAULT 5, PRIMARY KEY (number))",
			"CREATE TABLE other (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)")
		createSequence(t, c, "numbers", 70, 10)
		createSequence(t, c, "other_seq", 500, 10)
		exec(t, c, "INSERT INTO people (name) VALUES ('Ann')", "INSERT INTO people VALUES ('Ben', 0, 6)", "INSERT INTO other (v) VALUES (1)")
		if got := value[string](t, c, "SELECT GROUP_CONCAT(CONCAT_WS('/', number, name, extra) ORDER BY number) FROM people"); got != "70/Ann/5,71/Ben/6" {
			t.Errorf("people: %s", got)
		}
		if got := value[int](t, c, "SELECT id FROM other"); got != 1 {
			t.Errorf("a table that the vschema does not name got id %d from beside it", got)
		}
		if got := value[int](t, c, "SELECT NEXT VALUE FROM numbers"); got != 72 {
			t.Errorf("next value %d, want 72", got)
		}
	})
}

// An id that the column cannot hold is an error, not a wrong row.
func TestColumnTypeExhausted(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id TINYINT PRIMARY KEY, v INT)", "SET sql_mode = ''")
		createSequence(t, c, "t_seq", 126, 10)
		exec(t, c, "INSERT INTO t (v) VALUES (1), (2)")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (3)"); errno(err) != 1467 {
			t.Errorf("past the column's type: got %v, want error 1467", err)
		}
		createSequence(t, c, "u_seq", 1<<63-2, 10)
		exec(t, c, "CREATE TABLE u (id BIGINT PRIMARY KEY, v INT)", "INSERT INTO u (v) VALUES (1)", "INSERT INTO u (v) VALUES (2)")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO u (v) VALUES (3)"); errno(err) != 1467 {
			t.Errorf("past 2^63-1: got %v, want error 1467", err)
		}
		if got := value[string](t, c, "SELECT GROUP_CONCAT(id ORDER BY id) FROM u"); got != "9223372036854775806,9223372036854775807" {
			t.Errorf("ids %s", got)
		}
	})
}

// Where names have case, a table that the vschema has in another case is another
// table; where they have none it is the same.
func TestVSchemaNameCase(t *testing.T) {
	const text = `{"keyspaces": {"main": {"tables": {
		"People": {"auto_increment": {"column": "id", "sequence": "numbers"}}, "numbers": {"type": "sequence"}}}}}`
	for option, want := range map[string]int{"--lower-case-table-names=0": 1, "--lower-case-table-names=1": 70} {
		t.Run(option, func(t *testing.T) {
			if want == 70 {
				t.Setenv("SEQGATE_TEST_MYSQL97", "") // it takes that option for a new data directory only
			}
			servertest.Private(t, func(t *testing.T, s *servertest.Server) {
				g := newGate(t, s, gateOptions{vschema: text})
				c := conn(t, g.open(t, ""))
				exec(t, c, "CREATE TABLE people (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)")
				createSequence(t, c, "numbers", 70, 10)
				exec(t, c, "INSERT INTO people (v) VALUES (1)")
				if got := value[int](t, c, "SELECT id FROM people"); got != want {
					t.Errorf("got id %d, want %d", got, want)
				}
				// A table that is not there is the server's affair, unless the vschema means it.
				exec(t, c, "DROP TABLE people")
				_, native := g.direct.ExecContext(t.Context(), "INSERT INTO PEOPLE (v) VALUES (2)")
				_, err := c.ExecContext(t.Context(), "INSERT INTO PEOPLE (v) VALUES (2)")
				if errno(err) != 1146 || want == 1 && err.Error() != native.Error() {
					t.Errorf("got %v, the server says %v", err, native)
				}
			}, option)
		})
	}
}

// By the convention only an integer is an id: a text that is the primary key is the
// client's own.
func TestTextKeyIsNoID(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE words (w VARCHAR(20) PRIMARY KEY, n INT)")
		createSequence(t, g.direct, "words_seq", 1, 10)
		_, err := g.open(t, "").ExecContext(t.Context(), "INSERT INTO words (n) VALUES (5)")
		if errno(err) != 1364 {
			t.Errorf("got %v, want the server's error 1364: no value for w", err)
		}
	})
}
