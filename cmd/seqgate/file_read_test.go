package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/vschema"
)

// within fails the test when f does not end.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() { defer close(ended); f() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatalf("%s has not ended", what)
	}
}

// A vindex's file comes from the vschema's own folder, and reading it ends.
func TestVindexFiles(t *testing.T) {
	outside := t.TempDir()
	folder := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inFolder := func(name string) string { return filepath.Join(folder, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "map.json"), `{"us": 1}`)
	write(inFolder("map.json"), `{"us": 1}`)
	write(inFolder("large.json"), `{"us": 1}`)
	must(os.Truncate(inFolder("large.json"), maxVindexFile+1))
	must(os.Mkdir(inFolder("below"), 0o700))
	must(syscall.Mkfifo(inFolder("fifo"), 0o600))
	must(os.Symlink("../map.json", inFolder("below/link.json")))
	must(os.Symlink(filepath.Join(outside, "map.json"), inFolder("out.json")))
	must(os.Symlink(outside, inFolder("away")))
	path := inFolder("vschema.json")
	const outOfFolder = "the file is not in the folder of the vschema: move it there"
	for name, want := range map[string]string{
		"map.json": "", inFolder("map.json"): "", "below/link.json": "", "./below/../map.json": "",
		"fifo": "it is not a regular file", "below": "it is not a regular file", "large.json": "the file is longer than 16 MiB",
		"nowhere.json": "no such file or directory",
		"/dev/zero":    outOfFolder, "/proc/self/environ": outOfFolder,
		"../" + filepath.Base(outside) + "/map.json": outOfFolder, filepath.Join(outside, "map.json"): outOfFolder, "": outOfFolder,
		"out.json": "path escapes from parent", "away/map.json": "path escapes from parent",
	} {
		t.Run(strings.ReplaceAll(name, "/", "|"), func(t *testing.T) {
			write(path, `{"keyspaces": {"customer": {"sharded": true, "vindexes": {"r":
				{"type": "region_json", "params": {"region_bytes": "1", "region_map": "`+name+`"}}}}, "main": {}}}`)
			within(t, "reading the vschema", func() {
				_, files, err := ReadVSchema(path)
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "region_map: "+want)) {
					t.Errorf("error %v, want %q", err, want)
				}
				if files.Changed() {
					t.Error("the files have changed")
				}
			})
		})
	}
}

// A client that may alter the vschema cannot stop its reloads by the file that a vindex names.
func TestAlterToFIFO(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "vschema.json")
	if err := os.WriteFile(path, []byte(`{"keyspaces": {"customer": {"sharded": true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newVSchemaFileAt(t, path, &takesAll{})
	within(t, "ALTER VSCHEMA", func() {
		for _, file := range []string{"fifo", "/dev/zero"} {
			err := f.alter(context.Background(), vschema.Edit{Action: vschema.CreateVindex, Keyspace: "customer", Vindex: vschema.VindexSpec{Name: "r", Type: "region_json",
				Params: []vschema.Param{{Name: "region_bytes", Value: "1"}, {Name: "region_map", Value: file}}}})
			if err == nil || !strings.Contains(err.Error(), "region_map: ") {
				t.Errorf("%s: %v", file, err)
			}
		}
		f.reload(true)
		if n := f.counts(); n.OK != 1 {
			t.Errorf("%+v reloads, want one", n)
		}
	})
}

// A vschema that is no regular file does not stop the reloads either.
func TestVSchemaFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vschema.json")
	if err := os.WriteFile(path, []byte(`{"keyspaces": {"main": {}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newVSchemaFileAt(t, path, &takesAll{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	within(t, "the reload", func() {
		f.reload(false)
		f.reload(false)
		if n := f.counts(); n.OK != 0 || n.Failed != 1 {
			t.Errorf("%+v reloads, want one failed", n)
		}
	})
}
