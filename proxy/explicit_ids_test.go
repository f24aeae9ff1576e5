package proxy_test

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Beside ids of its own a statement gets none of them a second time: it gets those
// that a native column generates, or higher ones where an own id stands behind.
func TestOwnIDsBesideGenerated(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, insert string
		args         []any
		want         string // where it is not the native column's
	}{
		{name: "own id first", insert: "INSERT INTO t (id, a) VALUES (3, 1), (NULL, 2), (NULL, 3), (NULL, 4)"},
		{name: "own id far above", insert: "INSERT INTO t (id, a) VALUES (100, 1), (NULL, 2)"},
		{name: "own id behind", insert: "INSERT INTO t (id, a) VALUES (NULL, 1), (100, 2)"},
		{name: "own id behind, in the block", insert: "INSERT INTO t (id, a) VALUES (NULL, 1), (NULL, 2), (2, 3)", want: "3,4,2"},
		{name: "of a query", insert: "INSERT INTO t (id, a) SELECT IF(x = 1, 3, NULL), x FROM u ORDER BY x"},
		{name: "driver's prepared statement", insert: "INSERT INTO t (id, a) VALUES (?, 1), (?, 2), (?, 3)", args: []any{2, nil, nil}},
		{name: "SQL's prepared statement", insert: "EXECUTE p USING @x, @y, @y"},
		{name: "user variables", insert: "INSERT INTO t (id, a) VALUES (@x, 1), (@y, 2), (@y, 3)"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, key := range []string{"KEY (id)", "PRIMARY KEY (id)"} {
			for _, tt := range cases {
				t.Run(tt.name+", "+key, func(t *testing.T) {
					g := newGate(t, s, gateOptions{})
					other := openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))
					results := map[execer]string{}
					native, c := conn(t, other), conn(t, g.open(t, ""))
					createSequence(t, c, "t_seq", 1, 1000)
					for _, d := range []interface {
						execer
						querier
					}{native, c} {
						exec(t, d, "CREATE TABLE t (id BIGINT AUTO_INCREMENT, a INT, "+key+")", "CREATE TABLE u (x INT)", "INSERT INTO u VALUES (1), (2), (3), (4), (5)",
							"SET @x = 2", "PREPARE p FROM 'INSERT INTO t (id, a) VALUES (?, 1), (?, 2), (?, 3)'")
						if _, err := d.ExecContext(t.Context(), tt.insert, tt.args...); err != nil {
							if d == c || tt.want == "" {
								t.Fatal(err)
							}
							continue
						}
						results[d] = value[string](t, d, "SELECT GROUP_CONCAT(id ORDER BY a) FROM t")
					}
					want := tt.want
					if want == "" {
						want = results[native]
					}
					if got := results[c]; got != want {
						t.Errorf("%s: ids %s, want %s", tt.insert, got, want)
					}
				})
			}
		}
	})
}

// An own id that no row took, as its column cannot hold it, leaves the sequence
// where it was.
func TestOwnIDOutOfRange(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id INT PRIMARY KEY, a INT)")
		createSequence(t, c, "t_seq", 1, 1000)
		_, err := c.ExecContext(t.Context(), "INSERT INTO t (id, a) VALUES (3000000000, 1), (NULL, 2)")
		checkErrno(t, err, 1264)
		exec(t, c, "INSERT INTO t (a) VALUES (3)")
		if got := value[int](t, c, "SELECT id FROM t"); got > 2 {
			t.Errorf("id %d, want 1 or 2", got)
		}
	})
}
