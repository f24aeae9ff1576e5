package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Ids of these tests' sequence start here: a row below it came past the fill,
// with an id of the server's own.
const firstID = 1_000_000

const usersVSchema = `{"keyspaces": {"main": {"tables": {
	"users": {"auto_increment": {"column": "id", "sequence": "users_seq"}, "columns": [{"name": "id"}, {"name": "u"}], "column_list_authoritative": %t},
	"users_seq": {"type": "sequence"}
}}}}`

// namings are the two ways to tell seqgate of a sequence.
var namings = map[string]string{"convention": "", "vschema": fmt.Sprintf(usersVSchema, false)}

// newUsersGate starts a seqgate for a sequenced table.
func newUsersGate(t *testing.T, s *servertest.Server, o gateOptions) *gate {
	t.Helper()
	g := newGate(t, s, o)
	exec(t, g.direct, "CREATE TABLE users (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20))")
	createSequence(t, g.direct, "users_seq", firstID, 1000)
	return g
}

// users gives all rows of users, as "id/u,id/u".
func (g *gate) users(t *testing.T) string {
	t.Helper()
	return value[string](t, g.direct, "SELECT COALESCE(GROUP_CONCAT(CONCAT_WS('/', id, u) ORDER BY id), '') FROM users")
}

func (g *gate) checkUsers(t *testing.T, want string) {
	t.Helper()
	if got := g.users(t); got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func checkErrno(t *testing.T, err error, want uint16) {
	t.Helper()
	if errno(err) != want {
		t.Errorf("got %v, want error %d", err, want)
	}
}

// replaceDatabase puts a database's name into a statement.
func replaceDatabase(statement, database string) string {
	return strings.ReplaceAll(statement, "{database}", database)
}

// atEnd sends a statement at the test's end.
func atEnd(t *testing.T, db *sql.DB, statement string) {
	t.Cleanup(func() {
		if _, err := db.Exec(statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	})
}

// No statement writes a row without an id of the sequence: it is filled, or it
// is an error.
func TestNoWayPastTheFill(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		vschema string
		session []string // sent through the seqgate first
		direct  []string // then to the server itself
		query   string
		args    []any
		errno   uint16
		want    string
		mariadb bool
	}{
		{name: "view", session: []string{"CREATE VIEW v AS SELECT id, u FROM users"},
			query: "INSERT INTO v (u) VALUES ('x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "view, beside a temporary table", session: []string{"CREATE VIEW v AS SELECT id, u FROM users", "CREATE TEMPORARY TABLE x (a INT)"},
			query: "INSERT INTO v (u) VALUES ('x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "text parameter that is no number", session: []string{"SET sql_mode = ''"},
			query: "INSERT INTO users (id, u) VALUES (?, ?)", args: []any{"", "x"}, want: "1000000/x"},
		{name: "text parameter, IGNORE", query: "INSERT IGNORE INTO users (id, u) VALUES (?, ?)", args: []any{"abc", "x"}, want: "1000000/x"},
		{name: "engine without transactions", session: []string{"SET sql_mode = 'STRICT_TRANS_TABLES'"}, direct: []string{"ALTER TABLE users ENGINE = MyISAM"},
			query: "INSERT INTO users (id, u) VALUES (7000000, 'a'), ('', 'b')", want: "1000000/b,7000000/a"}, // too far above for the block to follow
		{name: "USE and SET NAMES before it", session: []string{"USE information_schema"},
			query: "USE {database}; SET NAMES utf8mb4; INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "results in utf16", session: []string{"SET character_set_results = utf16, character_set_client = utf8mb4"},
			query: "INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "column added since", session: []string{"INSERT INTO users VALUES (NULL, 'a')"}, direct: []string{"ALTER TABLE users ADD COLUMN x INT"},
			query: "INSERT INTO users VALUES (NULL, 'b', 5)", want: "1000000/a,1000001/b"},
		{name: "vschema that lacks a column", vschema: fmt.Sprintf(usersVSchema, true), direct: []string{"ALTER TABLE users ADD COLUMN x INT"},
			query: "INSERT INTO users VALUES (NULL, 'x', 5)", errno: protocol.ER_UNKNOWN_ERROR},
		{name: "generated column", direct: []string{"ALTER TABLE users ADD COLUMN x INT AS (1) STORED FIRST"},
			query: "INSERT INTO users VALUES (DEFAULT, NULL, 'x')", want: "1000000/x"},
		{name: "quoted table, ANSI_QUOTES", session: []string{"SET sql_mode = 'ANSI_QUOTES'"},
			query: `INSERT INTO "users" (u) VALUES ('x')`, want: "1000000/x"},
		{name: "escapes and comments that hide", session: []string{"SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"},
			query: `INSERT /* " */ INTO "users" (u) VALUES ('\')`, want: `1000000/\`},
		{name: "version comment that ends in a string", query: "INSERT INTO {database} /*!50000 .users (u) VALUES ('*/') */", want: "1000000/*/"},
		{name: "table of no sequence before it", direct: []string{"CREATE TABLE other (id INT)"},
			query: "INSERT INTO other VALUES (1); INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "ANSI_QUOTES set in the text", query: `SET @a = '"', sql_mode = 'ANSI_QUOTES'; INSERT INTO "users" (u) VALUES ('x')`, want: "1000000/x"},
		{name: "sequence made in the text", direct: []string{"RENAME TABLE users_seq TO unused"},
			query: "RENAME TABLE unused TO users_seq; INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "behind a routine of one statement", query: "CREATE PROCEDURE q() SELECT 1; INSERT users VALUES (0, 'x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "behind a routine", query: "CREATE PROCEDURE q() BEGIN END; INSERT users VALUES (0, 'x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "behind two routines and USE", query: "CREATE PROCEDURE q() BEGIN END; CREATE PROCEDURE r() SELECT 1; USE {database}; INSERT users VALUES (0, 'x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "behind a statement, a routine and USE", session: []string{"USE information_schema"},
			query: "SELECT 1; CREATE PROCEDURE {database}.q() BEGIN END; USE {database}; INSERT users VALUES (0, 'x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "within a routine", query: "CREATE PROCEDURE q() BEGIN IF 1 THEN INSERT users VALUES (5, 'x'); END IF; INSERT users VALUES (6, 'y'); END; SELECT 1", want: ""},
		{name: "many tables", query: strings.Repeat("SELECT 'INTO a'; ", 20) + "INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "name in a version comment", query: "INSERT INTO /*!99999 x */ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "name in a version comment of six digits", query: "INSERT INTO /*!999999 x */ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "version comment behind the dot", query: "INSERT INTO {database}./*!999999 x*/users (u) VALUES ('x')", want: "1000000/x"},
		{name: "version comment before the dot", query: "INSERT INTO {database}/*!999999 x*/.users (u) VALUES ('x')", want: "1000000/x"},
		{name: "schema in a version comment", query: "INSERT INTO /*!999999 x. */ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "INTO in a version comment", query: "INSERT /*!999999 INTO x */ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "comment in a version comment", query: "INSERT INTO/*!999999/**/x */ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "MariaDB's version comment", query: "INSERT INTO /*M!999999 x */ users (u) VALUES ('x')", want: "1000000/x", mariadb: true},
		{name: "INSERT at the version number", query: "/*!50000INSERT*/ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "REPLACE at the version number", query: "/*!50000REPLACE*/ users (u) VALUES ('x')", want: "1000000/x"},
		{name: "all at the version number", query: "/*!50000INSERT users (u) VALUES ('x')*/", want: "1000000/x"},
		{name: "INSERT at the version number among others", query: "SELECT 1; /*!50000INSERT*/ INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "USE at the version number", session: []string{"USE information_schema", "/*!50000USE {database}*/"}, query: "INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "USE keyword at the version number", session: []string{"USE information_schema", "/*!50000USE*/ {database}"}, query: "INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "USE at the version number among others", session: []string{"USE information_schema"}, query: "/*!50000USE*/ {database}; INSERT INTO users (u) VALUES ('x')", want: "1000000/x"},
		{name: "sql_mode at the version number", session: []string{"INSERT INTO users (u) VALUES ('a')", "/*!50000SET sql_mode='ANSI_QUOTES'*/"}, query: `INSERT INTO "users" (u) VALUES ('x')`, want: "1000000/a,1000001/x"},
		{name: "DDL and an INSERT in a version comment", query: "CREATE TABLE zt (a INT) /*!50000 ; INSERT users VALUES (0, 'x') */", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "USE and its semicolon in a version comment", session: []string{"USE information_schema"}, query: "/*!50000 USE {database}; */ INSERT INTO users (u) VALUES ('x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "PREPARE at the version number", session: []string{"/*!50000PREPARE*/ p FROM 'INS\\ERT users VALUES (0, 2)'"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "version comment in PREPARE", session: []string{"PREPARE /*!50000 p */ FROM 'INS\\ERT users VALUES (0, 2)'"}, query: "EXECUTE p", want: "1000000/2"},
		{name: "PREPARE of a hexadecimal literal", query: "PREPARE p FROM X'494e53455254207573657273202875292076616c756573202827612729'", errno: protocol.ER_NOT_SUPPORTED_YET, mariadb: true},
		{name: "brackets", session: []string{"SET sql_mode = 'MSSQL'"}, query: "INSERT INTO [users] (u) VALUES ('x')", errno: protocol.ER_NOT_SUPPORTED_YET, mariadb: true},
		{name: "USE of two strings in a compound statement", session: []string{"USE information_schema"}, mariadb: true,
			query: "BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'US' 'E {database}'; END; INSERT users VALUES (0, 'x')", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "USE and INSERT of strings in a compound statement", session: []string{"USE information_schema"}, mariadb: true,
			query: "BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'USE {database}'; EXECUTE IMMEDIATE 'INS' 'ERT users VALUES (0, 2)'; END", errno: protocol.ER_NOT_SUPPORTED_YET},
		{name: "EXECUTE IMMEDIATE of a hexadecimal literal", query: "EXECUTE IMMEDIATE X'494e53455254207573657273202875292076616c7565732028276127293b'", errno: protocol.ER_NOT_SUPPORTED_YET, mariadb: true},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			if tt.mariadb && !s.IsMariaDB() {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{vschema: tt.vschema})
				c := conn(t, g.open(t, "multiStatements=true"))
				for _, statement := range tt.session {
					exec(t, c, replaceDatabase(statement, g.database))
				}
				exec(t, g.direct, tt.direct...)
				_, err := c.ExecContext(t.Context(), replaceDatabase(tt.query, g.database), tt.args...)
				checkErrno(t, err, tt.errno)
				g.checkUsers(t, tt.want)
			})
		}
	})
}

// The protocol's own ways: what a driver need not send, but may.
func TestNoWayPastTheFillByProtocol(t *testing.T) {
	prepared := func(text string, id uint32, args ...any) func(*client.Conn) error {
		return func(c *client.Conn) error {
			st, err := c.Prepare(text)
			if err != nil {
				return err
			}
			if id != 0 {
				st.ID = id
			}
			_, err = st.Execute(args...)
			return err
		}
	}
	const lastPrepared = 0xffffffff // on MariaDB
	type outcome struct {
		errno uint16
		rows  string
	}
	refused, filled := outcome{errno: protocol.ER_NOT_SUPPORTED_YET}, outcome{rows: "1000000/x"}
	tests := []struct {
		name           string
		send           func(*client.Conn) error
		mariadb, mysql outcome
	}{
		{"date of no day", prepared("INSERT INTO users (id, u) VALUES (?, 'x')", 0, protocol.TypedBytes{Type: protocol.MYSQL_TYPE_DATE}), refused, refused},
		{"time of length 0", prepared("INSERT INTO users (id, u) VALUES (?, 'x')", 0, protocol.TypedBytes{Type: protocol.MYSQL_TYPE_TIME}), refused, refused},
		{"statement id of the last prepared", prepared("INSERT INTO users (id, u) VALUES (?, ?)", lastPrepared, nil, "x"), filled, outcome{errno: protocol.ER_UNKNOWN_STMT_HANDLER}},
		{"COM_SET_OPTION", func(c *client.Conn) error {
			if err := setMultiStatements(c); err != nil {
				return err
			}
			_, err := c.ExecuteMultiple("SELECT 1; INSERT INTO users (u) VALUES ('x')", func(*protocol.Result, error) {})
			return err
		}, filled, filled},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{})
				c, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				want := tt.mysql
				if s.IsMariaDB() {
					want = tt.mariadb
				}
				err = tt.send(c)
				var refusal *protocol.MyError
				if err != nil && !errors.As(err, &refusal) {
					t.Fatal(err)
				}
				got := outcome{rows: g.users(t)}
				if refusal != nil {
					got.errno = refusal.Code
				}
				if got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	})
}

// setMultiStatements turns multi-statements on, after a login without them.
func setMultiStatements(c *client.Conn) error {
	c.ResetSequence()
	if err := c.WritePacket([]byte{0, 0, 0, 0, protocol.COM_SET_OPTION, 0, 0}); err != nil {
		return err
	}
	answer, err := c.ReadPacket()
	if err == nil && answer[0] == protocol.ERR_HEADER {
		err = fmt.Errorf("COM_SET_OPTION: %q", answer)
	}
	return err
}

// A prepared statement whose reading no longer holds is not executed.
func TestPreparedReadingOutdated(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		t.Run("sql_mode", func(t *testing.T) {
			g := newUsersGate(t, s, gateOptions{})
			c := conn(t, g.open(t, ""))
			exec(t, c, "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
			st, err := c.PrepareContext(t.Context(), "INSERT INTO users VALUES (0, ?)")
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			exec(t, c, "SET sql_mode = ''")
			_, err = st.ExecContext(t.Context(), "x")
			checkErrno(t, err, protocol.ER_NEED_REPREPARE)
			g.checkUsers(t, "")
		})
		t.Run("character set", func(t *testing.T) {
			g := newUsersGate(t, s, gateOptions{})
			c := conn(t, g.open(t, ""))
			for _, text := range []string{"INSERT INTO users VALUES (0, ?)", "INSERT INTO users (id, u) SELECT NULL, ?"} {
				exec(t, c, "SET NAMES utf8mb4")
				st, err := c.PrepareContext(t.Context(), text)
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				for _, set := range []string{"SET NAMES latin1", "SET NAMES gbk"} {
					exec(t, c, set)
					if _, err = st.ExecContext(t.Context(), set); err != nil {
						t.Errorf("%s, after %s: %v", text, set, err)
					}
				}
			}
			if got := value[int](t, g.direct, "SELECT COUNT(*) FROM users WHERE id >= ?", firstID); got != 4 {
				t.Errorf("%d rows with ids of the sequence, want 4", got)
			}
		})
		t.Run("columns", func(t *testing.T) {
			g := newUsersGate(t, s, gateOptions{})
			st, err := conn(t, g.open(t, "")).PrepareContext(t.Context(), "INSERT INTO users VALUES (?, ?)")
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			exec(t, g.direct, "ALTER TABLE users MODIFY id BIGINT AUTO_INCREMENT AFTER u")
			explicit := firstID
			await(t, "the new columns to be seen", func() bool {
				explicit++
				_, err := st.ExecContext(t.Context(), explicit, explicit)
				return errno(err) == protocol.ER_NEED_REPREPARE
			})
			_, err = st.ExecContext(t.Context(), "x", nil)
			checkErrno(t, err, protocol.ER_NEED_REPREPARE)
			if n := value[int](t, g.direct, "SELECT COUNT(*) FROM users WHERE id < ?", firstID); n > 0 {
				t.Errorf("%d rows with the server's own ids", n)
			}
		})
	})
}

// Names outside ASCII, in a session whose character set is not UTF-8.
func TestFillLatin1Session(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t) + "_ö"
		direct := s.Open(t, "")
		exec(t, direct, "CREATE DATABASE `"+database+"`")
		atEnd(t, direct, "DROP DATABASE `"+database+"`")
		g := newUsersGate(t, s, gateOptions{database: database})
		exec(t, g.direct, "CREATE TABLE `größe` (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n INT)")
		createSequence(t, g.direct, "`größe_seq`", firstID, 1000)
		c := conn(t, g.open(t, ""))
		exec(t, c, "SET NAMES latin1", "INSERT INTO users (u) VALUES ('x')", "INSERT INTO `gr\xf6\xdfe` (u) VALUES ('x')",
			"INSERT INTO `gr\xf6\xdfe` (u) VALUES ('x') ON DUPLICATE KEY UPDATE n = 1")
		latin1 := fmt.Sprintf("%s:%s@tcp(%s)/%s%%F6?collation=latin1_swedish_ci", gateUser, gatePassword, g.addr, strings.TrimSuffix(database, "ö"))
		exec(t, conn(t, openDSN(t, latin1)), "INSERT INTO users (u) VALUES ('y')", "USE `"+strings.TrimSuffix(database, "ö")+"\xf6`", "INSERT INTO users (u) VALUES ('z')")
		g.checkUsers(t, "1000000/x,1000001/y,1000002/z")
		if got := value[string](t, g.direct, "SELECT GROUP_CONCAT(CONCAT_WS('/', id, u, n)) FROM `größe`"); got != "1000000/x/1" {
			t.Errorf("rows %q", got)
		}
	})
}

// serveKeyspaces starts a seqgate of these keyspaces beside g, with accounts of
// their own for what seqgate itself asks.
func serveKeyspaces(t *testing.T, g *gate, text string, keyspaces ...*catalog.Keyspace) (dsn func(database string) string) {
	t.Helper()
	cfg := proxy.Config{Keyspaces: make(map[string]*catalog.Keyspace), Default: keyspaces[0].Name,
		Users: []proxy.User{{Name: gateUser, Password: gatePassword}}, Sequences: g.sequences,
		Logger: slog.New(slog.NewTextHandler(newTestWriter(t), nil)), TLS: testCertificate(t), RSA: testKey()}
	for _, k := range keyspaces {
		k.Backend = &backend.Backend{Network: "tcp", Addr: g.server.Addr, User: g.server.User, Password: g.server.Password}
		cfg.Keyspaces[k.Name] = k
	}
	var err error
	if text != "" {
		if cfg.VSchema, err = vschema.Load("vschema.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := proxy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			t.Errorf("shut the proxy down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return func(database string) string {
		return fmt.Sprintf("%s:%s@tcp(%s)/%s", gateUser, gatePassword, l.Addr(), database)
	}
}

// A table is that of the keyspace whose database it is in, however it is named.
func TestTwoKeyspacesOnOneServer(t *testing.T) {
	const text = `{"keyspaces": {"main": {"tables": {"other": {}}}, "shop": {"tables": {
		"users": {"auto_increment": {"column": "id", "sequence": "users_seq"}}, "users_seq": {"type": "sequence"}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		main := s.NewDatabase(t)
		dsn := serveKeyspaces(t, g, text, &catalog.Keyspace{Name: "main", Database: main, DB: s.Open(t, main)},
			&catalog.Keyspace{Name: "shop", Database: g.database, DB: s.Open(t, g.database)})
		exec(t, conn(t, openDSN(t, dsn(main))), "INSERT INTO "+g.database+".users (u) VALUES ('qualified')",
			"USE "+g.database, "INSERT INTO users (u) VALUES ('use')")
		exec(t, conn(t, openDSN(t, dsn(g.database))), "INSERT INTO users (u) VALUES ('login')")
		g.checkUsers(t, "1000000/qualified,1000001/use,1000002/login")
	})
}

// However a session changes its default database, it is known which table a name
// means.
func TestDefaultDatabase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		only    string // "mariadb"; "" for both
		session []string
	}{
		{"USE", "", []string{"USE {database}"}},
		{"USE with a quoted name", "", []string{"SET sql_mode = 'ANSI_QUOTES'", "USE \"{database}\""}},
		{"USE that fails", "", []string{"USE {database}", "USE nosuch"}},
		{"USE and a comment", "", []string{"/* \" */ USE /*!50000 {database} */"}},
		{"USE among others", "", []string{"SELECT 1; USE {database}; SELECT 2"}},
		{"USE in a text taken apart", "", []string{"USE {database}; INSERT INTO other VALUES (1)"}},
		{"database dropped", "", []string{"USE {database}_x", "DROP DATABASE {database}_x", "USE {database}"}},
		{"procedure", "mariadb", []string{"USE {database}_x", "CALL go_there()"}},
		{"procedure among others", "mariadb", []string{"USE {database}_x", "SELECT 1; CALL go_there()"}},
		{"procedure prepared", "mariadb", []string{"USE {database}_x", "PREPARE p FROM 'CALL go_there()'", "EXECUTE p"}},
		{"EXECUTE", "mariadb", []string{"PREPARE p FROM 'USE {database}'", "EXECUTE p"}},
		{"EXECUTE IMMEDIATE", "mariadb", []string{"EXECUTE IMMEDIATE CONCAT('US', 'E {database}')"}},
		{"compound statement of ORACLE mode", "mariadb", []string{"USE {database}_x", "SET sql_mode = ORACLE", "BEGIN go_there; END"}},
		{"compound statement in a version comment", "mariadb", []string{"USE {database}_x", "SET sql_mode = ORACLE", "/*!50000 BEGIN go_there; END */"}},
		{"compound statement", "mariadb", []string{"BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'USE {database}'; END"}},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			if tt.only == "mariadb" && !s.IsMariaDB() {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{})
				exec(t, g.direct, "CREATE TABLE other (a INT)", "CREATE DATABASE "+g.database+"_x")
				atEnd(t, g.direct, "DROP DATABASE IF EXISTS "+g.database+"_x")
				if tt.only == "mariadb" {
					exec(t, g.direct, "CREATE PROCEDURE "+g.database+"_x.go_there() EXECUTE IMMEDIATE 'USE "+g.database+"'")
				}
				c := conn(t, g.open(t, "multiStatements=true"))
				exec(t, c, "USE information_schema")
				for _, statement := range tt.session {
					_, err := c.ExecContext(t.Context(), replaceDatabase(statement, g.database))
					if err != nil && errno(err) != protocol.ER_BAD_DB_ERROR {
						t.Fatalf("%s: %v", statement, err)
					}
				}
				exec(t, c, "INSERT INTO users (u) VALUES ('x')")
				g.checkUsers(t, "1000000/x")
			})
		}
	})
}

// A table that seqgate's own account may not see is not one without a sequence.
func TestAccountWithoutSelect(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		account := "'limited_" + g.database[len(g.database)-6:] + "'@'%'"
		exec(t, g.direct, "CREATE USER "+account+" IDENTIFIED BY 'limited'", "GRANT SELECT, UPDATE ON users_seq TO "+account)
		atEnd(t, g.direct, "DROP USER "+account)
		for name, text := range namings {
			t.Run(name, func(t *testing.T) {
				limited := openDSN(t, fmt.Sprintf("%s:limited@tcp(%s)/%s", strings.Split(account, "'")[1], s.Addr, g.database))
				dsn := serveKeyspaces(t, g, text, &catalog.Keyspace{Name: "main", Database: g.database, DB: limited})
				_, err := conn(t, openDSN(t, dsn(g.database))).ExecContext(t.Context(), "INSERT INTO users (u) VALUES ('x')")
				checkErrno(t, err, protocol.ER_NO_SUCH_TABLE)
				g.checkUsers(t, "")
			})
		}
	})
}

// A server that stores names in lower case takes a table's name in any.
func TestLowerCaseTableNames(t *testing.T) {
	t.Setenv("SEQGATE_TEST_MYSQL97", "") // a MySQL takes the option only while its data directory is made
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		for name, text := range namings {
			t.Run(name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{vschema: text})
				upper := strings.ToUpper(g.database)
				exec(t, conn(t, g.open(t, "")), "INSERT INTO Users (u) VALUES ('x')", "INSERT INTO "+upper+".USERS (u) VALUES ('y')",
					"USE "+upper, "INSERT INTO USERS (u) VALUES ('z')")
				if names := value[string](t, g.direct, "SELECT GROUP_CONCAT(u ORDER BY u) FROM users WHERE id >= ?", firstID); names != "x,y,z" {
					t.Errorf("filled %s, want x,y,z", names)
				}
			})
		}
	}, "--lower-case-table-names=1")
}

// A temporary table that hides a sequenced one has no sequence.
func TestTemporaryTableHidesSequenced(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TEMPORARY TABLE users (u VARCHAR(20), id BIGINT)", "INSERT INTO users VALUES (NULL, '5')")
		if got := value[string](t, c, "SELECT CONCAT(COALESCE(u, 'NULL'), '/', id) FROM users"); got != "NULL/5" {
			t.Errorf("got %s, want NULL/5", got)
		}
		g.checkUsers(t, "")
	})
}

// A sequence table whose engine has no transactions hands out no id twice.
func TestSequenceOnMyISAM(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, strategy := range []string{sequence.StrategyForUpdate, sequence.StrategyCAS, sequence.StrategyIncrement} {
			t.Run(strategy, func(t *testing.T) {
				database := s.NewDatabase(t)
				exec(t, s.Open(t, database), "CREATE TABLE q (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = MyISAM COMMENT 'vitess_sequence'",
					"INSERT INTO q VALUES (0, 1, 1)")
				var group sync.WaitGroup
				var seen sync.Map
				for range 4 {
					q := newSequence(t, s, strategy, sequence.Name{Keyspace: "main", Database: database, Table: "q"})
					group.Go(func() {
						for range 100 {
							ids, err := q.Next(t.Context(), 1)
							if err != nil {
								t.Error(err)
								return
							}
							if _, twice := seen.LoadOrStore(ids.First, nil); twice {
								t.Errorf("id %d was handed out twice", ids.First)
							}
						}
					})
				}
				group.Wait()
			})
		}
	})
}

// newSequence gives a sequence over a pool of its own, as another seqgate has it.
func newSequence(t *testing.T, s *servertest.Server, strategy string, name sequence.Name) *sequence.Sequence {
	t.Helper()
	pool, err := sequence.OpenPool(s.DSN(name.Database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	store, err := sequence.NewStore(strategy, pool)
	if err != nil {
		t.Fatal(err)
	}
	r := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) { return sequence.Settings{Store: store}, nil },
		sequence.Config{Timeout: 30 * time.Second})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	q, err := r.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A failed INSERT does not show in the session's variables.
func TestLastInsertIDVariableAfterFailure(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "ALTER TABLE users ADD UNIQUE (u)", "INSERT INTO users (u) VALUES ('a')")
		_, err := c.ExecContext(t.Context(), "INSERT INTO users (u) VALUES ('a')")
		checkErrno(t, err, protocol.ER_DUP_ENTRY)
		var name string
		var got int
		if err := c.QueryRowContext(t.Context(), "SHOW SESSION VARIABLES LIKE 'last_insert_id'").Scan(&name, &got); err != nil {
			t.Fatal(err)
		}
		if got != firstID {
			t.Errorf("last_insert_id %d, want %d", got, firstID)
		}
	})
}

// LOAD DATA LOCAL in a text that is split gets its ids, and the next statement its
// own answer.
func TestLocalInfileInSplitText(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		file := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(file, []byte("1\tx\n\\N\ty\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := conn(t, g.open(t, "multiStatements=true&allowAllFiles=true"))
		_, err := c.ExecContext(t.Context(), "SET @a = 1; LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE users")
		checkErrno(t, err, 0)
		if got := value[int](t, c, "SELECT 42"); got != 42 {
			t.Errorf("got %d, want 42", got)
		}
		g.checkUsers(t, fmt.Sprintf("1/x,%d/y", firstID))
	})
}
