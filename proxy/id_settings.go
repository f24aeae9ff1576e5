package proxy

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// maxIncrement bounds that distance: ids in between are gaps, also those of a statement
// that the server refuses.
const maxIncrement = 256

// spread has the ids of a statement with several lie as far apart as native ones do in
// this session: clients work them out from the first one.
func (f *idTaker) spread(p *plan.Fill) (err error) {
	if p.Open < 2 || p.Binding.Key.Name != "" {
		return nil
	}
	if p.Step == 0 {
		p.Step = f.State.IDs.Increment
	}
	if p.Step == 0 {
		p.Step, err = f.srv.catalog.Increment(f.ctx, f.keyspace)
	}
	if err == nil && p.Step > maxIncrement {
		return catalog.Unsupported(fmt.Sprintf("several rows with an %s of %d", catalog.IncrementVariable, p.Step), p.Binding.Table,
			fmt.Sprintf("set it to at most %d, or insert the rows one by one", maxIncrement))
	}
	return err
}

// takeForced returns the ids that SET insert_id has said for this statement. The server,
// which sees ids of the statement's own, would keep it for a later one.
func (f *idTaker) takeForced(p *plan.Fill) error {
	if p.Forced == 0 {
		if err := f.useUpInsertID(p); err != nil {
			return err
		}
		p.Forced, f.State.IDs.Forced = f.State.IDs.Forced, 0
	}
	if err := f.spread(p); err != nil {
		return err
	}
	if p.Forced > p.Binding.Max-p.Span()+1 {
		return columnFull(p.Binding, p.Forced+p.Span()-1)
	}
	p.First = p.Forced
	p.NoteForced()
	return nil
}

// useUpInsertID has the server forget the value of SET insert_id. MySQL would make 0 of a
// 0 there: it takes a row that uses the value.
func (f *idTaker) useUpInsertID(p *plan.Fill) error {
	if f.MariaDB {
		return f.Quietly("SET insert_id = 0")
	}
	table := catalog.Quote(cmp.Or(f.State.Database, f.keyspace.Database)) + ".`seqgate insert_id`"
	err := f.Quietly("CREATE TEMPORARY TABLE " + table + " (i BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY) SELECT NULL AS i")
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		return catalog.Unsupported("SET insert_id in a session that cannot make a temporary table ("+refused.Text()+"),", p.Binding.Table,
			"grant CREATE TEMPORARY TABLES, or write the id into the statement")
	}
	if err != nil {
		return err
	}
	f.SetLastID(f.State.LastID, uint64(f.State.IDs.Forced))
	if err := f.Quietly("DROP TEMPORARY TABLE " + table); err != nil || p.Wrap {
		return err
	}
	return f.RestoreLastID()
}
