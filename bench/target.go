package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/results"
)

// The ways to a server.
const (
	direct     = "direct"
	viaRelay   = "relay"
	viaSeqgate = results.Seqgate
)

// target is one way to a server.
type target struct {
	name   string
	peer   bool            // one that the others can be measured without
	client *mysql.Config   // how clients connect
	others []*mysql.Config // of a group of hops, how clients connect to the ones after the first
	ids    idSource
	pids   []int        // the hop's processes; none for direct
	stop   func() error // of what was started for it
}

// idSource is who makes the ids of a target.
type idSource int

const (
	bySeqgate     idSource = iota + 1 // 0: the server, by AUTO_INCREMENT
	byVitess                          // from the same sequence tables as seqgate
	byOwnSequence                     // MariaDB's SEQUENCE
)

// fills reports whether ids are made by sequences.
func (t *target) fills() bool { return t.ids == bySeqgate || t.ids == byVitess }

// hop reports whether a process of ours stands between client and server.
func (t *target) hop() bool { return len(t.pids) > 0 }

// clientOf returns how the i-th connection is made: a group's hops have equally many.
func (t *target) clientOf(i int) *mysql.Config {
	if i %= len(t.others) + 1; i > 0 {
		return t.others[i-1]
	}
	return t.client
}

// startTarget starts what name needs in front of the server that upstream connects to.
func startTarget(ctx context.Context, name string, upstream *mysql.Config, seqgate string) (*target, error) {
	switch name {
	case direct:
		return &target{name: name, client: upstream, stop: func() error { return nil }}, nil
	case viaRelay:
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		t := &target{name: name, client: upstream.Clone()}
		return t, t.start(exec.CommandContext(ctx, self, relayCommand, upstream.Addr), relayReady)
	case viaSeqgate:
		return startSeqgate(ctx, upstream, seqgate, "")
	}
	return nil, fmt.Errorf("no target is named %q", name)
}

// startSeqgate starts a seqgate whose configuration has the further keys that settings says, in YAML.
func startSeqgate(ctx context.Context, upstream *mysql.Config, seqgate, settings string) (*target, error) {
	file, err := writeConfig(upstream, settings)
	if err != nil {
		return nil, err
	}
	defer os.Remove(file) // it is read at the start
	t := &target{name: viaSeqgate, client: upstream.Clone(), ids: bySeqgate}
	return t, t.start(serveCommand(ctx, seqgate, file), seqgateReady)
}

// start runs the hop until it says that it is ready.
func (t *target) start(cmd *exec.Cmd, ready *regexp.Regexp) (err error) {
	if t.client.Addr, t.stop, err = start(cmd, ready); err != nil {
		return fmt.Errorf("start %s: %w", t.name, err)
	}
	t.pids = []int{cmd.Process.Pid}
	return nil
}

// serveCommand runs a seqgate whose log [seqgateReady] can read.
func serveCommand(ctx context.Context, seqgate, config string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, seqgate, "serve", "--config", config)
	cmd.Env = append(os.Environ(), "SEQGATE_LOG_FORMAT=text")
	return cmd
}

// writeConfig writes a configuration with a list of users: so seqgate verifies clients by itself, and keeps connections
// to the server warm.
func writeConfig(upstream *mysql.Config, settings string) (path string, err error) {
	dsn := upstream.Clone()
	dsn.TLSConfig = "false" // as the direct connection
	file, err := os.CreateTemp("", "seqgate-bench-*.yaml")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, "listen: 127.0.0.1:0\nusers: [{name: %q, password: %q}]\nkeyspaces: {%s: {shards: {\"-\": %q}}}\n%s",
		upstream.User, upstream.Passwd, upstream.DBName, dsn.FormatDSN(), settings)
	return file.Name(), errors.Join(err, file.Close())
}

var (
	relayReady   = regexp.MustCompile(`^(127\.0\.0\.1:\d+)$`)
	seqgateReady = regexp.MustCompile(`\bready\b.*\baddr="?([^\s"]+:\d+)`)
)

// buildSeqgate returns the path of a seqgate binary: the given one, or one built into dir.
func buildSeqgate(ctx context.Context, cfg *config, dir string) (string, error) {
	if cfg.seqgate != "" {
		return cfg.seqgate, nil
	}
	path := filepath.Join(dir, "seqgate")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", cfg.tags, "-o", path, "github.com/seqgate/seqgate/cmd/seqgate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does: the program that is shipped
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build seqgate (--targets relay measures without it): %w\n%s", err, out)
	}
	return path, nil
}
