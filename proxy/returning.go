package proxy

import (
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// relayReturning passes on the rows that a statement with ids of its own returns.
func (x *insertRunner) relayReturning(p *fillPlan, t catalog.TableName) error {
	err := x.relayComposed(wire.ShapeResults)
	switch {
	case err == nil && x.answer.Failed:
		x.tellExplicit(p, t, p.ownRefused())
	case err == nil && !p.ignore && !p.upsert:
		x.tellExplicit(p, t, ownStored)
	default:
		x.tellExplicit(p, t, ownUnknown)
	}
	return err
}

// settleReturning passes on the rows of a filled statement. They tell neither an
// insert id nor how many rows were inserted; LAST_INSERT_ID() has to be native
// afterwards. MariaDB sends a row once it is written, so that an error may come
// behind some.
func (x *insertRunner) settleReturning(p *fillPlan, t catalog.TableName) error {
	if err := x.relayReturning(p, t); err != nil {
		return err
	}
	if x.answer.Failed {
		x.state.restore = x.state.restore || p.wrap
		return nil
	}
	inserted := uint64(p.first)
	if p.ignore || p.upsert {
		inserted = x.probe(p, t, -1)
	}
	switch {
	case inserted != 0:
		x.state.lastID = inserted
		x.state.restore = !p.wrap || p.ignore || p.upsert
	case p.wrap:
		x.state.restore = true
	default:
		x.state.lastIDKnown = false // the statement may have set it itself
	}
	return nil
}
