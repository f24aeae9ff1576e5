package proxy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/proxy/wire"
)

// defineEverywhere runs DDL and the like on all shards. No server undoes it: where
// some shard refuses it, the error tells which have done it.
func (r *textRouter) defineEverywhere(shards []*catalog.Keyspace, p *route.Plan, attributes, sql []byte) error {
	if err := r.commit(); err != nil { // as each server does
		return err
	}
	conns, err := r.connsBy(r.connectedConn, shards)
	if err != nil {
		return err
	}
	defer r.s.srv.catalog.Forget()
	for _, conn := range conns {
		conn.Boundary, conn.Sent = false, true
		if err := conn.sendPart(attributes, p.AppendSQL(nil, sql, false, r.DatabaseAt(conn.keyspace))); err != nil {
			return err
		}
	}
	results := make([]shardResult, len(conns))
	for i, conn := range conns {
		results[i] = conn.readDefinition()
	}
	return r.tellDefined(conns, results)
}

// shardResult is what one shard says of a statement that defines something.
type shardResult struct {
	ok            wire.OK
	columns, rows [][]byte // packets of a report, as of ANALYZE TABLE
	err           error
}

// tellDefined answers the client for all shards.
func (r *textRouter) tellDefined(conns []*executor, results []shardResult) error {
	var done, failed []string
	var first error
	answers := make([]wire.OK, len(results))
	for i, d := range results {
		answers[i] = d.ok
		if d.err == nil {
			done = append(done, conns[i].keyspace.String())
			continue
		}
		failed = append(failed, conns[i].keyspace.String())
		if first == nil {
			first = d.err
		}
	}
	var refused *wire.ServerError
	switch {
	case first == nil && len(results[0].columns) > 0:
		return r.tellReports(results)
	case first == nil:
		ok := answers[0]
		ok.Status = r.status()
		return r.answer(ok)
	case len(done) == 0 && errors.As(first, &refused):
		return first
	}
	text := fmt.Sprintf("%v; done on %s, not on %s: run it on those alone, by their names as the database",
		clientErrorText(first), strings.Join(done, ", "), strings.Join(failed, ", "))
	if errors.As(first, &refused) {
		return mysql.NewError(refused.Code(), text)
	}
	return errors.Join(mysql.NewError(mysql.ER_UNKNOWN_ERROR, text), first)
}

// tellReports answers with the rows of all shards, one shard after the other.
func (r *textRouter) tellReports(results []shardResult) error {
	var rows [][]byte
	for _, d := range results {
		if len(d.columns) != len(results[0].columns) {
			return mysql.NewError(mysql.ER_UNKNOWN_ERROR, "seqgate cannot tell of this statement, which has run: the shards' reports have different columns")
		}
		rows = append(rows, d.rows...)
	}
	r.ran(-1, uint64(len(rows)))
	return r.s.replyPackets(results[0].columns, rows)
}

// clientErrorText is an error as the client would have got it.
func clientErrorText(err error) string {
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		return refused.Text()
	}
	return clientError(err).Message
}

// readDefinition reads an answer to its end: an OK, or rows of a report.
func (c *serverState) readDefinition() (d shardResult) {
	e := plan.Effect(plan.ChangesSchema)
	defer c.after(e)
	c.StartAnswer(wire.ShapeResults)
	for first := true; !c.Answer.Done() || first; first = false {
		at := c.Answer.Phase
		payload, size, err := c.Follow()
		if err != nil {
			d.err = &backend.LostError{Err: err}
			return d
		}
		switch {
		case c.Answer.Failed:
			d.err = &wire.ServerError{Packet: append([]byte(nil), payload...)}
		case first && c.Answer.Done():
			d.ok, _ = wire.ParseOK(payload)
			d.ok.Rest = append([]byte(nil), d.ok.Rest...)
		case at == wire.PhaseColumns:
			d.columns = append(d.columns, append([]byte(nil), payload...))
		case at == wire.PhaseRows && !c.Answer.Done():
			d.rows = append(d.rows, append([]byte(nil), payload...))
		}
		c.Wire.Skip(size)
	}
	c.Boundary = true
	return d
}
