package worker

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// alone checks that no other process uses a file of worker ids whose ids may be the same, and returns up to when such ids, and
// those of the own file, up to own, may have been given. The own file is locked before, and stays so for as long as ids are
// given. Asked again once it is written, of two who come together at least one sees the other.
func (s *Static) alone(own time.Time) (after time.Time, err error) {
	after = own
	if s.path == "" || s.Rivals == nil {
		return after, nil
	}
	folder := filepath.Dir(s.path)
	files, err := os.ReadDir(folder)
	if err != nil {
		return after, s.problem(ErrBroken, err, "%s cannot be read", folder)
	}
	for _, f := range files {
		if !s.Rivals(f.Name()) {
			continue
		}
		last, err := s.retire(filepath.Join(folder, f.Name()))
		if err != nil {
			return after, err
		}
		after = later(after, last)
	}
	return after, nil
}

// retire returns up to when ids of a file may have been given that nobody uses.
func (s *Static) retire(path string) (last time.Time, err error) {
	unlock, err := lockFile(path + ".lock")
	if errors.Is(err, errLocked) {
		return last, s.problem(ErrNoWorkerID, nil, "another process uses %s, a layout with which it gives ids that may be the same; "+
			"stop it, or take another epoch", path)
	}
	if err != nil {
		return last, s.problem(ErrBroken, err, "%s.lock cannot be locked; see to its folder", path)
	}
	defer unlock()
	state, err := s.readFile(path)
	return state.ReservedUntil, err
}
