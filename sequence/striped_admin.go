package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Stripe is a stripe as [Striped.Stripes] finds it.
type Stripe struct {
	Number  int
	Server  string // the server that has it, or that left it behind
	MovedTo string // the server that is to get it, when a move did not come to its end; else ""

	NextID int64 // as the row has it: a count of the stripe
	Cache  int64
	Next   int64 // the id that NextID means, or the nearest one when there is none
}

// Stripes lists the stripes of a sequence by number, without those that no answering server has. It returns what it found
// also with an error, which names the servers that did not answer, or matches [ErrStripes] when what they answered
// contradicts the configuration or each other.
func (s *Striped) Stripes(ctx context.Context, database, table string) ([]Stripe, error) {
	found, err := s.survey(ctx, Request{Database: database, Table: table})
	stripes := []Stripe{}
	for _, at := range found.live() {
		stripes = append(stripes, s.stripe(at, ""))
	}
	for _, left := range found.pending() {
		stripes = append(stripes, s.stripe(left.place(), left.movedTo))
	}
	slices.SortStableFunc(stripes, func(a, b Stripe) int { return a.Number - b.Number })
	return stripes, err
}

func (s *Striped) stripe(at place, movedTo string) Stripe {
	count := max(1, min(at.row.next, s.layout.upTo(at.stripe, maxID)))
	return Stripe{Number: at.stripe, Server: at.server.name, MovedTo: movedTo,
		NextID: at.row.next, Cache: at.row.cache, Next: s.layout.id(at.stripe, count)}
}

// Seed makes a sequence ready to hand out next and above. Where no server has a stripe, it creates the tables and deals
// the stripes to the servers in turn; where any has, it only raises those that are behind. All servers must answer. It may
// run at any time and any number of times, also while the sequence is in use.
func (s *Striped) Seed(ctx context.Context, database, table string, next, cache int64) error {
	q := Request{Database: database, Table: table, After: max(0, next-1)}
	found, err := s.survey(ctx, q)
	if err == nil && len(found) == 0 {
		err = s.deal(ctx, q, cache)
	}
	if err == nil {
		_, err = s.Raise(ctx, q)
	}
	if err != nil {
		return fmt.Errorf("seed striped sequence %s.%s: %w", database, table, err)
	}
	return nil
}

// deal creates the tables and the stripes. Whoever else does so at the same time with the same servers, in any order,
// deals alike.
func (s *Striped) deal(ctx context.Context, q Request, cache int64) error {
	if cache < 1 {
		return fmt.Errorf("a cache is 1 at least, not %d", cache)
	}
	servers := slices.SortedFunc(slices.Values(s.servers), func(a, b *stripeServer) int { return strings.Compare(a.name, b.name) })
	for _, server := range servers {
		if err := s.prepare(ctx, server, q); err != nil {
			return err
		}
	}
	hands := make([][]stripeRow, len(servers))
	for stripe := 1; stripe <= s.layout.Stripes; stripe++ {
		i := (stripe - 1) % len(servers)
		hands[i] = append(hands[i], stripeRow{id: stripe, row: row{s.layout.upTo(stripe, q.After) + 1, cache}})
	}
	for i, server := range servers[:min(len(servers), s.layout.Stripes)] {
		if err := server.act(ctx, func(ctx context.Context) error { return server.seed(ctx, q, hands[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// prepare ensures that a server has the table, and that it is the right one.
func (s *Striped) prepare(ctx context.Context, server *stripeServer, q Request) error {
	return server.act(ctx, func(ctx context.Context) error {
		if err := server.create(ctx, s.layout, q); err != nil {
			return err
		}
		_, err := server.stripes(ctx, s.layout, q)
		return err
	})
}

// raiseTries is how often Raise looks whether there is more to raise.
const raiseTries = 3

// Raise implements [Raiser]. It raises the stripes of the servers that answer, and returns an error when not all do: those
// of the others may give ids up to q.After when they are back.
func (s *Striped) Raise(ctx context.Context, q Request) (raised bool, err error) {
	for range raiseTries {
		found, err := s.survey(ctx, q)
		behind, failed := s.raise(ctx, q, found)
		raised = raised || behind
		switch {
		case err != nil || failed != nil:
			return raised, errors.Join(err, failed)
		case len(found) == 0:
			return raised, q.noStripes()
		case !behind && len(found.pending()) == 0:
			return raised, nil
		}
	}
	return raised, fmt.Errorf("stripes of sequence %s are on the move; see which with: seqgate seq stripes, and finish that with: seqgate seq move",
		q.name())
}

// raise raises the stripes that are behind, and reports whether there were any.
func (s *Striped) raise(ctx context.Context, q Request, found survey) (behind bool, err error) {
	for _, at := range found.live() {
		after := s.layout.upTo(at.stripe, q.After)
		if at.row.next > after {
			continue
		}
		behind = true
		failed := at.server.act(ctx, func(ctx context.Context) error {
			_, err := at.server.store.Raise(ctx, Request{Database: q.Database, Table: q.Table, Name: q.Name, Row: int64(at.stripe), After: after, Cache: at.knownCache()})
			return err
		})
		if failed != nil && !errors.Is(failed, ErrNoRow) { // else it is moving: the next look finds it
			err = errors.Join(err, failed)
		}
	}
	return behind, err
}

func (q Request) noStripes() error {
	return q.problem(ErrNoRow, nil, "has no stripe on any of its servers; create the stripes with: seqgate init")
}
