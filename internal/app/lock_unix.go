//go:build unix

package app

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder keeps other seqgates from changing files in a folder until unlock is called. It does not wait for one that
// does so now.
func lockFolder(folder string) (unlock func(), err error) {
	d, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = d.Close() // nothing was done with it
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another seqgate changes files in %s right now; try again", folder)
		}
		return nil, fmt.Errorf("lock %s: %w", folder, err)
	}
	return func() { _ = d.Close() }, nil // which unlocks it
}
