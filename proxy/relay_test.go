package proxy_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
)

// dump runs a query and gives all its results, or its error, as text.
func dump(t *testing.T, c *sql.Conn, query string, args ...any) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query, args...)
	if err != nil {
		return "error: " + err.Error()
	}
	return dumpRows(t, rows)
}

func dumpRows(t *testing.T, rows *sql.Rows) string {
	t.Helper()
	defer rows.Close()
	var b strings.Builder
	for {
		types, err := rows.ColumnTypes()
		if err != nil {
			return "error: " + err.Error()
		}
		for _, typ := range types {
			fmt.Fprintf(&b, "%s %s|", typ.Name(), typ.DatabaseTypeName())
		}
		b.WriteByte('\n')
		for rows.Next() {
			values := make([]sql.RawBytes, len(types))
			into := make([]any, len(types))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				return "error: " + err.Error()
			}
			for _, v := range values {
				fmt.Fprintf(&b, "%q|", v)
			}
			b.WriteByte('\n')
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		fmt.Fprintf(&b, "error: %v", err)
	}
	return b.String()
}

// What the server answers must come through unchanged.
func TestRelayEqualsDirect(t *testing.T) {
	steps := []struct {
		query string
		args  []any
	}{
		{query: "SELECT 1, 'a', NULL, 1.5, DATE'2020-01-02'"},
		{query: "SELECT ? + 1, ?", args: []any{41, "text"}},
		{query: "SELECT @@autocommit, DATABASE() IS NULL"},
		{query: "CREATE TABLE r (id INT PRIMARY KEY, v VARCHAR(50), b LONGBLOB)"},
		{query: "INSERT INTO r (id, v) VALUES (1, 'eins'), (2, 'zwei'), (3, NULL)"},
		{query: "INSERT INTO r (id, v) VALUES (1, 'twice')"},
		{query: "SELECT * FROM r ORDER BY id"},
		{query: "SELECT * FROM r WHERE id > ?", args: []any{1}},
		{query: "SELECT * FROM r WHERE id > ?", args: []any{5}},
		{query: "SELECT * FROM nosuch"},
		{query: "SELEKT 1"},
		{query: "SELECT 1; SELECT 2, 3; SELECT id FROM r WHERE id = 2"},
		{query: "SELECT 1; SELEKT 2; SELECT 3"},
		{query: "BEGIN"},
		{query: "UPDATE r SET v = 'changed' WHERE id = 1"},
		{query: "ROLLBACK"},
		{query: "SELECT v FROM r WHERE id = 1"},
		{query: "SET @x = 42"},
		{query: "SELECT @x"},
		{query: "CREATE TEMPORARY TABLE temp AS SELECT 7 AS seven"},
		{query: "SELECT * FROM temp"},
		{query: "SELECT GET_LOCK(DATABASE(), 0), IS_USED_LOCK(DATABASE()) = CONNECTION_ID()"},
		{query: "SELECT SQL_CALC_FOUND_ROWS id FROM r LIMIT 1"},
		{query: "SELECT FOUND_ROWS()"},
		{query: "CREATE PROCEDURE two() BEGIN SELECT 1 AS a; SELECT 2 AS b; END"},
		{query: "CALL two()"},
		{query: "CALL two(); SELECT 3"},
		{query: "SELECT 1 FROM r WHERE id = (SELECT id FROM r)"},
		{query: "SELECT REPEAT('x', 100000)"},
		{query: "SELECT a.id, b.id, c.v FROM r a, r b, r c ORDER BY 1, 2, 3"},
		{query: "SELECT 1/0"},
		{query: "SHOW WARNINGS"},
		{query: "EXPLAIN SELECT * FROM r WHERE id = 1"},
		{query: "PREPARE p FROM 'SELECT ? * 2'"},
		{query: "SET @a = 21"},
		{query: "EXECUTE p USING @a"},
		{query: "DROP TABLE r"},
		{query: "/* a comment */ SELECT 'after'"},
		{query: ""},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, interpolate := range []string{"", "&interpolateParams=true"} {
			g := newGate(t, s, gateOptions{})
			database := s.NewDatabase(t)
			direct := conn(t, openDSN(t, s.DSN(database)+"?multiStatements=true"+interpolate))
			through := conn(t, g.open(t, "multiStatements=true"+interpolate))
			for _, step := range steps {
				want, got := dump(t, direct, step.query, step.args...), dump(t, through, step.query, step.args...)
				want = strings.ReplaceAll(want, database, g.database)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%q (-direct +seqgate):\n%s", step.query, diff)
				}
			}
		}
	})
}

// Packets of more than 2^24-1 bytes pass both ways.
func TestRelayLargePackets(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		db := g.open(t, "maxAllowedPacket=0")
		c := conn(t, db)
		if limit := value[int](t, c, "SELECT @@max_allowed_packet"); limit < 40<<20 {
			t.Skipf("the server's max_allowed_packet of %d is too small", limit)
		}
		exec(t, c, "CREATE TABLE big (id INT PRIMARY KEY, b LONGTEXT)")
		for i, size := range []int{16<<20 - 30, 16<<20 - 1, 16 << 20, 33 << 20} {
			want := strings.Repeat("0123456789abcdef", size/16)
			if _, err := c.ExecContext(t.Context(), "INSERT INTO big VALUES (?, ?)", i, want); err != nil {
				t.Fatalf("insert %d bytes, prepared: %v", size, err)
			}
			if got := value[string](t, c, "SELECT b FROM big WHERE id = ?", i); got != want {
				t.Errorf("read %d bytes, prepared: got %d bytes", size, len(got))
			}
			exec(t, c, fmt.Sprintf("INSERT INTO big VALUES (%d, '%s')", 100+i, want))
			if got := value[string](t, c, fmt.Sprintf("SELECT b FROM big WHERE id = %d", 100+i)); got != want {
				t.Errorf("read %d bytes, text: got %d bytes", size, len(got))
			}
		}
		if got := value[string](t, c, "SELECT 'still in step'"); got != "still in step" {
			t.Errorf("got %q", got)
		}
	})
}

// A statement over max_allowed_packet gets the server's own error.
func TestRelayTooLargePacket(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		limit := value[int](t, g.direct, "SELECT @@max_allowed_packet")
		if limit > 128<<20 {
			t.Skip("the server's max_allowed_packet is very large")
		}
		_, err := g.open(t, "maxAllowedPacket=1073741824").ExecContext(t.Context(),
			"SELECT LENGTH('"+strings.Repeat("x", limit)+"')")
		if err == nil {
			t.Error("a statement over max_allowed_packet succeeded")
		}
		if got := value[int](t, g.open(t, ""), "SELECT 1"); got != 1 {
			t.Errorf("got %d", got)
		}
	})
}

func TestRelayLocalInfile(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE f (id INT PRIMARY KEY, v VARCHAR(50))")
		var file bytes.Buffer
		for i := range 50_000 {
			fmt.Fprintf(&file, "%d\tvalue %d\n", i, i)
		}
		reader := "relay-" + s.Name // handlers are the process's, and the other server's test runs beside
		mysql.RegisterReaderHandler(reader, func() io.Reader { return bytes.NewReader(file.Bytes()) })
		t.Cleanup(func() { mysql.DeregisterReaderHandler(reader) })
		exec(t, c, "LOAD DATA LOCAL INFILE 'Reader::"+reader+"' INTO TABLE f")
		if got := value[int](t, c, "SELECT COUNT(*) FROM f"); got != 50_000 {
			t.Errorf("%d rows loaded, want 50000", got)
		}
		_, err := c.ExecContext(t.Context(), "LOAD DATA LOCAL INFILE 'Reader::unknown' INTO TABLE f")
		if err == nil {
			t.Error("an unknown reader was loaded")
		}
		if got := value[int](t, c, "SELECT 1"); got != 1 {
			t.Errorf("after a refused file: got %d", got)
		}
	})
}

// Logins are judged as the server judges them.
func TestLogin(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{users: []proxy.User{
			{Name: "app", Password: "app"}, {Name: "empty"},
			{Name: "native", Password: "secret", Plugin: "mysql_native_password"},
		}})
		tests := []struct {
			name, dsn string
			want      uint16
		}{
			{"caching_sha2 over RSA", "app:app@tcp(%s)/%s", 0},
			{"caching_sha2 cached", "app:app@tcp(%s)/%s", 0},
			{"caching_sha2 over TLS", "app:app@tcp(%s)/%s?tls=skip-verify", 0},
			{"native", "native:secret@tcp(%s)/%s", 0},
			{"native over TLS", "native:secret@tcp(%s)/%s?tls=skip-verify", 0},
			{"empty password", "empty@tcp(%s)/%s", 0},
			{"wrong password", "app:wrong@tcp(%s)/%s", 1045},
			{"wrong native password", "native:wrong@tcp(%s)/%s", 1045},
			{"no password", "app@tcp(%s)/%s", 1045},
			{"unknown user", "nobody:app@tcp(%s)/%s", 1045},
			{"unknown database", "app:app@tcp(%s)/nosuch%s", 1049},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				err := openDSN(t, fmt.Sprintf(tt.dsn, g.addr, g.database)).PingContext(t.Context())
				if got := errno(err); got != tt.want {
					t.Errorf("got error %d (%v), want %d", got, err, tt.want)
				}
			})
		}
	})
}

// Without a list of users, clients log in with their own MySQL accounts.
func TestLoginPassThrough(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		name := "u" + strings.TrimPrefix(g.database, "test_")[:8]
		exec(t, g.direct, fmt.Sprintf("CREATE USER %s@'%%' IDENTIFIED BY 'päss'", name),
			fmt.Sprintf("GRANT SELECT ON %s.* TO %s@'%%'", g.database, name))
		t.Cleanup(func() {
			if _, err := g.direct.ExecContext(context.Background(), fmt.Sprintf("DROP USER %s@'%%'", name)); err != nil {
				t.Error(err)
			}
		})
		for _, tls := range []string{"false", "skip-verify"} {
			db := openDSN(t, fmt.Sprintf("%s:päss@tcp(%s)/%s?tls=%s", name, g.addr, g.database, tls))
			if got := value[string](t, db, "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"); got != name {
				t.Errorf("tls=%s: logged in as %q, want %q", tls, got, name)
			}
			err := openDSN(t, fmt.Sprintf("%s:wrong@tcp(%s)/%s?tls=%s", name, g.addr, g.database, tls)).PingContext(t.Context())
			if errno(err) != 1045 || !strings.Contains(err.Error(), "Access denied for user '"+name+"'@") {
				t.Errorf("tls=%s: wrong password: got %v, want the server's error 1045", tls, err)
			}
		}
	})
}

func TestBackendTLS(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if s.IsMariaDB() && value[string](t, s.Open(t, ""), "SELECT @@have_ssl") != "YES" {
			t.Skip("this MariaDB has no certificate")
		}
		for mode, want := range map[backend.TLSMode]bool{backend.TLSDisabled: false, backend.TLSPreferred: true, backend.TLSRequired: true} {
			g := newGate(t, s, gateOptions{tlsMode: mode})
			var name, cipher string
			if err := g.open(t, "").QueryRowContext(t.Context(), "SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher); err != nil {
				t.Fatal(err)
			}
			if got := cipher != ""; got != want {
				t.Errorf("TLS mode %d: encrypted is %v, want %v", mode, got, want)
			}
		}
	})
}

// A prepared statement may be executed again without its types being sent, in
// which go-sql-driver is of no use: it always sends them.
func TestPreparedStatements(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)")
		createSequence(t, c, "t_seq", 1000, 10)
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t (id, b) VALUES (?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		long := bytes.Repeat([]byte("long"), 8<<20) // sent ahead by COM_STMT_SEND_LONG_DATA
		for i, step := range []struct {
			id   any
			b    []byte
			want int64
		}{
			{nil, []byte("short"), 1000}, {nil, long, 1001}, {7, long, 7}, {0, []byte("again"), 1002}, {8, nil, 8}, {nil, nil, 1003},
		} {
			result, err := stmt.ExecContext(t.Context(), step.id, step.b)
			if err != nil {
				t.Fatalf("execution %d: %v", i, err)
			}
			if got, _ := result.LastInsertId(); got != step.want {
				t.Errorf("execution %d: insert id %d, want %d", i, got, step.want)
			}
			if got := value[[]byte](t, c, "SELECT b FROM t WHERE id = ?", step.want); !bytes.Equal(got, step.b) {
				t.Errorf("execution %d: row holds %d bytes, want %d", i, len(got), len(step.b))
			}
		}
	})
}

// In a text of several statements each is filled, and each result told.
func TestFillMultiStatements(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, "multiStatements=true"))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, u VARCHAR(20) UNIQUE, parent BIGINT)")
		createSequence(t, c, "t_seq", 100, 10)
		text := "INSERT INTO t (u) VALUES ('a;b'); INSERT INTO t (u, parent) VALUES ('c', LAST_INSERT_ID()), ('d', LAST_INSERT_ID());" +
			" SELECT LAST_INSERT_ID(); SELECT NEXT 5 VALUES FROM t_seq; INSERT IGNORE INTO t (u) VALUES ('c'); SELECT LAST_INSERT_ID(), 'end'"
		got := dump(t, c, text)
		want := "LAST_INSERT_ID() UNSIGNED BIGINT|\n\"101\"|\nnextval BIGINT|\n\"103\"|\nLAST_INSERT_ID() UNSIGNED BIGINT|end VARCHAR|\n\"101\"|\"end\"|\n"
		got = strings.TrimLeft(got, "\n")
		for strings.Contains(got, "\n\n") {
			got = strings.ReplaceAll(got, "\n\n", "\n")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		rows := value[string](t, c, "SELECT GROUP_CONCAT(CONCAT_WS('/', id, u, parent) ORDER BY id) FROM t")
		if want := "100/a;b,101/c/100,102/d/100"; rows != want {
			t.Errorf("rows %s, want %s", rows, want)
		}
		var ids []int64
		err := c.Raw(func(dc any) error {
			r, err := dc.(driver.ExecerContext).ExecContext(context.Background(),
				"INSERT INTO t (u) VALUES ('x'); SET @a = 1; INSERT INTO t (u) VALUES ('y'), ('z')", nil)
			if err == nil {
				ids = r.(mysql.Result).AllLastInsertIds()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{109, 0, 110}, ids); diff != "" {
			t.Errorf("insert ids (-want +got):\n%s", diff)
		}
		_, err = c.ExecContext(t.Context(), "INSERT INTO t (u) VALUES ('p'); INSERT INTO t (u) VALUES ('p'); INSERT INTO t (u) VALUES ('q')")
		if errno(err) != 1062 {
			t.Errorf("a failing second statement: got %v, want error 1062", err)
		}
		if got := value[int](t, c, "SELECT COUNT(*) FROM t WHERE u IN ('p', 'q')"); got != 1 {
			t.Errorf("%d rows of a text that failed at its second statement, want 1", got)
		}
	})
}

// What cannot be filled on a sequenced table is refused, and passes on others. The
// rest of the list in docs/sql.md: TestRefusedQueries, TestLoadDataRefused,
// TestNoWayPastTheFill (views, compound statements), TestNoWayPastTheFillByProtocol
// (DATE and TIME), TestNoWayPastSQLPrepare, TestVersionComments, TestBulkRefused,
// TestBulkReturning, TestMergeTables, TestDualityViews, TestKeyedRefused, TestFloatIDs, TestUserVariableOfPreparedAndTrigger.
func TestRefusedForms(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)", "CREATE TABLE plain (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)",
			"INSERT INTO plain (v) VALUES (1), (2)")
		createSequence(t, c, "t_seq", 1, 10)
		forms := []string{
			"INSERT INTO %s (v) SELECT @a := 5",
			"INSERT INTO %s (id, v) VALUES (CONNECTION_ID() + 1000, 1)",
			"PREPARE p FROM 'INSERT INTO %s (v) SELECT 5'",
			"INSERT INTO %s (id, v) VALUES ((SELECT 5), 1)",
			"LOAD XML INFILE '/nosuch' INTO TABLE %s",
			"INSERT INTO %s /*!40000 (v) VALUES (1); */",
		}
		onPlain := len(forms) - 2
		if s.IsMariaDB() {
			forms = append(forms, "SET STATEMENT max_statement_time = 5 FOR INSERT INTO %s (v) VALUES (1)",
				"BEGIN NOT ATOMIC INSERT INTO %s (v) VALUES (1); END", "ANALYZE INSERT INTO %s (v) VALUES (1)")
		}
		for _, form := range forms {
			statement := fmt.Sprintf(form, "t")
			_, err := c.ExecContext(t.Context(), statement)
			if errno(err) != 1235 || !strings.Contains(err.Error(), "'t'") {
				t.Errorf("%s: got %v, want error 1235 that names the table", statement, err)
			}
		}
		for _, form := range []string{"INSERT INTO t (id, v) VALUES (? + 1, 1)", "INSERT INTO t SET id = -?, v = 1", "INSERT INTO t (id, v) VALUES (COALESCE(?, NULL), 1)"} {
			if _, err := c.ExecContext(t.Context(), form, 7); errno(err) != 1235 || !strings.Contains(err.Error(), "'t'") {
				t.Errorf("%s: got %v, want error 1235 that names the table", form, err)
			}
		}
		ahead := conn(t, g.open(t, "maxAllowedPacket=1000"))
		if _, err := ahead.ExecContext(t.Context(), "INSERT INTO t (id, v) VALUES (?, 1)", bytes.Repeat([]byte("0"), 900)); errno(err) != 1235 {
			t.Errorf("an id sent by COM_STMT_SEND_LONG_DATA: got %v, want error 1235", err)
		}
		for _, form := range forms[:onPlain] {
			statement := fmt.Sprintf(form, "plain")
			if _, err := c.ExecContext(t.Context(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if got := value[int](t, c, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows were written by refused statements", got)
		}
	})
}

// Tables and sequences made while seqgate runs are seen at once.
func TestNewTablesAreSeen(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO t (v) VALUES (1)")
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t (v) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		createSequence(t, c, "t_seq", 500, 10)
		if _, err := stmt.ExecContext(t.Context(), 1); errno(err) != 1615 {
			t.Errorf("a statement prepared before the sequence: got %v, want error 1615", err)
		}
		result, err := c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (2)")
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := result.LastInsertId(); id != 500 {
			t.Errorf("insert id %d, want 500", id)
		}
		exec(t, c, "DROP TABLE t_seq")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (3)"); err != nil {
			t.Error(err)
		}
		if got := value[string](t, c, "SELECT GROUP_CONCAT(id ORDER BY id) FROM t"); got != "1,500,501" {
			t.Errorf("ids %s, want 1,500,501", got)
		}
	})
}

func TestNextValue(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		for _, params := range []string{"", "interpolateParams=true"} {
			c := conn(t, g.open(t, params))
			exec(t, c, "DROP TABLE IF EXISTS s")
			createSequence(t, c, "s", 1, 1000)
		}
		c := conn(t, g.open(t, ""))
		if got := dump(t, c, "SELECT NEXT VALUE FROM s"); got != "nextval BIGINT|\n\"1\"|\n" {
			t.Errorf("got %q", got)
		}
		if got := value[int64](t, g.direct, "SELECT next_id FROM s"); got != 1001 {
			t.Errorf("next_id is %d after the first value, want 1001", got)
		}
		steps := []struct {
			query string
			args  []any
			want  int64
		}{
			{"select next 5 values from s", nil, 2}, {"SELECT NEXT VALUE FOR s", nil, 7},
			{"select next ? values from s", []any{3}, 8}, {"select next value from " + g.database + ".s", nil, 11},
			{"/* why */ SELECT NEXT VALUE FROM `s`;", nil, 12},
		}
		for _, step := range steps {
			if got := value[int64](t, c, step.query, step.args...); got != step.want {
				t.Errorf("%s: got %d, want %d", step.query, got, step.want)
			}
		}
		exec(t, c, "BEGIN")
		before := value[int64](t, c, "SELECT NEXT VALUE FROM s")
		exec(t, c, "ROLLBACK")
		if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != before+1 {
			t.Errorf("after a rollback: %d follows %d", got, before)
		}
		exec(t, c, "CREATE TABLE ordinary (id INT PRIMARY KEY)",
			"CREATE TABLE nocomment_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)", "INSERT INTO nocomment_seq VALUES (0, 1, 10)")
		for query, want := range map[string]uint16{
			"SELECT NEXT VALUE FROM nosuch":                  1146,
			"SELECT NEXT VALUE FROM ordinary":                1347,
			"SELECT NEXT VALUE FROM nocomment_seq":           1347,
			"SELECT NEXT 0 VALUES FROM s":                    1210,
			"SELECT NEXT -1 VALUES FROM s":                   1064,
			"SELECT NEXT VALUE FROM s WHERE id = 0":          1064,
			"SELECT NEXT 99999999999999999999 VALUES FROM s": 1210,
		} {
			_, err := c.ExecContext(t.Context(), query)
			if got := errno(err); got != want {
				t.Errorf("%s: got error %d (%v), want %d", query, got, err, want)
			}
		}
	})
}
