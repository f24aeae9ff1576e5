package main

import (
	"cmp"
	"io"
	"strings"
	"testing"
)

// A wrong call says what is wrong, and what was meant where that is near.
func TestWrongCalls(t *testing.T) {
	file := writeFile(t, "c.yaml", mainKeyspace)
	for _, tt := range []struct {
		call, env, want string
		code            int
	}{
		{"serv", "", `unknown command "serv": did you mean "serve"?`, 2},
		{"seq mov", "", `unknown command "seq mov": did you mean "move"?`, 2},
		{"frobnicate", "", "unknown command \"frobnicate\"\n\nUsage:\n  seqgate [command]", 2},
		{"seq lits --help", "", `unknown command "seq lits": did you mean "list"?`, 2},
		{"completion tcsh", "", `unknown command "completion tcsh"`, 2},
		{"completion", "", "no command given", 2},
		{"completion bash --nope", "", "unknown flag: --nope", 2},
		{"version now", "", `unexpected argument "now": see seqgate version --help`, 2},
		{"serve --upstream x y", "", `unexpected argument "y"`, 2},
		{"man page", "", `unexpected argument "page"`, 2},
		{"health --admin 127.0.0.1:1", "", "no answer at the admin address 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused", 1},
		{"check --upstream app:app@127.0.0.1:3306/main", "", "--upstream: invalid DSN: the address does not stand in tcp( ): write user:password@tcp(host:port)/database", 2},
		{"check --strict --upstream app:app@tcp(127.0.0.1:1)/main", "", "errors found: 1", 1},
		{"check --config " + file, "SEQGATE_LISTN", `SEQGATE_LISTN: no setting has this name: did you mean "SEQGATE_LISTEN"?`, 2},
		{"serve --config " + file + " --listen :1,3307", "", `--listen: "3307" is no address: write host:port, such as 127.0.0.1:3307, or unix:/path`, 2},
		{"init --config " + file, "SEQGATE_FROBNICATE", "SEQGATE_FROBNICATE: no setting has this name: see docs/configuration.md", 2},
		{"check --config " + file, "SEQGATE_PORT_3307_TCP_ADDR", "", 0}, // of Kubernetes
		{"check --config " + file, "SEQGATE_SERVICE_HOST", "", 0},
		{"check --config " + file, "SEQGATE_ADMIN_PORT=tcp://10.0.0.7:9090", "", 0}, // of its service seqgate-admin
		{"check --config " + file, "SEQGATE_ADMIN_PORT", "SEQGATE_ADMIN_PORT: no setting has this name", 2},
	} {
		t.Run(tt.call+" "+tt.env, func(t *testing.T) {
			if tt.env != "" {
				name, value, _ := strings.Cut(tt.env, "=")
				t.Setenv(name, cmp.Or(value, "127.0.0.1:1"))
			}
			err := run(t.Context(), strings.Fields(tt.call), io.Discard, io.Discard)
			if exitCode(err) != tt.code || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("code %d, %v, want %d and %q", exitCode(err), err, tt.code, tt.want)
			}
		})
	}
}
