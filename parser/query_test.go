package parser

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The query's text stays as it is; what orders the whole of it gets a LIMIT.
func TestQueryFill(t *testing.T) {
	const numbered = "`x_1` AS `x_c1`, ROW_NUMBER() OVER () AS `x_n` FROM `x_q`) SELECT `x_c1`, " +
		"IF(`x_n` > 3, ~0 + `x_n`, IF(`x_n` = 1, LAST_INSERT_ID(100), 99 + `x_n`)) FROM `x_r`"
	const limit = " LIMIT 9223372036854775807"
	tests := []struct{ query, body, rest string }{
		{"select a from s", "select a from s", ""},
		{"select a from s -- end", "select a from s", " -- end"},
		{"select a from s order by a, f(b)", "select a from s order by a, f(b)" + limit, ""},
		{"select a from s order by a for update", "select a from s order by a" + limit + " for update", ""},
		{"select a from s order by a lock in share mode;", "select a from s order by a" + limit + " lock in share mode", ";"},
		{"select a from s order by a limit 5", "select a from s order by a limit 5", ""},
		{"select a from s use index for order by (i)", "select a from s use index for order by (i)", ""},
		{"select row_number() over (order by a) from s", "select row_number() over (order by a) from s", ""},
		{"select `order by`, s.order, 'order by' from s", "select `order by`, s.order, 'order by' from s", ""},
		{"(select a from s order by a)", "(select a from s order by a" + limit + ")", ""},
		{"((select a from s order by a) order by 1)", "((select a from s order by a" + limit + ") order by 1" + limit + ")", ""},
		{"(select a from s order by a) union (select b from s order by b)", "(select a from s order by a" + limit + ") union (select b from s order by b)", ""},
		{"with x as (select 1 order by 1) (select a from x order by a)", "with x as (select 1 order by 1) (select a from x order by a" + limit + ")", ""},
		{"select a from s join r on duplicate = 5 on duplicate key update n = 1", "select a from s join r on duplicate = 5", "  on duplicate key update n = 1"},
		{"table s order by a desc", "table s order by a desc" + limit, ""},
	}
	for _, tt := range tests {
		var s InsertStmt
		sql := []byte("insert into t (a) " + tt.query)
		if err := s.ParseQuery(sql, Mode{}); err != nil {
			t.Errorf("ParseQuery(%q): %v", sql, err)
			continue
		}
		if err := s.BindQuery("id", nil, "x"); err != nil {
			t.Errorf("BindQuery of %q: %v", sql, err)
			continue
		}
		want := "insert into t (a, `id`)  WITH `x_q` (`x_1`) AS (\n" + tt.body + "\n), `x_r` AS (SELECT " + numbered + tt.rest
		if got := string(s.AppendQueryFilled(nil, sql, QueryFill{First: 100, Block: 3, Wrap: true})); got != want {
			t.Errorf("%q is filled\n%s, want\n%s", sql, got, want)
		}
	}
}

// MariaDB may merge a query into the SELECT that numbers its rows.
func TestQueryMerged(t *testing.T) {
	var s InsertStmt
	sql := []byte("insert into t (a) select 1 / b from s order by b")
	if err := errors.Join(s.ParseQuery(sql, Mode{MariaDB: true}), s.BindQuery("id", nil, "x")); err != nil {
		t.Fatal(err)
	}
	const want = "insert into t (a, `id`)  WITH `x_q` (`x_1`) AS (\nselect 1 / b from s order by b LIMIT 9223372036854775807\n) SELECT `x_1`, " +
		"IF(ROWNUM() > 3, ~0 + ROWNUM() * OCTET_LENGTH('x_n'), IF(ROWNUM() = 1, LAST_INSERT_ID(100), 99 + ROWNUM())) FROM `x_q`"
	if got := string(s.AppendQueryFilled(nil, sql, QueryFill{First: 100, Block: 3, Wrap: true})); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestQueryRefused(t *testing.T) {
	tests := map[string]string{
		"insert into t select @a := 1":                            "user variable",
		"insert into t (a) select last_insert_id(5)":              "LAST_INSERT_ID(expression)",
		"insert into t (a) select 0x41, 1":                        "hexadecimal",
		"insert into t (a) select 1 from s limit rows examined 9": "LIMIT ROWS EXAMINED",
		"insert into t (a) select (1":                             "of this form",
		"insert into t (a) select 1)":                             "of this form",
		"insert into t (a) select 1 /*!40000 + 1 */":              "version comment",
		"insert into t (a) values (1)":                            "VALUES",
		"insert into t (a) select 1; select 2":                    "SELECT",
		"insert into t (a) select 1 on duplicate key":             "of this form",
	}
	for sql, want := range tests {
		var s InsertStmt
		err := s.ParseQuery([]byte(sql), Mode{})
		var refused *UnsupportedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Form, want) || refused.Table != "t" {
			t.Errorf("ParseQuery(%q) = %#v, want an UnsupportedError of t that says %q", sql, err, want)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, sql := range queries {
		f.Add("insert into ua(val, n) "+sql, uint8(0))
		f.Add("replace into ua(n, id) "+sql+" on duplicate key update n = 1", uint8(3))
		f.Add("insert into ua "+sql, uint8(7))
	}
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		m := fuzzMode(mode)
		var s InsertStmt
		if s.ParseQuery([]byte(sql), m) != nil {
			return
		}
		if !s.FromQuery() || s.query.end > len(sql) || s.QueryParams() > s.Params {
			t.Fatalf("ParseQuery(%q) = %+v", sql, s.query)
		}
		if new(InsertStmt).Parse([]byte(sql), m) == nil {
			t.Errorf("%q reads both as rows and as a query", sql)
		}
		if s.BindQuery("id", []string{"a", "id", "b"}, "x") != nil {
			return
		}
		// The client's text is all there, in its order.
		filled := string(s.AppendQueryFilled(nil, []byte(sql), QueryFill{First: 7, Block: 5, Wrap: true, TellUpdated: true}))
		rest := filled
		for i := range len(sql) {
			at := strings.IndexByte(rest, sql[i])
			if at < 0 {
				t.Fatalf("%q is filled as %q, which has lost some of it", sql, filled)
			}
			rest = rest[at+1:]
		}
		query := sql[s.query.begin:s.query.end]
		count := string(s.AppendQueryCount(nil, []byte(sql), QueryOpen, false))
		if !strings.Contains(count, "AS (\n"+query+"\n)") {
			t.Errorf("%q is counted as %q", sql, count)
		}
	})
}

// queries are such that both servers execute.
var queries = []string{
	"select 'a', 1", "select val, n from src order by n desc", "(select val, n from src order by n)", "((select val, n from src) order by 2 limit 2)",
	"select val, n from src union select 'z', 9 order by 1", "with x as (select val, n from src) select val, n from x order by n",
	"select val, max(n) from src group by val having max(n) > 1 order by max(n)", "select distinct val, 5 from src /* ) */ order by val -- c",
	"select s.val, r.n from src s join src r on r.n = s.n and s.n in (select n from src order by n) order by s.n for update",
	"select concat(val, ' on duplicate key update '), n from src where val <> ')'", "select val, row_number() over (partition by val order by n) from src order by 2, 1",
}

// What is made of a query is executed by both servers: as many rows as the query
// gives, with the ids of the block in its order.
func TestQueriesOnServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		mustExec(t, c, "create table ua(id bigint primary key, val varchar(64), n int)", "create table src(val varchar(64), n int)",
			"insert into src values ('c',3),('a',1),('b',2),('a',4)", "create table plain(id bigint primary key auto_increment, val varchar(64), n int)")
		m := Mode{MariaDB: s.IsMariaDB()}
		for _, query := range queries {
			for _, head := range []string{"insert into ua(val, n) ", "replace into ua (`val`, n) ", "insert ignore into ua(val, n)"} {
				sql := []byte(head + query)
				var st InsertStmt
				if err := errors.Join(st.ParseQuery(sql, m), st.BindQuery("id", nil, "x")); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
				mustExec(t, c, "delete from ua", "truncate table plain", "insert into plain(val, n) "+query)
				result, err := c.ExecContext(context.Background(), string(st.AppendQueryCount(nil, sql, QueryOpen, false)))
				if err != nil {
					t.Fatalf("count %s: %v", sql, err)
				}
				n, _ := result.LastInsertId()
				mustExec(t, c, string(st.AppendQueryFilled(nil, sql, QueryFill{First: 1, Block: n - 1, Wrap: true})))
				var want, got string
				const all = "select group_concat(id, val, n order by id) from "
				if err := errors.Join(c.QueryRowContext(context.Background(), all+"plain").Scan(&want), c.QueryRowContext(context.Background(), all+"ua").Scan(&got)); err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("%s: got %s, natively %s", sql, got, want)
				}
				_, err = c.ExecContext(context.Background(), string(st.AppendQueryFilled(nil, sql, QueryFill{First: 1001, Block: n - 2, Wrap: true})))
				if errno(t, err) != 1690 || !strings.Contains(err.Error(), "x"+QueryOverrun) {
					t.Errorf("%s with a block too small: got %v, want error 1690 that names %s", sql, err, "x"+QueryOverrun)
				}
			}
		}
	})
}
