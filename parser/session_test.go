package parser

import (
	"slices"
	"testing"
)

func TestFindSession(t *testing.T) {
	for _, test := range []struct {
		sql      string
		uses     SessionUse
		assigned []string
		replaced string // with 'v' in the place of each call
	}{
		{sql: "SELECT 1"},
		{sql: "SELECT DATABASE()", uses: ReadsDatabase, replaced: "SELECT 'v' AS `DATABASE()` "},
		{sql: "SELECT schema ( ) AS s, 1 FROM dual", uses: ReadsDatabase, replaced: "SELECT 'v' AS s, 1 FROM dual"},
		{sql: "SELECT (SELECT DATABASE()), a FROM t", uses: ReadsDatabase | ReadsTables, replaced: "SELECT (SELECT 'v' AS `DATABASE()` ) AS `(SELECT DATABASE())` , a FROM t"},
		{sql: "SELECT CONCAT(DATABASE(), 'x') c, row_count()", uses: ReadsDatabase | ReadsRowCount, replaced: "SELECT CONCAT('v', 'x') c, 'v' AS `row_count()` "},
		{sql: "SELECT 'DATABASE()', `database`, t.database() FROM t", uses: ReadsTables},
		{sql: "SELECT last_insert_id(5)", uses: SetsLastID},
		{sql: "INSERT INTO t VALUES (LAST_INSERT_ID(), 1)", uses: ReadsLastID | ReadsTables, replaced: "INSERT INTO t VALUES ('v', 1)"},
		{sql: "SELECT @@identity, @@session.last_insert_id", uses: ReadsLastID, replaced: "SELECT 'v' AS `@@identity` , 'v' AS `@@session.last_insert_id` "},
		{sql: "SELECT @@warning_count", uses: ReadsWarnings, replaced: "SELECT 'v' AS `@@warning_count` "},
		{sql: "SELECT @a, @`B` := 1, @c.d:=2", uses: ReadsVariables | SetsVariables, assigned: []string{"b", "c.d"}},
		{sql: "SELECT a, b INTO @x, @'Y' FROM t", uses: ReadsVariables | SetsVariables | ReadsTables, assigned: []string{"x", "y"}},
		{sql: "SELECT GET_LOCK('a', 1)", uses: TakesLocks},
		{sql: "GRANT ALL ON *.* TO u@h"},
		{sql: "SELECT REPLACE('a', 'b', 'c'), EXTRACT(YEAR FROM NOW())", uses: ReadsTables},
		{sql: "SELECT databaseé(), fromé, `x`.y"},
		{sql: "SELECT @@identityé"},
		{sql: "SELECT @é", uses: Unread},
		{sql: "SELECT 'a", uses: Unread},
	} {
		got := FindSession([]byte(test.sql), Mode{})
		if got.Uses != test.uses || !slices.Equal(got.Assigned, test.assigned) {
			t.Errorf("%s: %b %q, want %b %q", test.sql, got.Uses, got.Assigned, test.uses, test.assigned)
		}
		if test.replaced == "" {
			test.replaced = test.sql
		}
		replaced := got.AppendReplaced(nil, []byte(test.sql), func(dst []byte, _ SessionCall) ([]byte, bool) { return append(dst, "'v'"...), true })
		if string(replaced) != test.replaced {
			t.Errorf("%s: becomes %s, want %s", test.sql, replaced, test.replaced)
		}
	}
}

// A value in arithmetic is not Plain: a literal's type would change its result.
func TestSessionCallPlain(t *testing.T) {
	for sql, want := range map[string]bool{
		"INSERT INTO t VALUES (LAST_INSERT_ID())": true, "SELECT 1 WHERE a = LAST_INSERT_ID()": true,
		"SELECT LAST_INSERT_ID() x": true, "SELECT LAST_INSERT_ID() - 10": false, "SELECT -LAST_INSERT_ID()": false,
		"SELECT LAST_INSERT_ID() DIV 2": false, "SELECT 5 MOD LAST_INSERT_ID()": false,
	} {
		got := FindSession([]byte(sql), Mode{})
		if len(got.Calls) != 1 || got.Calls[0].Plain != want {
			t.Errorf("%s: %+v, want Plain %v", sql, got.Calls, want)
		}
	}
}

func TestParseSet(t *testing.T) {
	user, session, next, server, charsets := SetUserVariable, SetSessionVariable, SetNextTransaction, SetServer, SetCharsets
	for sql, want := range map[string]SetStmt{
		"SET @a = 1, @`B`:=(SELECT 1, 2)":                         {Assignments: []Assignment{{Scope: user, Name: "a"}, {Scope: user, Name: "b"}}},
		"SET sql_mode = 'ANSI', SESSION x = DEFAULT;":             {Assignments: []Assignment{{Scope: session, Name: "sql_mode"}, {Scope: session, Name: "x", Default: true}}},
		"SET @@x = 1, @@session.y = 2, @@local.Z = 3":             {Assignments: []Assignment{{Scope: session, Name: "x"}, {Scope: session, Name: "y"}, {Scope: session, Name: "z"}}},
		"SET @@transaction_isolation = 'X'":                       {Assignments: []Assignment{{Scope: next, Name: "transaction_isolation"}}},
		"SET transaction_isolation = 'X'":                         {Assignments: []Assignment{{Scope: session, Name: "transaction_isolation"}}},
		"SET @@session.tx_isolation = 'X'":                        {Assignments: []Assignment{{Scope: session, Name: "tx_isolation"}}},
		"SET GLOBAL x = 1":                                        {Assignments: []Assignment{{Scope: server, Name: "x"}}, Server: true},
		"SET @@persist.x = 1":                                     {Assignments: []Assignment{{Scope: server, Name: "x"}}, Server: true},
		"SET NAMES utf8mb4 COLLATE utf8mb4_bin, @a=1":             {Assignments: []Assignment{{Scope: charsets, Name: ""}, {Scope: user, Name: "a"}}},
		"SET CHARACTER SET latin1":                                {Assignments: []Assignment{{Scope: charsets, Name: ""}}},
		"SET CHARSET DEFAULT":                                     {Assignments: []Assignment{{Scope: charsets, Name: "", Default: true}}},
		"SET TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE": {Form: SetTransaction},
		"SET SESSION TRANSACTION READ ONLY":                       {Form: SetSessionTransaction},
		"SET GLOBAL TRANSACTION READ ONLY":                        {Form: SetTransaction, Server: true},
		"SET TRANSACTION ISOLATION LEVEL X":                       {Form: SetMalformed},
		"SET PASSWORD = 'x'":                                      {Form: SetAccount},
		"SET DEFAULT ROLE NONE TO u":                              {Form: SetAccount},
		"SET hot.key_buffer_size = 1":                             {Assignments: []Assignment{{Scope: session, Name: "hot.key_buffer_size"}}},
	} {
		got, ok := ParseSet([]byte(sql), Mode{})
		for i := range got.Assignments {
			got.Assignments[i].Value = Span{}
		}
		if !ok || got.Form != want.Form || got.Server != want.Server || !slices.Equal(got.Assignments, want.Assignments) {
			t.Errorf("%s: %+v, %v, want %+v", sql, got, ok, want)
		}
	}
	sql := "SET @a = 1 + 2, x=ON ;"
	values, _ := ParseSet([]byte(sql), Mode{})
	for i, want := range []string{"1 + 2", "ON"} {
		if v := values.Assignments[i].Value; sql[v.Start:v.End] != want {
			t.Errorf("the value %d of %s is %s", i, sql, sql[v.Start:v.End])
		}
	}
	for _, sql := range []string{"SET", "SET @a", "SET @é = 1", "SET x 1", "SET x = 1; SELECT 1", "SELECT 1", "SET x = 'a", "SET x = /*!1*/ 1"} {
		if got, ok := ParseSet([]byte(sql), Mode{}); ok {
			t.Errorf("%s: %+v, want not read", sql, got)
		}
	}
}

func TestTransactionCharacteristics(t *testing.T) {
	for text, want := range map[string]SetForm{
		"READ ONLY": SetTransaction, "READ WRITE;": SetTransaction, "ISOLATION LEVEL READ UNCOMMITTED": SetTransaction,
		"ISOLATION LEVEL READ COMMITTED, READ ONLY": SetTransaction, "read write, isolation level repeatable read": SetTransaction,
		"": SetMalformed, "READ": SetMalformed, "READ ONLY, READ WRITE": SetMalformed, "READ ONLY,": SetMalformed,
		"ISOLATION LEVEL REPEATABLE": SetMalformed, "READ ONLY; SELECT 1": SetMalformed,
	} {
		if got, ok := ParseSet([]byte("SET TRANSACTION "+text), Mode{}); !ok || got.Form != want {
			t.Errorf("%s: %v, want %v", text, got.Form, want)
		}
	}
}

func TestAppendQualified(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT NEXTVAL(main.s), 'main.x' FROM dual": "SELECT NEXTVAL(`m1`.s), 'main.x' FROM dual",
		"CREATE SEQUENCE `main` . s":                 "CREATE SEQUENCE `m1` . s",
		"SHOW SEQUENCES FROM main LIKE 'main'":       "SHOW SEQUENCES FROM `m1` LIKE 'main'",
		"SELECT main FROM main.t, other.main":        "SELECT main FROM `m1`.t, other.main",
	} {
		if got := string(AppendQualified(nil, []byte(sql), Mode{}, "main", "m1")); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

func TestMayUseSession(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT Database()": true, "SELECT LAST_INSERT_ID \n (5)": true, "SELECT database/* x */()": true, "SELECT 1 -- database": true,
		"SELECT @a": true, "INSERT INTO t VALUES (1), (row_count())": true, "SELECT is_used_lock('a')": true, "(SELECT 1)": false,
		"SELECT database FROM t WHERE (a)": false, "INSERT INTO t (a, b) VALUES (1, NOW())": false, "": false, "(": false,
	} {
		if got := MayUseSession([]byte(sql)); got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}

// Any bytes are read without a panic, and what is not a call stays as it is.
func FuzzFindSession(f *testing.F) {
	for _, sql := range []string{"SELECT (SELECT DATABASE()) a, @x := row_count() INTO @a, @`b`", "SET @a = 1, NAMES x, @@session.y := (1)", "SELECT @@identity.x, @", "SHOW SCHEMAS LIKE 'x'"} {
		f.Add([]byte(sql), false)
		f.Add([]byte(sql[:len(sql)-1]), true)
	}
	f.Fuzz(func(t *testing.T, sql []byte, ansi bool) {
		m := Mode{ANSIQuotes: ansi, Charset: CharsetByName("utf8mb4")}
		found := FindSession(sql, m)
		same := found.AppendReplaced(nil, sql, func(dst []byte, _ SessionCall) ([]byte, bool) { return dst, false })
		if len(found.Calls) == 0 && string(same) != string(sql) {
			t.Errorf("%q becomes %q", sql, same)
		}
		if found.Uses&(ReadsLastID|ReadsDatabase|TakesLocks|SetsVariables) != 0 && !MayUseSession(sql) {
			t.Errorf("%q: found %b, which MayUseSession does not see", sql, found.Uses)
		}
		ParseSet(sql, m)
		ShowLike(sql, m)
		Words(sql, 3)
		AppendQualified(nil, sql, m, "main", "m")
	})
}
