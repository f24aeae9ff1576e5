package worker

import (
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

// state is what a Holder knows of its lease.
type state struct {
	closed   bool
	until    time.Time     // see Status
	deadline time.Duration // when the lease ends, by the monotonic clock and with the margin
	lapsed   bool
	renewed  time.Time
	ahead    time.Duration
	compared bool
	peers    int
	err      error
	failures int64
	losses   int64
}

// Status is what a [Holder] is doing.
type Status struct {
	Set      string
	Held     bool // there is a worker id; ids are given until Reserved, if it has not Lapsed
	Worker   int64
	Since    time.Time     // when it was leased
	Left     time.Duration // until the holder stops, unless it extends the lease; 0 when that is over
	Reserved time.Time     // the time up to which ids may be given; the layout's epoch when the clock differs
	Lapsed   bool          // the lease ended, and could not be extended yet
	Renewed  time.Time     // when the last attempt was good
	Ahead    time.Duration // how far this host's clock is ahead of the Leaser's
	Compared bool          // Ahead is known
	Peers    int           // other holders that were compared with
	Err      error         // of the last attempt; nil when it was good
	Failures int64         // attempts in a row that failed
	Losses   int64         // how often a worker id was lost to others

	Generator snowflake.Status // zero when there is none
}

// Status returns what h is doing.
func (h *Holder) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.state
	status := Status{Set: h.set, Renewed: s.renewed, Ahead: s.ahead, Compared: s.compared, Peers: s.peers,
		Err: s.err, Failures: s.failures, Losses: s.losses}
	if t := h.current.Load(); t != nil {
		status.Held, status.Worker, status.Since, status.Reserved, status.Lapsed = true, t.worker, t.since, s.until, s.lapsed
		status.Left = max(s.deadline-h.clock.Monotonic(), 0)
		status.Generator = t.generator.Status()
	}
	return status
}

// compared keeps what a look at the clocks has told.
func (h *Holder) compared(r reading) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.ahead, h.state.compared = r.ahead()
	h.state.peers = len(r.view.Peers)
}
