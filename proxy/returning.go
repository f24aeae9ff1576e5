package proxy

import (
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// relayReturning passes on the rows that a statement with ids of its own returns.
func (x *insertRunner) relayReturning(p *plan.Fill, t catalog.TableName) error {
	err := x.relayComposed(wire.ShapeResults)
	switch {
	case err == nil && x.Answer.Failed:
		x.tellExplicit(p, t, p.OwnRefused())
	case err == nil && !p.Ignore && !p.Upsert:
		x.tellExplicit(p, t, plan.OwnStored)
	default:
		x.tellExplicit(p, t, plan.OwnUnknown)
	}
	return err
}

// answerReturning passes on the rows of a filled statement. They tell neither an
// insert id nor how many rows were inserted; LAST_INSERT_ID() has to be native
// afterwards. MariaDB sends a row once it is written, so that an error may come
// behind some.
func (x *insertRunner) answerReturning(p *plan.Fill, t catalog.TableName) error {
	if err := x.relayReturning(p, t); err != nil {
		return err
	}
	if x.Answer.Failed {
		x.State.Restore = x.State.Restore || p.Wrap
		return nil
	}
	inserted := uint64(p.First)
	if p.Ignore || p.Upsert {
		inserted = x.probe(p, t, -1)
	}
	switch {
	case inserted != 0:
		x.State.LastID = inserted
		x.State.Restore = !p.Wrap || p.Ignore || p.Upsert
	case p.Wrap:
		x.State.Restore = true
	default:
		x.State.LastIDKnown = false // the statement may have set it itself
	}
	return nil
}
