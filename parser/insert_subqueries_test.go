package parser

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOtherNames(t *testing.T) {
	type names struct{ queries, databases []string }
	for _, tt := range []struct {
		sql  string
		want names
	}{
		{"insert into d.t(a) values (1), (concat('a', t.b))", names{}},
		{"insert into t(a) values ((select 5)), (trim(leading 'x' from b))", names{}},
		{"insert into t(a,b) values ((1), (select x from u where y in (select 1 from v))), (2, exists (table w))",
			names{queries: []string{"select x from u where y in (select 1 from v)", "table w"}}},
		{"insert into t(a) values (d.t.b), (d.f(1))", names{databases: []string{"d", "d"}}},
		{"insert into t(`d`.t.a) values (1) on duplicate key update a = (with x as (table u) select 1 from x)",
			names{queries: []string{"with x as (table u) select 1 from x"}, databases: []string{"d"}}},
		{"insert into t select a.b.c from u where (select 1 from v) on duplicate key update a = (select max(b) from w)",
			names{queries: []string{"select max(b) from w"}}},
		{"insert into t (select a from u)", names{}},
		{"insert into t set a = (select 1 from u)", names{queries: []string{"select 1 from u"}}},
	} {
		var stmt InsertStmt
		sql := []byte(tt.sql)
		if stmt.ParseQuery(sql, Mode{}) != nil {
			if err := stmt.Parse(sql, Mode{}); err != nil {
				t.Fatalf("%s: %v", tt.sql, err)
			}
		}
		found, err := stmt.OtherNames(sql)
		if err != nil {
			t.Errorf("%s: %v", tt.sql, err)
		}
		got := names{databases: found.Databases}
		for _, span := range found.Subqueries {
			got.queries = append(got.queries, tt.sql[span.Start:span.End])
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(names{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.sql, diff)
		}
	}
}

// What cannot be told apart is not passed over.
func TestOtherNamesOfSetOperation(t *testing.T) {
	sql := []byte("insert into t(a) values (((select 1 from u) union select x from v))")
	stmt, err := ParseInsert(sql, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	var unsupported *UnsupportedError
	if _, err := stmt.OtherNames(sql); !errors.As(err, &unsupported) {
		t.Errorf("got %v, want an UnsupportedError", err)
	}
}
