package generate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

// holder is a worker id of a set, and what the generators have to agree on that share it.
type holder struct {
	*worker.Holder
	ids       WorkerIDs
	from      string // see Workers
	static    *int64
	maxBorrow time.Duration
	start     snowflake.Start
}

// holderOf is what a generator needs; Holder is nil.
func holderOf(g *vschema.Generator, w *Workers, l snowflake.Layout, zone int64) holder {
	return holder{ids: WorkerIDsOf(l, zone), from: w.From, static: w.static, start: l.Start,
		maxBorrow: cmp.Or(g.Snowflake.MaxBorrow, snowflake.DefaultMaxBorrow)}
}

// siblings is a Leaser to which the other holders of the process are no second opinion of its clock.
type siblings struct {
	worker.Leaser
	of  *Set
	set string
}

// Look implements [worker.Leaser].
func (l siblings) Look(ctx context.Context) (worker.View, error) {
	v, err := l.Leaser.Look(ctx)
	for _, h := range l.of.all() {
		if st := h.Status(); h.ids.Set == l.set && st.Held {
			v.Peers = slices.DeleteFunc(v.Peers, func(p worker.Peer) bool { return p.Worker == h.ids.First+st.Worker })
		}
	}
	return v, err
}

// beside tells whether a generator can go by the worker id of another one. The error says that they cannot be in one
// process.
func (h holder) beside(other holder) (same bool, err error) {
	if Rivals(h.ids.Set, other.ids.Set) {
		return false, fmt.Errorf("another generator with the same epoch and unit divides the other bits in another way (%s, this one %s): "+
			"the two would give equal ids; give one of them another epoch", other.ids.Set, h.ids.Set)
	}
	if h.ids.Set != other.ids.Set || h.ids.Last < other.ids.First || other.ids.Last < h.ids.First {
		return false, nil // no id in common
	}
	if (h.static == nil) != (other.static == nil) {
		return false, fmt.Errorf("another generator with the same bits, epoch and zone has its worker id from %s, this one from %s: leases do not know of worker ids that the configuration gives; name the worker in all of them, or in none", other.from, h.from)
	}
	if h.static == nil {
		same = h.ids == other.ids
	} else {
		same = h.ids.First+*h.static == other.ids.First+*other.static
	}
	if same && (h.maxBorrow != other.maxBorrow || h.start != other.start) {
		return false, fmt.Errorf("another generator with the same bits, epoch, zone and worker id has another max_borrow, start or start_bound: they share what was given, and have to agree")
	}
	return same, nil
}
