package proxy_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// quote gives a text as a string literal.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
}

// setArgs gives a SET that puts a case's arguments into user variables, and the
// USING that names them; both are empty without arguments.
func (tt insertCase) setArgs() (set, using string) {
	var values, names []string
	for i, arg := range tt.args {
		value := fmt.Sprint(arg)
		switch arg := arg.(type) {
		case nil:
			value = "NULL"
		case string:
			value = quote(arg)
		case float64:
			value = fmt.Sprintf("%ge0", arg)
		}
		names = append(names, fmt.Sprintf("@a%d", i))
		values = append(values, names[i]+" = "+value)
	}
	if names == nil {
		return "", ""
	}
	return "SET " + strings.Join(values, ", "), " USING " + strings.Join(names, ", ")
}

// The statements of TestInsertIDs, prepared in SQL.
func TestInsertIDsOfSQLPrepare(t *testing.T) {
	t.Parallel()
	forms := []struct {
		name    string
		mariadb bool
		run     func(tt insertCase) (before []string, stmt string)
	}{
		{"PREPARE", false, func(tt insertCase) ([]string, string) {
			set, using := tt.setArgs()
			return []string{"PREPARE p FROM " + quote(tt.stmt), set}, "EXECUTE p" + using
		}},
		{"EXECUTE IMMEDIATE", true, func(tt insertCase) ([]string, string) {
			set, using := tt.setArgs()
			return []string{set}, "EXECUTE IMMEDIATE " + quote(tt.stmt) + using
		}},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, form := range forms {
			if form.mariadb && !s.IsMariaDB() {
				continue
			}
			t.Run(form.name, func(t *testing.T) {
				eachNativePair(t, s, "", func(t *testing.T, w *nativePair) { testInsertIDsBy(t, w, form.run) })
			})
		}
	})
}

// testInsertIDsBy is testInsertIDs in another form. What is sent before the
// statement may fail, natively as through seqgate.
func testInsertIDsBy(t *testing.T, w *nativePair, form func(insertCase) ([]string, string)) {
	for i, tt := range insertCases {
		t.Run(tt.name, func(t *testing.T) {
			tt := numbered(tt, i)
			before, stmt := form(tt)
			tt.stmt, tt.args = stmt, nil
			a, b := w.open(t, tt)
			if diff := cmp.Diff(errnos(t, a, before), errnos(t, b, before)); diff != "" {
				t.Fatalf("%q (-native +seqgate):\n%s", before, diff)
			}
			w.compare(t, a, b, tt, nil)
		})
	}
}

// errnos runs statements and gives the number of each one's error.
func errnos(t *testing.T, c *sql.Conn, statements []string) []uint16 {
	t.Helper()
	var all []uint16
	for _, statement := range statements {
		if statement == "" {
			continue
		}
		_, err := c.ExecContext(t.Context(), statement)
		if errno(err) == mysql.ER_NOT_SUPPORTED_YET {
			t.Logf("%s: %v", statement, err)
		}
		all = append(all, errno(err))
	}
	return all
}

// What a session does with a prepared INSERT, natively and through seqgate: the
// errors are the same, and the rows but for the ids.
func TestSQLPrepareLife(t *testing.T) {
	t.Parallel()
	const refused = mysql.ER_NOT_SUPPORTED_YET
	tests := []struct {
		name    string
		mariadb bool
		stmts   []string
		want    string
	}{
		{"executed twice", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "EXECUTE p", "EXECUTE p"}, "1000000/x,1000001/x"},
		{"names compare in any case", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "EXECUTE P", "execute `P`", "DROP PREPARE `P`", "EXECUTE p"}, "1000000/x,1000001/x"},
		{"prepared again", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "PREPARE p FROM 'DO 1'", "EXECUTE p", "DEALLOCATE PREPARE p", "EXECUTE p"}, ""},
		{"prepared again in a version comment", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "EXECUTE p", "PREPARE p FROM /*!40000 'DO 1' */", "EXECUTE p"}, "1000000/x"},
		{"prepared again for it", false, []string{"PREPARE p FROM 'DO 1'", "PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "EXECUTE p", "DEALLOCATE PREPARE p", "EXECUTE p"}, "1000000/x"},
		{"prepared again, in vain", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "PREPARE p FROM 'INSERT INTO users (nosuch) VALUES (1)'", "EXECUTE p"}, ""},
		{"prepared again, in vain, as another", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "PREPARE p FROM 'nonsense'", "EXECUTE p"}, ""},
		{"another prepared in vain", false, []string{"PREPARE p FROM 'DO 1'", "PREPARE p FROM 'INSERT INTO users (nosuch) VALUES (1)'", "EXECUTE p"}, ""},
		{"too few values", false, []string{"PREPARE p FROM 'INSERT INTO users (id, u) VALUES (?, ?)'", "EXECUTE p", "SET @a = 'x'", "EXECUTE p USING @a", "EXECUTE p USING @nosuch, @a"}, "1000000/x"},
		{"values by type", false, []string{"PREPARE p FROM 'INSERT INTO users (id, u) VALUES (?, ?)'", "SET @u = 'x'", "SET @a = 0.4", "EXECUTE p USING @a, @u",
			"SET @a = '0'", "EXECUTE p USING @a, @u", "SET @a = 5", "EXECUTE p USING @a, @u"}, "5/x,1000000/x,1000001/x"},
		{"rows that differ", false, []string{"PREPARE p FROM 'INSERT INTO users (id, u) VALUES (?, ?), (NULL, ?), (7, ?), (?, ?)'",
			"SET @a = 'a', @b = 'b', @c = 'c', @d = 'd', @x = 5, @y = NULL", "EXECUTE p USING @x, @a, @b, @c, @y, @d", "EXECUTE p USING @nosuch, @d, @c, @nosuch, @nosuch, @nosuch"},
			"5/a,7/c,1000000/b,1000001/d"},
		{"of a database", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''x'')'", "USE information_schema", "EXECUTE p"}, "1000000/x"},
		{"of no column list", false, []string{"PREPARE p FROM 'INSERT INTO users VALUES (NULL, ?)'", "SET @a = 'x'", "EXECUTE p USING @a;"}, "1000000/x"},
		{"text of a variable", false, []string{"SET @p = 'INSERT INTO users (u) VALUES (\"x\")'", "PREPARE p FROM @p", "EXECUTE p"}, "1000000/x"},
		{"quoted variable", false, []string{"SET @`a b` = 'INSERT INTO users (u) VALUES (\"x\")'", "PREPARE p FROM @`a b`", "EXECUTE p"}, "1000000/x"},
		{"variable of no text", false, []string{"PREPARE p FROM @nosuch", "SET @p = 5", "PREPARE p FROM @p", "EXECUTE p"}, ""},
		{"quotes of each kind", false, []string{`PREPARE p FROM 'INSERT INTO users (u) VALUES ("\'\\\\''")'`, "EXECUTE p"}, `1000000/'\'`},
		{"no escapes", false, []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `PREPARE p FROM 'INSERT INTO users (u) VALUES (''\'')'`, "EXECUTE p"}, `1000000/\`},
		{"text outside ASCII", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (''é'')'", "EXECUTE p"}, "1000000/é"},
		{"in a text of several", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (?)'; SET @a = 'x'; EXECUTE p USING @a; EXECUTE p USING @a; DEALLOCATE PREPARE p; EXECUTE p"},
			"1000000/x,1000001/x"},
		{"in a transaction", false, []string{"PREPARE p FROM 'INSERT INTO users (u) VALUES (?)'", "SET @a = 'x'", "BEGIN", "EXECUTE p USING @a", "ROLLBACK", "EXECUTE p USING @a"}, "1000001/x"},
		{"REPLACE", false, []string{"PREPARE p FROM 'REPLACE INTO users SET u = ?'", "SET @a = 'x'", "EXECUTE p USING @a"}, "1000000/x"},
		{"values that are no variables", true, []string{"PREPARE p FROM 'INSERT INTO users (id, u) VALUES (?, ?)'", "EXECUTE p USING NULL, 'a'", "EXECUTE p USING DEFAULT, CONCAT('b', 'c')",
			"EXECUTE p USING 5, 'd'", "EXECUTE p USING '0', UPPER('e')"}, "5/d,1000000/a,1000001/bc,1000002/E"},
		{"EXECUTE IMMEDIATE", true, []string{"EXECUTE IMMEDIATE 'INSERT INTO users (u) VALUES (''it''''s'')'", "SET @p = 'INSERT INTO users VALUES (?, ?), (NULL, ?)'",
			"EXECUTE IMMEDIATE @p USING NULL, 'b', 'c'", "EXECUTE IMMEDIATE @p USING 7, 'd', 'e'", "EXECUTE IMMEDIATE @p USING 7, 'd'", "EXECUTE IMMEDIATE 'DO 1'",
			"DO 1; EXECUTE IMMEDIATE 'INSERT INTO users (u) VALUES (?)' USING 'f'"}, "7/d,1000000/it's,1000001/b,1000002/c,1000003/e,1000004/f"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			if tt.mariadb && !s.IsMariaDB() {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{})
				database := s.NewDatabase(t)
				native := openDSN(t, nativeDSN(s, database, "")+"?multiStatements=true")
				exec(t, native, "CREATE TABLE users (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20))")
				want := errnos(t, conn(t, native), tt.stmts)
				got := errnos(t, conn(t, g.open(t, "multiStatements=true")), tt.stmts)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("errors (-native +seqgate):\n%s", diff)
				}
				for i, number := range got {
					if number == refused {
						t.Errorf("%s is refused", tt.stmts[i])
					}
				}
				g.checkUsers(t, tt.want)
				const rows = "SELECT COALESCE(GROUP_CONCAT(u ORDER BY u), '') FROM users"
				if want, got := value[string](t, native, rows), value[string](t, g.direct, rows); got != want {
					t.Errorf("rows %s, natively %s", got, want)
				}
			})
		}
	})
}

// A keyed sequence is told of literal keys; a placeholder's value is not known.
func TestSQLPrepareKeyed(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BIGINT")
		c := conn(t, g.open(t, ""))
		exec(t, c, "PREPARE p FROM 'INSERT INTO messages (user_id, body) VALUES (7, ?), (8, ''b'')'", "SET @a = 'a', @k = 7", "EXECUTE p USING @a", "EXECUTE p USING @a",
			"PREPARE p FROM 'INSERT INTO messages (user_id, body) VALUES (?, ?)'")
		_, err := c.ExecContext(t.Context(), "EXECUTE p USING @k, @a")
		checkErrno(t, err, mysql.ER_NOT_SUPPORTED_YET)
		const rows = "SELECT GROUP_CONCAT(CONCAT_WS('/', user_id, seq_no, body) ORDER BY user_id, seq_no) FROM messages"
		if got, want := value[string](t, g.direct, rows), "7/1/a,7/2/a,8/1/b,8/2/b"; got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
	})
}

// MySQL takes ids in user variables only, of which a session gets so many.
func TestSQLPrepareOfManyRows(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		rows := func(n int) string {
			return "PREPARE p FROM 'INSERT INTO users (u) VALUES (1)" + strings.Repeat(", (1)", n-1) + "'"
		}
		exec(t, c, rows(1000), "EXECUTE p", rows(1001))
		_, err := c.ExecContext(t.Context(), "EXECUTE p")
		want := 2001
		if !s.IsMariaDB() {
			want = 1000
			checkErrno(t, err, mysql.ER_NOT_SUPPORTED_YET)
		} else if err != nil {
			t.Error(err)
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM users WHERE id >= ?", firstID); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	})
}

// COM_RESET_CONNECTION forgets what SQL's PREPARE prepared.
func TestSQLPrepareReset(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		c, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := c.Execute("PREPARE p FROM 'INSERT INTO users (u) VALUES (1)'"); err != nil {
			t.Fatal(err)
		}
		c.ResetSequence()
		if err := c.WritePacket([]byte{0, 0, 0, 0, 0x1f}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadPacket(); err != nil {
			t.Fatal(err)
		}
		_, err = c.Execute("EXECUTE p")
		var refused *mysql.MyError
		if !errors.As(err, &refused) || refused.Code != mysql.ER_UNKNOWN_STMT_HANDLER {
			t.Errorf("got %v, want error %d", err, mysql.ER_UNKNOWN_STMT_HANDLER)
		}
	})
}
