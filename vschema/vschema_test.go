package vschema_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/vschema"
)

var update = flag.Bool("update", false, "write the golden files from what the code does now")

// golden compares got with the golden file beside path, or writes it under -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = strings.TrimSuffix(path, ".json") + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// eachFile runs f on every JSON file of a folder.
func eachFile(t *testing.T, folder string, f func(t *testing.T, path string, data []byte)) {
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata/%s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, path, data)
		})
	}
}

func TestLoadGood(t *testing.T) {
	eachFile(t, "good", func(t *testing.T, path string, data []byte) {
		v, err := vschema.LoadFiles(filepath.Base(path), data, readRegions)
		if err != nil {
			t.Fatalf("Load: %v", err)
		}
		golden(t, path, describe(v))
	})
}

func TestLoadBad(t *testing.T) {
	eachFile(t, "bad", func(t *testing.T, path string, data []byte) {
		v, err := vschema.LoadFiles(filepath.Base(path), data, readRegions)
		if v != nil {
			t.Errorf("Load gives a vschema beside the error, want nil")
		}
		var errs vschema.Errors
		if !errors.As(err, &errs) {
			t.Fatalf("Load gives error %v, want an Errors", err)
		}
		golden(t, path, errs.Error()+"\n")
	})
}

// describe lists a vschema a line per table.
func describe(v *vschema.VSchema) string {
	var b strings.Builder
	for _, k := range v.Keyspaces() {
		fmt.Fprintf(&b, "keyspace %s explicit=%v", k.Name, k.RequireExplicitRouting)
		if k.Sharded {
			fmt.Fprint(&b, " sharded")
		}
		fmt.Fprintln(&b)
		for _, g := range k.Generators() {
			fmt.Fprintf(&b, "  generator %s type=%s", g.Name, g.Type)
			for _, params := range []any{g.Snowflake, g.Segments} {
				if text, err := json.Marshal(params); err == nil && string(text) != "null" {
					fmt.Fprintf(&b, " %s", text)
				}
			}
			fmt.Fprintln(&b)
		}
		for _, v := range k.Vindexes() {
			fmt.Fprintf(&b, "  vindex %s type=%s params=%v owner=%q unique=%v functional=%v\n",
				v.Name, v.Type, v.Params, v.Owner, v.Unique, v.Vindex != nil)
		}
		for _, t := range k.Tables() {
			fmt.Fprintf(&b, "  table %s type=%q authoritative=%v", t.Name, t.Type, t.Authoritative)
			if t.Keyed {
				fmt.Fprint(&b, " keyed")
			}
			if t.Pinned != nil {
				fmt.Fprintf(&b, " pinned=%x", t.Pinned)
			}
			if t.Source != nil {
				fmt.Fprintf(&b, " source=%v", *t.Source)
			}
			fmt.Fprintln(&b)
			if a := t.AutoIncrement; a != nil {
				if a.Generator != nil {
					fmt.Fprintf(&b, "    %s <- keyspace %s generator %s", a.Column, a.Generator.Keyspace, a.Generator.Name)
				} else {
					fmt.Fprintf(&b, "    %s <- keyspace %s table %s", a.Column, a.SequenceKeyspace, a.SequenceTable)
				}
				if a.Key != "" {
					fmt.Fprintf(&b, " by %s", a.Key)
				}
				fmt.Fprintln(&b)
			}
			for _, c := range t.ColumnVindexes {
				fmt.Fprintf(&b, "    %s by vindex %s\n", strings.Join(c.Columns, ", "), c.Name)
			}
			for _, c := range t.Columns {
				fmt.Fprintf(&b, "    column %s type=%q invisible=%v", c.Name, c.Type, c.Invisible)
				if c.Default != "" {
					fmt.Fprintf(&b, " default=%s", c.Default)
				}
				fmt.Fprintln(&b)
			}
		}
	}
	if errs := v.Unserved(); len(errs) > 0 {
		fmt.Fprintf(&b, "not served:\n%v\n", errs)
	}
	return b.String()
}

func TestLookup(t *testing.T) {
	v, err := vschema.Load("v.json", []byte(`{"keyspaces": {"main": {"tables": {
		"Users": {"columns": [{"name": "UserID", "type": "INT64"}]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := v.Keyspace("Main"); ok {
		t.Error("keyspace Main found, want only main: names are case-sensitive")
	}
	k, ok := v.Keyspace("main")
	if !ok {
		t.Fatal("keyspace main not found")
	}
	if _, ok := k.Table("users"); ok {
		t.Error("table users found, want only Users: names are case-sensitive")
	}
	table, ok := k.Table("Users")
	if !ok {
		t.Fatal("table Users not found")
	}
	if c, ok := table.Column("USERID"); !ok || c.Name != "UserID" {
		t.Errorf("column USERID gives %v, %v, want UserID: column names have no case", c, ok)
	}
	if _, ok := table.Column("other"); ok {
		t.Error("column other found")
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct {
		name string
		err  vschema.Error
		want string
	}{
		{"all", vschema.Error{File: "f", Line: 2, Column: 3, Path: "a.b", Message: "no"}, "f:2:3: a.b: no"},
		{"no column", vschema.Error{File: "f", Line: 2, Path: "a.b", Message: "no"}, "f:2: a.b: no"},
		{"no line", vschema.Error{File: "f", Column: 3, Message: "no"}, "f: no"},
		{"no file", vschema.Error{Path: "a", Message: "no"}, "a: no"},
		{"message only", vschema.Error{Message: "no"}, "no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestErrorsSort(t *testing.T) {
	errs := vschema.Errors{
		{File: "b", Line: 2}, {File: "a", Line: 9}, {File: "b", Line: 1, Column: 5}, {File: "b", Line: 1, Column: 4}, {File: "a", Line: 3},
	}
	errs.Sort()
	if got, want := errs.Error(), "b:1:4\nb:1:5\nb:2\na:3\na:9"; got != want {
		t.Errorf("sorted:\n%s\nwant:\n%s", got, want)
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"vindexes", "tables", "sharded", ""}
	tests := []struct {
		word  string
		known []string
		want  string
	}{
		{"table", known, `did you mean "tables"?`},
		{"Sharded", known, `did you mean "sharded"?`},
		{"tabels", known, `did you mean "tables"?`},
		{"mian", []string{"main"}, `did you mean "main"?`},
		{"x", known, "write one of sharded, tables, vindexes"},
		{"x", []string{"column"}, "write column"},
		{"x", nil, ""},
		{"ab", []string{"cb", "aa"}, `did you mean "aa"?`},
		{"bigint", []string{"BIT"}, "write BIT"},
	}
	for _, tt := range tests {
		if got := vschema.Suggest(tt.word, tt.known); got != tt.want {
			t.Errorf("Suggest(%q, %q) = %q, want %q", tt.word, tt.known, got, tt.want)
		}
	}
}

// FuzzLoad holds Load to: no panic; a list of errors with a place each, or a vschema whose every binding resolves.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := vschema.Load("f.json", data)
		if err == nil {
			if !json.Valid(data) {
				t.Errorf("loaded, want an error: not valid JSON")
			}
			checkBindings(t, v)
			return
		}
		errs, ok := err.(vschema.Errors)
		if !ok || len(errs) == 0 {
			t.Fatalf("error %T %v, want an Errors", err, err)
		}
		lines := strings.Split(string(data), "\n")
		for _, e := range errs {
			if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1])+1 || e.Message == "" {
				t.Errorf("error %+v is of no place in the file", e)
			}
		}
	})
}

func checkBindings(t *testing.T, v *vschema.VSchema) {
	for _, k := range v.Keyspaces() {
		for _, table := range k.Tables() {
			checkSharding(t, k, table)
			a := table.AutoIncrement
			if a == nil {
				continue
			}
			if a.Generator != nil && a.Column != "" {
				continue
			}
			ks, ok := v.Keyspace(a.SequenceKeyspace)
			if !ok || a.Column == "" {
				t.Fatalf("table %q: binding %+v is incomplete", table.Name, a)
			}
			if s, ok := ks.Table(a.SequenceTable); !ok || s.Type != vschema.Sequence {
				t.Errorf("table %q: binding %+v does not resolve", table.Name, a)
			}
		}
	}
}

// checkSharding holds that each table of a sharded keyspace says where its rows are, and one that is not, does not.
func checkSharding(t *testing.T, k *vschema.Keyspace, table *vschema.Table) {
	ways := 0
	for _, says := range []bool{len(table.ColumnVindexes) > 0, table.Pinned != nil, k.Sharded && table.Type == vschema.Reference} {
		if says {
			ways++
		}
	}
	if k.Sharded && ways != 1 || !k.Sharded && ways != 0 {
		t.Errorf("table %q, in a keyspace with sharded=%v: %d ways to find its rows", table.Name, k.Sharded, ways)
	}
	for i, c := range table.ColumnVindexes {
		if i == 0 && (c.Vindex == nil || c.Vindex.Columns() != len(c.Columns)) || c.NamedVindex == nil {
			t.Errorf("table %q: vindex %+v cannot map", table.Name, c)
		}
	}
}
