package proxy

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/route"
)

// selectPrepared answers a SELECT from several shards. The text that each gets has
// columns of the merge's own, into which values are copied: so it has the values as
// literals, and is prepared for this execution alone.
func (r *statementRouter) selectPrepared(st *routedStmt, size int) error {
	bound, err := r.boundText(st)
	r.s.front.Skip(size)
	if err != nil {
		return err
	}
	return r.selectAnew(st, bytes.Clone(bound))
}

// selectAnew answers a SELECT with its values as literals from the shards that they say.
func (r *statementRouter) selectAnew(st *routedStmt, text []byte) error {
	p, err := st.Loaded.Planner.Plan(text, r.KeyspaceName(), st.mode)
	if err != nil {
		return err
	}
	shards, err := r.shardsOf(p)
	if err != nil {
		return err
	}
	if len(shards) == 1 {
		conn, err := r.conn(shards[0])
		if err != nil {
			return err
		}
		return r.executeOnce(conn, p.AppendSQL(nil, text, false, r.DatabaseAt(conn.keyspace)))
	}
	if len(r.assigned) > 0 {
		return r.Unsupported("user variables that a SELECT over several shards sets", "read the rows, and SET the variables")
	}
	conns, err := r.connsOf(shards)
	if err != nil {
		return err
	}
	return r.answerPrepared(conns, st, p, text)
}

// shardsOf returns the shards to which a statement with its values as literals goes, or
// the keyspace of one that goes to one server.
func (r *statementRouter) shardsOf(p *route.Plan) ([]*catalog.Keyspace, error) {
	if p.Kind == route.Local || p.Kind == route.Unsharded {
		return []*catalog.Keyspace{r.FirstServer(p)}, nil
	}
	indexes, err := p.Shards(r.indexes[:0], nil)
	if err != nil {
		return nil, err
	}
	r.indexes = indexes
	whole := r.Keyspaces[p.Keyspace]
	shards := make([]*catalog.Keyspace, len(indexes))
	for i, index := range indexes {
		shards[i] = whole.Shards[index]
	}
	return shards, nil
}

// answerPrepared sends the client the merged rows of the connections, in the binary protocol.
func (r *statementRouter) answerPrepared(conns []*executor, st *routedStmt, p *route.Plan, text []byte) error {
	e := r.s.effectOf(parser.Sniff(text), text)
	for _, conn := range conns {
		if err := conn.before(e); err != nil {
			return err
		}
		defer conn.after(e)
	}
	return r.underSelectLimit(conns, p.Scatter, func(most uint64) error { return r.answerAtMost(conns, st, p, text, most) })
}

// answerAtMost is answerPrepared for that many rows.
func (r *statementRouter) answerAtMost(conns []*executor, st *routedStmt, p *route.Plan, text []byte, most uint64) error {
	for {
		offset, count, err := p.Scatter.Limit.Resolve(nil)
		if err != nil {
			return err
		}
		ids, err := r.prepareOnce(conns, func(conn *executor) []byte { return p.AppendSQL(nil, text, true, r.DatabaseAt(conn.keyspace)) })
		if err != nil {
			return err
		}
		q := scattered{router: &r.shardedConn, conns: conns, how: p.Scatter, offset: offset, count: min(count, most), binary: true, send: func(i int, conn *executor) error {
			conn.scratch = conn.appendExecute(conn.packetBuffer(), ids[i], 0, nil)
			return conn.SendPacket(conn.scratch)
		}}
		err = q.answer()
		if closing := closeOnce(conns, ids); closing != nil {
			return &backend.LostError{Err: fmt.Errorf("%w: %w", backend.ErrAnswerBegun, closing)} // the client has its answer
		}
		var number *merge.NumberError
		if !errors.As(err, &number) {
			return err
		}
		if p, err = st.Loaded.Planner.PlanByNumbers(text, r.KeyspaceName(), st.mode, number.Keys); err != nil {
			return err
		}
	}
}

// prepareOnce prepares a text on all connections at once, and gives the ids there. The error
// is that of the first connection that has one; nothing stays prepared then.
func (r *statementRouter) prepareOnce(conns []*executor, text func(conn *executor) []byte) (ids []uint32, err error) {
	sent := 0
	for _, conn := range conns {
		if err = conn.SendPrepare(text(conn)); err != nil {
			break
		}
		sent++
	}
	ids = make([]uint32, sent)
	for i, conn := range conns[:sent] {
		ok, readErr := conn.ReadPrepared()
		if readErr != nil && err == nil {
			err = readErr
		}
		ids[i] = ok.ID
	}
	if err != nil {
		return nil, errors.Join(err, closeOnce(conns[:sent], ids))
	}
	return ids, nil
}

// closeOnce closes what prepareOnce has prepared; 0 is a statement that a server refused.
func closeOnce(conns []*executor, ids []uint32) error {
	var errs []error
	for i, conn := range conns {
		if ids[i] != 0 && !conn.Lost {
			errs = append(errs, conn.SendClose(ids[i]))
		}
	}
	return errors.Join(errs...)
}
