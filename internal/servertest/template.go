package servertest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// template returns the directory that fill makes, in the user's cache directory. It is made once per machine for all
// that key says: servers start on a copy of it, as making a data directory takes several times as long as starting.
//
// fill works in a directory beside, which is renamed when done, so that other processes see all of a template or
// nothing. When another process was first, its template is as good.
func template(name, key string, fill func(dir string) error) (string, error) {
	sum := sha256.Sum256([]byte(key))
	dir := filepath.Join(cacheDir(), fmt.Sprintf("%s-%x", name, sum[:6]))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.MkdirAll(cacheDir(), 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cacheDir(), "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := fill(work); err != nil {
		return "", fmt.Errorf("make the data directory of %s: %w", name, err)
	}
	err = os.Rename(work, dir)
	if errors.Is(err, fs.ErrExist) { // a directory with something in it
		return dir, nil
	}
	return dir, err
}

func cacheDir() string {
	base, err := os.UserCacheDir()
	if err != nil { // no HOME
		base = os.TempDir()
	}
	return filepath.Join(base, "seqgate-test")
}

// memoryDir is where data directories go that need not outlive the machine: a file system in memory where there is one
// with room, so that no test waits for a disk, else the usual place for temporary files.
func memoryDir() string {
	const shm, room = "/dev/shm", 2 << 30
	var fs unix.Statfs_t
	if err := unix.Statfs(shm, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC || int64(fs.Bavail)*fs.Bsize < room {
		return ""
	}
	return shm
}
