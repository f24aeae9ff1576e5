package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The ways to a server.
const (
	direct     = "direct"
	viaRelay   = "relay"
	viaSeqgate = "seqgate"
)

// target is one way to a server.
type target struct {
	name    string
	client  *mysql.Config // how clients connect
	process *exec.Cmd     // the hop; nil for direct
	stop    func() error
}

// fills reports whether ids are made by sequences.
func (t *target) fills() bool { return t.name == viaSeqgate }

// hop reports whether a process of ours stands between client and server.
func (t *target) hop() bool { return t.process != nil }

// startTarget starts what name needs in front of the server that upstream connects to.
func startTarget(ctx context.Context, name string, upstream *mysql.Config, seqgate string) (*target, error) {
	var cmd *exec.Cmd
	var ready *regexp.Regexp
	switch name {
	case direct:
		return &target{name: name, client: upstream, stop: func() error { return nil }}, nil
	case viaRelay:
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd, ready = exec.CommandContext(ctx, self, relayCommand, upstream.Addr), relayReady
	case viaSeqgate:
		file, err := writeConfig(upstream)
		if err != nil {
			return nil, err
		}
		defer os.Remove(file) // it is read at the start
		cmd, ready = exec.CommandContext(ctx, seqgate, "serve", "--config", file), seqgateReady
	}
	t := &target{name: name, client: upstream.Clone(), process: cmd}
	var err error
	if t.client.Addr, t.stop, err = start(cmd, ready); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return t, nil
}

// writeConfig writes a configuration with a list of users: so seqgate verifies clients by itself, and keeps connections
// to the server warm.
func writeConfig(upstream *mysql.Config) (path string, err error) {
	dsn := upstream.Clone()
	dsn.TLSConfig = "false" // as the direct connection
	file, err := os.CreateTemp("", "seqgate-bench-*.yaml")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, "listen: 127.0.0.1:0\nusers: [{name: %q, password: %q}]\nkeyspaces: {%s: {shards: {\"-\": %q}}}\n",
		upstream.User, upstream.Passwd, upstream.DBName, dsn.FormatDSN())
	return file.Name(), errors.Join(err, file.Close())
}

var (
	relayReady   = regexp.MustCompile(`^(127\.0\.0\.1:\d+)$`)
	seqgateReady = regexp.MustCompile(`\bready\b.*\baddr="?([^\s"]+:\d+)`)
)

// start runs cmd until it prints a line that ready matches, and returns the address in it and a
// function that ends the process.
func start(cmd *exec.Cmd, ready *regexp.Regexp) (addr string, stop func() error, err error) {
	output, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	stdin, err := cmd.StdinPipe() // its end is the relay's sign to end
	if err != nil {
		return "", nil, err
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		w.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(output)
	var said []string
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return m[1], func() error { return end(cmd, stdin, ended) }, nil
		}
		said = append(said, lines.Text())
	}
	return "", nil, fmt.Errorf("it ended without saying that it is ready: %w\n%s", errors.Join(<-ended, lines.Err()), strings.Join(said, "\n"))
}

func end(cmd *exec.Cmd, stdin io.Closer, ended <-chan error) error {
	if err := stdin.Close(); err != nil {
		return err
	}
	_ = cmd.Cancel() // fails when the process is over already
	err := <-ended
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Exited() {
		return nil // our signal
	}
	return err
}

// buildSeqgate returns the path of a seqgate binary: the given one, or one built into dir.
func buildSeqgate(ctx context.Context, cfg *config, dir string) (string, error) {
	if cfg.seqgate != "" {
		return cfg.seqgate, nil
	}
	path := filepath.Join(dir, "seqgate")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", cfg.tags, "-o", path, "github.com/seqgate/seqgate/cmd/seqgate")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build seqgate (--targets relay measures without it): %w\n%s", err, out)
	}
	return path, nil
}
