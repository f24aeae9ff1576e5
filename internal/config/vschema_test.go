package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/vschema"
)

// Params that only the time and the layouts show to be wrong are told by file and line, with all else that is.
func TestGeneratorErrors(t *testing.T) {
	text := fmt.Sprintf(`{"keyspaces": {"main": {"generators": {
		"ended": {"type": "snowflake", "params": {"layout": "uid_generator_2016"}},
		"future": {"type": "snowflake", "params": {"layout": "twitter", "epoch": %q}},
		"unknown": {"type": "snowflake", "params": {"layout": "twiter"}},
		"zone": {"type": "snowflake", "params": {"layout": "twitter", "zone": 32, "worker": 32}},
		"no_zone": {"type": "snowflake", "params": {"layout": "leaf", "zone": "eu"}},
		"bound": {"type": "snowflake", "params": {"layout": "js53", "start_bound": 1000}},
		"fits": {"type": "snowflake", "params": {"layout": "js53"}}
	}, "tables": {"t": {"auto_increment": {"column": "id", "generator": "none"}}}}}}`, time.Now().Add(48*time.Hour).Format(time.DateOnly))
	path := writeFile(t, "vschema.json", text)
	_, _, err := ReadVSchema(path)
	var errs vschema.Errors
	if !errors.As(err, &errs) {
		t.Fatalf("got %v, want errors", err)
	}
	for i, want := range []string{
		`:2:55: keyspaces.main.generators.ended.params.layout: sequence exhausted: the 28 time bits of layout "uid_generator_2016" ended at 2024-11-20`,
		`:3:76: keyspaces.main.generators.future.params.epoch: invalid snowflake layout "twitter": its epoch, `,
		`:4:57: keyspaces.main.generators.unknown.params.layout: there is no layout "twiter": did you mean "twitter"?`,
		`:5:73: keyspaces.main.generators.zone.params.zone: zone 32: layout "twitter" has 0 to 31`,
		`:5:87: keyspaces.main.generators.zone.params.worker: worker 32: layout "twitter" has 0 to 31`,
		`:6:73: keyspaces.main.generators.no_zone.params.zone: layout "leaf" has no zone: leave it out`,
		`:7:44: keyspaces.main.generators.bound.params: invalid snowflake layout "js53": a start bound of 1000: take 2 to 128, or 0 for a quarter of that`,
		`:9:70: keyspaces.main.tables.t.auto_increment.generator: there is no generator "none"`,
	} {
		if i >= len(errs) || !strings.Contains(errs[i].Error(), want) {
			t.Errorf("error %d: got\n%v\nwant one with %s", i, errs, want)
			break
		}
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
			_, files, err := ReadVSchema(path)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "region_map: "+want)) {
				t.Errorf("error %v, want %q", err, want)
			}
			if files.Changed() {
				t.Error("the files have changed")
			}
		})
	}
}
