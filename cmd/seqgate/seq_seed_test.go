package main

import (
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A column that can hold no ids of its sequence fails the statements of its own table, at once and by its name. The other
// tables of the sequence, which auto_create makes above the ids of all, are served.
func TestBadColumnOfSharedSequence(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE good (id BIGINT PRIMARY KEY, a INT)", "INSERT INTO good VALUES (20, 0)",
			"CREATE TABLE digits (id VARCHAR(40) PRIMARY KEY, a INT)", "INSERT INTO digits VALUES ('x', 0), ('70', 0), ('9', 0), ('98765432109876543210', 0)",
			"CREATE TABLE amount (id DECIMAL(30, 2) PRIMARY KEY, a INT)", "INSERT INTO amount VALUES (60, 0), (-5, 0)",
			"CREATE TABLE rough (id DOUBLE PRIMARY KEY, a INT)", "INSERT INTO rough VALUES (1e30, 0), (65, 0)",
			"CREATE TABLE full (id TINYINT PRIMARY KEY, a INT)", "INSERT INTO full VALUES (127, 0)",
			"CREATE TABLE moment (id DATETIME PRIMARY KEY, a INT)", "INSERT INTO moment VALUES ('2026-01-01', 0)",
			"CREATE TABLE choice (id ENUM('a', 'b') PRIMARY KEY, a INT)", "INSERT INTO choice VALUES ('a', 0)",
			"CREATE TABLE renamed (ident BIGINT PRIMARY KEY, a INT)")
		var tables []string
		for _, name := range []string{"good", "digits", "amount", "rough", "full", "moment", "choice", "renamed"} {
			tables = append(tables, `"`+name+`": {"auto_increment": {"column": "id", "sequence": "s"}}`)
		}
		db := serveDDL(t, p, `{"keyspaces": {"main": {"tables": {"s": {"type": "sequence"}, `+strings.Join(tables, ", ")+`}}}}`, "sequences: {auto_create: true}")
		began := time.Now()
		run1(t, db, "INSERT INTO good (a) VALUES (1)")
		if got := query1[int64](t, db, "SELECT MAX(id) FROM good"); got != 128 {
			t.Errorf("the first id is %d, want 128, above all others", got)
		}
		for _, name := range []string{"digits", "amount", "rough"} {
			if _, err := db.Exec("INSERT INTO "+name+" (a) VALUES (?)", 1); err != nil {
				t.Error(err)
			}
		}
		wantErrno(t, db, 1467, "127", "INSERT INTO full (a) VALUES (1)")
		for _, name := range []string{"moment", "choice", "renamed"} {
			insert := "INSERT INTO " + name + " (a) VALUES "
			wantErrno(t, db, 1105, "column 'id' of table '"+p.name+"."+name+"'", insert+"(1)")
			if _, err := db.Exec(insert+"(?)", 1); err == nil || !strings.Contains(err.Error(), "column 'id' of table") {
				t.Errorf("prepared, into %s: %v", name, err)
			}
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Logf("all took %v", took) // a statement that waited for ids would have failed
		}
		run1(t, db, "INSERT INTO good (a) VALUES (1)")
	})
}
