package proxy_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// TestShowPlan asks for plans in front of one server and of shards: nothing of the statement runs, no
// id is taken, and LAST_INSERT_ID() stays.
func TestShowPlan(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, _ := newInsertGate(t, s, 2)
		for _, tt := range []struct{ database, table, column, refused string }{
			{"main", "ua", "val", "LOAD DATA INFILE ''f'' INTO TABLE ua (val)"},
			{"customer", "user", "name", "LOCK TABLES user WRITE"},
		} {
			t.Run(tt.database, func(t *testing.T) {
				checkShowPlan(t, g.dial(t, tt.database), "INSERT INTO "+tt.table+" ("+tt.column+") VALUES ", tt.table, tt.refused)
			})
		}
	})
}

func checkShowPlan(t *testing.T, c *client.Conn, insert, table, refused string) {
	one := func(query string) string {
		t.Helper()
		r, err := c.Execute(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		value, err := r.GetString(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	plan := func(query string) string {
		t.Helper()
		r, err := c.Execute(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var lines []string
		for _, row := range r.Values {
			lines = append(lines, string(row[0].AsString())+": "+string(row[1].AsString()))
		}
		return strings.Join(lines, "\n")
	}
	if _, err := c.Execute(insert + "('first')"); err != nil {
		t.Fatal(err)
	}
	last := one("SELECT LAST_INSERT_ID()")
	got := plan("SHOW SEQGATE PLAN FOR '" + insert + "(''a''), (''b'')'")
	for _, want := range []string{"plan: fill", "table: " + table, "column: id", "ids: 2", ":id1", ":id2"} {
		if !strings.Contains(got, want) {
			t.Errorf("the plan has no %q:\n%s", want, got)
		}
	}
	if got := plan("SHOW SEQGATE PLAN FOR '" + refused + "'"); !strings.HasPrefix(got, "plan: refuse\nerror: 1235 (42000): seqgate does not") {
		t.Errorf("a refused statement: got\n%s", got)
	}
	if got := one("SELECT LAST_INSERT_ID()"); got != last {
		t.Errorf("LAST_INSERT_ID() behind a plan: got %s, want %s", got, last)
	}
	if diff := cmp.Diff("1", one("SELECT COUNT(*) FROM "+table)); diff != "" {
		t.Errorf("rows of a table of which only plans were asked (-want +got):\n%s", diff)
	}
	if _, err := c.Execute("SHOW SEQGATE PLAN FOR 'SELECT 1; SELECT 2'"); err == nil || !strings.Contains(err.Error(), "takes one statement") {
		t.Errorf("two statements: got %v", err)
	}
	long := plan("SHOW SEQGATE PLAN FOR '" + insert + strings.Repeat("(''a''),", 100_000) + "(''b'')'")
	if !strings.Contains(long, "ids: 100001") || len(long) > 200<<10 {
		t.Errorf("the plan of a long statement has %d bytes", len(long))
	}
	next := func() int {
		n, err := strconv.Atoi(one("SELECT NEXT VALUE FROM main.t_seq"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := next()
	plan("SHOW SEQGATE PLAN FOR 'SELECT NEXT 10 VALUES FROM main.t_seq'")
	if after := next(); after != before+1 {
		t.Errorf("a value behind a plan: got %d after %d", after, before)
	}
}

// TestShowPlanDenied asks for plans of statements that are refused when they run: a plan tells no columns to an account
// without rights to the table.
func TestShowPlanDenied(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, hidden INT)", "CREATE TABLE mine (a INT)")
		createSequence(t, g.direct, "t_seq", 1, 10)
		user := "plans" + strings.TrimPrefix(g.database, "test_")[:8]
		exec(t, g.direct, "CREATE USER "+user+" IDENTIFIED BY 'pw'", "GRANT ALL ON "+g.database+".mine TO "+user)
		atEnd(t, g.direct, "DROP USER "+user)
		c := conn(t, openDSN(t, user+":pw@tcp("+g.addr+")/"+g.database+"?tls=skip-verify"))
		for statement, refusal := range map[string]string{
			"INSERT INTO t VALUES (NULL, 1)":            "1142 (42000): INSERT command denied",
			"INSERT INTO t VALUES (?, ?)":               "1142 (42000): INSERT command denied",
			"INSERT INTO t (hidden) SELECT a FROM mine": "1142 (42000): INSERT command denied",
			"SELECT NEXT VALUE FROM t_seq":              "1142 (42000): ",
			"SELECT NEXTVAL(t_seq)":                     "1142 (42000): ",
			"SELECT 1, NEXTVAL(t_seq)":                  "1142 (42000): ",
			"SELECT NEXT 10001 VALUES FROM t_seq":       "1210 (HY000): cannot give 10001 values",
		} {
			if got := planLines(t, c, statement); !strings.HasPrefix(got, "plan: refuse\nerror: "+refusal) {
				t.Errorf("%s: got\n%s", statement, got)
			}
		}
		for _, statement := range []string{"ALTER SEQUENCE t_seq START WITH 5", "ALTER SEQUENCE t_seq RESTART", "SHOW CREATE SEQUENCE t_seq"} {
			if got := planLines(t, c, statement); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "plan: command\n") {
				t.Errorf("%s: got\n%s", statement, got)
			}
		}
	})
}

// planLines returns the plan of a statement.
func planLines(t *testing.T, c *sql.Conn, statement string) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), "SHOW SEQGATE PLAN FOR '"+statement+"'")
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	var lines []string
	for rows.Next() {
		var about, says string
		if err := rows.Scan(&about, &says); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, about+": "+says)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// The same in front of shards, where the account that runs statements has no rights to a table.
func TestShowPlanDeniedSharded(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const account = "seqgate_plan_account"
		direct := s.Open(t, "")
		exec(t, direct, "CREATE USER "+account+"@'%' IDENTIFIED BY 'hush'")
		atEnd(t, direct, "DROP USER "+account+"@'%'")
		g, _ := newInsertGateWith(t, s, 2, gateOptions{configure: func(c *proxy.Config) {
			for _, k := range c.Keyspaces["customer"].Shards {
				k.Backend.User, k.Backend.Password = account, "hush"
				exec(t, direct, fmt.Sprintf("GRANT ALL ON %s.child TO %s@'%%'", k.Database, account))
			}
		}})
		c := conn(t, g.open(t, "customer", ""))
		for statement, want := range map[string]string{
			"INSERT INTO user VALUES (NULL, 1, 2)":     "refuse",
			"INSERT INTO user (name) VALUES (1)":       "refuse",
			"INSERT INTO child (user_id) VALUES (5)":   "fill, divide by rows",
			"INSERT INTO customer.user VALUES (5,1,2)": "refuse",
		} {
			var about, plan string
			rows, err := c.QueryContext(t.Context(), "SHOW SEQGATE PLAN FOR '"+statement+"'")
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			if rows.Next() {
				err = rows.Scan(&about, &plan)
			}
			if err := errors.Join(err, rows.Close()); err != nil || plan != want {
				t.Errorf("%s: got the plan %q, %v, want %q", statement, plan, err, want)
			}
		}
	})
}
