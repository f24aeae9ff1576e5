package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// attempt is one attempt to reserve a block: it goes from stripe to stripe until one gives it.
type attempt struct {
	*Striped
	q     Request
	known *stripeMap

	failed map[*stripeServer]bool // servers that are not asked again
	tried  map[int]bool           // stripes likewise
	causes []error                // why servers and stripes gave nothing
	full   bool                   // a stripe had not enough ids left
}

// reserve asks the stripe of the latest block, then all servers that do not fail of late, then the others; in each case
// those first of which it is known what they have. It returns a movedError when a stripe was not where it was known to be.
func (a *attempt) reserve(ctx context.Context) (Reservation, error) {
	if home, ok := a.known.atHome(); ok && !home.server.isAway() {
		if res, ended, err := a.from(ctx, []place{home}); ended {
			return res, err
		}
	}
	for _, servers := range a.byHealth() {
		if res, ended, err := a.from(ctx, a.known.places(servers)); ended {
			return res, err
		}
		if err := a.find(ctx, servers); err != nil {
			return Reservation{}, err
		}
		if res, ended, err := a.from(ctx, a.known.places(servers)); ended {
			return res, err
		}
	}
	return Reservation{}, a.failure()
}

// byHealth divides the servers into those that are away and the others, who come first.
func (a *attempt) byHealth() [2][]*stripeServer {
	var groups [2][]*stripeServer
	for _, server := range a.servers {
		group := 0
		if server.isAway() {
			group = 1
		}
		groups[group] = append(groups[group], server)
	}
	return groups
}

// from asks one place after the other, and reports whether that ended the attempt.
func (a *attempt) from(ctx context.Context, places []place) (Reservation, bool, error) {
	for _, at := range places {
		if a.failed[at.server] || a.tried[at.stripe] {
			continue
		}
		a.tried[at.stripe] = true
		res, err := a.reserveAt(ctx, at)
		switch {
		case err == nil:
			at.server.answers(a.q)
			a.known.stay(at.stripe)
			return res, true, nil
		case errors.Is(err, ErrNoRow), errors.Is(err, ErrNoTable):
			return Reservation{}, true, &movedError{err}
		case errors.Is(err, ErrExhausted):
			a.full = true
		default:
			a.fails(ctx, at.server, err)
		}
		if ctx.Err() != nil {
			return Reservation{}, true, a.failure()
		}
	}
	return Reservation{}, false, nil
}

// fails notes that a stripe, or all of its server, gave nothing.
func (a *attempt) fails(ctx context.Context, server *stripeServer, err error) {
	a.causes = append(a.causes, server.problem(ctx, err))
	if isOfRow(err) {
		server.log.Warn("a stripe of a sequence gives no ids; another one is asked", "server", server.name, "error", err)
		return
	}
	a.failed[server] = true
	server.fails(a.q, err)
}

// isOfRow reports whether err says nothing of the other rows on its server: the row is not fit, or others were always
// faster. What a server or a connection answered is the cause of an error of this package, and those have none.
func isOfRow(err error) bool {
	var own *Error
	return errors.As(err, &own) || errors.Unwrap(err) == nil
}

// failure says why there is no block.
func (a *attempt) failure() error {
	err := &serversError{"no server of sequence " + a.q.name() + " gives ids", a.causes}
	switch {
	case len(a.causes) > 0 && (IsTemporary(err) || !a.full):
		return err
	case a.full:
		return a.q.exhausted(0, 0)
	}
	return a.q.noStripes()
}

// chunkTries is how often one attempt finds the row of a stripe in another chunk than it thought.
const chunkTries = 20

// reserveAt reserves in one stripe. The statement of a store can keep a block within a chunk only if the chunk is known
// that next_id is in: it is the one of the latest block, mostly, else the row is read.
func (a *attempt) reserveAt(ctx context.Context, at place) (Reservation, error) {
	if a.hasOthers(at.server) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.answerTimeout)
		defer cancel()
	}
	next := at.row.next
	for range chunkTries {
		q, ok := a.layout.request(a.q, at.stripe, next)
		if !ok {
			return Reservation{}, a.q.exhausted(0, 0)
		}
		if q.Cache == 0 {
			q.Cache = at.knownCache()
		}
		res, err := at.server.store.Reserve(ctx, q)
		if err == nil {
			return a.layout.reservation(a.q, at.stripe, res), nil
		}
		if !errors.Is(err, ErrExhausted) {
			return Reservation{}, err
		}
		if next, err = at.server.nextOf(ctx, q); err != nil {
			return Reservation{}, err
		}
		if next <= q.After+1 { // there are ids, but too few to leave out what q.FailoverSkip says
			next = q.Max + 1
		}
	}
	return Reservation{}, fmt.Errorf("others used up %d chunks of stripe %d of sequence %s meanwhile; use larger chunks in new sequences",
		chunkTries, at.stripe, a.q.name())
}

// hasOthers reports whether there are servers besides these that may serve.
func (a *attempt) hasOthers(than ...*stripeServer) bool {
	for _, server := range a.servers {
		if !slices.Contains(than, server) && !a.failed[server] && a.known.mayServe(server) {
			return true
		}
	}
	return false
}

// find asks those of the servers of which it is not known what stripes they have. It refuses stripes that two servers
// have. One that moved between two answers is not taken for such: all are asked again.
func (a *attempt) find(ctx context.Context, servers []*stripeServer) error {
	var err error
	for range 2 {
		if err := a.list(ctx, a.known.unlisted(servers)); err != nil {
			return err
		}
		if err = a.q.twice(a.known.all()); err == nil {
			return nil
		}
		a.known.forget()
	}
	return err
}

// list asks servers for their stripes, all at the same time. It waits for each that answers within answerTimeout, and longer
// only if there is nobody else to ask. A server whose table contradicts the configuration ends the attempt: what it says
// elsewhere is in doubt too.
func (a *attempt) list(ctx context.Context, servers []*stripeServer) (refusal error) {
	asked, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := a.ask(asked, a.q, servers)
	timeout, others := time.After(a.answerTimeout), a.hasOthers(servers...)
	for pending := len(servers); pending > 0; {
		select {
		case <-timeout:
			timeout = nil
		case got := <-answers:
			pending--
			var own *Error
			switch {
			case got.err == nil:
				others = true
				a.known.note(got.server, got.rows)
			case errors.As(got.err, &own):
				refusal = got.err
			default:
				a.fails(ctx, got.server, got.err)
			}
		}
		if others && timeout == nil {
			cancel()
		}
	}
	return refusal
}
