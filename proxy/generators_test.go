package proxy_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

const valuesSchema = `{"keyspaces": {"main": {
	"generators": {
		"flake": {"type": "snowflake", "params": {"layout": "twitter", "worker": 3, "zone": 2}},
		"far": {"type": "snowflake", "params": {"epoch": "2024-01-01", "bits": {"time": 41, "sequence": 12, "worker": 10}, "worker": 3}},
		"u": {"type": "uuid"}
	},
	"tables": {"s": {"type": "sequence"}}}}}`

// values of generators: one by one, in runs, in expressions and prepared.
func TestGeneratorValues(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: valuesSchema})
		c := conn(t, g.open(t, ""))
		last := int64(0)
		above := func(query string, id int64) {
			t.Helper()
			if id <= last {
				t.Errorf("%s gives %d after %d", query, id, last)
			}
			last = id
		}
		for _, query := range []string{"SELECT NEXT VALUE FROM flake", "SELECT NEXT 4096 VALUES FROM flake", "SELECT NEXT VALUE FOR main.flake",
			"SELECT NEXTVAL(flake)", "SELECT NEXTVAL('flake')", "SELECT flake.NEXTVAL FROM DUAL", "SELECT NEXTVAL(flake) + 0"} {
			above(query, value[int64](t, c, query))
			if query == "SELECT NEXT 4096 VALUES FROM flake" {
				last += 4095
			}
		}
		for _, arg := range []int{1, 100} {
			above("prepared", value[int64](t, c, "SELECT NEXT ? VALUES FROM flake", arg))
			last += int64(arg) - 1
		}
		if got := value[int64](t, c, "SELECT LASTVAL(flake)"); got != last {
			t.Errorf("LASTVAL gives %d, want %d", got, last)
		}
		// Two of a layout without runs are taken one by one.
		exec(t, c, "CREATE TABLE v (a BIGINT, b BIGINT)", "INSERT INTO v VALUES (NEXTVAL(far), NEXTVAL(far))")
		if got := value[bool](t, c, "SELECT a < b FROM v"); !got {
			t.Error("two values in a row do not increase")
		}
	})
}

func TestGeneratorValuesRefused(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: valuesSchema})
		c := conn(t, g.open(t, ""))
		for _, tt := range []struct {
			query, text string
			errno       uint16
		}{
			{"SELECT NEXT 4097 VALUES FROM flake", "ask for 4096 at most", 1210},
			{"SELECT NEXT 2 VALUES FROM far", "ask for 1 at most", 1210},
			{"SELECT NEXT VALUE FROM u", "its ids are no numbers", 1235},
			{"SELECT NEXT VALUE FROM flake FOR KEY 'k'", "leave FOR KEY out", 1235},
			{"SELECT SETVAL(flake, 5)", "SETVAL of generator 'main.flake'", 1235},
			{"SELECT SEQGATE_DECODE('x')", "is no id", 1210},
			{"SELECT SEQGATE_DECODE(-1)", "alone in a SELECT", 1235},
			{"SELECT SEQGATE_DECODE(0)", "is no id", 1210},
			{"SELECT SEQGATE_DECODE('8_388_689_920_000')", "is no id", 1210},
			{"SELECT SEQGATE_DECODE('0b1111010000110111100000000000000000000000000')", "is no id", 1210},
			{"SELECT SEQGATE_DECODE('0o172067400000000')", "is no id", 1210},
			{"SELECT SEQGATE_DECODE(1), 2", "alone in a SELECT", 1235},
			{"SELECT SEQGATE_DECODE(id) FROM t", "alone in a SELECT", 1235},
		} {
			var v any
			err := c.QueryRowContext(t.Context(), tt.query).Scan(&v)
			if errno(err) != tt.errno || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: %v, want error %d with %q", tt.query, err, tt.errno, tt.text)
			}
		}
	})
}

// resultOf reads a whole result as text.
func resultOf(t *testing.T, c *sql.Conn, query string, args ...any) (all [][]string) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

func TestSelectDecode(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: valuesSchema})
		c := conn(t, g.open(t, "multiStatements=true"))
		id := value[int64](t, c, "SELECT NEXT VALUE FROM flake")
		preset, _ := snowflake.Preset("twitter")
		want, err := preset.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{fmt.Sprintf("SELECT SEQGATE_DECODE(%d)", id), fmt.Sprintf("select /* x */ seqgate_decode ( '%d' );", id),
			fmt.Sprintf("SELECT SEQGATE_DECODE(0x%x)", id), fmt.Sprintf("SELECT SEQGATE_DECODE('0%d')", id)} {
			rows := resultOf(t, c, query)
			row := []string{"twitter", "main.flake", want.Time.Format("2006-01-02T15:04:05.999999999Z07:00"), "2", "3", fmt.Sprint(want.Sequence)}
			if len(rows) == 0 || !slices.Equal(rows[0], row) {
				t.Errorf("%s gives %v, want first %v", query, rows, row)
			}
			if n := len(slices.DeleteFunc(rows, func(row []string) bool { return row[0] != "twitter" })); n != 1 {
				t.Errorf("%s gives layout twitter %d times", query, n)
			}
		}
	})
}

// Prepared, with the id as a parameter of any type or in the text, through a session of one server and a routed one.
func TestPreparedDecode(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		sharded := newShardedGate(t, s, 2, gateOptions{vschema: generatedShards}, generatedTables...)
		for name, c := range map[string]*sql.Conn{
			"one server": conn(t, newGate(t, s, gateOptions{vschema: valuesSchema}).open(t, "")),
			"routed":     conn(t, openDSN(t, strings.Replace(sharded.dsn(""), "/"+sharded.database, "/customer", 1))),
		} {
			id := value[int64](t, c, "SELECT NEXT VALUE FROM main.flake")
			want := resultOf(t, c, fmt.Sprintf("SELECT SEQGATE_DECODE(%d)", id))
			if len(want) == 0 || want[0][1] != "main.flake" {
				t.Fatalf("%s: the text gives %v", name, want)
			}
			for _, arg := range []any{id, uint64(id), fmt.Sprint(id), []byte(fmt.Sprintf("0x%x", id))} {
				for range 2 {
					if diff := cmp.Diff(want, resultOf(t, c, "SELECT SEQGATE_DECODE(?)", arg)); diff != "" {
						t.Errorf("%s: prepared with the %T %v (-text +prepared):\n%s", name, arg, arg, diff)
					}
				}
			}
			stmt, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT SEQGATE_DECODE(%d)", id))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var first [6]any
			if err := stmt.QueryRowContext(t.Context()).Scan(&first[0], &first[1], &first[2], &first[3], &first[4], &first[5]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if worker, ok := first[4].(int64); !ok || worker != 3 {
				t.Errorf("%s: the worker is the %T %v, want the BIGINT 3", name, first[4], first[4])
			}
			for _, arg := range []any{nil, 1.5, "x", -1} {
				rows, err := c.QueryContext(t.Context(), "SELECT SEQGATE_DECODE(?)", arg)
				if err == nil {
					t.Errorf("%s: %v: no error", name, arg)
					_ = rows.Close()
				} else if errno(err) != 1210 {
					t.Errorf("%s: %v: %v, want error 1210", name, arg, err)
				}
			}
			if _, err := c.PrepareContext(t.Context(), "SELECT SEQGATE_DECODE(?), ?"); errno(err) != 1235 {
				t.Errorf("%s: with a further column: %v, want error 1235", name, err)
			}
			if _, err := c.ExecContext(t.Context(), "SELECT SEQGATE_DECODE(?)"); errno(err) != 1235 {
				t.Errorf("%s: a text with a parameter: %v", name, err)
			}
			if got := value[int64](t, c, "SELECT 7"); got != 7 {
				t.Errorf("%s: the session goes on with %d", name, got)
			}
		}
	})
}

func TestShowGenerators(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{vschema: valuesSchema})
		c := conn(t, g.open(t, ""))
		rows := resultOf(t, c, "SHOW SEQGATE GENERATORS")
		if len(rows) != 3 || rows[0][0] != "main.far" || rows[1][0] != "main.flake" || rows[1][5] != "4096" || rows[1][7] != "worker_id 3" || rows[2][1] != "uuid" {
			t.Errorf("got %v", rows)
		}
		value[int64](t, c, "SELECT NEXT VALUE FROM flake")
		rows = resultOf(t, c, "SHOW SEQGATE GENERATORS LIKE '%flake'")
		if len(rows) != 1 || rows[0][6] != "3" || !strings.HasPrefix(rows[0][12], "20") || !strings.HasPrefix(rows[0][4], "2080-07-10") {
			t.Errorf("after an id: got %v, want worker 3 and the time of the last id", rows)
		}
		if rows := resultOf(t, c, "SHOW SEQGATE VSCHEMA"); len(rows) != 1 {
			t.Errorf("SHOW SEQGATE VSCHEMA gives %v", rows)
		}
	})
}
