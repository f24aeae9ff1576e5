package merge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/merge"
)

// TestUnionCases holds statements of forms that the random ones do not have to what one
// server answers.
func TestUnionCases(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		u := newUnion(t, s, rand.New(rand.NewPCG(1, 2)), 60)
		for _, c := range []struct {
			sql  string
			args []uint64
		}{
			{"SELECT id, g FROM r WHERE id > ? ORDER BY g DESC, id LIMIT ?, ?", []uint64{5, 7, 9}},
			{"SELECT id FROM r ORDER BY id LIMIT ? OFFSET 3", []uint64{5}},
			{"SELECT id FROM r ORDER BY id LIMIT ?, 4", []uint64{5}},
			{"SELECT DISTINCT k FROM r ORDER BY k LIMIT ?, ?", []uint64{1, 3}},
			{"SELECT k, COUNT(*) FROM r GROUP BY k ORDER BY COUNT(*) DESC, k LIMIT ?, ?", []uint64{1, 3}},
			{"SELECT k, SUM(d) FROM r GROUP BY k HAVING k > 0 OR k IS NULL ORDER BY k", nil},
			{"SELECT k AS a, SUM(d) FROM r GROUP BY a HAVING a > 0 ORDER BY a DESC", nil},
			{"SELECT k, MAX(id) FROM r GROUP BY 1 ORDER BY 1 DESC", nil},
			{"SELECT k, MAX(id) FROM r GROUP BY k ORDER BY MAX(id) - 0", nil},
			{"SELECT id, i * 2 AS twice FROM r ORDER BY twice DESC, id", nil},
			{"SELECT a.id, b.g FROM r a JOIN r b ON a.id = b.id ORDER BY b.g COLLATE utf8mb4_bin, a.id FOR UPDATE", nil},
			{"SELECT id FROM r WHERE EXISTS (SELECT 1 FROM r x WHERE x.id = r.id AND x.k > 0) ORDER BY id", nil},
			{"SELECT id, n FROM (SELECT id, i AS n FROM r WHERE i > 0) d ORDER BY n, id", nil},
			{"WITH d AS (SELECT id, i AS n FROM r WHERE i > 0) SELECT id, n FROM d ORDER BY n, id", nil},
			{"SELECT BIT_COUNT(k), COUNT(id) FROM r GROUP BY BIT_COUNT(k) ORDER BY BIT_COUNT(k)", nil},
			{"SELECT id FROM r ORDER BY IF(g = 'a', 1, 0), CASE WHEN i > 0 THEN l ELSE 'x' END DESC, id", nil},
			{"SELECT COUNT(*), MIN(b), MAX(d), SUM(i), AVG(i) FROM r WHERE id < 0", nil},
			{"SELECT COUNT(*) FROM r LIMIT 1 OFFSET 1", nil},
			{"SELECT COUNT(DISTINCT id), SUM(DISTINCT id) FROM r", nil},
			{"SELECT id, COUNT(*) + 1, GROUP_CONCAT(b) FROM r GROUP BY id ORDER BY MAX(i) + 1, id DESC LIMIT 3, 5", nil},
			{"SELECT id, UPPER(b), COUNT(*) FROM r GROUP BY id, UPPER(b) ORDER BY UPPER(b), id", nil},
			{"SELECT DISTINCT id, k FROM r ORDER BY k, id", nil},
		} {
			o := parser.ScatterOptions{GroupsLocal: func(columns []parser.ColumnName) bool {
				for _, column := range columns {
					if column.Column == "id" {
						return true
					}
				}
				return false
			}}
			if strings.Contains(c.sql, "MAX(id) - 0") {
				if _, err := u.ask(c.sql, false, o); !errors.As(err, new(*parser.UnsupportedError)) {
					t.Errorf("%s: %v, want an UnsupportedError", c.sql, err)
				}
				continue
			}
			u.check(t, query{sql: c.sql}, true, o, c.args...)
			if c.args == nil {
				u.check(t, query{sql: c.sql}, false, o)
			}
		}
	})
}

// TestUnionGuards: what would come out wrong is refused.
func TestUnionGuards(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		u := newUnion(t, s, rand.New(rand.NewPCG(1, 2)), 60)
		refused := []string{
			"SELECT MIN(e), COUNT(*), k FROM r GROUP BY k ORDER BY MIN(e)",
			// MySQL refuses this one itself by ONLY_FULL_GROUP_BY.
			"SELECT k DIV 8 AS i, COUNT(*) FROM r GROUP BY i ORDER BY NULL",
		}
		if !s.IsMariaDB() {
			refused = []string{"SELECT id FROM r ORDER BY JSON_ARRAY(i)"}
		}
		for _, sql := range refused {
			if _, err := u.ask(sql, false, parser.ScatterOptions{}); !errors.As(err, new(*merge.UnsupportedError)) {
				t.Errorf("%s: %v, want an UnsupportedError", sql, err)
			}
		}
	})
}

// TestUnionLongText: texts longer than max_sort_length, which the servers do not sort to
// their ends.
func TestUnionLongText(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		u := newUnion(t, s, rand.New(rand.NewPCG(1, 2)), 0)
		for i, c := range []*rawConn{u.parts[0], u.parts[1], u.parts[0], u.parts[1]} {
			insert := "INSERT INTO r (id, tx) VALUES (" + string(rune('0'+i)) + ", CONCAT(REPEAT('x', 3000), '" + string(rune('d'-i)) + "'))"
			for _, c := range []*rawConn{u.whole, c} {
				if _, err := c.Execute(insert); err != nil {
					t.Fatal(err)
				}
			}
		}
		u.check(t, query{sql: "SELECT RIGHT(tx, 1) FROM r ORDER BY tx", unordered: true}, false, parser.ScatterOptions{})
		got, err := u.ask("SELECT RIGHT(tx, 1), COUNT(*) FROM r GROUP BY tx", false, parser.ScatterOptions{})
		if err == nil && len(got.rows) != 4 || err != nil && !errors.As(err, new(*merge.UnsupportedError)) {
			t.Errorf("groups of long texts: %q %v, want 4 or an UnsupportedError", got, err)
		}
	})
}

// TestUnionDoubles: sums of DOUBLEs are written as the servers write them.
func TestUnionDoubles(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		r := rand.New(rand.NewPCG(1, 2))
		u := newUnion(t, s, r, 0)
		values := []string{"123456789012345", "100000000000000", "1e15", "1234567890123456", "1e16", "0.00001", "1e-14", "1e-15", "1.5e-15", "1e-16",
			"-1e300", "1e100", "0.30000000000000004", "12345678901234567890", "0", "2.2250738585072014e-308", "1.7976931348623157e308"}
		for range 50 {
			values = append(values, fmt.Sprintf("%ve%d", r.Float64()-0.5, r.IntN(40)-20))
		}
		for range 100 { // round the ends of what is written without an exponent
			values = append(values, fmt.Sprintf("%.*ge%d", 1+r.IntN(17), 1+9*r.Float64(), []int{12, -18}[r.IntN(2)]+r.IntN(8)))
		}
		for k, value := range values {
			for i, x := range []string{value, "0"} {
				insert := fmt.Sprintf("INSERT INTO r (id, k, x, x2) VALUES (%d, %d, %s, %d.25)", 2*k+i, k, x, k)
				for _, c := range []*rawConn{u.whole, u.parts[i]} {
					if _, err := c.Execute(insert); err != nil {
						t.Fatalf("%s: %v", insert, err)
					}
				}
			}
		}
		for _, binary := range []bool{false, true} {
			u.check(t, query{sql: "SELECT k, SUM(x), AVG(x), SUM(x2), AVG(x2) FROM r GROUP BY k"}, binary, parser.ScatterOptions{})
		}
	})
}
