package meter

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/internal/buckets"
)

// Meter counts for a server. Make one by [New]; its methods may be called at the same time.
type Meter struct {
	stripes  []Stripe
	accepted atomic.Int64
	refused  [refusals]atomic.Int64
}

// cacheLine keeps what different sessions write apart: two lines are fetched at once by many processors.
const cacheLine = 128

// Stripe is what some of the sessions count together.
type Stripe struct {
	in, out atomic.Int64
	queries [kinds]kindCounter
	errors  [classes]atomic.Int64
	routes  [routes]atomic.Int64
	_       [cacheLine]byte
}

// kindCounter counts the commands of one kind.
type kindCounter struct {
	took       buckets.Histogram
	ok, failed atomic.Int64 // each by itself: a difference of counters that are read one after the other can fall
}

// New returns a Meter with several stripes for each processor, so that sessions seldom share one that is in use.
func New() *Meter { return &Meter{stripes: make([]Stripe, stripes())} }

func stripes() int { return 4 * runtime.GOMAXPROCS(0) }

// Stripe returns where the session with this number counts.
func (m *Meter) Stripe(session uint32) *Stripe { return &m.stripes[int(session)%len(m.stripes)] }

// Bytes returns the counters of what came from a client, and of what went to it.
func (s *Stripe) Bytes() (in, out *atomic.Int64) { return &s.in, &s.out }

// Command counts a client's command of a kind, how long it took until its answer was sent, how it was answered and where
// it ran.
func (s *Stripe) Command(k Kind, took time.Duration, c Class, r Route) {
	s.queries[k].took.Observe(took)
	if c == NoError {
		s.queries[k].ok.Add(1)
	} else {
		s.queries[k].failed.Add(1)
		s.errors[c].Add(1)
	}
	if r != NoRoute {
		s.routes[r].Add(1)
	}
}

// Accepted counts a client that has connected.
func (m *Meter) Accepted() { m.accepted.Add(1) }

// Refused counts a client that was not let in.
func (m *Meter) Refused(r Refusal) { m.refused[r].Add(1) }

// Backend counts what goes to one server. Make one by [NewBackend].
type Backend struct {
	stripes []BackendStripe
	open    atomic.Int64
}

// BackendStripe is what some of the sessions count together of one server.
type BackendStripe struct {
	In, Out, Queries atomic.Int64
	_                [cacheLine]byte
}

// NewBackend returns a Backend that has counted nothing.
func NewBackend() *Backend { return &Backend{stripes: make([]BackendStripe, stripes())} }

// Stripe returns where the session with this number counts.
func (b *Backend) Stripe(session uint32) *BackendStripe {
	return &b.stripes[int(session)%len(b.stripes)]
}

// Open counts the connections that sessions use.
func (b *Backend) Open() *atomic.Int64 { return &b.open }
