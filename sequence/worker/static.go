package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// StaticLease is the lease to use with [Static]: a process that was killed waits up to as long when it starts again.
const StaticLease = 3 * time.Second

// Static is one worker id that the configuration gives to this process: whoever wrote it answers for it that no other
// process has the same.
//
// The time reserved is kept in a file. So a process that starts again, after a crash too and with its clock set back, begins
// above what it has given; and a second process on the same machine that is given the same file is refused. Without a file
// there is only the rule of [snowflake.Config].After: the first id is MaxBorrow ahead of the clock, which is safe as long as
// the clock was not set back while the process was away.
type Static struct {
	// Rivals reports whether a file of the same folder, named without the folder, is that of worker ids whose ids may be the
	// same. No id is given while another process uses such a file, and then only above what it says. nil: there is none.
	Rivals func(file string) bool

	worker int64
	path   string

	mu    sync.Mutex // guards what follows
	lock  func()     // unlocks the file; nil when it is not locked
	state staticFile
	token string // of the holder; "" for none
}

var _ Leaser = (*Static)(nil)

// staticFile is what the file holds.
type staticFile struct {
	Worker        int64     `json:"worker_id"`
	ReservedUntil time.Time `json:"reserved_until"`
}

// NewStatic returns the worker id of that number. path is the file, which is made when it is missing, and beside it one of
// that name with .lock; "": none.
func NewStatic(worker int64, path string) *Static { return &Static{worker: worker, path: path} }

func (s *Static) set() string { return fmt.Sprintf("the configuration (%d)", s.worker) }

func (s *Static) problem(kind, cause error, format string, args ...any) error {
	return &Error{Kind: kind, Set: s.set(), Text: fmt.Sprintf(format, args...), Cause: cause}
}

// Look implements [Leaser]: there is nothing to compare with.
func (s *Static) Look(context.Context) (View, error) { return View{}, nil }

// Acquire implements [Leaser].
func (s *Static) Acquire(_ context.Context, c Claim) (Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && s.token != c.Token {
		return Lease{}, NoneFree(s.set(), 1, []Taken{{Worker: s.worker, Address: "this process", Until: c.Until}})
	}
	if s.lock == nil && s.path != "" {
		if err := s.open(); err != nil {
			return Lease{}, err
		}
	}
	own := s.state.ReservedUntil
	after, err := s.alone(own)
	if err != nil {
		s.close()
		return Lease{}, err
	}
	if ahead := after.Sub(c.Clock); ahead > c.Lease+c.MaxSkew {
		s.close()
		return Lease{}, s.problem(ErrClock, nil, "ids up to %s were reserved before, as %s says, and the clock is %v behind that; set it right, or wait",
			stamp(after), s.path, ahead.Round(time.Millisecond))
	}
	if err := s.reserve(c.Until); err != nil {
		s.close()
		return Lease{}, err
	}
	if after, err = s.alone(own); err != nil { // one that came meanwhile has not seen the file, which was not there yet
		s.close()
		return Lease{}, err
	}
	s.token = c.Token
	return Lease{Worker: s.worker, After: after, Until: c.Until}, nil
}

// Extend implements [Leaser].
func (s *Static) Extend(_ context.Context, _ int64, c Claim) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != c.Token {
		return time.Time{}, Lost(s.set(), s.worker, "")
	}
	return c.Until, s.reserve(c.Until)
}

// Release implements [Leaser].
func (s *Static) Release(_ context.Context, _ int64, c Claim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == c.Token {
		s.close()
	}
	return nil
}

func (s *Static) open() error {
	lock, err := lockFile(s.path + ".lock")
	if errors.Is(err, errLocked) {
		return s.problem(ErrNoWorkerID, nil, "another process uses %s; give each process a worker id and a file of its own", s.path)
	}
	if err != nil {
		return s.problem(ErrBroken, err, "%s.lock cannot be locked; see to its folder", s.path)
	}
	s.lock = lock
	if err := s.read(); err != nil {
		s.close()
		return err
	}
	return nil
}

func (s *Static) close() {
	if s.lock != nil {
		s.lock()
	}
	s.lock, s.token = nil, ""
	if s.path != "" {
		s.state = staticFile{}
	}
}

func (s *Static) read() error {
	state, err := s.readFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		state = staticFile{Worker: s.worker}
	case err != nil:
		return err
	case state.Worker != s.worker:
		return s.problem(ErrBroken, nil, "%s is of worker id %d; name another file, or put the id back", s.path, state.Worker)
	}
	s.state = state
	return nil
}

func (s *Static) readFile(path string) (state staticFile, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return state, s.problem(ErrBroken, err, "%s cannot be read", path)
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return state, s.problem(ErrBroken, err, "%s is damaged; when no id has a later time than now, delete it", path)
	}
	return state, nil
}

// reserve writes the file so that it holds the old time or the new one, even after a loss of power.
func (s *Static) reserve(until time.Time) error {
	if !until.After(s.state.ReservedUntil) {
		return nil
	}
	state := staticFile{Worker: s.worker, ReservedUntil: until.UTC()}
	if s.path != "" {
		data, err := json.Marshal(state)
		if err != nil {
			return fmt.Errorf("worker id %d: %w", s.worker, err)
		}
		if err := replaceFile(s.path, append(data, '\n')); err != nil {
			return fmt.Errorf("worker id %d: keep the time up to which ids are given: %w", s.worker, err)
		}
	}
	s.state = state
	return nil
}

func replaceFile(path string, data []byte) (err error) {
	next := path + ".new"
	if err := writeSynced(next, data); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func writeSynced(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
