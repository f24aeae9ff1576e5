package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/vschema"
)

// takesAll goes by any vschema, or by none when it has an error.
type takesAll struct {
	err  error
	took []*vschema.VSchema
}

func (a *takesAll) CheckVSchema(*vschema.VSchema) error { return a.err }

func (a *takesAll) SetVSchema(v *vschema.VSchema) error {
	if a.err == nil {
		a.took = append(a.took, v)
	}
	return a.err
}

func newVSchemaFileAt(t *testing.T, path string, takes vschemaTaker) *VSchemaFile {
	t.Helper()
	v, files, err := config.ReadVSchema(path)
	if err != nil {
		t.Fatal(err)
	}
	f := newVSchemaFile(&config.Config{VSchema: v, VSchemaFile: path, VSchemaRead: files}, slog.New(slog.DiscardHandler))
	f.takes = takes
	return f
}

// What fails on the way leaves the file and the vschema as they were.
func TestAlterFails(t *testing.T) {
	add := vschema.Edit{Action: vschema.AddTable, Keyspace: "main", Table: "x"}
	refused := vschema.Errors{{Message: "not here"}}
	for name, tt := range map[string]struct {
		edit    vschema.Edit
		err     error
		prepare func(t *testing.T, path string)
		want    string
	}{
		"refused by the server": {edit: add, err: refused, want: "not here"},
		"the edit is none":      {edit: vschema.Edit{Action: vschema.AddTable, Keyspace: "main", Table: "t"}, want: "vschema already contains table t"},
		"the result is wrong":   {edit: vschema.Edit{Action: vschema.DropSequence, Keyspace: "main", Table: "a_seq"}, want: "there is no sequence"},
		"the file is gone": {edit: add, want: "no such file",
			prepare: func(t *testing.T, path string) {
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
			}},
		"another seqgate is at it": {edit: add, want: "another seqgate changes files",
			prepare: func(t *testing.T, path string) {
				unlock, err := lockFolder(filepath.Dir(path))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(unlock)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			path := tempFile(t, "v.json", vschemaWith("a_seq"))
			takes := &takesAll{err: tt.err}
			f := newVSchemaFileAt(t, path, takes)
			before := f.config()
			if tt.prepare != nil {
				tt.prepare(t, path)
			}
			if err := f.alter(context.Background(), tt.edit); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if len(takes.took) > 0 || f.config() != before {
				t.Error("the vschema was changed")
			}
			got, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				got, err = os.ReadFile(path + ".away")
			}
			if err != nil || string(got) != vschemaWith("a_seq") {
				t.Errorf("the file has %s, %v", got, err)
			}
		})
	}
}

// A link to the file stays one, and a file that a vindex names is looked at too.
func TestVSchemaFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("real.json", `{"keyspaces": {"customer": {"sharded": true, "vindexes": {"r": {"type": "region_json", "params": {"region_bytes": "1", "region_map": "map.json"}}}}, "main": {}}}`)
	write("map.json", `{"us": 1}`)
	link := filepath.Join(folder, "link.json")
	if err := os.Symlink("real.json", link); err != nil {
		t.Fatal(err)
	}
	takes := &takesAll{}
	f := newVSchemaFileAt(t, link, takes)
	f.reload(false)
	if n := f.counts(); n.OK != 0 {
		t.Errorf("%d reloads of files that did not change", n.OK)
	}
	write("map.json", `{"us": 1, "eu": 2}`)
	f.reload(false)
	if n := f.counts(); n.OK != 1 || n.Failed != 0 {
		t.Errorf("%+v reloads, want one for the map", n)
	}
	write("map.json", `{"us": 1, "eu": `)
	f.reload(false)
	f.reload(false)
	if n := f.counts(); n.OK != 1 || n.Failed != 1 {
		t.Errorf("%+v reloads, want one failed for the broken map", n)
	}
	write("map.json", `{"us": 1}`)
	if err := f.alter(context.Background(), vschema.Edit{Action: vschema.AddTable, Keyspace: "main", Table: "x"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v, want a link still", info.Mode(), err)
	}
	f.reload(false)
	if n := f.counts(); n.OK != 1 || n.Failed != 1 {
		t.Errorf("%+v reloads, want none for the edit", n)
	}
	if k, _ := f.config().VSchema.Keyspace("main"); len(k.Tables()) != 1 || len(takes.took) != 2 {
		t.Errorf("%d tables after %d vschemas, want 1 after 2", len(k.Tables()), len(takes.took))
	}
}

// vschemaWith has a table t that a sequence fills.
func vschemaWith(sequence string) string {
	return fmt.Sprintf(`{"keyspaces": {"main": {"tables": {
  "a_seq": {"type": "sequence"},
  "b_seq": {"type": "sequence"},
  "t": {"auto_increment": {"column": "id", "sequence": %q}}
}}}}
`, sequence)
}
