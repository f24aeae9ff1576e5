package wiretest

import (
	"fmt"
	"strings"
)

// resultCases are about answers to texts of one statement.
var resultCases = []wireCase{
	{name: "one row", steps: queries("SELECT 1, 'a', NULL, 1.5, TRUE")},
	{name: "no rows", steps: queries("SELECT * FROM few WHERE id > 100")},
	{name: "rows with NULL", steps: queries("SELECT * FROM few ORDER BY id", "SELECT NULL", "SELECT NULL, NULL, ''")},
	{name: "1000 rows", steps: queries("SELECT n, REPEAT('r', 100) FROM nums ORDER BY n")},
	{name: "rows that begin like other packets", steps: queries(
		"SELECT '' UNION ALL SELECT NULL UNION ALL SELECT REPEAT('a', 250) UNION ALL SELECT REPEAT('a', 251) UNION ALL SELECT REPEAT('a', 254)")},
	{name: "300 columns", steps: []step{query("SELECT " + numbered(300))}},
	{name: "2000 columns", steps: []step{query("SELECT " + numbered(2000))}},
	{name: "column name of 255 characters", steps: queries("SELECT 1 AS `" + strings.Repeat("n", 255) + "`")},
	{name: "column name of 256 characters", steps: queries("SELECT 1 AS `" + strings.Repeat("n", 256) + "`")},
	{name: "column name that is a long expression", steps: queries("SELECT '" + strings.Repeat("e", 300) + "' <> ''")},
	{name: "values around 251 bytes", steps: queries("SELECT REPEAT('v', 250), REPEAT('v', 251), REPEAT('v', 252), REPEAT('v', 255), REPEAT('v', 256)")},
	{name: "values around 65535 bytes", steps: queries("SELECT REPEAT('v', 65534), REPEAT('v', 65535), REPEAT('v', 65536)")},
	{name: "OK of a change", steps: queries("CREATE TABLE changed (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO changed (v) VALUES (1), (2), (3)",
		"INSERT INTO changed VALUES (10, 4)", "UPDATE changed SET v = 5", "UPDATE changed SET v = 5", "REPLACE INTO changed VALUES (10, 6)",
		"DELETE FROM changed WHERE id < 3", "INSERT IGNORE INTO changed VALUES (10, 7)", "INSERT INTO changed VALUES (10, 8) ON DUPLICATE KEY UPDATE v = 9",
		"SELECT * FROM changed", "TRUNCATE changed", "DROP TABLE changed")},
	{name: "OK with large numbers", steps: queries("CREATE TABLE wide (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, v INT)",
		"INSERT INTO wide VALUES (18446744073709551610, 1)", "INSERT INTO wide (v) VALUES (2)", "INSERT INTO wide (id, v) SELECT n, n FROM nums", "UPDATE wide SET v = 0",
		"SELECT LAST_INSERT_ID(4294967296)", "DO LAST_INSERT_ID(70000)", "UPDATE wide SET v = LAST_INSERT_ID(18446744073709551615) LIMIT 1", "DROP TABLE wide")},
	{name: "OK with info", steps: queries("CREATE TABLE told (id INT)", "INSERT INTO told VALUES (1), (2)", "ALTER TABLE told ADD c INT", "INSERT INTO told (id) SELECT n FROM nums", "DROP TABLE told")},
	{name: "error of syntax", steps: queries("SELEKT 1", "SELECT", "SELECT * FROM", "SELECT 'open")},
	{name: "error of a missing table", steps: queries("SELECT * FROM nosuch", "INSERT INTO nosuch VALUES (1)", "DROP TABLE nosuch", "INSERT INTO nosuch.nosuch VALUES (1)")},
	{name: "error of a duplicate", steps: queries("INSERT INTO few VALUES (1, 'again')")},
	{name: "error of a value", steps: queries("CREATE TABLE strict (t TINYINT, d DATE, s VARCHAR(2))", "INSERT INTO strict VALUES (300, NULL, NULL)",
		"INSERT INTO strict VALUES (1, 'nodate', 'a')", "INSERT INTO strict VALUES (1, NULL, 'long')", "INSERT INTO strict VALUES (1, NULL)", "DROP TABLE strict")},
	{name: "error of a signal", steps: queries("SIGNAL SQLSTATE '45000'", "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'mind'", "SIGNAL SQLSTATE '77777' SET MESSAGE_TEXT = 'own', MYSQL_ERRNO = 7777")},
	{name: "error with a long text", steps: queries("SELECT * FROM `"+strings.Repeat("t", 64)+"`", "SELECT "+strings.Repeat("(", 500))},
	{name: "error in the middle of rows", steps: queries("SELECT n, (SELECT m.n FROM nums m WHERE m.n = x.n OR x.n = 900 AND m.n < 3) FROM nums x ORDER BY n")},
	{name: "error in the first row", steps: queries("SELECT n, (SELECT m.n FROM nums m WHERE m.n < 3) FROM nums x")},
	{name: "error in a row of a function", steps: queries("SELECT n, EXTRACTVALUE('<a/>', IF(n < 500, '/a', '/a[')) FROM nums ORDER BY n")},
	{name: "division by zero in strict mode on a row", steps: queries("CREATE TABLE divided (n INT)", "INSERT INTO divided SELECT 1 / (n - 500) FROM nums", "SHOW WARNINGS",
		"SELECT COUNT(*) FROM divided", "DROP TABLE divided")},
	{name: "warnings", steps: queries("SELECT 1 / 0", "SHOW WARNINGS", "SELECT CAST('abc' AS SIGNED), CAST('1x' AS SIGNED)", "SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SELECT @@warning_count", "SHOW ERRORS")},
	{name: "warnings of a change", steps: queries("CREATE TABLE warnedof (a TINYINT)", "SET sql_mode = ''", "INSERT INTO warnedof VALUES (300), ('x'), (1)", "SHOW WARNINGS", "SELECT @@warning_count", "SHOW WARNINGS", "DROP TABLE warnedof",
		"DROP TABLE IF EXISTS warnedof", "SHOW WARNINGS")},
	{name: "many warnings", steps: queries("SELECT COUNT(CAST(CONCAT(n, 'x') AS SIGNED)) FROM nums", "SHOW COUNT(*) WARNINGS", "SHOW WARNINGS LIMIT 2")},
	{name: "warnings after an INSERT that fails", steps: queries("INSERT INTO few VALUES (1, 'x')", "SHOW WARNINGS", "SHOW ERRORS", "GET DIAGNOSTICS CONDITION 1 @n = MYSQL_ERRNO, @t = MESSAGE_TEXT", "SELECT @n, @t")},
	{name: "diagnostics", steps: queries("SELECT 1 / 0", "GET DIAGNOSTICS @c = NUMBER", "SELECT @c", "SELECT * FROM nosuch", "GET DIAGNOSTICS CONDITION 1 @n = MYSQL_ERRNO, @s = RETURNED_SQLSTATE", "SELECT @n, @s")},
	{name: "empty text", steps: queries("", " ", ";", "-- nothing", "/* nothing */", "/* nothing */;")},
	{name: "comments", steps: queries("/* a */ SELECT /* b */ 1 -- c", "# d\nSELECT 2", "/*! SELECT 3 */", "/*!99999 SELECT 4 */ SELECT 5", "--\nSELECT 6")},
	{name: "text with NUL", steps: queries("SELECT 'a\x00b'", "SELECT 1\x00", "SELECT 1;\x00")},
	{name: "end of text", steps: queries("SELECT 1;", "SELECT 2; ", "SELECT 3 \n", "SELECT 4;\n-- done", "SELECT 5;;")},
	{name: "SHOW", steps: queries("SHOW TABLES LIKE 'f%'", "SHOW CREATE TABLE few", "SHOW COLUMNS FROM few", "SHOW INDEX FROM few WHERE Key_name = 'x'", "SHOW VARIABLES LIKE 'sql_mode'", "SHOW DATABASES LIKE '{db}'")},
	{name: "DESCRIBE and EXPLAIN", steps: queries("DESC few", "EXPLAIN SELECT * FROM few WHERE id = 1", "EXPLAIN nosuch")},
	{name: "CHECK and ANALYZE", steps: queries("CHECK TABLE few", "ANALYZE TABLE few", "CHECKSUM TABLE few")},
	{name: "HANDLER", steps: queries("HANDLER few OPEN", "HANDLER few READ `PRIMARY` FIRST", "HANDLER few READ `PRIMARY` NEXT LIMIT 5", "HANDLER few CLOSE", "HANDLER few READ FIRST")},
	{name: "common table expression and window", steps: queries("WITH c AS (SELECT n FROM nums LIMIT 3) SELECT n, SUM(n) OVER (ORDER BY n) FROM c")},
	{name: "SELECT INTO", steps: queries("SELECT 1, 2 INTO @a, @b", "SELECT @a, @b", "SELECT id FROM few WHERE id > 9 INTO @a", "SELECT id FROM few INTO @a")},
	{name: "DO and SET", steps: queries("DO 1", "SET @a = 5", "SET @@session.sort_buffer_size = 300000", "SET nosuch = 1", "SET sql_mode = 'nosuch'")},
	{name: "FOUND_ROWS()", steps: queries("SELECT SQL_CALC_FOUND_ROWS n FROM nums LIMIT 1", "SELECT FOUND_ROWS()", "SELECT FOUND_ROWS()")},
	{name: "ROW_COUNT()", steps: queries("CREATE TABLE counted (a INT)", "INSERT INTO counted VALUES (1), (2)", "SELECT ROW_COUNT()", "SELECT ROW_COUNT()", "DELETE FROM counted", "SELECT ROW_COUNT()", "DROP TABLE counted", "SELECT ROW_COUNT()")},
	{name: "RETURNING", only: "mariadb", steps: queries("CREATE TABLE returned (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO returned (v) VALUES (1), (2) RETURNING id, v",
		"REPLACE INTO returned VALUES (1, 5) RETURNING *", "DELETE FROM returned RETURNING v", "DROP TABLE returned")},
	{name: "MariaDB's sequences", only: "mariadb", steps: queries("CREATE SEQUENCE native", "SELECT NEXT VALUE FOR native", "SELECT NEXTVAL(native)", "SELECT LASTVAL(native)", "DROP SEQUENCE native")},
	{name: "VALUES and TABLE statements", only: "mysql", steps: queries("VALUES ROW(1, 2), ROW(3, 4)", "TABLE few ORDER BY id LIMIT 1")},
	{name: "query attributes", only: "mysql", login: login{flags: modernFlags}, steps: []step{
		query("INSTALL COMPONENT 'file://component_query_attributes'"),
		attributedQuery("SELECT mysql_query_attribute_string('a'), mysql_query_attribute_string('b')", "a", "one", "b", strings.Repeat("x", 300)),
		attributedQuery("INSERT INTO few VALUES (1, mysql_query_attribute_string('a'))", "a", "one"),
		attributedQuery("SELECT 1; SELECT mysql_query_attribute_string('a')", "a", "one"),
		query("SELECT mysql_query_attribute_string('a')"),
		query("UNINSTALL COMPONENT 'file://component_query_attributes'")}},
	{name: "client goes away before the answer", steps: []step{
		connect("b", login{}), query("CREATE TABLE left_behind (a INT)").on("b"), query("BEGIN"), query("INSERT INTO left_behind VALUES (1)"), sent(query("SELECT * FROM nums a, nums b")),
		disconnect(), query("ALTER TABLE left_behind ADD b INT").on("b"), query("SELECT COUNT(*) FROM left_behind").on("b"), query("DROP TABLE left_behind").on("b")}},
	{name: "profiling", accounts: true, steps: queries("SET profiling = 1", "SELECT 'profiled'", "INSERT INTO few VALUES (1, 'x')", "SET profiling = 0", "SELECT STATE <> '', QUERY_ID FROM information_schema.PROFILING WHERE STATE LIKE 'starting%'")},
}

// numbered is a list of columns 1, 2, up to n.
func numbered(n int) string {
	columns := make([]string, n)
	for i := range columns {
		columns[i] = fmt.Sprintf("%d AS c%d", i, i)
	}
	return strings.Join(columns, ", ")
}

// attributedQuery is a COM_QUERY with attributes, names and values in turn, where those are in use.
func attributedQuery(sql string, attributes ...string) step {
	s := query(sql)
	s.label = "attributes, " + s.label
	s.send = func(r *run, c *client) []byte {
		n := len(attributes) / 2
		b := append([]byte{comQuery, byte(n), 1}, make([]byte, (n+7)/8)...)
		b = append(b, 1)
		var values []byte
		for i := 0; i < len(attributes); i += 2 {
			b = appendLengthEncoded(append(b, typeVarchar, 0), attributes[i])
			values = appendLengthEncoded(values, attributes[i+1])
		}
		return frame(0, append(append(b, values...), r.expand(sql)...))
	}
	return s
}

// typeCases read a value of each type, as text and from a prepared statement.
var typeCases = []wireCase{
	{name: "text", steps: queries("SELECT * FROM types ORDER BY id")},
	{name: "binary", steps: []step{prepare("SELECT * FROM types ORDER BY id"), execute(1, noCursor), execute(1, noCursor)}},
	{name: "binary, by a cursor", steps: []step{prepare("SELECT * FROM types ORDER BY id"), execute(1, readOnlyCursor), fetch(1, 2), fetch(1, 10)}},
	{name: "expressions", steps: queries("SELECT 1 + 1, 1.1 * 2, 1e10, 'a' 'b', x'4142', b'1', DATE'2020-01-01', TIME'10:00:00.5', TIMESTAMP'2020-01-01 00:00:00', CAST(1 AS UNSIGNED), JSON_ARRAY(1), POINT(1, 1)")},
	{name: "expressions, binary", steps: []step{prepare("SELECT 1 + 1, 1.1 * 2, 1e10, 'a', x'4142', DATE'2020-01-01', TIME'10:00:00.5', TIMESTAMP'2020-01-01 00:00:00.25', CAST(1 AS UNSIGNED), JSON_ARRAY(1), NULL"), execute(1, noCursor)}},
	{name: "parameters of each type", steps: []step{
		prepare("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"),
		execute(1, noCursor, integer(-5), param{kind: typeLongLong | unsignedBit, value: "\xff\xff\xff\xff\xff\xff\xff\xff"}, text("text"), param{kind: typeNull, null: true},
			param{kind: typeTiny, value: "\x80"}, param{kind: typeShort, value: "\x01\x02"}, param{kind: typeLong, value: "\x01\x02\x03\x04"}, param{kind: typeDouble, value: "\x00\x00\x00\x00\x00\x00\xf8\x3f"},
			param{kind: typeFloat, value: "\x00\x00\xc0\x3f"}, param{kind: typeDatetime, value: "\x0b\xe4\x07\x01\x02\x03\x04\x05\x06\x00\x00\x00"}, param{kind: typeTime, value: "\x08\x01\x01\x00\x00\x00\x02\x03\x04"}),
		execute(1, noCursor, text("a"), text("b"), text("c"), text("d"), text("e"), text("f"), text("g"), text("h"), text(""), param{kind: typeDate, value: "\x04\xe4\x07\x0c\x1f"}, param{kind: typeDate, value: "\x00"}),
	}},
	{name: "vectors", only: "mysql", steps: queries("SELECT STRING_TO_VECTOR('[1,2,3]')", "CREATE TABLE vectors (v VECTOR(3))", "INSERT INTO vectors VALUES (TO_VECTOR('[1,2,3]'))", "SELECT v, VECTOR_TO_STRING(v) FROM vectors", "DROP TABLE vectors")},
	{name: "MariaDB's types", only: "mariadb", steps: queries("CREATE TABLE own (u UUID, i INET6, i4 INET4)", "INSERT INTO own VALUES ('123e4567-e89b-12d3-a456-426655440000', '::1', '1.2.3.4')", "SELECT * FROM own", "DROP TABLE own")},
}
