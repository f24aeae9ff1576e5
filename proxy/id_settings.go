package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// idSettings are the session's variables by which a server makes ids itself.
type idSettings struct {
	// unknown says that the session has to be asked, as both may have been set. It does
	// not come without environmentKnown being false.
	unknown   bool
	increment int64 // auto_increment_increment; 0: as the server's global one
	forced    int64 // insert_id, which the next statement takes that makes an id; 0 for none
}

// maxIncrement bounds that distance: ids in between are gaps, also those of a statement
// that the server refuses.
const maxIncrement = 256

// readIDSettings reads what the server answered.
func readIDSettings(increment, forced string) (ids idSettings, err error) {
	if ids.increment, err = strconv.ParseInt(increment, 10, 64); err != nil {
		return ids, fmt.Errorf("read @@%s: %w", catalog.IncrementVariable, err)
	}
	n, err := strconv.ParseUint(forced, 10, 64)
	if err != nil {
		return ids, fmt.Errorf("read @@insert_id: %w", err)
	}
	ids.forced = int64(min(n, math.MaxInt64)) // no column holds more
	return ids, nil
}

// stride gives by how much each id is above the one before.
func (p *fillPlan) stride() int64 { return max(p.step, 1) }

// span gives how many ids the open rows take, with those between.
func (p *fillPlan) span() int64 { return (p.open-1)*p.stride() + 1 }

// spread has the ids of a statement with several lie as far apart as native ones do in
// this session: clients work them out from the first one.
func (f *idTaker) spread(p *fillPlan) (err error) {
	if p.open < 2 || p.binding.Key.Name != "" {
		return nil
	}
	if p.step == 0 {
		p.step = f.state.ids.increment
	}
	if p.step == 0 {
		p.step, err = f.srv.catalog.Increment(f.ctx, f.keyspace)
	}
	if err == nil && p.step > maxIncrement {
		return catalog.Unsupported(fmt.Sprintf("several rows with an %s of %d", catalog.IncrementVariable, p.step), p.binding.Table,
			fmt.Sprintf("set it to at most %d, or insert the rows one by one", maxIncrement))
	}
	return err
}

// takeForced gives the ids that SET insert_id has said for this statement. The server,
// which sees ids of the statement's own, would keep it for a later one.
func (f *idTaker) takeForced(p *fillPlan) error {
	if p.forced == 0 {
		if err := f.useUpInsertID(p); err != nil {
			return err
		}
		p.forced, f.state.ids.forced = f.state.ids.forced, 0
	}
	if err := f.spread(p); err != nil {
		return err
	}
	if p.forced > p.binding.Max-p.span()+1 {
		return columnFull(p.binding, p.forced+p.span()-1)
	}
	p.first = p.forced
	p.noteForced()
	return nil
}

// useUpInsertID has the server forget the value of SET insert_id. MySQL would make 0 of a
// 0 there: it takes a row that uses the value.
func (f *idTaker) useUpInsertID(p *fillPlan) error {
	if f.mariaDB {
		return f.quietly("SET insert_id = 0")
	}
	table := catalog.Quote(cmp.Or(f.state.database, f.keyspace.Database)) + ".`seqgate insert_id`"
	err := f.quietly("CREATE TEMPORARY TABLE " + table + " (i BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY) SELECT NULL AS i")
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		return catalog.Unsupported("SET insert_id in a session that cannot make a temporary table ("+refused.Text()+"),", p.binding.Table,
			"grant CREATE TEMPORARY TABLES, or write the id into the statement")
	}
	if err != nil {
		return err
	}
	f.setLastID(f.state.lastID, uint64(f.state.ids.forced))
	if err := f.quietly("DROP TEMPORARY TABLE " + table); err != nil || p.wrap {
		return err
	}
	return f.restoreLastID()
}

// noteForced has the sequence learn of the ids as of any that a client writes.
func (p *fillPlan) noteForced() {
	last := p.id(int(p.open) - 1)
	if p.highest == 0 {
		p.lowest = p.first
	}
	p.lowest, p.highest = min(p.lowest, p.first), max(p.highest, last)
}
