package proxy

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/proxy/wire"
)

// Kill ends the session of any user that has this id, or with query the statement that it runs, and reports whether there is
// such a session. The server is asked to; a session that it does not end (seqgate's account there may not end those of others)
// is cut off, and what it runs goes on until the server notices.
func (s *Server) Kill(ctx context.Context, id uint64, query bool) (found bool, err error) {
	t := s.sessionWithID(id)
	if t.session == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, killTimeout)
	defer cancel()
	t.session.log.Info("session killed by the operator", "id", id, "user", t.user, "statement_only", query)
	threadID := t.session.ThreadID.Load()
	switch err := s.end(ctx, t, query); {
	case err == nil:
		return true, nil
	case errors.Is(err, errSessionEnded):
		return false, nil
	case query:
		return true, fmt.Errorf("the server did not end the statement of session %d: %w", id, err)
	}
	t.session.CutThread(threadID)
	wire.Interrupt(t.client) // which may wait between two statements
	return true, nil
}
