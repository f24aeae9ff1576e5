package proxy_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// An INSERT through a MERGE table puts rows into MyISAM tables: it is refused where one of them has a sequence.
func TestMergeTables(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "t_seq", firstFilled, 1000)
		const columns = " (id BIGINT AUTO_INCREMENT, a INT, KEY (id)) ENGINE = "
		exec(t, g.direct, "CREATE TABLE t"+columns+"MyISAM", "CREATE TABLE plain"+columns+"MyISAM", "CREATE TABLE `od``d` LIKE plain",
			"CREATE TABLE m"+columns+"MERGE UNION = (plain, t) INSERT_METHOD = LAST",
			"CREATE TABLE other"+columns+"MERGE UNION = (plain, `od``d`) INSERT_METHOD = FIRST COMMENT 'UNION=(`t`)'",
			"CREATE TABLE closed"+columns+"MERGE UNION = (t)", "CREATE VIEW v AS SELECT * FROM m")
		c := conn(t, g.open(t, ""))
		for _, table := range []string{"m", g.database + ".m", "v"} {
			_, err := c.ExecContext(t.Context(), "INSERT INTO "+table+" (a) VALUES (1)")
			checkErrno(t, err, 1235)
			_, err = c.ExecContext(t.Context(), "INSERT INTO "+table+" (a) VALUES (?)", 1)
			checkErrno(t, err, 1235)
		}
		_, err := c.ExecContext(t.Context(), "INSERT INTO closed (a) VALUES (1)")
		checkErrno(t, err, 1036) // the server's own
		exec(t, g.direct, "CREATE TABLE free"+columns+"MERGE UNION = (plain) INSERT_METHOD = LAST")
		if id := inserted(t, c, "INSERT INTO free (a) VALUES (1)"); id != 1 {
			t.Errorf("without a sequence: id %d, want the server's own, 1", id)
		}
		exec(t, g.direct, "ALTER TABLE free UNION = (plain, t)")
		time.Sleep(100 * time.Millisecond) // what is under it is known for half of that
		_, err = c.ExecContext(t.Context(), "INSERT INTO free (a) VALUES (1)")
		checkErrno(t, err, 1235)
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); n != 0 {
			t.Errorf("%d rows went into t, want none", n)
		}
	})
}

// A view of another database's sequenced table is refused as one of the same database is.
func TestViewOfAnotherKeyspace(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		dsn, err := mysql.ParseDSN(s.DSN(database))
		if err != nil {
			t.Fatal(err)
		}
		g := newGate(t, s, gateOptions{
			vschema: `{"keyspaces": {"main": {}, "second": {"tables": {"t_seq": {"type": "sequence"},
				"t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}}}}`,
			more: map[string]*catalog.Keyspace{"second": {Name: "second", Database: database, DB: s.Open(t, database),
				Backend: &backend.Backend{Network: dsn.Net, Addr: dsn.Addr, User: dsn.User, Password: dsn.Passwd}}},
		})
		exec(t, g.direct, "CREATE TABLE "+database+".t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)", "CREATE VIEW v AS SELECT * FROM "+database+".t")
		c := conn(t, g.open(t, ""))
		_, err = c.ExecContext(t.Context(), "INSERT INTO v (a) VALUES (1)")
		checkErrno(t, err, 1235)
	})
}

// A temporary table that hides a sequenced one may be dropped by a function or a trigger: what is inserted then has its id.
func TestTemporaryTableDroppedWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, define, call string }{
		{"function", "CREATE FUNCTION f() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN DROP TEMPORARY TABLE IF EXISTS t; RETURN 1; END", "SELECT f()"},
		{"trigger", "CREATE TRIGGER f BEFORE INSERT ON other FOR EACH ROW DROP TEMPORARY TABLE IF EXISTS t", "INSERT INTO other VALUES (1)"},
	} {
		for _, form := range []string{"text", "prepared", "one text", "prepared before", "SQL's PREPARE"} {
			t.Run(test.name+", "+form, func(t *testing.T) {
				t.Parallel()
				servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
					g := newGate(t, s, gateOptions{})
					createSequence(t, g.direct, "t_seq", firstFilled, 1000)
					exec(t, g.direct, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)", "CREATE TABLE other (a INT)", test.define)
					c := conn(t, g.open(t, "multiStatements=true"))
					exec(t, c, "CREATE TEMPORARY TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)")
					if id := inserted(t, c, "INSERT INTO t (a) VALUES (1)"); id != 1 {
						t.Fatalf("id %d of the temporary table, want 1", id)
					}
					checkDroppedWithin(t, c, form, test.call)
					if least := value[int64](t, g.direct, "SELECT COALESCE(MIN(id), 1000000) FROM t"); least < firstFilled {
						t.Errorf("a row has the id %d, want one of the sequence", least)
					}
				})
			})
		}
	}
}

// checkDroppedWithin inserts in one of several forms after a call has dropped the temporary table.
func checkDroppedWithin(t *testing.T, c *sql.Conn, form, call string) {
	t.Helper()
	const text = "INSERT INTO t (a) VALUES (1)"
	switch form {
	case "text":
		exec(t, c, call, text)
	case "prepared":
		exec(t, c, call)
		inserted(t, c, "INSERT INTO t (a) VALUES (?)", 1)
	case "one text":
		exec(t, c, call+"; "+text)
	case "prepared before":
		st, err := c.PrepareContext(t.Context(), "INSERT INTO t (a) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		exec(t, c, call)
		_, err = st.ExecContext(t.Context(), 1)
		checkErrno(t, err, 1615)
	case "SQL's PREPARE":
		exec(t, c, "PREPARE p FROM '"+text+"'", call)
		_, err := c.ExecContext(t.Context(), "EXECUTE p")
		checkErrno(t, err, 1615)
	}
}

// An UPDATE of a JSON duality view inserts what is new in its document: it is refused where that is rows of a sequenced table.
func TestDualityViews(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		if value[int](t, g.direct, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = 'JSON_DUALITY_VIEW_TABLES'") == 0 {
			t.Skip("the server has no JSON duality views")
		}
		createSequence(t, g.direct, "item_seq", firstFilled, 1000)
		view := func(name, nested string) string {
			return "CREATE JSON RELATIONAL DUALITY VIEW " + name + " AS SELECT JSON_DUALITY_OBJECT(WITH(INSERT,UPDATE,DELETE) '_id': id, 'name': name, 'items': " +
				"(SELECT JSON_ARRAYAGG(JSON_DUALITY_OBJECT(WITH(INSERT,UPDATE,DELETE) 'iid': id, 'item': item)) FROM " + nested + " AS n WHERE n.customer = c.id)) FROM customer AS c"
		}
		exec(t, g.direct, "CREATE TABLE customer (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), data VARCHAR(20))",
			"CREATE TABLE item (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer BIGINT, item VARCHAR(20), FOREIGN KEY (customer) REFERENCES customer (id))",
			"CREATE TABLE note (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer BIGINT, item VARCHAR(20), FOREIGN KEY (customer) REFERENCES customer (id))",
			"INSERT INTO customer VALUES (1, 'x', '')", view("notes", "note"))
		c := conn(t, g.open(t, "multiStatements=true"))
		const document = `'{"_id": 1, "name": "x", "items": [{"item": "new"}]}'`
		exec(t, c, "UPDATE notes SET data = "+document) // no sequence is under it
		exec(t, g.direct, view("dv", "item"), view("`d``v`", "item"))
		exec(t, c, "CREATE TABLE forget (a INT)", "SET @q = CONCAT('UPDATE dv SET da', 'ta = ', QUOTE("+document+"))")
		for _, text := range []string{
			"UPDATE dv SET data = " + document,
			"update `dv` set `DATA` = " + document + " where true",
			"UPDATE `d``v` SET data = " + document,
			"UPDATE LOW_PRIORITY " + g.database + ".dv AS x SET x.data = " + document,
			"WITH w AS (SELECT 1) UPDATE dv SET data = " + document,
			"/*!90000 UPDATE dv SET data = " + document + " */",
			"SELECT 1; UPDATE dv SET data = " + document,
			"PREPARE p FROM 'UPDATE dv SET data = ?'",
			"PREPARE p FROM @q",
			"UPDATE dv SET data = '" + strings.Repeat(" ", 200_000) + `{"_id": 1, "name": "x", "items": [{"item": "new"}]}'`,
			"UPDATE dv" + strings.Repeat(" ", 200_000) + "SET data = " + document,
			"INSERT INTO dv VALUES (" + document + ")",
		} {
			_, err := c.ExecContext(t.Context(), text)
			if errno(err) != 1235 {
				t.Errorf("%.80s: got %v, want error 1235", text, err)
			}
		}
		_, err := c.ExecContext(t.Context(), "UPDATE dv SET data = ?", strings.Trim(document, "'"))
		checkErrno(t, err, 1235)
		exec(t, c, "UPDATE customer SET data = 'x'", "UPDATE notes SET data = "+strings.Replace(document, "new", "other", 1),
			"UPDATE customer SET data = '"+strings.Repeat("x", 20)+strings.Repeat(" ", 100_000)+"'")
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM item"); n != 0 {
			t.Errorf("%d rows went into item, want none", n)
		}
	})
}
