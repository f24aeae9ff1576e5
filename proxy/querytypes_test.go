package proxy_test

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Expressions are stored as they are without seqgate, or refused: never with other
// digits.
func TestQueryValuesOrRefused(t *testing.T) {
	t.Parallel()
	type refusal int
	const (
		never refusal = iota
		mariaDB
		mySQL
		both
	)
	for _, tt := range []struct {
		query   string
		refused refusal
	}{
		{"SELECT x/y, PI(), ROUND(1.23456789e0, 3) FROM u", never},
		{"SELECT d/3, f/3, CONCAT(x/y) FROM u WHERE x > 0", never},
		{"SELECT @d, @f, 1 FROM u", mySQL},
		{"SELECT 1, @i, @t FROM u", never},
		{"SELECT CAST(@d AS DECIMAL(10, 3)), 1, CAST(@d AS CHAR) FROM u", never},
		{"SELECT x/y, 1, 1 FROM u ORDER BY y", mariaDB},
		{"SELECT CAST(x/y AS DECIMAL(40, 20)), d, x FROM u ORDER BY y", never},
		{"SELECT cast(AVG(x) AS DECIMAL(40, 20)), CAST(AVG(x/y) AS DOUBLE), 1 FROM u", never},
		{"SELECT CAST(x AS DECIMAL(9, 2)) / (y), d, x FROM u ORDER BY y", mariaDB},
		{"SELECT d * 2, d + x, SQRT(x) FROM u ORDER BY y LIMIT 2", never},
		{"SELECT 1, PI(), 1 FROM u ORDER BY y", mariaDB},
		{"SELECT AVG(x), SUM(x)/7, 1 FROM u", both},
		{"SELECT SUM(d), MAX(f), y FROM u GROUP BY y", never},
		{"SELECT 1/3, 1, 1", mariaDB},
		{"SELECT SUM(x/y), AVG(x/y), 1 FROM u GROUP BY y", both},
		{"SELECT SUM(x/y), SUM(x)/7, x/y*3 FROM u GROUP BY x, y ORDER BY x, y", mariaDB},
		{"SELECT AVG(x) OVER (ORDER BY y), x, y FROM u", both},
		{"SELECT STD(x), VARIANCE(f), 1 FROM u", mariaDB},
		{"SELECT x/y, PI(), x/7 FROM u UNION SELECT 1/3, 1/3, 1/3", never},
		{"SELECT x/y, PI(), x/7 FROM u UNION ALL SELECT x/y, PI(), x/7 FROM u ORDER BY 1", never},
	} {
		t.Run(tt.query, func(t *testing.T) {
			servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
				g := newGate(t, s, gateOptions{})
				c := conn(t, g.open(t, ""))
				exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, a DECIMAL(40,20), b DOUBLE, c VARCHAR(100))", "CREATE TABLE native LIKE t",
					"CREATE TABLE u (x INT, y INT, f FLOAT, d DECIMAL(10,3))", "INSERT INTO u VALUES (1, 3, 1.1, 1.234), (2, 3, 1.7, 2.5), (1, 7, 0.1, 3.333)",
					"SET @d = 5.25, @f = 1.1e0 / 3, @i = 5, @t = 'x'")
				createSequence(t, c, "t_seq", 1, 10)
				exec(t, c, "INSERT INTO native (a, b, c) "+tt.query)
				stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t (a, b, c) "+tt.query)
				if err != nil {
					t.Fatal(err)
				}
				defer stmt.Close()
				for _, prepared := range []bool{false, true} {
					exec(t, c, "TRUNCATE TABLE t")
					if prepared {
						_, err = stmt.ExecContext(t.Context())
					} else {
						_, err = c.ExecContext(t.Context(), "INSERT INTO t (a, b, c) "+tt.query)
					}
					refused := tt.refused == both || tt.refused == mariaDB && s.IsMariaDB() || tt.refused == mySQL && !s.IsMariaDB()
					if refused {
						checkErrno(t, err, 1235)
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					const all = "SELECT GROUP_CONCAT(CONCAT_WS('|', a, b, c) ORDER BY id) FROM "
					if want, got := value[string](t, c, all+"native"), value[string](t, c, all+"t"); want != got {
						t.Errorf("prepared: %v: got\n%s, natively\n%s", prepared, got, want)
					}
				}
			})
		})
	}
}

// Values that are ids otherwise than as text are refused by their type.
func TestOwnIDTypesOfQueries(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, a INT)", "CREATE TABLE native LIKE t",
			"CREATE TABLE u (i TINYINT UNSIGNED, y YEAR, m DECIMAL(10, 2), g DOUBLE, v VARCHAR(10), x TEXT, e ENUM('7', '9'), st SET('a', 'b'), b BIT(9), d DATE, ti TIME, dt DATETIME)",
			"INSERT INTO u VALUES (200, 2001, 12.5, 3e2, '44', '45', '7', 'b', 300, '2001-02-03', '10:11:12', '2001-02-03 10:11:12')")
		createSequence(t, c, "t_seq", 1, 10)
		for _, column := range []string{"i", "y", "m", "g", "v", "x"} {
			exec(t, c, "DELETE FROM t", "DELETE FROM native", "INSERT INTO native (id, a) SELECT "+column+", 1 FROM u", "INSERT INTO t (id, a) SELECT "+column+", 1 FROM u")
			if want, got := value[int](t, c, "SELECT id FROM native"), value[int](t, c, "SELECT id FROM t"); want != got {
				t.Errorf("%s: id %d, natively %d", column, got, want)
			}
		}
		for column, typ := range map[string]string{"e": "ENUM", "st": "SET", "b": "BIT", "d": "DATE", "ti": "TIME", "dt": "DATETIME"} {
			_, err := c.ExecContext(t.Context(), "INSERT INTO t (id, a) SELECT "+column+", 1 FROM u")
			if errno(err) != 1235 || !strings.Contains(err.Error(), typ) {
				t.Errorf("%s: got %v, want error 1235 that names %s", column, err, typ)
			}
		}
	})
}

// Long and binary parameters of a query arrive whole, or are refused.
func TestQueryParamsWhole(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)", "CREATE TABLE native LIKE t")
		createSequence(t, c, "t_seq", 1, 10)
		for _, tt := range []struct {
			name   string
			value  any
			refuse bool // on MariaDB only what is binary
		}{
			{"long", strings.Repeat("x", 65536), true},
			{"binary", []byte{0xff, 0xfe, 0}, true},
			{"as long as it goes", strings.Repeat("x", 65535), false},
			{"UTF-8", []byte("grö\x00ße"), false},
			{"number", int64(-1), false},
			{"none", nil, false},
		} {
			exec(t, c, "DELETE FROM t", "DELETE FROM native")
			_, _ = c.ExecContext(t.Context(), "INSERT INTO native (b) SELECT ?", tt.value)
			_, err := c.ExecContext(t.Context(), "INSERT INTO t (b) SELECT ?", tt.value)
			if tt.refuse && (!s.IsMariaDB() || tt.name == "binary") {
				checkErrno(t, err, 1235)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			} else if same := value[bool](t, c, "SELECT t.b <=> native.b FROM t, native"); !same {
				t.Errorf("%s: another value was written", tt.name)
			}
		}
	})
}
