package parser

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

func TestParseOwn(t *testing.T) {
	given := func(n int64) Setting { return Setting{Given: true, Value: n} }
	none := Setting{Given: true, None: true}
	s := []Table{{Name: "s"}}
	for sql, want := range map[string]CommandStmt{
		"CREATE SEQUENCE s": {Verb: CreateSequence, Tables: s},
		"create /* c */ sequence if not exists `d`.`s` ;": {Verb: CreateSequence, IfExists: true, Tables: []Table{{"d", "s"}}},
		"CREATE OR REPLACE SEQUENCE s NOCYCLE":            {Verb: CreateSequence, Replace: true, Tables: s},
		"CREATE SEQUENCE s CYCLE START 5 INCREMENT = -2 MINVALUE -9 MAXVALUE=10 CACHE 7 ENGINE=InnoDB": {Verb: CreateSequence, Tables: s,
			Options: SequenceOptions{Start: given(5), Increment: given(-2), Min: given(-9), Max: given(10), Cache: given(7), Cycle: true}},
		"CREATE SEQUENCE s NO MINVALUE NOMAXVALUE NO CACHE CYCLE NO CYCLE": {Verb: CreateSequence, Tables: s,
			Options: SequenceOptions{Min: none, Max: none, Cache: none}},
		"CREATE SEQUENCE s MAXVALUE 9999999999999999999999999999": {Verb: CreateSequence, Tables: s, Options: SequenceOptions{Max: given(math.MaxInt64)}},
		"ALTER SEQUENCE s RESTART":                                {Verb: AlterSequence, Tables: s, Options: SequenceOptions{Restart: none}},
		"ALTER SEQUENCE IF EXISTS s RESTART WITH 5 CACHE 3":       {Verb: AlterSequence, IfExists: true, Tables: s, Options: SequenceOptions{Restart: given(5), Cache: given(3)}},
		"ALTER SEQUENCE s RESTART CACHE 3":                        {Verb: AlterSequence, Tables: s, Options: SequenceOptions{Restart: none, Cache: given(3)}},
		"ALTER SEQUENCE s RESTART = 6":                            {Verb: AlterSequence, Tables: s, Options: SequenceOptions{Restart: given(6)}},
		"DROP SEQUENCE IF EXISTS s, `a``b`":                       {Verb: DropSequence, IfExists: true, Tables: []Table{{Name: "s"}, {Name: "a`b"}}},
		"SHOW SEQUENCES":                                          {Verb: ShowSequences},
		"SHOW SEQUENCES FROM d LIKE 'a\\'%'":                      {Verb: ShowSequences, Schema: "d", Like: Pattern{true, "a'%"}},
		"SHOW CREATE SEQUENCE d.s":                                {Verb: ShowCreateSequence, Tables: []Table{{"d", "s"}}},
		"show SEQGATE Status like ''":                             {Verb: ShowSeqgate, Topic: "status", Like: Pattern{true, ""}},
		"SHOW SEQGATE":                                            {Verb: ShowSeqgate},
		"SHOW SEQGATE servers":                                    {Verb: ShowSeqgate, Topic: "servers"},
	} {
		got, err := ParseCommand([]byte(sql), Mode{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", sql, got, err, want)
		}
	}
}

func TestParseOwnErrors(t *testing.T) {
	for sql, near := range map[string]string{
		"CREATE SEQUENCE":                                   "",
		"CREATE SEQUENCE s START WITH":                      "",
		"CREATE SEQUENCE s START WITH 99999999999999999999": "99999999999999999999",
		"CREATE SEQUENCE s START WITH 1.5":                  ".5",
		"CREATE SEQUENCE s CACHE x":                         "x",
		"CREATE SEQUENCE s RESTART":                         "RESTART",
		"CREATE SEQUENCE s ENGINE=MyISAM":                   "MyISAM",
		"CREATE SEQUENCE IF EXISTS s":                       "EXISTS s",
		"CREATE SEQUENCE s; SELECT 1":                       "SELECT 1",
		"ALTER SEQUENCE s":                                  "",
		"DROP SEQUENCE s,":                                  "",
		"SHOW SEQUENCES LIKE x":                             "x",
		"SHOW SEQGATE TABLES":                               "TABLES",
	} {
		_, err := ParseCommand([]byte(sql), Mode{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Near != near {
			t.Errorf("%s: got %v, want a syntax error near %q", sql, err, near)
		}
	}
}

func TestSniffOwn(t *testing.T) {
	for _, sql := range []string{"CREATE TABLE sequence (a INT)", "DROP TABLE s", "SHOW TABLES", "SHOW CREATE TABLE sequence", "SELECT 1", "",
		"CREATE /*!50000 SEQUENCE */ s", "/*! CREATE */ SEQUENCE s", "SHOW", "CREATE", "CREATE OR REPLACE TABLE t (a INT)", "DROP SEQUENCES", "CREATE TEMPORARY SEQUENCE s"} {
		if got := SniffCommand([]byte(sql)); got != NoCommand {
			t.Errorf("%s: verb %d", sql, got)
		}
	}
	sql := []byte("CREATE TABLE t (a INT)")
	if n := testing.AllocsPerRun(100, func() { SniffCommand(sql) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever is read as one of seqgate's own statements has what its kind needs, and
// its names read back as they are written.
func FuzzParseOwn(f *testing.F) {
	for i, sql := range []string{"CREATE SEQUENCE IF NOT EXISTS `a``b`.s START WITH 5 CACHE=7 NO MINVALUE", "ALTER SEQUENCE s RESTART WITH 3",
		"DROP SEQUENCE IF EXISTS a, b.c;", "SHOW SEQUENCES FROM \"d\" LIKE 'x\\_%'", "SHOW CREATE SEQUENCE s", "SHOW SEQGATE STATUS LIKE '%'", "CREATE OR REPLACE SEQUENCE \x81`",
		"SHOW VSCHEMA VINDEXES ON a.b"} {
		f.Add(sql, uint8(0))
		f.Add(sql, uint8(1<<i))
	}
	f.Add("CREATE SEQUENCE \x81", uint8(0x99))
	f.Add("ALTER VSCHEMA ON t ADD VINDEX l(a, `b c`) USING lookup WITH Owner=t, table=main.l, from='a,b', region_bytes=1", uint8(0))
	f.Add("ALTER VSCHEMA ON t ADD AUTO_INCREMENT id USING `main`.s", uint8(0))
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		m := fuzzMode(mode)
		stmt, err := ParseCommand([]byte(sql), m)
		if err != nil {
			return
		}
		switch kind := Sniff([]byte(sql)); {
		case stmt.Verb == NoCommand, kind != DDL && kind != Show:
			t.Fatalf("%q is of kind %d and verb %d", sql, kind, stmt.Verb)
		case stmt.Verb == ShowVSchema && stmt.Topic == "":
			t.Fatalf("%q has no topic", sql)
		case stmt.Verb == AlterVSchema && stmt.VSchema.Action == 0:
			t.Fatalf("%q has no action", sql)
		}
		for _, table := range stmt.Tables {
			again, err := ParseCommand(m.AppendTable([]byte("DROP SEQUENCE "), table), m)
			if err != nil || len(again.Tables) != 1 || again.Tables[0] != table {
				t.Fatalf("%q: %+v reads back as %+v, %v", sql, table, again.Tables, err)
			}
		}
	})
}
