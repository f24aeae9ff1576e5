package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/proxy/wire"
)

// readOK is answerOK while more may have to be sent to the backend.
func (f *insertWriter) readOK() (wire.OK, error) {
	payload, size, err := f.followSingle()
	if err != nil {
		return wire.OK{}, err
	}
	defer f.Wire.Skip(size)
	if f.Answer.Failed {
		return wire.OK{}, &wire.ServerError{Packet: append([]byte(nil), payload...)}
	}
	ok, valid := wire.ParseOK(payload)
	if wire.First(payload) != mysql.OK_HEADER || !valid {
		return ok, &backend.LostError{Err: fmt.Errorf("answer to an INSERT begins with %#x", wire.First(payload))}
	}
	if len(ok.Rest) > 0 {
		ok.Rest = append([]byte(nil), ok.Rest...)
	}
	return ok, nil
}

// forgetIfStale drops what is known of tables when the server's error says that
// a table is not what it was.
func (f *insertWriter) forgetIfStale(e *wire.ServerError) {
	switch e.Code() {
	case mysql.ER_BAD_FIELD_ERROR, mysql.ER_NO_SUCH_TABLE, mysql.ER_WRONG_VALUE_COUNT_ON_ROW:
		f.srv.catalog.Forget()
	}
}

// tellInserted puts into an OK packet the insert id that a native column tells.
func (f *insertWriter) tellInserted(p *plan.Fill, t catalog.TableName, ok *wire.OK) {
	o := plan.Outcome{Affected: ok.AffectedRows, Reported: ok.InsertID, First: uint64(p.First)}
	var inserted uint64
	if p.NeedsProbe(o) {
		inserted = f.probe(p, t, int64(o.Affected))
	}
	if inserted == 0 && p.HidesUpdated(o) {
		o.Reported = f.askUpdated(p, o)
	}
	v := p.Decide(o, inserted, f.State.LastID)
	if v.Unknown {
		f.State.LastIDKnown = false
	} else {
		f.SetLastID(v.LastID, v.Actual)
		// LAST_INSERT_ID(id) of another row may be behind a packet that tells something else: a trigger's own INSERT hides it.
		f.State.Restore = f.State.Restore || p.Wrap && (o.First == 0 || ok.InsertID != o.First)
	}
	ok.InsertID = v.InsertID
}

// askUpdated asks for the id of a row that was there and has changed, which the OK packet does not tell. The statement
// has set LAST_INSERT_ID() to it.
func (f *insertWriter) askUpdated(p *plan.Fill, o plan.Outcome) uint64 {
	id, err := f.askBehind(int64(o.Affected), "SELECT "+bytesOf("LAST_INSERT_ID()")+" LIMIT 1")
	if err != nil {
		f.log.Warn("insert id not known", "table", p.Binding.Table, "err", err)
	}
	return id
}

// probe finds the first id of the statement's block that is in the table. Ids
// of a block are in no other statement, so what stands there was inserted by
// this one. It looks from outside the client's session, whose warnings and row
// count stay as they are, and sees what is not committed yet; where that waits for
// another session, as behind an ALTER TABLE that waits for this one, from within, and so
// in front of a cluster, where outside may be another node.
// rows is what ROW_COUNT() gives behind the statement.
func (f *insertWriter) probe(p *plan.Fill, t catalog.TableName, rows int64) uint64 {
	limit := time.Second
	if f.HasTransaction() {
		limit = 100 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	err := threads.ErrOtherServer
	if !f.srv.clusters.has(ctx, f.keyspace) {
		var id uint64
		if id, err = firstPresent(ctx, f.keyspace, t, p); err == nil || f.ctx.Err() != nil {
			return id
		}
	}
	id, within := f.askBehind(rows, "SELECT "+bytesOf(p.FirstOf())+fromBlock(p, t))
	if within != nil {
		f.log.Warn("insert id not verified", "table", p.Binding.Table, "err", errors.Join(err, within))
		return uint64(p.First)
	}
	return id
}
