package parser

import (
	"errors"
	"reflect"
	"testing"
)

func TestParseVSchema(t *testing.T) {
	main := func(name string) Table { return Table{"main", name} }
	for sql, want := range map[string]CommandStmt{
		"show vschema keyspaces":                      {Verb: ShowVSchema, Topic: "keyspaces"},
		"SHOW VSCHEMA Tables;":                        {Verb: ShowVSchema, Topic: "tables"},
		"SHOW /* c */ VSCHEMA VINDEXES LIKE 'a%'":     {Verb: ShowVSchema, Topic: "vindexes", Like: Pattern{true, "a%"}},
		"SHOW VSCHEMA VINDEXES ON t":                  {Verb: ShowVSchema, Topic: "vindexes", Tables: []Table{{Name: "t"}}},
		"SHOW VSCHEMA VINDEXES FROM main.`t`":         {Verb: ShowVSchema, Topic: "vindexes", Tables: []Table{main("t")}},
		"alter vschema add sequence s":                {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaAddSequence, Table: Table{Name: "s"}}},
		"ALTER VSCHEMA DROP SEQUENCE main.s":          {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaDropSequence, Table: main("s")}},
		"ALTER VSCHEMA ADD TABLE `a``b`":              {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaAddTable, Table: Table{Name: "a`b"}}},
		"ALTER VSCHEMA DROP TABLE t":                  {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaDropTable, Table: Table{Name: "t"}}},
		"ALTER VSCHEMA DROP VINDEX main.h":            {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaDropVindex, Table: main(""), Vindex: "h"}},
		"ALTER VSCHEMA CREATE VINDEX h USING hash":    {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaCreateVindex, Vindex: "h", Type: "hash"}},
		"ALTER VSCHEMA ON t DROP VINDEX h":            {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaDropColumnVindex, Table: Table{Name: "t"}, Vindex: "h"}},
		"ALTER VSCHEMA ON main.t DROP AUTO_INCREMENT": {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaDropAutoIncrement, Table: main("t")}},
		"ALTER VSCHEMA ON t ADD AUTO_INCREMENT id USING main.s": {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaAddAutoIncrement,
			Table: Table{Name: "t"}, Columns: []string{"id"}, Sequence: main("s")}},
		"ALTER VSCHEMA ON t ADD VINDEX h (id)": {Verb: AlterVSchema, VSchema: VSchemaEdit{Action: VSchemaAddColumnVindex,
			Table: Table{Name: "t"}, Columns: []string{"id"}, Vindex: "h"}},
		"ALTER VSCHEMA ON t ADD VINDEX l(a, `b c`) USING lookup WITH Owner=t, table=main.l, from='a,b', region_bytes=1": {Verb: AlterVSchema,
			VSchema: VSchemaEdit{Action: VSchemaAddColumnVindex, Table: Table{Name: "t"}, Columns: []string{"a", "b c"}, Vindex: "l", Type: "lookup", Owner: "t",
				Params: []VindexParam{{"table", "main.l"}, {"from", "a,b"}, {"region_bytes", "1"}}}},
	} {
		got, err := ParseCommand([]byte(sql), Mode{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", sql, got, err, want)
		}
	}
}

func TestParseVSchemaErrors(t *testing.T) {
	for sql, near := range map[string]string{
		"SHOW VSCHEMA":                                       "",
		"SHOW VSCHEMA SHARDS":                                "SHARDS",
		"SHOW VSCHEMA TABLES ON t":                           "ON t",
		"SHOW VSCHEMA VINDEXES ON":                           "",
		"ALTER VSCHEMA":                                      "",
		"ALTER VSCHEMA ADD VINDEX h":                         "VINDEX h",
		"ALTER VSCHEMA CREATE TABLE t":                       "TABLE t",
		"ALTER VSCHEMA ADD TABLE a, b":                       ", b",
		"ALTER VSCHEMA ON t":                                 "",
		"ALTER VSCHEMA ON t ADD":                             "",
		"ALTER VSCHEMA ON t DROP TABLE":                      "TABLE",
		"ALTER VSCHEMA ON t ADD VINDEX h":                    "",
		"ALTER VSCHEMA ON t ADD VINDEX h(":                   "",
		"ALTER VSCHEMA ON t ADD VINDEX h()":                  ")",
		"ALTER VSCHEMA ON t ADD VINDEX h(a,)":                ")",
		"ALTER VSCHEMA ON t ADD VINDEX h(a) WITH x":          "",
		"ALTER VSCHEMA ON t ADD VINDEX h(a) WITH x=":         "",
		"ALTER VSCHEMA ON t ADD VINDEX h(a) WITH x=1,":       "",
		"ALTER VSCHEMA ON t ADD AUTO_INCREMENT id":           "",
		"ALTER VSCHEMA ON t ADD AUTO_INCREMENT id USING s s": "s",
		"ALTER VSCHEMA ON t DROP AUTO_INCREMENT id":          "id",
	} {
		_, err := ParseCommand([]byte(sql), Mode{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Near != near {
			t.Errorf("%s: got %v, want a syntax error near %q", sql, err, near)
		}
	}
}
