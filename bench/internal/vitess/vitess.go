// Package vitess runs Vitess v0.22.1 as a peer of the benchmark: vtgate and one primary vttablet for each database, in
// front of a MySQL server.
//
// They run in one process, vtcombo. Its vtgate calls its vttablets as functions, where a deployed Vitess has a gRPC call
// and mostly a network between them: what is measured here is less than that costs. Everything else is theirs: vtgate parses,
// plans and routes each statement, the vttablet parses and plans it again and runs it on a connection of its pools, and
// sequences are cached by the vttablet of their table. The topology is in memory, there are no replicas, and passwords of
// clients are not checked.
package vitess

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ErrUnavailable is the error of a machine that cannot run Vitess, with the reason: the benchmark goes on without it.
var ErrUnavailable = errors.New("Vitess is unavailable")

// Options say what Vitess stands in front of.
type Options struct {
	// Server is a MySQL server from 8.0 on, by TCP or by socket; no MariaDB, which Vitess does not support. Its user has all
	// privileges. vtcombo gets the password on its command line, where other users of the machine can read it, and asks its
	// own clients, from this machine only, for none.
	Server    *mysql.Config
	Keyspaces []Keyspace
	// PoolSize is the number of connections to each database that statements outside of transactions share, and the number of
	// those for writes and transactions; 64 if 0. Clients may be more, and wait.
	PoolSize int
	// Log is told what takes long; nil: nobody.
	Log io.Writer
}

// Keyspace is a database to the clients of vtgate.
type Keyspace struct {
	Name string
	// Databases are its shards: databases of the server that are there already, with their tables. One is an unsharded keyspace;
	// 2, 4, ... 256 divide the keyspace ids evenly, in this order, as [ShardNames] names them.
	Databases []string
	// VSchema is Vitess's JSON for this keyspace: {"sharded": true, "vindexes": ..., "tables": ...}.
	VSchema string
}

// Vitess is a running vtcombo.
type Vitess struct {
	process *exec.Cmd
	server  *mysql.Config
	addr    string // of vtgate
	dir     string
	stop    context.CancelFunc
	ended   chan struct{} // closed when the process has ended
	exit    error         // of the process; for those who have seen ended
}

// sidecar is the database that vttablets keep their own tables in. vtcombo cannot name it otherwise.
const sidecar = "_vt"

// patience is how long vtcombo may take until it answers, and until it has ended.
const patience = 2 * time.Minute

// Start runs vtcombo, which it builds the first time (see [Build]), until [Vitess.Stop]; it returns when vtgate serves all
// keyspaces. The error is an [ErrUnavailable] when it cannot be built or the server does not fit.
func Start(ctx context.Context, o Options) (v *Vitess, err error) {
	topology, err := topology(o.Keyspaces)
	if err != nil {
		return nil, err
	}
	if err := checkServer(ctx, o.Server); err != nil {
		return nil, err
	}
	binary, err := Build(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	v = &Vitess{server: o.Server.Clone(), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.Stop())
		}
	}()
	if v.dir, err = os.MkdirTemp("", "seqgate-vitess-"); err != nil {
		return v, err
	}
	if v.addr, err = freeAddr(); err != nil {
		return v, err
	}
	if err := v.run(ctx, binary, flags(&o, topology, v.dir, v.addr), o.Keyspaces); err != nil {
		return v, err
	}
	return v, v.awaitServing(ctx, o.Keyspaces)
}

// Client returns how clients connect to a keyspace: as to the server, but for the address and the database.
func (v *Vitess) Client(keyspace string) *mysql.Config {
	c := v.server.Clone()
	c.Net, c.Addr, c.DBName = "tcp", v.addr, keyspace
	return c
}

// Process is the running vtcombo, whose CPU time and memory are those of vtgate and all vttablets.
func (v *Vitess) Process() *exec.Cmd { return v.process }

// Stop ends the process and drops the database it made for itself. The databases of the keyspaces are the caller's.
func (v *Vitess) Stop() error {
	var errs []error
	if v.process != nil {
		v.stop()
		<-v.ended
		if !errors.Is(v.exit, context.Canceled) { // as it is when it ends because of us
			errs = append(errs, fmt.Errorf("vtcombo ended: %v", v.exit))
		}
		db, err := sql.Open("mysql", v.server.FormatDSN())
		if err == nil {
			_, err = db.Exec("DROP DATABASE IF EXISTS " + sidecar)
			err = errors.Join(err, db.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, os.RemoveAll(v.dir))...)
}

// run starts the process. Its files are in v.dir.
func (v *Vitess) run(ctx context.Context, binary string, flags []string, keyspaces []Keyspace) error {
	data := filepath.Join(v.dir, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), writeVSchemas(v.dir, keyspaces)); err != nil {
		return err
	}
	// It does not outlive the benchmark, whatever ends that.
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 { // vtcombo does not run as root
		nobody := uint32(65534)
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		own := filepath.Join(v.dir, "vtcombo") // the cache directory may be closed to it
		if err := errors.Join(os.Chmod(v.dir, 0o755), os.Chown(data, int(nobody), int(nobody)), copyFile(own, binary)); err != nil {
			return err
		}
		binary = own
	}
	log, err := os.Create(filepath.Join(v.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	ctx, v.stop = context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(ctx, binary, flags...)
	cmd.Env = append(os.Environ(), "VTDATAROOT="+data)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, attr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start vtcombo: %w", err)
	}
	v.process = cmd
	go func() {
		v.exit = cmd.Wait()
		close(v.ended)
	}()
	return nil
}

// awaitServing returns when all tablets serve and a client can use all keyspaces.
func (v *Vitess) awaitServing(ctx context.Context, keyspaces []Keyspace) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := v.serves(ctx, keyspaces)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-v.ended:
			return fmt.Errorf("vtcombo ended: %w\n%s", v.exit, v.logTail())
		case <-ctx.Done():
			return fmt.Errorf("vtgate does not serve: %w\n%s", err, v.logTail())
		}
	}
}

func (v *Vitess) serves(ctx context.Context, keyspaces []Keyspace) error {
	for _, k := range keyspaces {
		if err := v.servesKeyspace(ctx, k); err != nil {
			return fmt.Errorf("keyspace %s: %w", k.Name, err)
		}
	}
	return nil
}

func (v *Vitess) servesKeyspace(ctx context.Context, k Keyspace) (err error) {
	db, err := sql.Open("mysql", v.Client(k.Name).FormatDSN())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, shard := range ShardNames(len(k.Databases)) {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, fmt.Sprintf("USE `%s/%s`", k.Name, shard))
		if err == nil {
			_, err = conn.ExecContext(ctx, "SELECT 1 FROM dual")
		}
		if err := errors.Join(err, conn.Close()); err != nil {
			return fmt.Errorf("shard %s: %w", shard, err)
		}
	}
	return nil
}

// logTail is the end of the log, for errors.
func (v *Vitess) logTail() string {
	text, err := os.ReadFile(filepath.Join(v.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return tail(text)
}

// tail returns the last lines of a program's output.
func tail(output []byte) string {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
}

func checkServer(ctx context.Context, server *mysql.Config) (err error) {
	db, err := sql.Open("mysql", server.FormatDSN())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	var there int
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", sidecar).Scan(&there)
	if err == nil && there != 0 {
		return fmt.Errorf("%w: the server has a database %s already, another Vitess may use it", ErrUnavailable, sidecar)
	}
	return err
}

func checkVersion(version string) error {
	var major int
	if _, err := fmt.Sscanf(version, "%d.", &major); err != nil || major < 8 || strings.Contains(version, "MariaDB") {
		return fmt.Errorf("%w: it needs MySQL from 8.0 on, the server is %s", ErrUnavailable, version)
	}
	return nil
}

// freeAddr returns an address of this machine that nobody listens on.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
