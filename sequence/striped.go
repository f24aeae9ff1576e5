package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrStripes: what the servers of a striped sequence hold contradicts the configuration, or each other.
var ErrStripes = errors.New("contradictory stripes")

// Striped is a [Store] of sequences that are spread over several independent servers, any of which may be lost: the ticket
// servers of Flickr ("Ticket Servers: Distributed Unique Primary Keys on the Cheap", 2010), with any number of servers,
// which may change.
//
// The ids belong to stripes by [StripeLayout]. Each stripe is a row of the sequence's table on just one of the servers,
// and a server serves the stripes whose rows it has. A process takes all its blocks from one stripe, chosen at random at
// its first, and changes to another when the server of that fails or the stripe has moved. Its ids increase nevertheless:
// in the new stripe it goes on above them, and leaves out what lies between. A server that failed is asked again when no
// other one serves, or after [awayTime].
//
// It keeps in memory where the stripes are, but relies on it for speed only: the row is the authority.
type Striped struct {
	servers       []*stripeServer
	strategy      string
	layout        StripeLayout
	answerTimeout time.Duration // the constant, but in tests

	mu        sync.Mutex
	sequences map[string]*stripeMap // by the table's name as statements write it
}

var _ RowStore = (*Striped)(nil)

// isSpread reports whether a store takes ids from more than one row.
func isSpread(s Store) bool {
	if guarded, ok := s.(failover); ok {
		s = guarded.RowStore
	}
	_, ok := s.(*Striped)
	return ok
}

// StripeServer is a server that may hold stripes.
type StripeServer struct {
	// Name is the server's for good, and the same in all processes: letters, digits and ._:- only. The tables on the server
	// have it in their comments. A new server never gets the name of one that was lost.
	Name string
	DB   *sql.DB // a pool from [NewPool]
}

// NewStriped returns a store over these servers, which reserves in each by the named strategy. Servers that begin and
// cease to fail are logged to log, if it is not nil. It returns an error for an unknown strategy, a layout out of range,
// and names that are not usable or not unique. It does not connect yet.
func NewStriped(servers []StripeServer, strategy string, layout StripeLayout, log *slog.Logger) (*Striped, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Striped{strategy: strategy, layout: layout.withDefaults(), answerTimeout: answerTimeout, sequences: map[string]*stripeMap{}}
	if err := s.layout.check(); err != nil {
		return nil, err
	}
	for _, server := range servers {
		if !isServerName(server.Name) || s.server(server.Name) != nil {
			return nil, fmt.Errorf("the servers of a striped sequence have different names of 1 to 64 letters, digits and ._:-, not %q", server.Name)
		}
		store, err := NewStore(strategy, server.DB)
		if err != nil {
			return nil, err
		}
		s.servers = append(s.servers, &stripeServer{name: server.Name, db: server.DB, store: store, log: log})
	}
	if len(s.servers) == 0 {
		return nil, errors.New("a striped sequence has at least one server")
	}
	return s, nil
}

// isServerName keeps names harmless in statements and in comments of tables.
func isServerName(name string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-"
	return name != "" && len(name) <= 64 && strings.Trim(name, allowed) == "" && !strings.Contains(name, comment)
}

// server returns the server of that name, or nil.
func (s *Striped) server(name string) *stripeServer {
	if i := slices.IndexFunc(s.servers, func(server *stripeServer) bool { return server.name == name }); i >= 0 {
		return s.servers[i]
	}
	return nil
}

// known returns what this process knows of the stripes of a sequence.
func (s *Striped) known(q Request) *stripeMap {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.sequences[q.sqlName()]
	if m == nil {
		m = &stripeMap{listed: map[*stripeServer]map[int]row{}}
		s.sequences[q.sqlName()] = m
	}
	return m
}

// moveTries is how often one Reserve follows stripes that move away under it.
const moveTries = 3

// Reserve implements [Store]. It asks one server after the other, and gives each that does not answer a second while there
// are others. The error is temporary when one of their errors is, and names them all. Besides those of Store it returns
// errors that match [ErrInvalidCount], when q needs more ids than a chunk has, and [ErrStripes].
func (s *Striped) Reserve(ctx context.Context, q Request) (res Reservation, err error) {
	if q.Need > s.layout.Chunk {
		return Reservation{}, q.problem(ErrInvalidCount, nil, "cannot give %d ids at once: its stripes are made of chunks of %d ids; ask for fewer", q.Need, s.layout.Chunk)
	}
	known := s.known(q)
	if q.Cache == 0 {
		known.forget() // the time to look at the tables, for every store
	}
	for range moveTries {
		a := &attempt{Striped: s, q: q, known: known, failed: map[*stripeServer]bool{}, tried: map[int]bool{}}
		if res, err = a.reserve(ctx); !isMoved(err) {
			return res, err
		}
		known.forget()
	}
	return Reservation{}, fmt.Errorf("the stripes of sequence %s move away faster than they can be followed", q.name())
}

// isMoved reports whether a row turned out not to be on the server any more where this process knew it.
func isMoved(err error) bool {
	var gone *movedError
	return errors.As(err, &gone)
}

// movedError is what a server answered that no longer has a stripe.
type movedError struct{ cause error }

func (e *movedError) Error() string { return e.cause.Error() }

// Release implements [Releaser]. Of ids that lie in two chunks it gives those in the second one back, of which the row can
// say so.
func (s *Striped) Release(ctx context.Context, q Request, unused Range) (bool, error) {
	stripe := s.layout.owner(unused.Last())
	at, ok := s.known(q).place(stripe)
	if !ok {
		return false, nil
	}
	last := s.layout.upTo(stripe, unused.Last())
	n := min(unused.N, last%s.layout.Chunk+1)
	q.Row = int64(stripe)
	return at.server.store.Release(ctx, q, Range{last - n + 1, n})
}

// String returns the strategy and the servers, as "increment striped over east, west".
func (s *Striped) String() string {
	names := make([]string, len(s.servers))
	for i, server := range s.servers {
		names[i] = server.name
	}
	return s.strategy + " striped over " + strings.Join(names, ", ")
}
