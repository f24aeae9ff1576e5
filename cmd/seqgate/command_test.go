package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/vschema"
)

func TestExitCode(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"success", nil, 0},
		{"usage", ops.Usagef("wrong"), 2},
		{"wrapped usage", fmt.Errorf("serve: %w", ops.Usagef("wrong")), 2},
		{"files", vschema.Errors{{Message: "wrong"}}, 2},
		{"findings", ops.ErrFindings(1), 1},
		{"other", errors.New("gone"), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := exitCode(tt.err); got != tt.want {
				t.Errorf("exitCode(%v) = %d, want %d", tt.err, got, tt.want)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		want string // of the error, or of the output when there is none
	}{
		{"help", []string{"--help"}, 0, "\nUsage:\n  seqgate "},
		{"short help", []string{"-h"}, 0, "\n      --config FILE    the configuration FILE (or SEQGATE_CONFIG)\n"},
		{"unknown flag", []string{"--nope"}, 2, "unknown flag: --nope: see seqgate "},
		{"no configuration", nil, 2, "no configuration: give --config FILE or --upstream DSN"},
		{"no value", []string{"--config"}, 2, "flag needs an argument: --config: see seqgate "},
		{"one dash", []string{"-config", "nowhere.yaml"}, 2, "nowhere.yaml: no such file or directory"},
		{"two configurations", []string{"--config", "a", "--upstream", "b"}, 2, "--config and --upstream together: give one"},
		{"no such file", []string{"--config", "nowhere.yaml"}, 2, "nowhere.yaml: no such file or directory"},
		{"bad DSN", []string{"--upstream", "u:p@tcp(h)/"}, 2, "--upstream: the DSN names no database"},
	}
	for _, name := range []string{"init", "check"} {
		for _, tt := range tests {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				t.Setenv("SEQGATE_CONFIG", "")
				var out strings.Builder
				err := run(t.Context(), append([]string{name}, tt.args...), &out, io.Discard)
				got := out.String()
				if err != nil {
					got = err.Error()
				}
				if exitCode(err) != tt.code || !strings.Contains(got, tt.want) {
					t.Errorf("exit code %d, %q, want %d, %q", exitCode(err), got, tt.code, tt.want)
				}
			})
		}
	}
}

func TestConfigFromEnvironment(t *testing.T) {
	t.Setenv("SEQGATE_CONFIG", writeFile(t, "c.yaml", mainKeyspace))
	cfg, err := (&source{}).load()
	if err != nil || cfg.DefaultKeyspace != "main" {
		t.Errorf("configuration %+v, %v, want that of SEQGATE_CONFIG", cfg, err)
	}
	cfg, err = (&source{upstream: "u:p@tcp(h)/d"}).load()
	if err != nil || cfg.DefaultKeyspace != "d" {
		t.Errorf("configuration %+v, %v, want that of the flag", cfg, err)
	}
}
