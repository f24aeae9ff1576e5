package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/vschema"
)

func TestExitCode(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"success", nil, 0},
		{"help", flag.ErrHelp, 0},
		{"usage", usagef("wrong"), 2},
		{"wrapped usage", fmt.Errorf("serve: %w", usagef("wrong")), 2},
		{"files", vschema.Errors{{Message: "wrong"}}, 2},
		{"findings", errFindings(1), 1},
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
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{"init": runInit, "check": runCheck}
	tests := []struct {
		name string
		args []string
		code int
		want string // of the error, or of the output when there is none
	}{
		{"help", []string{"--help"}, 0, "usage: seqgate "},
		{"short help", []string{"-h"}, 0, "  -config FILE\n"},
		{"unknown flag", []string{"--nope"}, 2, "flag provided but not defined: -nope: see seqgate "},
		{"no configuration", nil, 2, "no configuration: give --config FILE or --upstream DSN"},
		{"two configurations", []string{"--config", "a", "--upstream", "b"}, 2, "--config and --upstream together: give one"},
		{"no such file", []string{"--config", "nowhere.yaml"}, 2, "nowhere.yaml: no such file or directory"},
		{"bad DSN", []string{"--upstream", "u:p@tcp(h)/"}, 2, "--upstream: the DSN names no database"},
	}
	for name, command := range commands {
		for _, tt := range tests {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				t.Setenv("SEQGATE_CONFIG", "")
				var out strings.Builder
				err := command(t.Context(), tt.args, &out, io.Discard)
				got := out.String()
				if err != nil && !errors.Is(err, flag.ErrHelp) {
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
