package app

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
