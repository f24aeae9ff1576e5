package proxy

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/route"
)

// selectPrepared answers a SELECT from several shards. The text that each gets has
// columns of the merge's own, into which values are copied: so it has the values as
// literals, and is prepared for this execution alone.
func (r *router) selectPrepared(st *routedStmt, size int) error {
	bound, err := r.boundText(st)
	r.s.front.Skip(size)
	if err != nil {
		return err
	}
	return r.selectAnew(st, bytes.Clone(bound))
}

// selectAnew answers a SELECT with its values as literals from the shards that they say.
func (r *router) selectAnew(st *routedStmt, text []byte) error {
	p, err := st.loaded.planner.Plan(text, r.keyspaceName(), st.mode)
	if err != nil {
		return err
	}
	shards, err := r.shardsOf(p)
	if err != nil {
		return err
	}
	if len(shards) == 1 {
		leg, err := r.leg(shards[0])
		if err != nil {
			return err
		}
		return r.executeOnce(leg, p.AppendSQL(nil, text, false, r.databaseAt(leg.keyspace)))
	}
	if len(r.assigned) > 0 {
		return r.unsupported("user variables that a SELECT over several shards sets", "read the rows, and SET the variables")
	}
	legs, err := r.legsOf(shards)
	if err != nil {
		return err
	}
	return r.answerPrepared(legs, st, p, text)
}

// shardsOf gives the shards to which a statement with its values as literals goes, or
// the keyspace of one that goes to one server.
func (r *router) shardsOf(p *route.Plan) ([]*Keyspace, error) {
	if p.Kind == route.Local || p.Kind == route.Unsharded {
		return []*Keyspace{r.oneLegOf(p)}, nil
	}
	indexes, err := p.Shards(r.indexes[:0], nil)
	if err != nil {
		return nil, err
	}
	r.indexes = indexes
	whole := r.s.srv.cfg.Keyspaces[p.Keyspace]
	shards := make([]*Keyspace, len(indexes))
	for i, index := range indexes {
		shards[i] = whole.Shards[index]
	}
	return shards, nil
}

// oneLegOf gives the keyspace of a plan for one server, of another its first shard.
func (r *router) oneLegOf(p *route.Plan) *Keyspace {
	if p.Keyspace == "" {
		return r.shards()[0]
	}
	return r.s.srv.cfg.Keyspaces[p.Keyspace].EachShard()[0]
}

// answerPrepared gives the client the merged rows of the legs, in the binary protocol.
func (r *router) answerPrepared(legs []*executor, st *routedStmt, p *route.Plan, text []byte) error {
	e := r.s.effectOf(parser.Sniff(text), text)
	for _, leg := range legs {
		if err := leg.before(e); err != nil {
			return err
		}
		defer leg.after(e)
	}
	return r.underSelectLimit(legs, p.Scatter, func(most uint64) error { return r.answerAtMost(legs, st, p, text, most) })
}

// answerAtMost is answerPrepared for that many rows.
func (r *router) answerAtMost(legs []*executor, st *routedStmt, p *route.Plan, text []byte, most uint64) error {
	for {
		offset, count, err := p.Scatter.Limit.Resolve(nil)
		if err != nil {
			return err
		}
		ids, err := r.prepareOnce(legs, func(leg *executor) []byte { return p.AppendSQL(nil, text, true, r.databaseAt(leg.keyspace)) })
		if err != nil {
			return err
		}
		q := scattered{router: r, legs: legs, how: p.Scatter, offset: offset, count: min(count, most), binary: true, send: func(i int, leg *executor) error {
			leg.scratch = leg.appendExecute(leg.packetBuffer(), ids[i], 0, nil)
			return leg.sendPacket(leg.scratch)
		}}
		err = q.answer()
		if closing := closeOnce(legs, ids); closing != nil {
			return &backendError{fmt.Errorf("%w: %w", errAnswerBegun, closing)} // the client has its answer
		}
		var number *merge.NumberError
		if !errors.As(err, &number) {
			return err
		}
		if p, err = st.loaded.planner.PlanByNumbers(text, r.keyspaceName(), st.mode, number.Keys); err != nil {
			return err
		}
	}
}

// prepareOnce prepares a text on all legs at once, and gives the ids there. The error
// is that of the first leg that has one; nothing stays prepared then.
func (r *router) prepareOnce(legs []*executor, text func(leg *executor) []byte) (ids []uint32, err error) {
	sent := 0
	for _, leg := range legs {
		if err = leg.sendPrepare(text(leg)); err != nil {
			break
		}
		sent++
	}
	ids = make([]uint32, sent)
	for i, leg := range legs[:sent] {
		ok, readErr := leg.readPrepared()
		if readErr != nil && err == nil {
			err = readErr
		}
		ids[i] = ok.id
	}
	if err != nil {
		return nil, errors.Join(err, closeOnce(legs[:sent], ids))
	}
	return ids, nil
}

// closeOnce closes what prepareOnce has prepared; 0 is a statement that a server refused.
func closeOnce(legs []*executor, ids []uint32) error {
	var errs []error
	for i, leg := range legs {
		if ids[i] != 0 && !leg.lost {
			errs = append(errs, leg.sendClose(ids[i]))
		}
	}
	return errors.Join(errs...)
}
