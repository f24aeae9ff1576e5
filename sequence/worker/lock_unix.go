//go:build unix

package worker

import (
	"errors"
	"os"
	"syscall"
)

// errLocked: another process has the file locked.
var errLocked = errors.New("locked")

// lockFile locks a file, which it makes, for this process until unlock is called or the process ends.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was done with it
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil // which unlocks it
}
