package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// mysql97 drives a MySQL 9.7 through its starter script. Its server is no child of ours, only the script is.
type mysql97 struct {
	script  string
	name    string
	port    int
	options []string
	reaper  *reaper
}

// The note is the script while it starts a server: only when it has ended is there a server that drop can find.
const reapMySQL97 = `while read -r p; do pid=$p; done
[ -z "$pid" ] || while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
exec "$1" drop "$2"`

// newMySQL97 prepares a server whose data directory is a copy of the template.
func newMySQL97(port int, options []string) (*mysql97, error) {
	template, err := mySQL97Template()
	if err != nil {
		return nil, err
	}
	m, err := newBareMySQL97(port, options)
	if err != nil {
		return nil, err
	}
	if err := template.copyTo(m.name); err != nil {
		return nil, errors.Join(err, m.drop())
	}
	return m, nil
}

// newBareMySQL97 prepares a server whose data directory the script makes, which takes most of the time of its start.
func newBareMySQL97(port int, options []string) (*mysql97, error) {
	script := os.Getenv(envMySQL97)
	if script == "" {
		return nil, missingError("no MySQL 9.7: " + envMySQL97 + " does not name its starter script")
	}
	m := &mysql97{script: script, name: "seqgate-" + randomName(), port: port, options: options}
	var err error
	m.reaper, err = newReaper(reapMySQL97, script, m.name)
	return m, err
}

func (m *mysql97) start() error {
	args := append([]string{"start", m.name, strconv.Itoa(m.port), "--max-allowed-packet=128M",
		// A crash of the server is tested, not one of the machine: the disk need not be waited for.
		"--innodb-flush-method=nosync", "--innodb-doublewrite=OFF"}, m.options...)
	cmd := exec.Command(m.script, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // ctrl-C must not end it halfway
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := m.reaper.note(cmd.Process.Pid); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	return m.reaper.note(0)
}

func (m *mysql97) stop() error { _, err := m.run("stop"); return err }
func (m *mysql97) kill() error { _, err := m.run("kill"); return err }
func (m *mysql97) drop() error { return m.reaper.finish() }

func (m *mysql97) pid() (int, error) {
	out, err := m.run("pid")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(bytes.TrimSpace(out)))
}

func (m *mysql97) run(verb string) ([]byte, error) {
	out, err := exec.Command(m.script, verb, m.name).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", verb, m.name, err, bytes.TrimSpace(out))
	}
	return out, nil
}
