package route_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

// argsOf returns the values of placeholders.
func argsOf(values ...vschema.Value) func(int) (vschema.Value, error) {
	return func(i int) (vschema.Value, error) {
		if i >= len(values) {
			return vschema.Value{}, errors.New("no such parameter")
		}
		return values[i], nil
	}
}

func TestShardsOfParameters(t *testing.T) {
	text := func(s string) vschema.Value { return vschema.Text([]byte(s)) }
	const two = "SELECT * FROM users u, orders o WHERE u.id = ? AND o.user_id = ?"
	const limited = "DELETE FROM users WHERE id = ? LIMIT 1"
	tests := []struct {
		name, sql string
		args      []vschema.Value
		want      []int
		err       string // a part of it
	}{
		{"a number", "SELECT * FROM users WHERE id = ?", []vschema.Value{vschema.Int(5)}, []int{1}, ""},
		{"an unsigned number", "SELECT * FROM users WHERE id = ?", []vschema.Value{vschema.Uint(5)}, []int{1}, ""},
		{"a number as text", "SELECT * FROM users WHERE id = ?", []vschema.Value{text("5")}, []int{1}, ""},
		{"text that is equal to a number elsewhere", "SELECT * FROM users WHERE id = ?", []vschema.Value{text("5.0")}, []int{0, 1, 2, 3}, ""},
		{"bits", "SELECT * FROM users WHERE id = ?", []vschema.Value{vschema.Bits([]byte("5"))}, []int{0, 1, 2, 3}, ""},
		{"NULL", "SELECT * FROM users WHERE id = ?", []vschema.Value{vschema.Null()}, []int{0}, ""},
		{"NULL in a list", "SELECT * FROM users WHERE id IN (?, ?)", []vschema.Value{vschema.Null(), vschema.Int(5)}, []int{1}, ""},
		{"a list", "SELECT * FROM users WHERE id IN (?, 5)", []vschema.Value{vschema.Int(7)}, []int{1, 3}, ""},
		{"the second of two", "SELECT ? FROM users WHERE id = ?", []vschema.Value{vschema.Int(7), vschema.Int(5)}, []int{1}, ""},
		{"a number for a text", "SELECT * FROM mails WHERE email = ?", []vschema.Value{vschema.Int(5)}, []int{0, 1, 2, 3}, ""},
		{"a text", "SELECT * FROM mails WHERE email = ?", []vschema.Value{text("a@x")}, []int{1}, ""},
		{"an error", "SELECT * FROM users WHERE id = ?", nil, nil, "no such parameter"},
		{"two tables in one shard", two, []vschema.Value{vschema.Int(5), vschema.Int(5)}, []int{1}, ""},
		{"two tables in two shards", two, []vschema.Value{vschema.Int(5), vschema.Int(7)}, nil, "joining rows of several shards"},
		{"two tables, one anywhere", two, []vschema.Value{vschema.Int(5), text("x")}, nil, "joining rows of several shards"},
		{"a limit in one shard", limited, []vschema.Value{vschema.Int(5)}, []int{1}, ""},
		{"a limit in several", limited, []vschema.Value{text("5.0")}, nil, "DELETE with LIMIT"},
		{"a window in several", "SELECT ROW_NUMBER() OVER () FROM users WHERE id = ?", []vschema.Value{text("x")}, nil, "window function"},
		{"invalid UTF-8", "SELECT * FROM names WHERE name = ?", []vschema.Value{text("\xff")}, nil, "could not map"},
	}
	planner := newPlanner(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := planner.Plan([]byte(tt.sql), "customer", parser.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := plan.Shards([]int{9}, argsOf(tt.args...))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Shards() = %v, %v, want an error with %q", got, err, tt.err)
				}
				return
			}
			if want := append([]int{9}, tt.want...); err != nil || !slices.Equal(got, want) {
				t.Fatalf("Shards() = %v, %v, want %v", got, err, want)
			}
		})
	}
}

// TestTextsOutsideUTF8 holds that what strings and names mean does not depend on how their bytes look.
func TestTextsOutsideUTF8(t *testing.T) {
	gbk := parser.Mode{Charset: parser.CharsetByName("gbk")}
	latin1 := parser.Mode{Charset: parser.CharsetByName("latin1")}
	tests := []struct {
		name, sql string
		mode      parser.Mode
		want      string
	}{
		{"a backslash within a character", "SELECT * FROM users WHERE name = '\x95\\' AND id = 5", gbk, "One customer\nhash(id): 5"},
		{"text of another set is not compared", "SELECT * FROM mails WHERE email = 'caf\xe9'", latin1, "Scatter customer merge"},
		{"ASCII is the same in it", "SELECT * FROM mails WHERE email = 'cafe'", latin1, "One customer\nxx(email): \"cafe\""},
		{"comments need no meaning", "SELECT * FROM users /* \xff\xfe */ WHERE id = 5", parser.Mode{}, "One customer\nhash(id): 5"},
		{"bytes in a string", "SELECT * FROM users WHERE id = 5 AND data = '\xff\\'\xfe'", parser.Mode{}, "One customer\nhash(id): 5"},
		{"an empty text that is NULL", "SELECT * FROM mails WHERE email = ''", parser.Mode{EmptyStringIsNull: true}, "Scatter customer merge"},
	}
	planner := newPlanner(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := planner.Plan([]byte(tt.sql), "customer", tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			if got := plan.String(); got != tt.want {
				t.Errorf("Plan(%q) = %s, want %s", tt.sql, got, tt.want)
			}
		})
	}
}

// TestDeepTexts ends with an error, not with the stack.
func TestDeepTexts(t *testing.T) {
	planner := newPlanner(t)
	for _, sql := range []string{
		"SELECT * FROM users WHERE id = " + strings.Repeat("(", 1000) + "5" + strings.Repeat(")", 1000),
		"SELECT * FROM users WHERE id = 5" + strings.Repeat(" AND n = 5", 100_000),
		"SELECT * FROM users WHERE id = " + strings.Repeat("- ", 100_000) + "5",
		"SELECT * FROM users WHERE name IN ('" + strings.Repeat("x', '", 1<<20) + "x')",
	} {
		_, err := planner.Plan([]byte(sql), "customer", parser.Mode{})
		var refused *route.Error
		if !errors.As(err, &refused) || refused.Errno != 1235 {
			t.Errorf("Plan(%.60q...) = %v, want error 1235", sql, err)
		}
	}
}

// TestLongLiterals holds that the length of a literal is no reason to refuse a statement.
func TestLongLiterals(t *testing.T) {
	planner := newPlanner(t)
	long := strings.Repeat("'a", 5<<19)
	for _, literal := range []string{
		"'" + strings.ReplaceAll(long, "'", "''") + "'", "n'" + strings.Repeat("é", 5<<19) + "'", "_binary \"" + long + "\"",
		"'" + strings.Repeat(`\'`, 5<<19) + "'", "0x" + strings.Repeat("ab", 5<<20), "X'" + strings.Repeat("ab", 5<<20) + "'",
	} {
		for _, sql := range []string{"UPDATE users SET name = " + literal + " WHERE id = 5", "DELETE FROM users WHERE id = 5 AND name = CONCAT(" + literal + ",'x')"} {
			plan, err := planner.Plan([]byte(sql), "customer", parser.Mode{})
			if err != nil {
				t.Errorf("Plan(%.60q...) = %v", sql, err)
				continue
			}
			if got, err := plan.Shards(nil, nil); err != nil || len(got) != 1 {
				t.Errorf("Plan(%.60q...) goes to %v, %v, want one shard", sql, got, err)
			}
		}
	}
}

// TestLongList holds that a list of very many values is planned by all of them.
func TestLongList(t *testing.T) {
	sql := []byte("SELECT * FROM users WHERE id IN (0")
	for i := range 20_000 {
		sql = strconv.AppendInt(append(sql, ", "...), int64(i), 10)
	}
	sql = append(sql, ')')
	plan, err := newPlanner(t).Plan(sql, "customer", parser.Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := plan.Shards(nil, nil); err != nil || len(got) != 4 || plan.Kind != route.Keys {
		t.Errorf("a list of 20000 values: %v %v, %v, want Keys of all four shards", plan.Kind, got, err)
	}
}

// TestPlanOutlivesItsText changes the text after planning.
func TestPlanOutlivesItsText(t *testing.T) {
	planner := newPlanner(t)
	for range 2 { // planned, then from the cache
		sql := []byte("SELECT * FROM mails WHERE email = 'a@x'")
		plan, err := planner.Plan(sql, "customer", parser.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		copy(sql, bytes.Repeat([]byte("z"), len(sql)))
		if got, err := plan.Shards(nil, nil); err != nil || !slices.Equal(got, []int{1}) {
			t.Errorf("Shards() = %v, %v, want [1]", got, err)
		}
	}
}
