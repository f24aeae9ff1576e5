package meter

import (
	"time"

	"github.com/seqgate/seqgate/internal/buckets"
)

// Snapshot is what a server has counted, and how it stands.
type Snapshot struct {
	Started  time.Time
	Sessions int // clients that have logged in
	LoggingIn,
	Pinned int // of the sessions: those whose server connection will be none for others after them
	Limit    int // the most clients at once; 0: any number
	Ready    bool
	Accepted int64
	Refused  [refusals]int64 // by Refusal
	Queries  [kinds]Queries  // by Kind
	Errors   [classes]int64  // by Class
	Routes   [routes]int64   // by Route
	In, Out  int64           // bytes from and to clients

	Backends []BackendSnapshot
}

// Queries is what was counted of one kind.
type Queries struct {
	Took       buckets.Snapshot
	OK, Failed int64
}

// BackendSnapshot is what was counted of one server, and how its connections stand.
type BackendSnapshot struct {
	Keyspace, Shard  string // Shard is "-" of an unsharded keyspace
	In, Out, Queries int64
	Busy             int64 // connections that sessions use
	Idle             int   // connections that wait for a session

	Paused  time.Time // since then statements wait for it; zero: they do not
	Waiting int64     // that do now
}

// Kinds returns all kinds that are counted.
func Kinds() []Kind { return each[Kind](kinds) }

// Classes returns all classes of errors.
func Classes() []Class { return each[Class](classes) }

// Routes returns all routes.
func Routes() []Route { return each[Route](routes) }

// Refusals returns all refusals.
func Refusals() []Refusal { return append([]Refusal{0}, each[Refusal](refusals)...) }

// each returns the values from 1 to below end.
func each[T ~uint8](end T) []T {
	var all []T
	for v := T(1); v < end; v++ {
		all = append(all, v)
	}
	return all
}

// Snapshot adds up the stripes.
func (m *Meter) Snapshot() (s Snapshot) {
	s.Accepted = m.accepted.Load()
	for i := range m.refused {
		s.Refused[i] = m.refused[i].Load()
	}
	for i := range m.stripes {
		m.stripes[i].addTo(&s)
	}
	return s
}

func (p *Stripe) addTo(s *Snapshot) {
	s.In += p.in.Load()
	s.Out += p.out.Load()
	for k := range p.queries {
		s.Queries[k].Took.Add(p.queries[k].took.Snapshot())
		s.Queries[k].OK += p.queries[k].ok.Load()
		s.Queries[k].Failed += p.queries[k].failed.Load()
	}
	for c := range p.errors {
		s.Errors[c] += p.errors[c].Load()
	}
	for r := range p.routes {
		s.Routes[r] += p.routes[r].Load()
	}
}

// Snapshot adds up the stripes.
func (b *Backend) Snapshot() (s BackendSnapshot) {
	s.Busy = b.open.Load()
	for i := range b.stripes {
		s.In += b.stripes[i].In.Load()
		s.Out += b.stripes[i].Out.Load()
		s.Queries += b.stripes[i].Queries.Load()
	}
	return s
}
