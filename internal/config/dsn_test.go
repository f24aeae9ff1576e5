package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A DSN may come from the environment or a file; what is wrong with it is told at the place that names it, without it.
func TestDSNFromElsewhere(t *testing.T) {
	file := writeFile(t, "dsn", "u:secret@tcp(h:1)/d\n")
	broken := writeFile(t, "broken", "u:secret@tcp(h:1)\n")
	for _, tt := range []struct{ name, shard, want string }{
		{"environment", "{dsn_env: MAIN_DSN}", ""},
		{"file", "{dsn_file: " + file + "}", ""},
		{"file beside the configuration", "{dsn_file: " + filepath.Base(file) + "}", "no such file"},
		{"unset", "{dsn_env: OTHER}", " keyspaces.main.shards.-.dsn_env: the environment variable OTHER is not set"},
		{"no file", "{dsn_file: /nonexistent}", " keyspaces.main.shards.-.dsn_file: /nonexistent: no such file"},
		{"broken", "{dsn_file: " + broken + "}", " keyspaces.main.shards.-: invalid DSN"},
		{"nothing", "{}", " keyspaces.main.shards.-: write one of dsn_env"},
		{"both", "{dsn_env: MAIN_DSN, dsn_file: " + file + "}", " keyspaces.main.shards.-: write one of dsn_env"},
		{"unknown", "{env: MAIN_DSN}", "unknown key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := writeFile(t, "c.yaml", fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %s}}}\n", tt.shard))
			cfg, err := loader(env(map[string]string{"MAIN_DSN": "u:secret@tcp(h:1)/d"})).Load(path)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
					t.Errorf("error %v, want %q without the password", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.Keyspaces[0].Shards[0].DSN; got.User != "u" || got.Passwd != "secret" || got.Addr != "h:1" || got.DBName != "d" {
				t.Errorf("DSN %+v", got)
			}
		})
	}
}
