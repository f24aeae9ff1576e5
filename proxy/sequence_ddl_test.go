package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// eachWithoutSequences runs a test on the servers that have no sequences of their own.
func eachWithoutSequences(t *testing.T, f func(t *testing.T, s *servertest.Server)) {
	t.Helper()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if strings.Contains(s.Version, "MariaDB") {
			t.Skip("MariaDB has its own CREATE SEQUENCE")
		}
		f(t, s)
	})
}

// fails runs a statement that has to fail with a number, and a text in its error.
func fails(t *testing.T, db execer, number uint16, text, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	if errno(err) != number || !strings.Contains(fmt.Sprint(err), text) {
		t.Errorf("%s: got %v, want error %d with %q", statement, err, number, text)
	}
}

func TestCreateSequence(t *testing.T) {
	eachWithoutSequences(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		for _, tt := range []struct {
			options, comment string
			first, cache     int64
		}{
			{"", "vitess_sequence", 1, 1000},
			{" START WITH 100 INCREMENT BY 1 CACHE 10 NOCYCLE", "vitess_sequence start=100", 100, 10},
			{" cache=20 minvalue = 5 nomaxvalue start 7;", "vitess_sequence start=7 minvalue=5", 7, 20},
			{" NOCACHE NO MINVALUE /* c */ MAXVALUE 500 NO CYCLE", "vitess_sequence maxvalue=500", 1, 1},
			{" minvalue 9 maxvalue 9999999999999999999999999999 engine=InnoDB", "vitess_sequence start=9 minvalue=9", 9, 1000},
		} {
			t.Run(tt.options, func(t *testing.T) {
				exec(t, c, "CREATE SEQUENCE `a b`"+tt.options)
				if got := value[string](t, g.direct, "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"); got != tt.comment {
					t.Errorf("comment %q, want %q", got, tt.comment)
				}
				if got := value[int64](t, g.direct, "SELECT cache FROM `a b` WHERE id = 0"); got != tt.cache {
					t.Errorf("cache %d, want %d", got, tt.cache)
				}
				for i := range int64(3) {
					if got := value[int64](t, c, "SELECT NEXT VALUE FROM `a b`"); got != tt.first+i {
						t.Errorf("value %d, want %d", got, tt.first+i)
					}
				}
				exec(t, c, "DROP SEQUENCE `a b`")
			})
		}
	})
}

func TestCreateSequenceErrors(t *testing.T) {
	eachWithoutSequences(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (a INT)", "CREATE SEQUENCE s")
		fails(t, c, 1050, "Table 's' already exists", "CREATE SEQUENCE s")
		fails(t, c, 1049, "Unknown database", "CREATE SEQUENCE nosuchdb.s")
		fails(t, c, 1235, "CYCLE", "CREATE SEQUENCE x CYCLE")
		fails(t, c, 1235, "INCREMENT BY 2", "CREATE SEQUENCE x INCREMENT BY 2")
		fails(t, c, 1235, "OR REPLACE", "CREATE OR REPLACE SEQUENCE s")
		fails(t, c, 1235, "START WITH 1", "CREATE SEQUENCE x START WITH 0")
		fails(t, c, 1210, "MAXVALUE 5", "CREATE SEQUENCE x START WITH 6 MAXVALUE 5")
		fails(t, c, 1064, "near 'foo'", "CREATE SEQUENCE x foo")
		fails(t, c, 1064, "", "ALTER SEQUENCE s")
		fails(t, c, 1347, "is not SEQUENCE", "DROP SEQUENCE t")
		fails(t, c, 1347, "is not SEQUENCE", "DROP SEQUENCE s, t")
		fails(t, c, 1051, "Unknown table", "DROP SEQUENCE x")
		fails(t, c, 1146, "doesn't exist", "ALTER SEQUENCE x CACHE 5")
		fails(t, c, 1347, "is not SEQUENCE", "ALTER SEQUENCE t CACHE 5")
		fails(t, c, 1235, "MAXVALUE", "ALTER SEQUENCE s MAXVALUE 5")
		fails(t, c, 1347, "is not SEQUENCE", "SHOW CREATE SEQUENCE t")
		fails(t, c, 1146, "doesn't exist", "SHOW CREATE SEQUENCE x")
		exec(t, c, "CREATE SEQUENCE IF NOT EXISTS s")
		var level, message string
		var code int
		if err := c.QueryRowContext(t.Context(), "SHOW WARNINGS").Scan(&level, &code, &message); err != nil || level != "Note" || code != 1050 {
			t.Errorf("warning %s %d %s, %v", level, code, message, err)
		}
		exec(t, c, "DROP SEQUENCE IF EXISTS x, s", "ALTER SEQUENCE IF EXISTS x CACHE 5")
		if _, err := c.PrepareContext(t.Context(), "CREATE SEQUENCE p"); errno(err) != 1295 {
			t.Errorf("prepare: %v", err)
		}
		exec(t, c, "CREATE TEMPORARY TABLE s (a INT)", "CREATE SEQUENCE s", "DROP TEMPORARY TABLE s", "DROP SEQUENCE s")
		exec(t, c, "DROP TABLE IF EXISTS nosuch1, nosuch2", "ALTER SEQUENCE IF EXISTS x CACHE 5")
		if got := texts(t, c, "SHOW WARNINGS"); len(got) != 0 {
			t.Errorf("warnings %v of the statement before", got)
		}
		exec(t, c, "CREATE TEMPORARY TABLE s (a INT)")
		fails(t, c, 1347, "is not SEQUENCE", "DROP SEQUENCE s")
	})
}

// The server's privileges of the client decide, and DDL commits its transaction.
func TestSequenceDDLInSession(t *testing.T) {
	eachWithoutSequences(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		exec(t, g.direct, "CREATE TABLE t (a INT)", "DROP USER IF EXISTS sequence_reader", "CREATE USER sequence_reader IDENTIFIED BY 'x'",
			"GRANT SELECT, REFERENCES ON "+g.database+".* TO sequence_reader")
		t.Cleanup(func() { _, _ = g.direct.Exec("DROP USER sequence_reader") })
		createSequence(t, g.direct, "s", 1, 10)
		reader := conn(t, openDSN(t, fmt.Sprintf("sequence_reader:x@tcp(%s)/%s", g.addr, g.database)))
		fails(t, reader, 1142, "CREATE command denied", "CREATE SEQUENCE x")
		fails(t, reader, 1142, "DROP command denied", "DROP SEQUENCE s")
		fails(t, reader, 1142, "ALTER command denied", "ALTER SEQUENCE s RESTART WITH 50")
		fails(t, reader, 1142, "ALTER command denied", "ALTER SEQUENCE s RESTART WITH 0001")
		exec(t, g.direct, "UPDATE s SET next_id = 7777")
		fails(t, reader, 1142, "ALTER command denied", "ALTER SEQUENCE s RESTART WITH 2 START WITH 5")
		exec(t, g.direct, "UPDATE s SET next_id = 1")
		if got := value[int64](t, reader, "SELECT NEXT VALUE FROM s"); got != 1 {
			t.Errorf("value %d after refused DDL, want 1", got)
		}
		c := conn(t, openDSN(t, fmt.Sprintf("%s:%s@tcp(%s)/%s", s.User, s.Password, g.addr, g.database)))
		for i, ddl := range []string{"CREATE SEQUENCE x", "ALTER SEQUENCE x RESTART WITH 50", "DROP SEQUENCE x"} {
			exec(t, c, "START TRANSACTION", "INSERT INTO t VALUES (1)", ddl, "ROLLBACK")
			if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != i+1 {
				t.Errorf("%s: %d rows, want %d", ddl, got, i+1)
			}
		}
	})
}

func TestMaxValue(t *testing.T) {
	for _, strategy := range []string{"for_update", "cas", "increment"} {
		t.Run(strategy, func(t *testing.T) {
			eachWithoutSequences(t, func(t *testing.T, s *servertest.Server) {
				g := newGate(t, s, gateOptions{strategy: strategy})
				c := conn(t, g.open(t, ""))
				exec(t, c, "CREATE SEQUENCE t_seq START WITH 3 MAXVALUE 20 CACHE 7", "CREATE TABLE t (id BIGINT PRIMARY KEY)")
				for i := int64(3); i < 20; i++ {
					if got := value[int64](t, c, "SELECT NEXT VALUE FROM t_seq"); got != i {
						t.Fatalf("value %d, want %d", got, i)
					}
				}
				exec(t, c, "INSERT INTO t VALUES (NULL)")
				if got := value[int64](t, c, "SELECT id FROM t"); got != 20 {
					t.Errorf("id %d, want 20", got)
				}
				fails(t, c, 1467, "exhausted", "INSERT INTO t VALUES (NULL)")
				fails(t, c, 1467, "exhausted", "SELECT NEXT VALUE FROM t_seq")
			})
		})
	}
}

// A sequence that is dropped and made anew gives its own values, whoever asks meanwhile.
func TestSequenceMadeAnew(t *testing.T) {
	t.Parallel()
	eachWithoutSequences(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		db := g.open(t, "")
		c := conn(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		for range 4 {
			others.Go(func() {
				for ctx.Err() == nil {
					var n int64
					err := db.QueryRowContext(ctx, "SELECT NEXT VALUE FROM other").Scan(&n)
					if err != nil && errno(err) != 1146 && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
			})
		}
		for i := range int64(20) {
			exec(t, c, fmt.Sprintf("CREATE SEQUENCE s START WITH %d", 1000-i), "CREATE SEQUENCE other")
			for n := range int64(3) {
				if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != 1000-i+n {
					t.Fatalf("value %d, want %d", got, 1000-i+n)
				}
			}
			exec(t, c, "DROP SEQUENCE s", "DROP SEQUENCE other")
			fails(t, c, 1146, "doesn't exist", "SELECT NEXT VALUE FROM s")
		}
		exec(t, c, "CREATE SEQUENCE s START WITH 5")
		value[int64](t, c, "SELECT NEXT VALUE FROM s")
		exec(t, c, "DROP TABLE s", "CREATE SEQUENCE s START WITH 2")
		if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != 2 {
			t.Errorf("value %d of a sequence whose table was dropped, want 2", got)
		}
		cancel()
		others.Wait()
	})
}

func TestAlterSequence(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		createSequence(t, g.direct, "s", 1, 10)
		next := func(want int64) {
			t.Helper()
			if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != want {
				t.Errorf("value %d, want %d", got, want)
			}
		}
		exec(t, c, "ALTER SEQUENCE s RESTART") // nothing was given
		next(1)
		exec(t, c, "ALTER SEQUENCE s RESTART WITH 5") // in memory
		next(5)
		if got := value[int64](t, g.direct, "SELECT next_id FROM s"); got != 11 {
			t.Errorf("next_id %d, want 11", got)
		}
		exec(t, c, "ALTER SEQUENCE s RESTART 100") // above the row
		next(100)
		fails(t, c, 1235, "RESTART", "ALTER SEQUENCE s RESTART WITH 7")
		fails(t, c, 1235, "RESTART", "ALTER SEQUENCE s RESTART")
		next(101)
		exec(t, c, "ALTER SEQUENCE s CACHE 25 START WITH 40")
		if got := value[int64](t, g.direct, "SELECT cache FROM s"); got != 25 {
			t.Errorf("cache %d, want 25", got)
		}
		exec(t, g.direct, "UPDATE s SET next_id = 200")
		fails(t, c, 1235, "its next_id is 200", "ALTER SEQUENCE s RESTART WITH 150")
		var name, create string
		if err := c.QueryRowContext(t.Context(), "SHOW CREATE SEQUENCE s").Scan(&name, &create); err != nil {
			t.Fatal(err)
		}
		want := "CREATE SEQUENCE `s` start with 40 minvalue 1 maxvalue 9223372036854775807 increment by 1 cache 25 nocycle ENGINE=InnoDB"
		if name != "s" || create != want {
			t.Errorf("%s: %s, want %s", name, create, want)
		}
	})
}

func TestDropSequenceThatFills(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, declared := range []bool{false, true} {
			t.Run(fmt.Sprintf("vschema %v", declared), func(t *testing.T) {
				o := gateOptions{}
				if declared {
					o.vschema = `{"keyspaces": {"main": {"tables": {"t_seq": {"type": "sequence"},
						"t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}}}}`
				}
				g := newGate(t, s, o)
				c := conn(t, g.open(t, ""))
				createSequence(t, g.direct, "t_seq", 1, 10)
				exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (NULL)")
				fails(t, c, 1235, "fills table", "DROP SEQUENCE t_seq")
				exec(t, c, "INSERT INTO t VALUES (NULL)", "DROP TABLE t", "DROP SEQUENCE t_seq")
			})
		}
	})
}

// A server that is away matters to DROP SEQUENCE where a table of its may be filled from what has that name.
func TestDropSequenceWhileServerIsAway(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const nobody = "127.0.0.1:1"
		far := &catalog.Keyspace{Name: "far", Database: "far", DB: openDSN(t, "app:app@tcp("+nobody+")/far"),
			Backend: &backend.Backend{Network: "tcp", Addr: nobody, User: s.User, Password: s.Password}}
		g := newGate(t, s, gateOptions{more: map[string]*catalog.Keyspace{"far": far}, vschema: `{"keyspaces": {
			"main": {"tables": {"near_seq": {"type": "sequence"}, "far_seq": {"type": "sequence"}}},
			"far": {"tables": {"t": {"auto_increment": {"column": "id", "sequence": "main.far_seq"}}}}}}`})
		c := conn(t, g.open(t, ""))
		createSequence(t, g.direct, "near_seq", 1, 10)
		createSequence(t, g.direct, "far_seq", 1, 10)
		exec(t, c, "DROP SEQUENCE near_seq")
		fails(t, c, 1158, "ask the server of keyspace far", "DROP SEQUENCE far_seq")
	})
}

// texts gives the first column of a result.
func texts(t *testing.T, c *sql.Conn, query string) (all []string) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	row := make([]any, len(columns))
	var first string
	for i := range row {
		row[i] = new(sql.RawBytes)
	}
	row[0] = &first
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		all = append(all, first)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestShowSequences(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, "multiStatements=true"))
		exec(t, c, "CREATE SEQUENCE b", "CREATE TABLE t (a INT)")
		createSequence(t, g.direct, "a_1", 1, 10)
		for query, want := range map[string]string{
			"SHOW SEQUENCES":                                "[a_1 b]",
			"show sequences like 'a\\_%'":                   "[a_1]",
			"SHOW SEQUENCES IN " + g.database + " LIKE 'b'": "[b]",
			"SHOW SEQUENCES FROM nosuchdb":                  "[]",
			"SHOW SEQUENCES;":                               "[a_1 b]",
		} {
			if got := fmt.Sprint(texts(t, c, query)); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		exec(t, c, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
		if got := fmt.Sprint(texts(t, c, "SHOW SEQUENCES")); got != "[a_1 b]" {
			t.Errorf("with NO_BACKSLASH_ESCAPES: %s", got)
		}
		exec(t, c, "SET sql_mode = DEFAULT", "SELECT 1; SHOW SEQUENCES; SHOW SEQGATE STATUS; DROP SEQUENCE a_1; SELECT 2")
		if got := fmt.Sprint(texts(t, c, "SHOW SEQUENCES")); got != "[b]" {
			t.Errorf("after DROP in a text of several: %s", got)
		}
	})
}

// MariaDB's own sequences stay its own.
func TestServerSequences(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !strings.Contains(s.Version, "MariaDB") {
			t.Skip("the server has no sequences")
		}
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		createSequence(t, g.direct, "ours", 1, 10)
		exec(t, c, "CREATE SEQUENCE own START WITH 5 INCREMENT BY 5 CYCLE", "CREATE OR REPLACE SEQUENCE own START WITH 50", "ALTER SEQUENCE own RESTART 40")
		if got := value[int64](t, c, "SELECT NEXTVAL(own)"); got != 40 {
			t.Errorf("value %d, want 40", got)
		}
		for _, statement := range []string{"CREATE SEQUENCE own", "ALTER SEQUENCE nosuch CACHE 1", "DROP SEQUENCE nosuch", "SHOW CREATE SEQUENCE nosuch", "ALTER SEQUENCE own FOO", "DROP SEQUENCE"} {
			_, direct := g.direct.Exec(statement)
			if _, err := c.ExecContext(t.Context(), statement); direct == nil || fmt.Sprint(err) != fmt.Sprint(direct) {
				t.Errorf("%s: got %v, the server says %v", statement, err, direct)
			}
		}
		fails(t, c, 1235, "at once", "DROP SEQUENCE own, ours")
		exec(t, c, "DROP SEQUENCE own", "DROP SEQUENCE ours")
	})
}

// ALTER SEQUENCE changes what it names, and tells of the numbers that it refuses.
func TestAlterSequenceComment(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		createSequence(t, g.direct, "s", 1, 10)
		comment := func(want string) {
			t.Helper()
			if got := value[string](t, g.direct, "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"); got != want {
				t.Errorf("comment %q, want %q", got, want)
			}
		}
		exec(t, g.direct, "ALTER TABLE s COMMENT 'Ann''s vitess_sequence start=3 maxvalue=25 of users'")
		exec(t, c, "ALTER SEQUENCE s START WITH 8")
		comment("Ann's vitess_sequence of users start=8 maxvalue=25")
		fails(t, c, 1210, "RESTART WITH 26 is past MAXVALUE 25", "ALTER SEQUENCE s START WITH 9 RESTART WITH 26")
		fails(t, c, 1235, "RESTART WITH 0", "ALTER SEQUENCE s RESTART WITH 0")
		comment("Ann's vitess_sequence of users start=8 maxvalue=25")
		exec(t, g.direct, "ALTER TABLE s COMMENT 'vitess_sequence \\\\ x'")
		fails(t, c, 1235, "in its comment", "ALTER SEQUENCE s START WITH 9")
		info, err := altered(g, "ALTER SEQUENCE s CACHE 20")
		if err != nil || info != "" {
			t.Errorf("the OK packet says %q, %v", info, err)
		}
	})
}

// altered gives the text for people in the OK packet of a statement.
func altered(g *gate, statement string) (string, error) {
	c, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
	if err != nil {
		return "", err
	}
	defer c.Close()
	r, err := c.Execute(statement)
	if err != nil {
		return "", err
	}
	return r.StatusMessage, nil
}
