package wiretest

// severalCases are about texts of several statements and answers of several results. seqgate takes some of those texts
// apart, by the words in them.
var severalCases = []wireCase{
	{name: "results", steps: queries("SELECT 1; SELECT 2, 3; SELECT * FROM few ORDER BY id")},
	{name: "OK and results", steps: queries("SET @a = 1; SELECT @a; DO 1; SELECT 2")},
	{name: "OKs", steps: queries("SET @a = 1; SET @b = 2", "BEGIN; COMMIT; BEGIN; ROLLBACK")},
	{name: "error first", steps: queries("SELECT * FROM nosuch; SELECT 2")},
	{name: "error in the middle", steps: queries("SELECT 1; SELECT * FROM nosuch; SELECT 3", "SELECT @a := 1; SELECT 1 / 0; SHOW WARNINGS")},
	{name: "error last", steps: queries("SELECT 1; SELECT * FROM nosuch")},
	{name: "error of syntax in the middle", steps: queries("SELECT 1; SELEKT 2; SELECT 3", "SELECT 1;\nSELECT 2;\nSELEKT 3")},
	{name: "error in the rows of the middle one", steps: queries("SELECT 1; SELECT (SELECT n FROM nums WHERE n < few.id + 1) FROM few; SELECT 3")},
	{name: "empty statements", steps: queries("SELECT 1;", "SELECT 1; ;", ";SELECT 1", "SELECT 1;; SELECT 2", "SELECT 1; -- end", "SELECT 1; /* end */ SELECT 2; /* end */", "SELECT 1 -- a;b\n; SELECT 2")},
	{name: "semicolons in strings", steps: queries("SELECT ';'; SELECT \"a;b\"; SELECT `n;m` FROM (SELECT 1 AS `n;m`) x; SELECT 'it''s; \\'; fine'")},
	{name: "transaction flags", steps: queries("BEGIN; SELECT 1; COMMIT; SELECT 2", "SET autocommit = 0; SELECT 1; SET autocommit = 1")},
	{name: "procedure with two results", steps: queries("CALL two_results()", "CALL two_results(); SELECT 'after'", "SELECT 'before'; CALL two_results(); CALL no_result(); SELECT 'after'")},
	{name: "procedure with result and error", steps: queries("CALL result_then_error()", "SELECT 1; CALL result_then_error(); SELECT 'never'")},
	{name: "procedure with a cursor of its own", steps: queries("CALL own_cursor()", "SELECT 1; CALL own_cursor(); SELECT 2")},
	{name: "procedure without a result", steps: queries("CALL no_result()", "CALL no_result(); CALL no_result()")},
	{name: "procedure with warnings", steps: queries("CALL warned()", "SHOW WARNINGS")},
	{name: "procedure with variables", steps: queries("SET @b = 2; CALL out_params(1, @b, @c); SELECT @b, @c")},
	{name: "unknown procedure", steps: queries("CALL nosuch()", "SELECT 1; CALL nosuch(); SELECT 2")},
	{name: "INSERT among others", steps: queries("CREATE TABLE among (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
		"INSERT INTO among (v) VALUES (1), (2); SELECT LAST_INSERT_ID(), ROW_COUNT(); INSERT INTO among VALUES (1, 1); SELECT 'never'",
		"SELECT 'a'; INSERT INTO among (v) VALUES (3); SELECT * FROM among", "DROP TABLE among")},
	{name: "INSERT and SET", steps: queries("CREATE TABLE mixed (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
		"SET @x = 7; INSERT INTO mixed (v) VALUES (@x), (@x + 1); SELECT * FROM mixed; SET @x = 8; INSERT INTO mixed (v) VALUES (@x)",
		"SET sql_mode = 'ANSI_QUOTES'; INSERT INTO mixed (\"v\") VALUES (1); SELECT \"v\" FROM mixed; SET sql_mode = DEFAULT",
		"USE information_schema; INSERT INTO {db}.mixed (v) VALUES (5); SELECT DATABASE(); USE {db}", "DROP TABLE mixed")},
	{name: "INSERT and CREATE", steps: queries("CREATE TABLE made (id INT, v INT); INSERT INTO made VALUES (1, 2); SELECT * FROM made; DROP TABLE made; SELECT 'done'",
		"DROP TABLE IF EXISTS made; CREATE TEMPORARY TABLE made (id INT); INSERT INTO made VALUES (3); SELECT * FROM made; DROP TABLE made")},
	{name: "INSERT and warnings", steps: queries("SET sql_mode = ''; CREATE TABLE warm (t TINYINT); INSERT INTO warm VALUES (300), (301); SHOW WARNINGS; SELECT @@warning_count; DROP TABLE warm",
		"SELECT 1 / 0; SET @a = 1; INSERT INTO few VALUES (1, 'x')", "SHOW WARNINGS")},
	{name: "INSERT and an error of syntax", steps: queries("SET @a = 1; INSERT INTO few VALUES (1, 'x'); SELEKT 1", "SET @a = 1; SELEKT 2; INSERT INTO few VALUES (1, 'x')",
		"SET @a = 1;\n\nSELEKT\n3; INSERT INTO few VALUES (1, 'x')", "INSERT INTO few (1; SELECT 2")},
	{name: "INSERT and empty statements", steps: queries("SET @a = 1; INSERT INTO few VALUES (1, 'x');", "SET @a = 1;; INSERT INTO few VALUES (1, 'x')", "SET @a = 1; -- INSERT", "SET @a = 1; /* INSERT */ ;SELECT 1",
		"SET @a = 1; INSERT INTO nosuch VALUES (1); -- end")},
	{name: "INSERT in a transaction", steps: queries("CREATE TABLE acid (a INT)", "BEGIN; INSERT INTO acid VALUES (1); SELECT * FROM acid; ROLLBACK; SELECT * FROM acid",
		"SET autocommit = 0; INSERT INTO acid VALUES (2); COMMIT; SET autocommit = 1; SELECT * FROM acid", "DROP TABLE acid")},
	{name: "INSERT in a comment or a string", steps: queries("SELECT 'insert'; SELECT /* insert */ 2", "SET @a = 'INSERT INTO few'; SELECT @a")},
	{name: "PREPARE among others", steps: queries("PREPARE p FROM 'SELECT ? + 1'; SET @a = 41; EXECUTE p USING @a; DEALLOCATE PREPARE p; SELECT 'done'", "PREPARE q FROM 'SELEKT'; SELECT 'never'")},
	{name: "CREATE PROCEDURE among others", steps: queries("DROP PROCEDURE IF EXISTS made_here; CREATE PROCEDURE made_here() BEGIN SELECT 1; SELECT 2; END; CALL made_here(); DROP PROCEDURE made_here; SELECT 'done'")},
	{name: "CREATE PROCEDURE with an INSERT", steps: queries("CREATE TABLE target (a INT)", "CREATE PROCEDURE writes() BEGIN INSERT INTO target VALUES (1); SELECT * FROM target; END", "CALL writes()", "DROP PROCEDURE writes", "DROP TABLE target")},
	{name: "CALL and INSERT", steps: queries("CREATE TABLE called (a INT)", "CALL two_results(); INSERT INTO called VALUES (1); SELECT * FROM called", "DROP TABLE called")},
	{name: "LOCK TABLES and INSERT", steps: queries("CREATE TABLE dumped (a INT, KEY (a))",
		"LOCK TABLES dumped WRITE; /*!40000 ALTER TABLE dumped DISABLE KEYS */; INSERT INTO dumped VALUES (1), (2); /*!40000 ALTER TABLE dumped ENABLE KEYS */; UNLOCK TABLES", "SELECT * FROM dumped", "DROP TABLE dumped")},
	{name: "KILL among others", steps: queries("SELECT 1; KILL 999999999; SELECT 2")},
	{name: "SET_OPTION in between", steps: []step{command(comSetOption, "\x01\x00"), query("SET @a = 1; INSERT INTO few VALUES (1, 'x')"), command(comSetOption, "\x00\x00"), query("SET @a = 1; INSERT INTO few VALUES (1, 'x')")}},
	{name: "100 statements", steps: []step{query(repeated("SELECT 1;", 100)), query(repeated("SET @a = 1;", 300))}},
	{name: "300 statements with INSERT", steps: []step{query("CREATE TABLE each_one (a INT)"), query(repeated("INSERT INTO each_one VALUES (1);", 100) + repeated("SET @a = 1;", 200)),
		query("SELECT COUNT(*) FROM each_one"), query("DROP TABLE each_one")}},
	{name: "two pipelined texts", steps: []step{pipelined(query("SELECT 1; SELECT 2"), query("SET @a = 1; INSERT INTO few VALUES (1, 'x')"), query("SELECT 3; SELECT 4"))}},
	{name: "LOAD DATA LOCAL among others", steps: []step{query("CREATE TABLE loaded_here (a INT)"),
		query("SELECT 1; LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded_here; SELECT COUNT(*) FROM loaded_here").withFile("1\n2\n"), query("DROP TABLE loaded_here")}},
	{name: "LOAD DATA LOCAL in a text taken apart", steps: []step{
		query("CREATE TABLE loaded_too (a INT); LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded_too; SELECT COUNT(*) FROM loaded_too").withFile("1\n2\n", "3\n"),
		query("CREATE TABLE loaded_too (a INT); LOAD DATA LOCAL INFILE 'f' INTO TABLE loaded_too"),
		query("DROP TABLE IF EXISTS nosuch; LOAD DATA LOCAL INFILE 'f' INTO TABLE nosuch; SELECT 1").withFile("1\n"), query("DROP TABLE loaded_too")}},
	{name: "error of syntax in a text taken apart", steps: queries("DROP TABLE IF EXISTS nosuch; SELEKT 1; INSERT INTO few VALUES (1, 'x') ; ; ", "DROP TABLE IF EXISTS nosuch;\n\n SELECT 1 +\n\n; INSERT INTO few VALUES (1, 'x')",
		"DROP TABLE IF EXISTS nosuch; -- c\nSELECT 1\n, ) ; INSERT INTO few VALUES (1, 'x'), (2, 'y'), (3, 'z'), (4, 'a'), (5, 'b'), (6, 'c')", "DROP TABLE IF EXISTS nosuch; SELEKT 'äx'; INSERT INTO few VALUES (1, 'äääääääääääääääääääääääääääääääääääääääää')",
		"DROP TABLE IF EXISTS nosuch; SELEKT aä; INSERT INTO few VALUES (1, 'äääääääääääääääääääääääääääääääääääääääää')",
		"DROP TABLE IF EXISTS nosuch; PREPARE p FROM 'SELECT ('; INSERT INTO few VALUES (1, 'x')", "DROP TABLE IF EXISTS nosuch; SELECT 'it''s' 'x'x y; INSERT INTO few VALUES (1, 'x')",
		"DROP TABLE IF EXISTS nosuch; DROP nosuch", "DROP TABLE IF EXISTS nosuch; INSERT INTO few VALUES (1, 'x'", "DROP TABLE IF EXISTS nosuch;; INSERT INTO few VALUES (1, 'x');")},
	{name: "comments at the end of a text taken apart", steps: queries("DROP TABLE IF EXISTS nosuch; DELETE FROM few WHERE id = 99; -- INSERT", "DROP TABLE IF EXISTS nosuch; # INSERT\n;;", "DROP TABLE IF EXISTS nosuch; /* INSERT */;; -- x", "USE {db}; /*! */ /* INSERT */")},
	{name: "unusual quotes in a text taken apart", steps: queries("DROP TABLE IF EXISTS nosuch; SELECT \";\", 'a\\';b'; INSERT INTO few VALUES (1, 'x')", "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "USE {db}; SELECT \"id\" FROM few WHERE s = 'a\\'; INSERT INTO \"few\" VALUES (1, 'x')")},
	{name: "FOUND_ROWS() over a text with an INSERT", steps: queries("SELECT SQL_CALC_FOUND_ROWS n FROM nums LIMIT 1", "SET @a = FOUND_ROWS(); INSERT INTO few VALUES (1, 'x')", "SELECT FOUND_ROWS(), @a")},
	{name: "FOUND_ROWS() over a text taken apart", steps: queries("SELECT SQL_CALC_FOUND_ROWS n FROM nums LIMIT 1", "DROP TABLE IF EXISTS nosuch; SET @a = FOUND_ROWS(); INSERT INTO few VALUES (1, 'x')", "SELECT FOUND_ROWS(), @a")},
	{name: "stored function", steps: queries("SELECT twice(id) FROM few; SELECT twice(21)")},
}

// repeated is a text n times.
func repeated(text string, n int) string {
	all := make([]byte, 0, n*len(text))
	for range n {
		all = append(all, text...)
	}
	return string(all)
}
