package proxy_test

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Whatever a row's vindex column stores, the row is on the shard where it is looked for
// by that. What a column stores as something that is not certain is refused.
func TestShardedInsertStored(t *testing.T) {
	t.Parallel()
	const schema = `{"keyspaces": {
	"main": {"tables": {"t_seq": {"type": "sequence"}}},
	"customer": {"sharded": true,
		"vindexes": {"hash": {"type": "hash"}, "md5": {"type": "unicode_loose_md5"}, "xx": {"type": "xxhash"}},
		"tables": {
			"num": {"column_vindexes": [{"column": "k", "name": "hash"}]},
			"loose": {"column_vindexes": [{"column": "k", "name": "md5"}]},
			"vc": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"ch": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"da": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"dt": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"de": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"en": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"la": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"vb": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"bi": {"column_vindexes": [{"column": "k", "name": "xx"}]}}}}}`
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{vschema: schema},
			"CREATE TABLE num (k BIGINT, v INT)", "CREATE TABLE loose (k VARCHAR(64), v INT) CHARSET utf8mb4", "CREATE TABLE vc (k VARCHAR(3), v INT)", "CREATE TABLE ch (k CHAR(8), v INT)",
			"CREATE TABLE da (k DATE, v INT)", "CREATE TABLE dt (k DATETIME(2), v INT)", "CREATE TABLE de (k DECIMAL(10,2), v INT)", "CREATE TABLE en (k ENUM('a','b','c'), v INT)",
			"CREATE TABLE la (k VARCHAR(8), v INT) CHARSET latin1", "CREATE TABLE vb (k VARBINARY(3), v INT)", "CREATE TABLE bi (k BINARY(8), v INT)")
		db := g.open(t, "customer", "charset=utf8mb4")
		for _, tt := range []struct{ table, value, find string }{ // without find it is refused
			{"num", "5", "5"}, {"num", "'7 '", "7"}, {"num", "' 7'", "7"}, {"num", "+7", "7"}, {"num", "(TRUE)", "1"}, {"num", "LENGTH('abc') + 50", "53"},
			{"num", "(0x35)", ""}, {"num", "0x35", ""}, {"num", "+0x35", ""}, {"num", "+x'35'", ""}, {"num", "(b'110101')", ""}, {"num", "(SELECT 0x35)", ""},
			{"num", "(7/7)", ""}, {"num", "'7.0'", ""}, {"num", "7.4", ""},
			{"loose", "5", "'5'"}, {"loose", "(2+3)", "'5'"}, {"loose", "N'abc'", ""}, {"loose", "1.50", "'1.50'"}, {"loose", "0x6162", "'ab'"}, {"loose", "'a' 'b'", "'ab'"},
			{"loose", "-0", "'0'"}, {"loose", "007", "'7'"}, {"loose", "'é'", "'é'"},
			{"vc", "'abc   '", "'abc'"}, {"vc", "'ab '", "'ab '"}, {"vc", "('abc   ')", "'abc'"}, {"vc", "concat('ab','c  ')", "'abc'"}, {"ch", "'abc  '", "'abc'"},
			{"da", "'2024-01-05'", "'2024-01-05'"}, {"da", "'2024-1-5'", ""}, {"da", "20240105", ""}, {"da", "'2024-01-05 10:00:00'", ""}, {"da", "'20240105'", ""},
			{"dt", "'2024-01-05 10:00:00.50'", "'2024-01-05 10:00:00.50'"}, {"dt", "'2024-01-05 10:00:00'", ""}, {"dt", "'2024-01-05'", ""},
			{"de", "1.5", "'1.50'"}, {"de", "'1.5'", "'1.50'"}, {"de", "5", "'5.00'"}, {"de", "'1.50'", "'1.50'"}, {"de", "'05'", ""}, {"de", "1.505", ""},
			{"en", "'b'", "'b'"}, {"en", "1", ""}, {"en", "'B'", ""}, {"en", "'b '", ""},
			{"vb", "'abc'", "'abc'"}, {"vb", "'abc '", ""}, {"bi", "'ab'", "X'6162000000000000'"}, {"bi", "X'6162'", "X'6162000000000000'"},
		} {
			_, err := db.Exec("INSERT INTO " + tt.table + " (k, v) VALUES (" + tt.value + ", 1)")
			if tt.find == "" {
				if errno(err) != 1235 && errno(err) != 1105 {
					t.Errorf("%s %s: %v, want it refused", tt.table, tt.value, err)
				}
			} else if err != nil {
				t.Errorf("%s %s: %v", tt.table, tt.value, err)
			} else if n := value[int](t, conn(t, db), "SELECT COUNT(*) FROM "+tt.table+" WHERE k = "+tt.find); n != 1 {
				t.Errorf("%s %s: %d rows are found by %s", tt.table, tt.value, n, tt.find)
			}
			for i := range g.shards {
				exec(t, g.shards[i], "DELETE FROM "+tt.table)
			}
		}
		for table, v := range map[string]any{"vc": "abc  ", "da": "2024-1-5", "de": "1.505", "en": "B"} {
			if _, err := db.Exec("INSERT INTO "+table+" (k, v) VALUES (?, 1)", v); (err == nil) != (table == "vc") {
				t.Errorf("prepared %s %v: %v", table, v, err)
			}
		}
		loosely := conn(t, db)
		exec(t, loosely, "SET sql_mode = ''")
		for _, v := range []string{"vc (k) VALUES ('abcd')", "la (k) VALUES ('Ж')", "num (k) VALUES ('x')", "de (k) VALUES (123456789012)"} {
			if _, err := loosely.ExecContext(t.Context(), "INSERT INTO "+v); errno(err) != 1235 {
				t.Errorf("not strict, %s: %v, want 1235", v, err)
			}
		}
		exec(t, loosely, "INSERT INTO loose (k) VALUES ('Ж')")
		if n := value[int](t, conn(t, db), "SELECT COUNT(*) FROM vc WHERE k = 'abc'"); n != 1 {
			t.Errorf("%d rows of a prepared INSERT are found", n)
		}
	})
}
