package proxy

import "testing"

// A statement is run again only where each function that it calls is known to change nothing.
func TestCallsPlainly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"INSERT INTO t (a) VALUES (1), (NOW())", true},
		{"INSERT INTO t VALUES (1)", true},
		{"INSERT INTO `t` (`a`) VALUES (('x'), IF(1 > 0, 2, (3)))", true},
		{"INSERT INTO d.t (a) VALUES (LAST_INSERT_ID(7))", true},
		{"INSERT INTO `d` . `t`\n(a) VALUES (1 + (2))", true},
		{"INSERT INTO t SET a = CONCAT ('x', 1)", true},
		{"INSERT INTO t (a) VALUES (f(1))", false},
		{"INSERT INTO t (a) VALUES (f (1))", false},
		{"INSERT INTO t (a) VALUES (f/* */(1))", false},
		{"INSERT INTO t (a) VALUES (f -- now\n(1))", false},
		{"INSERT INTO t (a) VALUES (f # now\n(1))", false},
		{"INSERT INTO t (a) VALUES (`left`(1))", false},
		{"INSERT INTO t (a) VALUES (`a b`(1))", false},
		{"INSERT INTO t (a) VALUES (d.left(1))", false},
		{"INSERT INTO t (a) VALUES (`d` . `left` (1))", false},
		{"INSERT INTO t (a) VALUES (t(1))", false},
		{"INSERT INTO t SET a = t(1)", false},
		{"INSERT INTO t SET a = d.f(1)", false},
	} {
		if got := callsPlainly([]byte(tt.sql), "t"); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.sql, got, tt.want)
		}
	}
}
