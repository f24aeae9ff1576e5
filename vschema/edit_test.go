package vschema_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/vschema"
)

// edited is the text that the edits have been made in.
const edited = `{
  "keyspaces": {
    "main": { "tables": {
      "t":     {"columns" : [ ]},
      "t_seq": {"type": "sequence"}
    } },
    "customer": {
      "sharded": true,
      "vindexes": {"hash": {"type": "hash"}, "spare": {"type": "xxhash"}},
      "tables": {
        "users": {"columnVindexes": [{"column": "id", "name": "hash"}]}
      }
    },
    "empty": {}
  }
}
`

var (
	hash  = vschema.VindexSpec{Name: "hash"}
	edits = map[string]struct {
		edit      vschema.Edit
		from, to  string // what is replaced in edited
		wantError string
	}{
		"add table": {edit: vschema.Edit{Action: vschema.AddTable, Keyspace: "main", Table: `a"b`},
			from: "\"sequence\"}\n", to: "\"sequence\"},\n      \"a\\\"b\": {}\n"},
		"add table again": {edit: vschema.Edit{Action: vschema.AddTable, Keyspace: "main", Table: "t"},
			wantError: "vschema already contains table t in keyspace main"},
		"add table, sharded": {edit: vschema.Edit{Action: vschema.AddTable, Keyspace: "customer", Table: "t"},
			wantError: "add vschema table: unsupported on sharded keyspace customer"},
		"drop table": {edit: vschema.Edit{Action: vschema.DropTable, Keyspace: "main", Table: "t"},
			from: "\"t\":     {\"columns\" : [ ]},\n      "},
		"drop the only table": {edit: vschema.Edit{Action: vschema.DropTable, Keyspace: "customer", Table: "users"},
			from: "\n        \"users\": {\"columnVindexes\": [{\"column\": \"id\", \"name\": \"hash\"}]}\n      "},
		"drop no table": {edit: vschema.Edit{Action: vschema.DropTable, Keyspace: "empty", Table: "t"},
			wantError: "vschema does not contain table t in keyspace empty"},
		"add sequence": {edit: vschema.Edit{Action: vschema.AddSequence, Keyspace: "empty", Table: "s"},
			from: "{}\n", to: "{\n      \"tables\": {\n        \"s\": {\"type\": \"sequence\"}\n      }\n    }\n"},
		"add sequence, new keyspace": {edit: vschema.Edit{Action: vschema.AddSequence, Keyspace: "new", Table: "s"},
			from: "{}\n", to: "{},\n    \"new\": {\n      \"tables\": {\n        \"s\": {\"type\": \"sequence\"}\n      }\n    }\n"},
		"add sequence again": {edit: vschema.Edit{Action: vschema.AddSequence, Keyspace: "main", Table: "t_seq"},
			wantError: "vschema already contains sequence t_seq in keyspace main"},
		"add sequence, sharded": {edit: vschema.Edit{Action: vschema.AddSequence, Keyspace: "customer", Table: "s"},
			wantError: "add sequence table: unsupported on sharded keyspace customer"},
		"drop sequence": {edit: vschema.Edit{Action: vschema.DropSequence, Keyspace: "main", Table: "t_seq"},
			from: ",\n      \"t_seq\": {\"type\": \"sequence\"}"},
		"drop sequence, a table": {edit: vschema.Edit{Action: vschema.DropSequence, Keyspace: "main", Table: "t"},
			wantError: "vschema does not contain sequence t in keyspace main"},
		"drop sequence, sharded": {edit: vschema.Edit{Action: vschema.DropSequence, Keyspace: "customer", Table: "s"},
			wantError: "drop sequence table: unsupported on sharded keyspace customer"},
		"add auto_increment": {
			edit: vschema.Edit{Action: vschema.AddAutoIncrement, Keyspace: "main", Table: "t", Columns: []string{"id"},
				Sequence: vschema.TableName{Table: "t_seq"}},
			from: `[ ]}`, to: `[ ], "auto_increment": {"column": "id", "sequence": "t_seq"}}`},
		"add auto_increment, qualified": {
			edit: vschema.Edit{Action: vschema.AddAutoIncrement, Keyspace: "customer", Table: "users", Columns: []string{"id"},
				Sequence: vschema.TableName{Keyspace: "main", Table: "t.seq"}},
			from: `}]}`, to: "}], \"auto_increment\": {\"column\": \"id\", \"sequence\": \"main.`t.seq`\"}}"},
		"add auto_increment, no table": {edit: vschema.Edit{Action: vschema.AddAutoIncrement, Keyspace: "main", Table: "x", Columns: []string{"id"}},
			wantError: "vschema does not contain table x in keyspace main"},
		"drop auto_increment, none": {edit: vschema.Edit{Action: vschema.DropAutoIncrement, Keyspace: "main", Table: "t"},
			wantError: "vschema does not contain auto increment on table t in keyspace main"},
		"drop auto_increment, no table": {edit: vschema.Edit{Action: vschema.DropAutoIncrement, Keyspace: "main", Table: "x"},
			wantError: "vschema does not contain table x in keyspace main"},
		"create vindex": {
			edit: vschema.Edit{Action: vschema.CreateVindex, Keyspace: "customer", Vindex: vschema.VindexSpec{Name: "r", Type: "region_experimental",
				Params: []vschema.Param{{Name: "region_bytes", Value: "1"}}}},
			from: `"xxhash"}}`, to: `"xxhash"}, "r": {"type": "region_experimental", "params": {"region_bytes": "1"}}}`},
		"create the first vindex": {
			edit: vschema.Edit{Action: vschema.CreateVindex, Keyspace: "empty", Vindex: vschema.VindexSpec{Name: "hash", Type: "hash"}},
			from: "{}\n", to: "{\n      \"vindexes\": {\n        \"hash\": {\"type\": \"hash\"}\n      },\n      \"sharded\": true\n    }\n"},
		"create vindex again": {edit: vschema.Edit{Action: vschema.CreateVindex, Keyspace: "customer", Vindex: vschema.VindexSpec{Name: "hash", Type: "hash"}},
			wantError: "vindex hash already exists in keyspace customer"},
		"create vindex without type": {edit: vschema.Edit{Action: vschema.CreateVindex, Keyspace: "customer", Vindex: vschema.VindexSpec{Name: "x"}},
			wantError: "vindex x has no type: write USING and one, such as hash"},
		"drop vindex": {edit: vschema.Edit{Action: vschema.DropVindex, Keyspace: "customer", Vindex: vschema.VindexSpec{Name: "spare"}},
			from: `, "spare": {"type": "xxhash"}`},
		"drop vindex in use": {edit: vschema.Edit{Action: vschema.DropVindex, Keyspace: "customer", Vindex: hash},
			wantError: "can not drop vindex cause hash still defined on table users"},
		"drop no vindex": {edit: vschema.Edit{Action: vschema.DropVindex, Keyspace: "main", Vindex: hash},
			wantError: "vindex hash does not exists in keyspace main"},
		"add column vindex": {
			edit: vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "users", Vindex: vschema.VindexSpec{Name: "spare"}, Columns: []string{"a", "b"}},
			from: `}]}`, to: `}, {"columns": ["a", "b"], "name": "spare"}]}`},
		"add column vindex, new table": {
			edit: vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "orders", Vindex: hash, Columns: []string{"user_id"}},
			from: "}]}\n", to: "}]},\n        \"orders\": {\"column_vindexes\": [{\"column\": \"user_id\", \"name\": \"hash\"}]}\n"},
		"add column vindex, new vindex": {
			edit: vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "users", Vindex: vschema.VindexSpec{Name: "n", Type: "numeric"}, Columns: []string{"n"}},
			from: "\"xxhash\"}},\n      \"tables\": {\n        \"users\": {\"columnVindexes\": [{\"column\": \"id\", \"name\": \"hash\"}",
			to:   "\"xxhash\"}, \"n\": {\"type\": \"numeric\"}},\n      \"tables\": {\n        \"users\": {\"columnVindexes\": [{\"column\": \"id\", \"name\": \"hash\"}, {\"column\": \"n\", \"name\": \"n\"}"},
		"add column vindex again": {edit: vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "users", Vindex: hash, Columns: []string{"id"}},
			wantError: "vindex hash already defined on table users"},
		"add column vindex, unknown": {edit: vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "users", Vindex: vschema.VindexSpec{Name: "x"}},
			wantError: "vindex x does not exist in keyspace customer"},
		"add column vindex, other type": {
			edit:      vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "t", Vindex: vschema.VindexSpec{Name: "hash", Type: "xxhash"}},
			wantError: "vindex hash defined with type hash not xxhash"},
		"add column vindex, other owner": {
			edit:      vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "t", Vindex: vschema.VindexSpec{Name: "hash", Type: "hash", Owner: "t"}},
			wantError: "vindex hash defined with owner  not t"},
		"add column vindex, other params": {
			edit: vschema.Edit{Action: vschema.AddColumnVindex, Keyspace: "customer", Table: "t",
				Vindex: vschema.VindexSpec{Name: "hash", Type: "hash", Params: []vschema.Param{{Name: "a", Value: "b"}}}},
			wantError: "vindex hash defined with different parameters"},
		"drop column vindex, the last": {
			edit: vschema.Edit{Action: vschema.DropColumnVindex, Keyspace: "customer", Table: "users", Vindex: hash},
			from: "\n        \"users\": {\"columnVindexes\": [{\"column\": \"id\", \"name\": \"hash\"}]}\n      "},
		"drop column vindex, no table": {edit: vschema.Edit{Action: vschema.DropColumnVindex, Keyspace: "customer", Table: "x", Vindex: hash},
			wantError: "table customer.x not defined in vschema"},
		"drop column vindex, another": {edit: vschema.Edit{Action: vschema.DropColumnVindex, Keyspace: "customer", Table: "users", Vindex: vschema.VindexSpec{Name: "spare"}},
			wantError: "vindex spare not defined in table customer.users"},
		"no action": {edit: vschema.Edit{Keyspace: "main"}, wantError: "unexpected vschema ddl operation 0"},
	}
)

// An edit changes what it says, and no other byte of the file.
func TestEdit(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		tt := edits[name]
		t.Run(name, func(t *testing.T) {
			got, err := tt.edit.Apply([]byte(edited))
			if tt.wantError != "" {
				if e := (*vschema.EditError)(nil); !errors.As(err, &e) || e.Message != tt.wantError {
					t.Fatalf("got error %v, want %s", err, tt.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(edited, tt.from); n != 1 {
				t.Fatalf("%q is %d times in the text, want once", tt.from, n)
			}
			if diff := cmp.Diff(strings.Replace(edited, tt.from, tt.to, 1), string(got)); diff != "" {
				t.Errorf("the text differs (-want +got):\n%s", diff)
			}
		})
	}
}

// What one edit adds the opposite one removes, and the file is as it was: in any layout.
func TestEditBack(t *testing.T) {
	key := vschema.Edit{Action: vschema.AddAutoIncrement, Keyspace: "main", Table: "a", Columns: []string{"id"}, Sequence: vschema.TableName{Table: "a_seq"}}
	table := vschema.Edit{Action: vschema.AddTable, Keyspace: "main", Table: "a"}
	seq := vschema.Edit{Action: vschema.AddSequence, Keyspace: "main", Table: "a_seq"}
	opposite := map[vschema.EditAction]vschema.EditAction{vschema.AddAutoIncrement: vschema.DropAutoIncrement,
		vschema.AddTable: vschema.DropTable, vschema.AddSequence: vschema.DropSequence}
	for _, text := range []string{edited, strings.ReplaceAll(edited, "\n", "\r\n"), strings.ReplaceAll(edited, "\n", " "),
		strings.ReplaceAll(edited, "  ", "\t"), `{"keyspaces":{"main":{"tables":{"b":{}}}}}`} {
		all := []vschema.Edit{table, seq, key}
		texts := []string{text}
		for _, e := range all {
			next, err := e.Apply([]byte(texts[len(texts)-1]))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(next))
		}
		v, err := vschema.Load("v.json", []byte(texts[len(all)]))
		if err != nil {
			t.Fatalf("%v in\n%s", err, texts[len(all)])
		}
		k, _ := v.Keyspace("main")
		if a, ok := k.Table("a"); !ok || a.AutoIncrement == nil || a.AutoIncrement.SequenceTable != "a_seq" {
			t.Errorf("table a is %+v, want it filled from a_seq", a)
		}
		for i := len(all) - 1; i >= 0; i-- {
			e := all[i]
			e.Action = opposite[e.Action]
			back, err := e.Apply([]byte(texts[i+1]))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(texts[i], string(back)); diff != "" {
				t.Errorf("after the opposite of %d the text differs (-want +got):\n%s", all[i].Action, diff)
			}
		}
	}
}

// Any text stays JSON, and nothing panics.
func FuzzEdit(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.json"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(edited))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, before := vschema.Load("v.json", data)
		for name, tt := range edits {
			got, err := tt.edit.Apply(data)
			if err != nil {
				continue
			}
			var errs vschema.Errors
			if _, err := vschema.Load("v.json", got); before == nil && errors.As(err, &errs) && errs[0].Path == "" {
				t.Errorf("%s: %v in\n%s", name, err, got)
			}
		}
	})
}
