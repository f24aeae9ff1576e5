package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mySQL97Copy is a stopped server's data directory and where it stood. The script keeps a data directory it finds, and
// the directories of two servers differ by their names only, so that a copy in the right place saves making one.
type mySQL97Copy struct {
	data string // the copy
	home string // its original place, with the original's name in it
	name string // the original's name
}

// copyTo puts the data directory where the script will look for that of the server called name.
func (c mySQL97Copy) copyTo(name string) error {
	return copyOwned(c.data, strings.ReplaceAll(c.home, c.name, name))
}

func mySQL97Template() (mySQL97Copy, error) {
	script := os.Getenv(envMySQL97)
	if script == "" {
		return mySQL97Copy{}, missingError("no MySQL 9.7: " + envMySQL97 + " does not name its starter script")
	}
	text, err := os.ReadFile(script)
	if err != nil {
		return mySQL97Copy{}, err
	}
	dir, err := template(nameMySQL97, script+string(text)+os.Getenv("MYSQL97_ROOT"), initializeMySQL97)
	if err != nil {
		return mySQL97Copy{}, err
	}
	place, err := os.ReadFile(filepath.Join(dir, "place"))
	if err != nil {
		return mySQL97Copy{}, err
	}
	name, home, _ := strings.Cut(string(place), "\n")
	return mySQL97Copy{data: filepath.Join(dir, "data"), home: home, name: name}, nil
}

// initializeMySQL97 has the script make a server, and keeps the data directory of it.
func initializeMySQL97(dir string) (err error) {
	port, err := freePort()
	if err != nil {
		return err
	}
	m, err := newBareMySQL97(port, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.drop()) }()
	s, err := boot(nameMySQL97, port, m)
	if err != nil {
		return err
	}
	home, err := home(s, m)
	if err != nil {
		return err
	}
	if err := m.stop(); err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	if err := copyOwned(home, data); err != nil {
		return err
	}
	// Without its file of the server's UUID, each copy makes up its own, as replication between them wants.
	if err := os.Remove(filepath.Join(data, "auto.cnf")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "place"), []byte(m.name+"\n"+home), 0o644)
}

// home returns where the running server's data directory is. The server may live in a root directory of its own.
func home(s *Server, e engine) (string, error) {
	pid, err := e.pid()
	if err != nil {
		return "", err
	}
	root, err := os.Readlink(fmt.Sprintf("/proc/%d/root", pid))
	if err != nil {
		return "", err
	}
	db, err := s.open("")
	if err != nil {
		return "", err
	}
	defer db.Close()
	var dir string
	if err := db.QueryRow("SELECT @@datadir").Scan(&dir); err != nil {
		return "", err
	}
	return filepath.Join(root, dir), nil
}

// copyOwned copies a directory tree with its owners and modes, as the server runs as a user of its own.
func copyOwned(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, bytes.TrimSpace(out))
	}
	return nil
}
