package parser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// replaced replaces each call by its kind and sequence, as a caller would by a value.
func replaced(sql string, m Mode) (string, CallStmt) {
	s := FindCalls([]byte(sql), m)
	text := s.AppendReplaced(nil, []byte(sql), func(dst []byte, i int, typed bool) ([]byte, bool) {
		c := s.Calls[i]
		verb := [...]string{"next", "last", "set"}[c.Kind]
		name := strings.Trim(c.Sequence.Schema+"."+c.Sequence.Name, ".")
		if c.Kind == SetValue {
			name += fmt.Sprintf("=%d", c.Next)
		}
		if typed {
			return fmt.Appendf(dst, "C<%s %s>", verb, name), true
		}
		return fmt.Appendf(dst, "<%s %s>", verb, name), true
	})
	return string(text), s
}

func TestFindCalls(t *testing.T) {
	ansi := Mode{ANSIQuotes: true}
	tests := []struct {
		sql, want string
		mode      Mode
	}{
		{"SELECT NEXTVAL(s)", "SELECT C<next s> AS `NEXTVAL(s)` ", Mode{}},
		{"select nextval ( d . s ) , 1", "select C<next d.s> AS `nextval ( d . s )`  , 1", Mode{}},
		{"SELECT NEXT VALUE FOR s, PREVIOUS VALUE FOR `d`.`s``t`", "SELECT C<next s> AS `NEXT VALUE FOR s` , C<last d.s`t> AS `PREVIOUS VALUE FOR ``d``.``s````t``` ", Mode{}},
		{"SELECT nextval('s'), nextval('d.s')", "SELECT C<next s> AS `nextval('s')` , C<next d.s> AS `nextval('d.s')` ", Mode{}},
		{`SELECT nextval("s")`, "SELECT C<next s> AS `nextval(\"s\")` ", Mode{}},
		{`SELECT nextval("s")`, "SELECT C<next s> AS `nextval(\"s\")` ", ansi},
		{"SELECT s.NEXTVAL, d.s.nextval, s . currval FROM dual", "SELECT C<next s> AS `s.NEXTVAL` , C<next d.s> AS `d.s.nextval` , C<last s> AS `s . currval`  FROM dual", Mode{}},
		{"SELECT `s`.NEXTVAL+1 x", "SELECT C<next s>+1 x", Mode{}},
		{"SELECT NEXTVAL(s)AS x, -NEXTVAL(s)y", "SELECT C<next s>AS x, -C<next s>y", Mode{}},
		{"SELECT NEXTVAL(s) 'x', NEXTVAL(s) `y`", "SELECT C<next s> 'x', C<next s> `y`", Mode{}},
		{"SELECT DISTINCT NEXTVAL(s) IS NULL, CASE WHEN 1 THEN NEXTVAL(s) END", "SELECT DISTINCT C<next s> IS NULL AS `NEXTVAL(s) IS NULL` , CASE WHEN 1 THEN C<next s> END AS `CASE WHEN 1 THEN NEXTVAL(s) END` ", Mode{}},
		{"SELECT CONCAT('a', NEXTVAL(s)) FROM dual WHERE 1", "SELECT CONCAT('a', C<next s>) AS `CONCAT('a', NEXTVAL(s))`  FROM dual WHERE 1", Mode{}},
		{"SELECT LASTVAL(), LASTVAL(s), CURRVAL('s'), SETVAL(s, 7), SETVAL(s, -7, 0), SETVAL(s, 7, FALSE, 0)",
			"SELECT C<last > AS `LASTVAL()` , C<last s> AS `LASTVAL(s)` , C<last s> AS `CURRVAL('s')` , C<set s=8> AS `SETVAL(s, 7)` ," +
				" C<set s=-7> AS `SETVAL(s, -7, 0)` , C<set s=7> AS `SETVAL(s, 7, FALSE, 0)` ", Mode{}},
		{"SELECT NEXTVAL(s) INTO @x", "SELECT C<next s> AS `NEXTVAL(s)`  INTO @x", Mode{}},
		{"INSERT INTO t VALUES (NEXTVAL(s), 'NEXTVAL(s)'), (1+NEXTVAL(s), LASTVAL(s))", "INSERT INTO t VALUES (<next s>, 'NEXTVAL(s)'), (1+C<next s>, <last s>)", Mode{}},
		{"INSERT t SET a=NEXT VALUE FOR s, b = s.NEXTVAL", "INSERT t SET a=<next s>, b = C<next s>", Mode{}},
		{"INSERT t SET a=NEXTVAL(s)ON DUPLICATE KEY UPDATE b=VALUES(a)", "INSERT t SET a=<next s>ON DUPLICATE KEY UPDATE b=VALUES(a)", Mode{}},
		{"INSERT INTO nextval(s) VALUES (1)", "INSERT INTO nextval(s) VALUES (1)", Mode{}},
		{"UPDATE t SET a = NEXTVAL(s) WHERE id = 1 LIMIT 1", "UPDATE t SET a = C<next s> WHERE id = 1 LIMIT 1", Mode{}},
		{"SET @x = NEXTVAL(s), @y = NEXTVAL(s)", "SET @x = C<next s>, @y = C<next s>", Mode{}},
		{"DO NEXTVAL(s)", "DO C<next s>", Mode{}},
		{"CALL p(NEXTVAL(s))", "CALL p(C<next s>)", Mode{}},
		{"SELECT * FROM t WHERE id = LASTVAL(s)", "SELECT * FROM t WHERE id = C<last s>", Mode{}},
		// What only looks like a call.
		{"SELECT nextval(1), nextval(@x), nextval('a', 'b'), d.nextval(s), nextval, `nextval`(s), @nextval, @s.nextval, t.nextval(1)",
			"SELECT nextval(1), nextval(@x), nextval('a', 'b'), d.nextval(s), nextval, `nextval`(s), @nextval, @s.nextval, t.nextval(1)", Mode{}},
		{"SELECT next value, a.b.c.nextval, NEXT VALUE FOR", "SELECT next value, a.b.c.nextval, NEXT VALUE FOR", Mode{}},
		{"SELECT 'NEXTVAL(s)' /* NEXTVAL(s) */ -- NEXTVAL(s)", "SELECT 'NEXTVAL(s)' /* NEXTVAL(s) */ -- NEXTVAL(s)", Mode{}},
		{"CREATE TABLE t (a BIGINT DEFAULT NEXTVAL(s))", "CREATE TABLE t (a BIGINT DEFAULT NEXTVAL(s))", Mode{}},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			got, s := replaced(test.sql, test.mode)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			for _, c := range s.Calls {
				if c.Fault != "" && c.Kind != LastValue {
					t.Errorf("%s: fault %q", test.sql[c.Start:c.End], c.Fault)
				}
			}
			if len(s.Calls) > 0 && !MayCall([]byte(test.sql)) {
				t.Error("MayCall is false")
			}
		})
	}
}

func TestFindCallsFaults(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT NEXTVAL(s) FROM t":                                        faultSelect,
		"SELECT NEXTVAL(s) FROM dual, t":                                  faultSelect,
		"SELECT NEXTVAL(s) FROM dual x JOIN t":                            faultSelect,
		"SELECT NEXTVAL(s) FROM `dual`":                                   faultSelect,
		"SELECT a.nextval FROM a":                                         faultSelect,
		"SELECT 1 FROM t WHERE id = NEXTVAL(s)":                           faultClause,
		"SELECT 1 ORDER BY NEXTVAL(s)":                                    faultClause,
		"SELECT NEXTVAL(s) UNION SELECT 1":                                faultUnion,
		"SELECT 1 UNION ALL SELECT NEXTVAL(s)":                            faultUnion,
		"SELECT (SELECT NEXTVAL(s))":                                      faultSubquery,
		"SET @x = (SELECT NEXTVAL(s))":                                    faultSubquery,
		"(SELECT NEXTVAL(s))":                                             faultSubquery,
		"WITH x AS (SELECT 1) SELECT NEXTVAL(s)":                          faultWith,
		"INSERT INTO t SELECT NEXTVAL(s)":                                 faultInsert,
		"INSERT INTO t (a) (SELECT NEXTVAL(s))":                           faultInsert,
		"INSERT INTO t VALUES ((SELECT NEXTVAL(s)))":                      faultSubquery,
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = NEXTVAL(s)": faultOn,
		"REPLACE INTO t SET a = 1 ON DUPLICATE KEY UPDATE a = NEXTVAL(s)": faultOn,
		"INSERT INTO t VALUES (1) RETURNING NEXTVAL(s)":                   faultReturn,
		"UPDATE t SET a = NEXTVAL(s)":                                     faultUpdate,
		"UPDATE t SET a = NEXTVAL(s) LIMIT 2":                             faultUpdate,
		"UPDATE t SET a = NEXTVAL(s) LIMIT 10":                            faultUpdate,
		"UPDATE t SET a = SETVAL(s, 1)":                                   faultUpdate,
		"UPDATE t SET a = NEXTVAL(s) RETURNING a":                         faultUpdate,
		"UPDATE t AS `S` SET a = s.NEXTVAL":                               faultUpdate,
		"UPDATE t PARTITION (p) s SET a = s.NEXTVAL LIMIT 1":              faultUpdate,
		"UPDATE (t) SET a = NEXTVAL(s)":                                   faultUpdate,
		"UPDATE t USE INDEX (i), u SET a = NEXTVAL(s)":                    faultUpdate,
		"UPDATE t, u SET a = NEXTVAL(s) LIMIT 1":                          faultUpdate,
		"UPDATE t JOIN u SET a = NEXTVAL(s) LIMIT 1":                      faultUpdate,
		"UPDATE t SET a = 1 WHERE b = NEXTVAL(s) LIMIT 1":                 faultWhere,
		"DELETE FROM t WHERE a = NEXTVAL(s)":                              faultWhere,
		"SELECT NEXTVAL(s) /*!40000 FROM t */":                            faultUnread,
		"SELECT SETVAL(s, 1, 1, 1)":                                       "SETVAL with",
		"SELECT SETVAL(s, @x)":                                            "SETVAL with",
		"SELECT SETVAL(s, ?)":                                             "SETVAL with",
		"SELECT SETVAL(s, 1 + 1, 0)":                                      "SETVAL with",
		"SELECT SETVAL(s, 9223372036854775807)":                           "SETVAL to the last",
	} {
		s := FindCalls([]byte(sql), Mode{})
		if len(s.Calls) != 1 || !strings.HasPrefix(s.Calls[0].Fault, want) || s.Alone && want != "" && !strings.HasPrefix(want, "SETVAL") {
			t.Errorf("FindCalls(%q) = %+v, want one call with the fault %q", sql, s, want)
		}
	}
}

func TestFindCallsAlone(t *testing.T) {
	tests := []struct {
		sql, label string
		count      int64 // 0: none; -1: a placeholder
	}{
		{"SELECT NEXTVAL(s)", "NEXTVAL(s)", 0},
		{"SELECT NEXTVAL(s) ; ; -- end", "NEXTVAL(s)", 0},
		{"select next value for s as x from dual", "x", 0},
		{"SELECT s.NEXTVAL `a``b` FROM DUAL;", "a`b", 0},
		{"SELECT s.NEXTVAL 'a''b'", "a'b", 0},
		{"SELECT s.NEXTVAL x WHERE COUNT = 10", "x", 10},
		{"SELECT d.s.NEXTVAL FROM dual WHERE count=?", "d.s.NEXTVAL", -1},
		{"SELECT LASTVAL()", "LASTVAL()", 0},
		{"SELECT SETVAL(s, 4)", "SETVAL(s, 4)", 0},
	}
	for _, test := range tests {
		s := FindCalls([]byte(test.sql), Mode{})
		count := s.Count
		if s.CountParam {
			count = -1
		}
		if !s.Alone || s.Label != test.label || count != test.count || s.HasCount != (count != 0) {
			t.Errorf("FindCalls(%q) = %+v, want alone, label %q, count %d", test.sql, s, test.label, test.count)
		}
	}
	for _, sql := range []string{
		"SELECT NEXTVAL(s), 1", "SELECT 1, NEXTVAL(s)", "SELECT NEXTVAL(s)+1", "SELECT NEXTVAL(s) FROM t", "SELECT NEXTVAL(s) LIMIT 1",
		"SELECT NEXTVAL(s) WHERE 1", "SELECT NEXTVAL(s) WHERE COUNT = 1 AND 1", "SELECT LASTVAL(s) WHERE COUNT = 1", "SELECT DISTINCT NEXTVAL(s)",
		"SELECT NEXTVAL(s) AS", "SELECT NEXTVAL(s) a b", "DO NEXTVAL(s)", "SELECT NEXTVAL(s) FOR UPDATE", "SELECT NEXTVAL(s) INTO @x",
	} {
		if s := FindCalls([]byte(sql), Mode{}); s.Alone {
			t.Errorf("FindCalls(%q) is alone: %+v", sql, s)
		}
	}
}

func TestMayCall(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT v, value FROM valves WHERE val = 1":         false,
		"INSERT INTO t (a) VALUES (1)":                      false,
		"INSERT INTO t (a) VALUE (1)":                       false,
		"select nextvalue(), xnextval, nextval1, preval(s)": false,
		"select NextVal":                                    true,
		"NEXT\tVALUE\tFOR s":                                true,
		"NEXT/**/VALUE FOR s":                               true,
		"NEXT -- x\nVALUE FOR s":                            true,
		"previous value":                                    true,
		"lastval":                                           true,
		"V":                                                 false,
		"setval":                                            true,
		"/*!50000nextval(s)*/":                              true,
	} {
		if got := MayCall([]byte(sql)); got != want {
			t.Errorf("MayCall(%q) = %v, want %v", sql, got, want)
		}
	}
}

// What FindCalls finds lies in the text, in order and apart, and none is found
// where MayCall denies it.
func FuzzFindCalls(f *testing.F) {
	for _, sql := range []string{
		"SELECT NEXTVAL(s), s.NEXTVAL+1 x FROM dual", "INSERT INTO t VALUES (NEXTVAL('s'), '''')", "UPDATE t SET a = d.s.nextval LIMIT 1",
		"SELECT PREVIOUS VALUE FOR `s` WHERE COUNT = 3", "SET @a = SETVAL(s, -1, 0, 0)", "INSERT t SET a=NEXTVAL(s)ON DUPLICATE KEY UPDATE b=1",
		"SELECT 'a' 'NEXTVAL(s)', NEXTVAL(s)'x', \"NEXTVAL(s)\" -- \\", "((((NEXTVAL(", "SELECT a.a.a.a.nextval)))", "SELECT\xa0NEXTVAL(\x81`)",
		"UPDATE IGNORE d.t AS x FORCE INDEX (i) SET a = NEXTVAL(s) WHERE b = LASTVAL(q) ORDER BY c LIMIT 2;;", "UPDATE SET SET = NEXTVAL(s), WHERE; WHERE", "UPDATE SET ;WHERE",
	} {
		f.Add([]byte(sql), uint8(0))
		f.Add([]byte(sql), uint8(7))
	}
	f.Fuzz(func(t *testing.T, sql []byte, mode uint8) {
		m := Mode{ANSIQuotes: mode&1 > 0, NoBackslashEscapes: mode&2 > 0, MariaDB: mode&4 > 0}
		m.Charset = CharsetByName([]string{"utf8mb4", "latin1", "gbk", "sjis"}[mode>>3&3])
		s := FindCalls(sql, m)
		at := 0
		for _, c := range s.Calls {
			if c.Start < at || c.End <= c.Start || c.End > len(sql) || c.Kind != LastValue && c.Sequence.Name == "" {
				t.Fatalf("call %+v behind %d in %q", c, at, sql)
			}
			at = c.End
		}
		if len(s.Calls) > 0 && !MayCall(sql) {
			t.Fatalf("MayCall denies the calls of %q", sql)
		}
		same := s.AppendReplaced(nil, sql, func(dst []byte, _ int, _ bool) ([]byte, bool) { return dst, false })
		if len(s.items) == 0 && string(same) != string(sql) {
			t.Fatalf("%q, with nothing replaced, is %q", sql, same)
		}
		one := s.AppendReplaced(nil, sql, func(dst []byte, _ int, _ bool) ([]byte, bool) { return append(dst, '1'), true })
		if left := FindCalls(one, m); len(left.Calls) > 0 {
			t.Fatalf("%q has calls left: %q", sql, one)
		}
	})
}

// What is found outlives the text, whose memory is another session's by then.
func TestFindCallsKeepsNothingOfTheText(t *testing.T) {
	for _, sql := range []string{"SELECT NEXTVAL(s)", "SELECT db.s.NEXTVAL AS label", "UPDATE t SET a = NEXTVAL(`s`)"} {
		text := []byte(sql)
		got, want := FindCalls(text, Mode{}), FindCalls([]byte(sql), Mode{})
		for i := range text {
			text[i] = '#'
		}
		if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sql, diff)
		}
	}
}
