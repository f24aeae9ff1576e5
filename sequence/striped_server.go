package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// awayTime is how long a server that failed is asked after all others only.
const awayTime = time.Minute

// answerTimeout is how long a server may take to answer while there are others to ask: short enough that a frozen one leaves
// time for another within [attemptTimeout].
const answerTimeout = time.Second

// stripeServer is one server of a striped sequence.
type stripeServer struct {
	name  string
	db    *sql.DB
	store RowStore
	log   *slog.Logger

	mu       sync.Mutex
	failedAt time.Time // the latest failure; zero when the server has answered since
}

// isAway reports whether the server failed when it was last asked, not long ago.
func (s *stripeServer) isAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.failedAt) < awayTime
}

// fails notes that the server failed.
func (s *stripeServer) fails(q Request, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failedAt.IsZero() {
		s.log.Warn("a server of a striped sequence fails; the others serve", "server", s.name, "sequence", q.name(), "error", err)
	}
	s.failedAt = time.Now()
}

// answers notes that the server does what it should.
func (s *stripeServer) answers(q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.failedAt.IsZero() {
		s.log.Info("a server of a striped sequence answers again", "server", s.name, "sequence", q.name())
	}
	s.failedAt = time.Time{}
}

// problem names the server in err, and says so when it was this process that ended the waiting.
func (s *stripeServer) problem(ctx context.Context, err error) error {
	if ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return fmt.Errorf("server %s gave no answer in time", s.name)
	}
	return fmt.Errorf("server %s: %w", s.name, err)
}

// adminTime is how long an operator's call waits for one server. It is longer than lockWait.
const adminTime = 5 * time.Second

// act runs f, which is about this server, for adminTime at most.
func (s *stripeServer) act(ctx context.Context, f func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, adminTime)
	defer cancel()
	if err := f(limited); err != nil {
		return s.problem(ctx, err)
	}
	return nil
}

// serversError is what several servers failed in, and why each did.
type serversError struct {
	text   string
	causes []error
}

// Error names every server that failed and what became of it.
func (e *serversError) Error() string {
	texts := make([]string, len(e.causes))
	for i, cause := range e.causes {
		texts[i] = cause.Error()
	}
	return e.text + ": " + strings.Join(texts, "; ")
}

// Unwrap returns the temporary causes if there are any: then the error is temporary. Else it returns all.
func (e *serversError) Unwrap() []error {
	var passing []error
	for _, cause := range e.causes {
		if IsTemporary(cause) {
			passing = append(passing, cause)
		}
	}
	if passing == nil {
		return e.causes
	}
	return passing
}
