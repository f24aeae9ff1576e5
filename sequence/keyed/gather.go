package keyed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// request is a want on its way.
type request struct {
	Want
	hash    uint64
	section *section
	got     *sequence.Range
	holder  holder // who is to be asked
}

// gather returns one block per want: from this process's sections, and from other processes if not local. It goes on until
// all have come or waiting is no use.
func (s *Sequence) gather(ctx context.Context, wants []Want, local bool) ([]sequence.Range, error) {
	for _, w := range wants {
		if err := s.checkCount(w.N); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	all, err := s.load(ctx)
	if err != nil {
		return nil, s.waited(began, err, nil, nil)
	}
	got := make([]sequence.Range, len(wants))
	pending := make([]request, len(wants))
	for i, w := range wants {
		h := hash(w.Key)
		pending[i] = request{Want: w, hash: h, section: &all[sectionOf(h, len(all))], got: &got[i]}
	}
	var asked error // why another process gave nothing
	for {
		left, err := s.tryAll(pending, local || s.cfg.Forward != nil)
		if err != nil {
			return nil, err
		}
		switch {
		case len(left.here)+len(left.elsewhere) == 0:
			return got, nil
		case local && left.away:
			return nil, problem(s.name, ErrMoved, nil, "is not counted by this process for all these keys; look for the holder of the section again")
		case len(left.elsewhere) > 0:
			left.here, asked, err = s.forward(ctx, left)
		default:
			err = wait(ctx, left.round)
		}
		if err != nil {
			return nil, s.waited(began, err, left.here, asked)
		}
		pending = left.here
	}
}

// left is what is still pending.
type left struct {
	here      []request            // wait for round, or for others like it
	round     *round               // of the first
	elsewhere map[string][]request // are to be asked for of the process at that address
	away      bool                 // this process lacks the lease of a section
}

// tryAll takes what can be taken now.
func (s *Sequence) tryAll(pending []request, forward bool) (l left, err error) {
	for _, q := range pending {
		r, st, rd, h := q.section.join(q.hash, q.N, time.Now(), forward)
		switch st {
		case taken:
			*q.got = r
			continue
		case shut:
			return left{}, s.closedError()
		case spent:
			return left{}, problem(s.name, sequence.ErrExhausted, nil, "is exhausted: %d values wanted, and a key of it is near 2^63; use a new sequence", q.N)
		case short:
			s.startRaise(q.section)
		case away:
			l.away = true
		}
		l.add(q, rd, h)
	}
	if l.away {
		s.wakeKeeper()
	}
	return l, nil
}

func (l *left) add(q request, rd *round, h holder) {
	if rd == nil {
		if l.elsewhere == nil {
			l.elsewhere = map[string][]request{}
		}
		q.holder = h
		l.elsewhere[h.address] = append(l.elsewhere[h.address], q)
		return
	}
	l.here = append(l.here, q)
	if l.round == nil {
		l.round = rd
	}
}

// wait waits for the end of a round.
func wait(ctx context.Context, rd *round) error {
	select {
	case <-rd.done:
		return rd.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waited makes the error of a call whose waiting has ended with err.
func (s *Sequence) waited(began time.Time, err error, pending []request, asked error) error {
	switch {
	case s.ctx.Err() != nil:
		return s.closedError()
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("wait for values of keyed sequence %s: %w", s.name, err)
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	text := fmt.Sprintf("got no values in %v: ", time.Since(began).Round(time.Millisecond))
	since, cause := s.outage()
	switch {
	case !since.IsZero() && isPermanent(cause):
		return cause
	case !since.IsZero():
		return problem(s.name, sequence.ErrUnavailable, cause,
			"%sits database has not served it since %s (%v); see to the database, seqgate goes on by itself when it answers",
			text, since.Format(time.RFC3339), cause)
	}
	for _, q := range pending {
		h := q.section.heldBy()
		if h.owner == "" {
			continue
		}
		why := "it has no address to be asked at"
		if asked != nil {
			why = asked.Error()
		}
		return problem(s.name, sequence.ErrUnavailable, asked,
			"%ssection %d is held by process %s at %q, and %s; see to that process: if it is gone, the section is free when its lease ends, in %v",
			text, q.section.id, h.owner, h.address, why, max(0, time.Until(h.until)).Round(time.Millisecond))
	}
	return problem(s.name, sequence.ErrUnavailable, asked, "%sits database has not answered yet; try again, seqgate goes on asking", text)
}
