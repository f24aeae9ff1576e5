package parser

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNeededRight(t *testing.T) {
	const mysql97, maria = 90700, 101106
	tests := map[Right][]string{
		RightRead: {
			"", "-- nothing", "SELECT 1", "(SELECT 1)", "/* c */ SELECT 'delete from t'", "SELECT a INTO @x FROM t", "TABLE t", "VALUES ROW(1)",
			"WITH c AS (SELECT 1) SELECT * FROM c", "WITH c AS (SELECT REPLACE(a, 'b', 'c') FROM t) SELECT * FROM c", "SHOW TABLES", "SHOW SEQGATE STATUS", "DESCRIBE t",
			"DESC t 'a%'", "EXPLAIN t", "EXPLAIN FORMAT=JSON SELECT 1", "EXPLAIN (SELECT 1)", "EXPLAIN FOR CONNECTION 5", "EXPLAIN FORMAT=JSON INTO @v SELECT 1", "EXPLAIN ANALYZE SELECT 1", "ANALYZE SELECT 1", "ANALYZE FORMAT=JSON SELECT 1", "USE shop", "BEGIN", "START TRANSACTION READ ONLY", "COMMIT", "ROLLBACK TO s",
			"SAVEPOINT s", "RELEASE SAVEPOINT s", "SET NAMES utf8mb4", "SET sql_mode = ''", "SET @a = 1, autocommit = 0", "SET SESSION TRANSACTION READ ONLY",
			"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET ROLE r", "SET STATEMENT max_statement_time=1 FOR SELECT 1", "SELECT 1; SELECT 2;",
			"SET ROLE NONE", "SET @a := 1, @@session.max_error_count = 64, LOCAL sort_buffer_size = DEFAULT", "SET CHARACTER SET utf8mb4", "SELECT SUBSTRING(a FROM 1 FOR 2) FROM t",
			"WITH RECURSIVE c (n) AS (SELECT 1), d AS (SELECT 2) (SELECT * FROM c, d)", "WITH c AS (SELECT 1) (WITH d AS (SELECT 2) SELECT * FROM d)", "SELECT 0xAB, 1e5, .5, 1.0 FROM t",
			"SET STATEMENT max_statement_time=1.5, sql_select_limit=DEFAULT FOR SELECT 1", "SET sql_mode = ''; SELECT 1; SET NAMES gbk; SELECT 2",
			"PREPARE s FROM 'SELECT ?'", "EXECUTE s USING @a", "DEALLOCATE PREPARE s", "DROP PREPARE s", "EXECUTE IMMEDIATE 'SELECT 1'", "SELECT LAST_INSERT_ID()",
			"SELECT LASTVAL(s)", "SELECT PREVIOUS VALUE FOR s", "SELECT SEQGATE_DECODE(1)", "SELECT /*!40001 SQL_NO_CACHE */ * FROM t", "/*!40101 SET NAMES utf8 */",
			"/*!99999 DROP TABLE t */ SELECT 1", `SELECT "it's; DROP TABLE t"`, "SET sql_mode = 'ANSI_QUOTES'; SELECT 1",
		},
		RightWrite: {
			"INSERT INTO t VALUES (1)", "REPLACE t SELECT 1", "UPDATE t SET a = 1", "DELETE FROM t", "WITH c AS (SELECT 1) DELETE FROM t", "WITH c AS (SELECT 1) UPDATE t SET a = 1",
			"KILL QUERY 7", "KILL 7", "KILL CONNECTION 7", "DO 1", "EXPLAIN DELETE FROM t", "EXPLAIN SELECT * FROM t FOR UPDATE", "WITH x AS (SELECT 1) UPDATE (r) SET v = 'y'",
			"WITH x AS (SELECT 1)UPDATE r, x SET v = 1", "SELECT v FROM r WHERE 1.0FOR UPDATE", "SELECT v FROM r WHERE 1e1FOR UPDATE", "SELECT v FROM r WHERE 1e+1FOR SHARE", "SELECT v FROM r WHERE 1.FOR UPDATE",
			"SELECT v, .5INTO OUTFILE '/f' FROM r", "SELECT v FROM r WHERE \\NFOR UPDATE", "SET @x = (SELECT 1 FROM r WHERE 1.0FOR UPDATE)", "SHOW TABLES WHERE (SELECT 1 FROM r FOR UPDATE)",
			"(SELECT 1 FROM r)FOR/**/UPDATE", "HANDLER t OPEN", "LOAD DATA LOCAL INFILE 'f' INTO TABLE t", "XA START 'x'", "LOCK TABLES t READ", "UNLOCK TABLES",
			"SELECT * FROM t INTO OUTFILE '/f'", "SELECT a INTO DUMPFILE '/f' FROM t", "TABLE t INTO OUTFILE '/f'", "SELECT * FROM t FOR UPDATE", "SELECT * FROM t FOR SHARE NOWAIT",
			"SELECT * FROM t LOCK IN SHARE MODE", "(SELECT * FROM t) FOR UPDATE", "SELECT NEXT VALUE FROM s", "SELECT NEXT 5 VALUES FROM s", "SELECT NEXT VALUE FOR s", "SELECT 1 + NEXTVAL(s)",
			"SELECT `nextval`(s)", "SELECT shop.nextval('s')", "SET @a = NEXTVAL(s)", "SELECT 1; DELETE FROM t; SELECT 2", "CREATE TEMPORARY TABLE x (a INT)", "DROP TEMPORARY TABLE x",
			"PREPARE s FROM 'DELETE FROM t'", "EXECUTE IMMEDIATE 'DELETE FROM t'", "SET STATEMENT max_statement_time=1 FOR DELETE FROM t", "ANALYZE UPDATE t SET a = 1", "EXPLAIN ANALYZE DELETE FROM t",
			"/*!40000 DELETE FROM t */", "/*! SELECT */ /*!99999 1 */ * FROM t FOR /*!40000 UPDATE */", "SELECT 1 /*!40000 FOR UPDATE */", "/*!99999 SELECT */ /*!40000 DELETE FROM t */",
			`SELECT '\'; DELETE FROM t; -- '`, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; DELETE FROM t",
		},
		RightAdmin: {
			"CREATE TABLE t (a INT)", "CREATE SEQUENCE s", "ALTER SEQUENCE s RESTART 5", "ALTER TABLE t ADD b INT", "ALTER VSCHEMA DROP TABLE t", "DROP TABLE t", "RENAME TABLE t TO u",
			"TRUNCATE t", "GRANT ALL ON *.* TO u", "FLUSH TABLES", "RESET MASTER", "SET GLOBAL a = 1", "SET @@global.a = 1", "SET a = 1, PERSIST b = 2", "SET @@`global`.a = 1", "SET PASSWORD = 'x'",
			"SET DEFAULT ROLE r TO u", "SELECT SETVAL(s, 5)", "INSERT INTO t VALUES (SETVAL(s, 5))", "DO SETVAL(s, 5)", "SET @a = SETVAL(s, 5)", "SELECT `setval`(s, 5)",
			"OPTIMIZE TABLE t", "ANALYZE TABLE t", "ANALYZE LOCAL TABLE t", "START REPLICA", "SHUTDOWN", "LOCK INSTANCE FOR BACKUP", "RELEASE LOCKS", "PREPARE s FROM @a", "PREPARE s FROM 'DROP TABLE t'", "EXECUTE IMMEDIATE @a",
			"EXECUTE IMMEDIATE CONCAT('DROP', ' TABLE t')", "PREPARE s FROM 'PREPARE s FROM @a'", "BEGIN NOT ATOMIC DROP TABLE t; END", "CREATE PROCEDURE p() BEGIN DELETE FROM t; END", "IF 1 THEN SELECT 1; END IF",
			"SELECT 1; DROP TABLE t", "SET STATEMENT max_statement_time=1 FOR DROP TABLE t; SELECT 1", "SELECT 'open", "SELECT 1 /*!40000", "SELECT 1; /*!40000 SELECT 2; DROP TABLE t */", "nonsense", "`label`: LOOP", "?",
			"SET sql_mode = 'ANSI_QUOTES'; DROP TABLE t", "INSTALL PLUGIN p SONAME 'x'", "PURGE BINARY LOGS BEFORE NOW()", "CHANGE MASTER TO a = 1", "CREATE USER u", "DROP DATABASE d",
			"CALL p()", "KILL USER u", "KILL (SELECT 1)", "KILL CONNECTION_ID()", "SET @a=1, PASSWORD = PASSWORD('test')", "SET @a=1, DEFAULT ROLE NONE", "SET @a=1, PASSWORD FOR u@h = 'x'",
			"SET ROLE r, PASSWORD = 'x'", "SET SESSION AUTHORIZATION u", "SET sql_log_bin = 0", "SET @@session.gtid_next = 'x'", "SET RESOURCE GROUP g", "SET a.b = 1", "SET @@x.y = 1", "SET `password` = 1",
			"SET STATEMENT long_query_time=1.0FOR DELETE FROM r WHERE 'a' = SUBSTRING('a' FROM 1 FOR (SELECT 1))", "SET STATEMENT a=LENGTH(SUBSTRING('5' FROM 1 FOR (SELECT 1))) FOR DELETE FROM r",
			"SET STATEMENT a=1 FOR SET STATEMENT a=1 FOR SELECT 1", "SET STATEMENT a=@for FOR SELECT 1", "SET STATEMENT sql_mode='' FOR SELECT 1", "SET STATEMENT sql_log_bin=0 FOR DELETE FROM t",
			"WITH c AS (SELECT 1) INSERT INTO t SELECT 1", "WITH c (SELECT 1) SELECT 1", "WITH c AS (SELECT 1 SELECT 1", "(DELETE FROM t)", "(", "EXPLAIN (DELETE FROM t)", "ANALYZE", "ANALYZE x",
			"PREPARE s FROM 'PREPARE u FROM ''SELECT 1'''", "EXECUTE s; SELECT '\xbf\\'; DELETE FROM r; -- '", "EXECUTE s; SELECT '\xc3\xa9'", "SET NAMES gbk; SELECT '\xbf\\'; DELETE FROM r; -- '", "USE d; EXECUTE s; DELETE FROM t",
		},
	}
	for want, texts := range tests {
		for _, sql := range texts {
			for _, server := range []struct {
				mariaDB bool
				version int
			}{{false, mysql97}, {true, maria}} {
				modes := Readings([]byte(sql), server.mariaDB)
				if modes == nil {
					modes = []Mode{{MariaDB: server.mariaDB}} // of a session in UTF-8
				}
				if got := NeededRight([]byte(sql), modes, server.version); got != want {
					t.Errorf("%q (MariaDB %v) needs %d, want %d", sql, server.mariaDB, got, want)
				}
			}
		}
	}
	if got := NeededRight([]byte("SELECT 1"), nil, mysql97); got != RightAdmin {
		t.Errorf("a text of which no reading is known needs %d", got)
	}
}

// The tables whose rows a text may change are among those that it is found to write.
func TestJudgeWrites(t *testing.T) {
	for sql, want := range map[string][]Table{
		"INSERT INTO s VALUES (1)":                             {{"", "s"}},
		"INSERT LOW_PRIORITY IGNORE into.s SET a = 1":          {{"into", "s"}},
		"REPLACE `d`.`s` SELECT * FROM t":                      {{"d", "s"}},
		"REPLACE INTO 1s VALUES (1)":                           {{"", "1s"}},
		"INSERT INTO .s VALUES (1)":                            {{"", "s"}},
		"UPDATE t JOIN s ON t.a = 1 SET s.b = 1":               {{"", "t"}, {"", "s"}},
		"UPDATE (t AS a, d.s b) SET b.x = 1":                   {{"", "t"}, {"d", "s"}},
		"UPDATE t JOIN (SELECT 1) x ON 1.0JOIN s SET b = 1":    {{"", "t"}, {"", "s"}},
		"DELETE FROM s WHERE a IN (SELECT b FROM t)":           {{"", "s"}},
		"DELETE a.*, b FROM t AS a, s AS b":                    {{"", "a"}, {"", "b"}, {"", "t"}, {"", "s"}},
		"DELETE QUICK FROM a USING s AS a":                     {{"", "a"}, {"", "s"}},
		"WITH c AS (SELECT 1) UPDATE s SET a = 1":              {{"", "s"}},
		"EXPLAIN UPDATE s SET a = 1":                           {{"", "s"}},
		"LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE d.s":    {{"d", "s"}},
		"PREPARE p FROM 'DELETE FROM s'":                       {{"", "s"}},
		"USE d; DELETE FROM s; DELETE FROM e.s":                {{"d", "s"}, {"e", "s"}},
		"/*!40000 UPDATE s */ SET a = 1":                       {{"", "s"}},
		"SET sql_mode = 'ANSI_QUOTES'; UPDATE \"s\" SET a = 1": {{"", "s"}},
		"SELECT 1": nil,
		"INSERT INTO t SELECT * FROM s ON DUPLICATE KEY UPDATE a = s.b + 1": {{"", "t"}},
	} {
		needs := Judge([]byte(sql), Readings([]byte(sql), true), 101106)
		if needs.Right == RightAdmin || !slices.Equal(needs.Writes, want) {
			t.Errorf("%q needs %d and writes %v, want %v", sql, needs.Right, needs.Writes, want)
		}
	}
}

// Texts of the forms that nest or repeat are judged in time in proportion to their length, without depth. They took hours,
// or ended the process by a stack overflow, and 1 MB of each takes less than a tenth of a second.
func TestJudgeIsBounded(t *testing.T) {
	for _, tt := range []struct{ begin, repeated, end string }{
		{"", "set statement for ", "foo"},
		{"", "set statement a=1 for ", "select 1"},
		{"", "set statement a=1 for select 1;", ""},
		{"", "with c as (", "select 1"},
		{"", "with c as (select 1) (", "select 1"},
		{"", "explain ", "select 1"},
		{"", "analyze ", "select 1"},
		{"", "(", "select 1"},
		{"select 1 ", "for ", ""},
		{"select 1 ", "into ", ""},
		{"select ", "1.0for ", "1"},
		{"", "set sql_mode=''; ", ""},
		{"", "execute s; ", ""},
		{"", "prepare s from 'select 1'; ", ""},
		{"", "/*!40000 select 1 */; ", ""},
		{"", "/*!40000 ", ""},
		{"set ", "@a=(1),", "@b=1"},
		{"update ", "(a,", "b"},
		{"delete from ", "t, ", "t"},
		{"", "select '\\'\"[\xbf", ""},
	} {
		sql := []byte(tt.begin + strings.Repeat(tt.repeated, 1<<20/len(tt.repeated)) + tt.end)
		began := time.Now()
		Judge(sql, EveryReading(sql, true), 101106)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%q repeated to 1 MB took %v", tt.repeated, took)
		}
	}
}

// A statement is judged the same beside others, and a comment makes none more harmless.
func FuzzNeededRight(f *testing.F) {
	for _, sql := range []string{"SELECT 1", "DELETE FROM t", "DROP TABLE t", "SELECT /*!40000 1 */", "SET a = 'b'", `SELECT "'" FOR UPDATE`} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		modes := []Mode{{}}
		alone := NeededRight([]byte(sql), modes, 90700)
		if beside := NeededRight([]byte("DELETE FROM t;"+sql), modes, 90700); beside < alone || beside < RightWrite {
			t.Errorf("%q needs %d, and behind a DELETE %d", sql, alone, beside)
		}
	})
}
