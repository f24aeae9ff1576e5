package wiretest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// tables are there in each case's database. Cases that write make tables of their own.
var tables = []string{
	"CREATE TABLE nums (n INT PRIMARY KEY)",
	"INSERT INTO nums SELECT a.d + 10 * b.d + 100 * c.d + 1 FROM " +
		digits + " a, " + digits + " b, " + digits + " c",
	"CREATE TABLE few (id INT PRIMARY KEY, s VARCHAR(20))",
	"INSERT INTO few VALUES (1, 'one'), (2, 'two'), (3, NULL)",
	"CREATE TABLE types (id INT PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, m MEDIUMINT, i INT, iu INT UNSIGNED ZEROFILL," +
		" b BIGINT, bu BIGINT UNSIGNED, f FLOAT, d DOUBLE, de DECIMAL(30,10), bi BIT(13), y YEAR, da DATE, ti TIME(6), dt DATETIME(3)," +
		" ts TIMESTAMP NULL, c CHAR(5), v VARCHAR(20), bn BINARY(4), vb VARBINARY(9), tt TINYTEXT, x TEXT, mt MEDIUMTEXT, lt LONGTEXT," +
		" tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB, e ENUM('a','b',''), se SET('x','y','z'), g GEOMETRY, j JSON)",
	"INSERT INTO types (id) VALUES (1)",
	"INSERT INTO types VALUES (2, -128, 255, -32768, -8388608, -2147483648, 7, -9223372036854775808, 18446744073709551615, 1.5, -2.25e100," +
		" 12345678901234567890.0123456789, b'1010101010101', 2155, '9999-12-31', '-838:59:59', '2026-02-28 23:59:59.123'," +
		" '2020-02-02 02:02:02', 'abc', 'äöü', 'ab', x'00ff', 'tt', 'text', 'mt', 'lt', 'tb', x'00', 'mb', 'lb', 'a', 'x,z', POINT(1, 2), '{\"a\": [1, null]}')",
	"INSERT INTO types (id, t, s, m, i, b, f, d, de, y, da, ti, dt, c, v, x, e, se) VALUES (3, 0, 0, 0, 0, 0, 0, 0, 0, 1901, '1000-01-01'," +
		" '00:00:00', '2000-01-01', '', '', '', '', '')",
	"CREATE PROCEDURE two_results() BEGIN SELECT 1 AS a; SELECT id, s FROM few ORDER BY id; END",
	"CREATE PROCEDURE out_params(IN a INT, INOUT b INT, OUT c VARCHAR(20)) BEGIN SET b = a + b, c = 'out'; END",
	"CREATE PROCEDURE result_and_out(OUT a INT) BEGIN SELECT 'before' AS r; SET a = 42; END",
	"CREATE PROCEDURE result_then_error() BEGIN SELECT 1 AS a; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'stop', MYSQL_ERRNO = 5000; END",
	"CREATE PROCEDURE own_cursor() BEGIN DECLARE n INT; DECLARE c CURSOR FOR SELECT id FROM few; OPEN c; FETCH c INTO n; CLOSE c; SELECT n; END",
	"CREATE PROCEDURE no_result() BEGIN DO 1; END",
	"CREATE PROCEDURE warned() BEGIN SELECT CAST('1x' AS SIGNED) AS w; SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'careful'; END",
	"CREATE FUNCTION twice(a INT) RETURNS INT DETERMINISTIC RETURN 2 * a",
	"CREATE VIEW some AS SELECT * FROM few WHERE id < 3",
}

const digits = "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5" +
	" UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"

// accounts are there beside app, which may do everything. Each has its own name as its password.
var accounts = []string{
	"CREATE USER nopass@'%' IDENTIFIED BY ''",
	"GRANT ALL ON *.* TO nopass@'%'",
	"CREATE USER poor@'%' IDENTIFIED BY 'poor'",
	"CREATE USER tlsonly@'%' IDENTIFIED BY 'tlsonly' REQUIRE SSL",
	"CREATE USER locked@'%' IDENTIFIED BY 'locked' ACCOUNT LOCK",
	"CREATE USER expired@'%' IDENTIFIED BY 'expired' PASSWORD EXPIRE",
	"CREATE USER single@'%' IDENTIFIED BY 'single' WITH MAX_USER_CONNECTIONS 1",
}

func makeFixtures(t *testing.T, s *servertest.Server, server string, databases ...string) {
	t.Helper()
	statements := accounts
	for _, database := range databases {
		statements = append(statements, "GRANT SELECT ON "+database+".* TO poor@'%'", "USE "+database)
		statements = append(statements, tables...)
	}
	db := s.Open(t, "")
	db.SetMaxOpenConns(1) // USE is for the statements that follow
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %s: %v", server, statement, err)
		}
	}
}

// dropOthers drops what a case left behind that went other ways than meant: tables of its own.
func dropOthers(ctx context.Context, db *sql.DB, database string) error {
	db.SetMaxOpenConns(1) // the timeout is for the statements that follow
	if _, err := db.ExecContext(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	names, err := others(ctx, db, database)
	if err != nil || len(names) == 0 {
		return err
	}
	_, err = db.ExecContext(ctx, "DROP TABLE IF EXISTS "+strings.Join(names, ", "))
	const lockWaitTimeout = 1205
	var failed *mysql.MySQLError
	if errors.As(err, &failed) && failed.Number == lockWaitTimeout {
		return nil // a session that hangs uses it still; another case that needs the name will tell
	}
	return err
}

// others lists the tables of a database that are neither fixtures nor sequences, to which seqgate hands ids back.
func others(ctx context.Context, db *sql.DB, database string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE'"+
		" AND TABLE_NAME NOT IN ('nums', 'few', 'types') AND TABLE_COMMENT <> 'vitess_sequence'", database)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, "`"+database+"`.`"+name+"`")
	}
	return names, rows.Err()
}
