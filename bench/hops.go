package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// The peers of seqgate that relay.
const (
	viaHAProxy = "HAProxy"
	viaRouter  = "MySQL Router"
)

// hop is how a peer that relays is run.
type hop struct {
	name    string
	program string // in PATH, or named by the variable
	env     string
	// command runs program, to listen at listen and relay to upstream. dir is empty, and its own.
	command func(ctx context.Context, program, dir, listen, upstream string) (*exec.Cmd, error)
}

var hops = []hop{
	{viaHAProxy, "haproxy", "HAPROXY", haproxyCommand},
	{viaRouter, "mysqlrouter", "MYSQLROUTER", routerCommand},
}

// missingError says why a peer is not measured on this machine.
type missingError string

func (e missingError) Error() string { return string(e) }

// find returns the path of the hop's program; a missingError where there is none.
func (h *hop) find() (string, error) {
	if path := os.Getenv(h.env); path != "" {
		return path, nil
	}
	path, err := exec.LookPath(h.program)
	if errors.Is(err, exec.ErrNotFound) {
		return "", missingError(fmt.Sprintf("%s: no %s in PATH, and %s is not set", h.name, h.program, h.env))
	}
	return path, err
}

// start starts the hop in front of the server that upstream connects to. Its files are in a folder of its own in dir.
func (h *hop) start(ctx context.Context, dir string, upstream *mysql.Config) (*target, error) {
	program, err := h.find()
	if err != nil {
		return nil, err
	}
	if dir, err = os.MkdirTemp(dir, h.program+"-"); err != nil {
		return nil, err
	}
	listen, err := freeAddr()
	if err != nil {
		return nil, err
	}
	cmd, err := h.command(ctx, program, dir, listen, upstream.Addr)
	if err != nil {
		return nil, err
	}
	t := &target{name: h.name, peer: true, client: upstream.Clone()}
	t.client.Addr = listen
	if t.stop, err = startAt(ctx, cmd, listen); err != nil {
		return nil, fmt.Errorf("start %s: %w", h.name, err)
	}
	t.pids = []int{cmd.Process.Pid}
	return t, nil
}

// hopNamed returns the hop of that program; nil if there is none.
func hopNamed(program string) *hop {
	i := slices.IndexFunc(hops, func(h hop) bool { return h.program == program })
	if i < 0 {
		return nil
	}
	return &hops[i]
}

// haproxyCommand: TCP mode, in the foreground, in one process with as many threads as there are cores, which is the default.
func haproxyCommand(ctx context.Context, program, dir, listen, upstream string) (*exec.Cmd, error) {
	file := filepath.Join(dir, "haproxy.cfg")
	err := os.WriteFile(file, fmt.Appendf(nil, `global
	maxconn 4096
defaults
	mode tcp
	maxconn 4096
	timeout connect 10s
	timeout client 1h
	timeout server 1h
listen mysql
	bind %s
	server one %s
`, listen, upstream), 0o600)
	return exec.CommandContext(ctx, program, "-db", "-q", "-f", file), err
}

// routerCommand: encryption is between client and server, so that the Router passes on what it reads, as the others do.
func routerCommand(ctx context.Context, program, dir, listen, upstream string) (*exec.Cmd, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "mysqlrouter.conf")
	err = os.WriteFile(file, fmt.Appendf(nil, `[DEFAULT]
logging_folder=
runtime_folder=%[1]s
data_folder=%[1]s
[logger]
level=warning
[routing:bench]
bind_address=%[2]s
bind_port=%[3]s
destinations=%[4]s
routing_strategy=first-available
protocol=classic
client_ssl_mode=PASSTHROUGH
server_ssl_mode=AS_CLIENT
max_connections=4096
`, dir, host, port, upstream), 0o600)
	return exec.CommandContext(ctx, program, "-c", file), err
}
