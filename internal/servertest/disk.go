package servertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"
)

// Disk is a small file system of its own, with the data of a server, that a test can fill up.
type Disk struct {
	dir     string
	ballast string
}

// reapDisk takes the file system away when the test is over, however it ended: also under a server that still runs.
const reapDisk = `while read -r _; do :; done
umount -l "$1"`

// OnSmallDisks moves the data of private servers, which are started again, each to a file system in memory with room for
// free bytes more. Without the right to mount, the error says so, and they run as before.
func OnSmallDisks(tb testing.TB, servers []*Server, free int64) ([]*Disk, error) {
	tb.Helper()
	moves := make([]diskMove, len(servers))
	var moving sync.WaitGroup
	for i, s := range servers {
		moving.Go(func() { moves[i] = s.moveToDisk(free) })
	}
	moving.Wait()
	var disks []*Disk
	for i, s := range servers {
		if r := moves[i].reaper; r != nil {
			tb.Cleanup(func() { check(tb, s, "unmount the disk of", r.finish()) })
		}
		disks = append(disks, moves[i].disk)
	}
	var refused error
	for i, s := range servers {
		check(tb, s, "move the data of", moves[i].failed)
		refused = errors.Join(refused, moves[i].refused)
	}
	if refused != nil {
		return nil, refused
	}
	return disks, nil
}

// diskMove is what came of moving a server's data to a disk.
type diskMove struct {
	disk    *Disk
	reaper  *reaper // of the disk, once that is mounted
	refused error   // there is no right to mount; the server runs as before
	failed  error
}

func (s *Server) moveToDisk(free int64) (m diskMove) {
	dir, err := home(s, s.private())
	if err != nil {
		return diskMove{failed: err}
	}
	if m.failed = s.private().stop(); m.failed != nil {
		return m
	}
	if m.refused, m.failed = m.mount(dir, free); m.failed != nil {
		return m
	}
	m.failed = s.private().start()
	return m
}

// mount puts the disk in the place of dir, with what is there.
func (m *diskMove) mount(dir string, free int64) (refused, failed error) {
	aside := dir + ".aside"
	if err := os.Rename(dir, aside); err != nil {
		return nil, err
	}
	if err := copyEmpty(aside, dir); err != nil {
		return nil, err
	}
	size, err := used(aside)
	if err != nil {
		return nil, err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0777", size+free)); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err), errors.Join(os.Remove(dir), os.Rename(aside, dir))
	}
	if m.reaper, err = newReaper(reapDisk, dir); err != nil {
		return nil, errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH))
	}
	m.disk = &Disk{dir: dir, ballast: filepath.Join(dir, "ballast")}
	if err := copyOwned(aside+"/.", dir); err != nil {
		return nil, err
	}
	return nil, os.RemoveAll(aside)
}

// copyEmpty makes a directory with the owner and mode of another.
func copyEmpty(from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	out, err := exec.Command("chown", "--reference", from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// used returns how many bytes the files below dir take, with a page more for each.
func used(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size() + 4<<10
		}
		return err
	})
	return total, err
}

// Fill takes all the room that is left.
func (d *Disk) Fill() error {
	f, err := os.Create(d.ballast)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Free gives the room back.
func (d *Disk) Free() error { return os.Remove(d.ballast) }

// StartIfEnded starts the private server s again if it has ended by itself, as some do when their disk is full. One that
// is about to end, and answers no more, is waited for. It reports whether it had ended.
func (s *Server) StartIfEnded(tb testing.TB) (ended bool) {
	tb.Helper()
	e := s.private()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		pid, err := e.pid()
		if errors.Is(err, errShared) {
			check(tb, s, "start", err)
		}
		if err != nil || errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			s.Start(tb)
			return true
		}
		var refused *mysql.MySQLError
		if err = s.exec("DO 0"); err == nil || errors.As(err, &refused) {
			return false
		}
		if time.Now().After(end) {
			check(tb, s, "see the end of", err)
		}
	}
}
