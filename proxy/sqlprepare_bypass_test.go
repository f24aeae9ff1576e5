package proxy_test

import (
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// No INSERT of SQL's PREPARE, EXECUTE and EXECUTE IMMEDIATE, nor one with a user
// variable as its id, writes a row without an id of the sequence.
func TestNoWayPastSQLPrepare(t *testing.T) {
	t.Parallel()
	const refused, unknown = protocol.ER_NOT_SUPPORTED_YET, protocol.ER_UNKNOWN_STMT_HANDLER
	prepared := []string{"PREPARE e FROM 'INSERT users VALUES (0, 2)'"}
	tests := []struct {
		name    string
		mariadb bool
		session []string // sent first
		query   string
		errno   uint16
		want    string
	}{
		{name: "escapes", session: []string{`PREPARE p FROM 'INS\ERT INT\O us\ers (u) VALUES (2)'`}, query: "EXECUTE p", want: "1000000/2"},
		{name: "double quotes", session: []string{`PREPARE p FROM "INSERT INTO users (u) VALUES ('x')"`}, query: "EXECUTE p", want: "1000000/x"},
		{name: "among others", query: `SET @a = 1; PREPARE p FROM 'INS\ERT INT\O us\ers (u) VALUES (2)'; EXECUTE p`, want: "1000000/2"},
		{name: "comments", session: []string{"PREPARE/**/p-- x\nFROM # y\n'INSERT users VALUES (0, ?)' /* z */", "SET @x = 2"},
			query: "EXECUTE /**/ p -- x\n USING @x", want: "1000000/2"},
		{name: "variable", session: []string{"SET @a = 'INSERT users VALUES (0, 2)'", "PREPARE p FROM @a"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "variable with a quoted name", session: []string{"SET @`a'b` = 'INSERT users VALUES (0, 2)'", "PREPARE p FROM @`a'b`"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "variable with a name of quotes", session: []string{`SET @"b" = 'INSERT users VALUES (0, 2)'`, `PREPARE p FROM @"b"`}, query: "EXECUTE p", want: "1000000/2"},
		{name: "variable in utf16", session: []string{"SET @a = CONVERT('INSERT users VALUES (0, 2)' USING utf16)", "PREPARE p FROM @a"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "variable in ucs2, outside ASCII", session: []string{"SET @a = CONVERT('INSERT users VALUES (0, ''é'')' USING ucs2)"}, query: "PREPARE p FROM @a", errno: refused},
		{name: "variable in utf32, no sequence", session: []string{"SET @a = CONVERT('SELECT ''é''' USING utf32)"}, query: "PREPARE p FROM @a"},
		{name: "in another character set", session: append(prepared, "SET NAMES latin1"), query: "EXECUTE e", want: "1000000/2"},
		{name: "variable in binary", session: []string{"SET @a = CAST('INSERT users VALUES (0, 2)' AS BINARY)", "PREPARE p FROM @a"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "variable in latin1", session: []string{"SET @a = CONVERT('INSERT users VALUES (0, ''é'')' USING latin1)"}, query: "PREPARE p FROM @a", errno: refused},
		{name: "variable outside the BMP", session: []string{"SET @a = 'INSERT users VALUES (0, ''\U0001F600'')'"}, query: "PREPARE p FROM @a", errno: refused},
		{name: "variable with a version comment", session: []string{"SET @a = '/*!50000 INSERT users VALUES (0, 2) */'"}, query: "PREPARE p FROM @a", errno: refused},
		{name: "version comment", query: "PREPARE p FROM '/*!50000 INSERT users VALUES (0, 2) */'", errno: refused},
		{name: "version comment around it", session: []string{"/*!50000 PREPARE */ p FROM 'INSERT users VALUES (0, 2)'"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "INSERT ... SELECT", query: "PREPARE p FROM 'INSERT users (u) SELECT 2'", errno: refused},
		{name: "nested", query: "PREPARE p FROM 'PREPARE q FROM ''INSERT users VALUES (0, 2)'''", errno: protocol.ER_UNSUPPORTED_PS},
		{name: "two statements", query: "PREPARE p FROM 'DO 1; INSERT users VALUES (0, 2)'", errno: protocol.ER_PARSE_ERROR},
		{name: "two INSERTs", query: "PREPARE p FROM 'INSERT users VALUES (5, 2); INSERT users VALUES (0, 2)'", errno: protocol.ER_PARSE_ERROR},
		{name: "reads ROW_COUNT()", session: prepared, query: "PREPARE p FROM 'INSERT users VALUES (0, ROW_COUNT())'", errno: refused},
		{name: "ANSI_QUOTES", session: []string{"SET sql_mode = 'ANSI_QUOTES'", `PREPARE "p" FROM 'INSERT "users" ("u") VALUES (?)'`, "SET @x = 2"},
			query: `EXECUTE "P" USING @"x"`, want: "1000000/2"},
		{name: "NO_BACKSLASH_ESCAPES", session: []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `PREPARE p FROM 'INSERT users VALUES (0, ''\'')'`}, query: "EXECUTE p", want: `1000000/\`},
		{name: "gbk", session: []string{"SET NAMES gbk"}, query: "PREPARE p FROM 'INSERT users VALUES (0, ''\xbf\\\\'')'", errno: refused},
		{name: "gbk, ASCII", session: []string{"SET NAMES gbk", `PREPARE p FROM 'INSERT users VALUES (0, ''\\\\'')'`}, query: "EXECUTE p", want: `1000000/\`},
		{name: "connection in gbk", session: []string{"SET character_set_connection = gbk"}, query: "PREPARE p FROM 'INSERT users VALUES (0, ''é'')'", errno: refused},
		{name: "another name in the server's collation", session: prepared, query: "EXECUTE `é`", errno: unknown},
		{name: "name in a version comment", session: prepared, query: "/*!50000 EXECUTE e */", errno: unknown},
		{name: "within a routine", session: append(prepared, "CREATE PROCEDURE q() EXECUTE e"), query: "CALL q()", errno: unknown},
		{name: "executed among others", session: prepared, query: "SELECT 1; EXECUTE e; DEALLOCATE PREPARE e; EXECUTE e", errno: unknown, want: "1000000/2"},
		{name: "executed among others, in vain", session: prepared, query: "SELECT 1; EXECUTE e; EXECUTE nosuch", errno: unknown, want: "1000000/2"},
		{name: "deallocated among others", session: append(prepared, "DO 1; DEALLOCATE PREPARE e; DO 2"), query: "EXECUTE e", errno: unknown},
		{name: "before the sequence", session: []string{"RENAME TABLE users_seq TO unused", prepared[0], "RENAME TABLE unused TO users_seq"}, query: "EXECUTE e", errno: protocol.ER_NEED_REPREPARE},
		{name: "before a column", session: append(prepared, "ALTER TABLE users ADD COLUMN x INT FIRST"), query: "EXECUTE e", errno: protocol.ER_NEED_REPREPARE},
		{name: "in another sql_mode", session: []string{"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", prepared[0], "SET sql_mode = ''"}, query: "EXECUTE e", errno: protocol.ER_NEED_REPREPARE},
		{name: "judged in the sql_mode of the execution", session: []string{"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "PREPARE p FROM 'INSERT users VALUES (?, 2)'", "SET sql_mode = '', @x = 0"},
			query: "EXECUTE p USING @x", want: "1000000/2"},
		{name: "expression in USING", mariadb: true, session: []string{"PREPARE p FROM 'INSERT users VALUES (?, 2)'"}, query: "EXECUTE p USING CONNECTION_ID() * 0", errno: refused},
		{name: "two strings", mariadb: true, query: "PREPARE p FROM 'INS' 'ERT users VALUES (0, 2)'; EXECUTE p", want: "1000000/2"},
		{name: "EXECUTE IMMEDIATE of two strings", mariadb: true, query: "EXECUTE IMMEDIATE 'INS' 'ERT users VALUES (0, 2)'", want: "1000000/2"},
		{name: "EXECUTE IMMEDIATE of an expression", mariadb: true, session: []string{"SET @a = 'INTO users'"},
			query: "EXECUTE IMMEDIATE CONCAT('INS', 'ERT ', @a, ' (u) VALUES (?)') USING 2", want: "1000000/2"},
		{name: "EXECUTE IMMEDIATE of what cannot be known", mariadb: true, query: "EXECUTE IMMEDIATE REVERSE('x')", errno: refused},
		{name: "SET STATEMENT FOR EXECUTE IMMEDIATE", mariadb: true, session: []string{"SET @a = 'INSERT users VALUES (0, 2)'"},
			query: "SET STATEMENT max_statement_time = 9 FOR EXECUTE IMMEDIATE @a", errno: refused},
		{name: "SET STATEMENT FOR PREPARE", mariadb: true, session: []string{"SET @a = 'INSERT users VALUES (0, 2)'"},
			query: "SET STATEMENT max_statement_time = 9 FOR PREPARE p FROM @a", errno: refused},
		{name: "SET STATEMENT FOR EXECUTE IMMEDIATE of a variable named end", mariadb: true, session: []string{"SET @end = 'INSERT users VALUES (0, 2)'"},
			query: "SET STATEMENT max_statement_time = 9 FOR EXECUTE IMMEDIATE @end", errno: refused},
		{name: "SET STATEMENT FOR PREPARE of a name in quotes", mariadb: true, session: []string{"SET @a = 'INSERT users VALUES (0, 2)'"},
			query: "SET STATEMENT max_statement_time = 9 FOR PREPARE `end` FROM @a", errno: refused},
		{name: "SET STATEMENT FOR EXECUTE IMMEDIATE of a function", mariadb: true,
			query: "SET STATEMENT max_statement_time = 9 FOR EXECUTE IMMEDIATE REVERSE(')2 ,0( SEULAV sresu TRESNI')", errno: refused},
		{name: "name outside ASCII", query: "PREPARE `é` FROM 'INSERT users VALUES (0, 2)'", errno: refused},
		{name: "EXECUTE IMMEDIATE with escapes", mariadb: true, query: `EXECUTE IMMEDIATE 'INS\ERT users VALUES (0, 2)'`, want: "1000000/2"},
		{name: "EXECUTE IMMEDIATE with an expression in USING", mariadb: true, query: "EXECUTE IMMEDIATE 'INSERT users VALUES (?, 2)' USING CONNECTION_ID() * 0", errno: refused},

		{name: "variables as ids", session: []string{"SET @x = NULL, @y = '0', @z = 7"}, query: "INSERT users VALUES (@x, 'x'), (@y, 'y'), (@z, 'z')", want: "7/z,1000000/x,1000001/y"},
		{name: "variable that a trigger changes", session: []string{"CREATE TRIGGER tr BEFORE INSERT ON users FOR EACH ROW SET @x = NULL", "SET @x = 7, @y = 8"},
			query: "INSERT users VALUES (@y, 'a'), (@x, 'b')", want: "7/b,8/a"},
		{name: "variable that the statement assigns", session: []string{"SET @x = 7"}, query: "INSERT users VALUES (@x, @x := NULL), (@x, 'b')", errno: refused},
		{name: "system variable", query: "INSERT users VALUES (@@auto_increment_offset, 'x')", errno: refused},
		{name: "variable beside ROW_COUNT()", session: []string{"SET @x = 7"}, query: "INSERT users VALUES (@x, ROW_COUNT())", errno: refused},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			if tt.mariadb && !s.IsMariaDB() {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{})
				c := conn(t, g.open(t, "multiStatements=true"))
				exec(t, c, tt.session...)
				_, err := c.ExecContext(t.Context(), tt.query)
				checkErrno(t, err, tt.errno)
				g.checkUsers(t, tt.want)
			})
		}
	})
}
