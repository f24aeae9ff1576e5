package servertest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// How long a server may take to answer after its start, and to end after its stop, on a machine busy with other tests.
const patience = time.Minute

// mariaDB is a mariadbd, a child of this process, with its files in one temporary directory.
type mariaDB struct {
	dir     string
	port    int
	options []string
	reaper  *reaper
	process int // 0 when it does not run
}

// The note is the server's process id. A process that was just killed may still be writing while rm looks.
const reapMariaDB = `while read -r p; do pid=$p; done
[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
for _ in 1 2 3 4 5; do rm -rf "$1" 2>/dev/null && exit; sleep 1; done
rm -rf "$1"`

func newMariaDB(port int, options []string) (*mariaDB, error) {
	template, err := mariaDBTemplate()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(memoryDir(), "seqgate-mariadb-")
	if err != nil {
		return nil, err
	}
	m := &mariaDB{dir: dir, port: port, options: options}
	if m.reaper, err = newReaper(reapMariaDB, dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := os.CopyFS(m.path("data"), os.DirFS(filepath.Join(template, "data"))); err != nil {
		return nil, errors.Join(err, m.drop())
	}
	return m, nil
}

func (m *mariaDB) path(name string) string { return filepath.Join(m.dir, name) }

func (m *mariaDB) start() error {
	if m.process != 0 {
		return errors.New("it runs already")
	}
	bin, err := mariaDBBinary("mariadbd")
	if err != nil {
		return err
	}
	log, err := os.OpenFile(m.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(bin, m.args()...)
	cmd.Dir = m.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // ctrl-C ends the tests, the reaper ends the server
	if err := cmd.Start(); err != nil {
		return err
	}
	m.process = cmd.Process.Pid
	// The process is waited for by its number from here on: see ended.
	if err := errors.Join(cmd.Process.Release(), m.reaper.note(m.process), m.awaitAnswer()); err != nil {
		text, _ := os.ReadFile(m.path("log"))
		return fmt.Errorf("%w; its log:\n%s", err, text)
	}
	return nil
}

func (m *mariaDB) args() []string {
	args := []string{
		"--no-defaults",
		"--datadir=" + m.path("data"), "--socket=" + m.path("socket"), "--pid-file=" + m.path("pid"),
		"--tmpdir=" + m.dir, // a server that starts deletes the temporary tables of all others in a folder they share
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(m.port), "--skip-name-resolve",
		"--max-connections=2000", "--max-allowed-packet=128M", "--local-infile=1",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=" + redoLogSize,
		"--innodb-flush-log-at-trx-commit=2",
	}
	args = append(args, m.options...)
	if u, err := user.Current(); err == nil && u.Uid == "0" {
		args = append(args, "--user=root") // it refuses to run as root unless told so, and obeys the first of several
	}
	return args
}

// awaitAnswer returns when the server greets a connection.
func (m *mariaDB) awaitAnswer() error {
	err := errors.New("not asked")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m.ended() {
			return errors.New("it ended while starting")
		}
		if err = greeted(m.port); err == nil {
			return nil
		}
	}
	return fmt.Errorf("no answer in %v: %w", patience, err)
}

// greeted reports whether a server sends its initial handshake on port.
func greeted(port int) error {
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// ended reports whether the process is over, and collects it if so. There is no goroutine that waits for it, because one
// would show in every test that looks for goroutines left over.
func (m *mariaDB) ended() bool {
	if m.process == 0 {
		return true
	}
	if pid, err := syscall.Wait4(m.process, nil, syscall.WNOHANG, nil); pid == 0 && err == nil {
		return false
	}
	m.process = 0
	return true
}

func (m *mariaDB) pid() (int, error) {
	if m.ended() {
		return 0, errors.New("it does not run")
	}
	return m.process, nil
}

func (m *mariaDB) stop() error { return m.end(syscall.SIGTERM) }
func (m *mariaDB) kill() error { return m.end(syscall.SIGKILL) }

// end sends sig and returns when the process is over.
func (m *mariaDB) end(sig syscall.Signal) error {
	if err := signal(m, sig); err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if m.ended() {
			return m.reaper.note(0)
		}
	}
	return fmt.Errorf("it did not end in %v", patience)
}

func (m *mariaDB) drop() error {
	var err error
	if !m.ended() {
		err = m.kill()
	}
	return errors.Join(err, m.reaper.finish())
}
