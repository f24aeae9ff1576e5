package proxy

import (
	"errors"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
)

// clientLeft tells the servers of all connections at once that the client has gone, while the
// session waits for one of them. So what they run ends, and what is open on them is
// rolled back: one that does not answer must not have the others keep their locks.
func (r *shardedConn) clientLeft(waiting *serverConn) {
	now := time.Now()
	if r.leaving.IsZero() {
		r.leaving = now
	}
	// A part of the shards must not roll back what others commit.
	if r.committing || r.s.clientMayGoOn(waiting) && now.Sub(r.leaving) < backend.LeaveLimit {
		r.s.startGrace()
		return
	}
	for _, conn := range r.conns.all {
		conn.HalfClose()
		conn.Ends.LeaveBy = now.Add(backend.LeaveLimit)
		conn.Hurry()
	}
}

// errClientLeft ends the session of a client that has gone.
var errClientLeft = &frontError{errors.New("the client left during a statement")}
