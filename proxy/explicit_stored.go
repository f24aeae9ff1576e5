package proxy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// A table's sequence learns of the ids that clients write themselves once the server
// has stored them, and of no others: a statement that the server refuses moves nothing,
// whoever sent it.

// ownOutcome tells by the server's answer.
func (f *insertWriter) ownOutcome(p *plan.Fill, ok wire.OK, err error) plan.OwnOutcome {
	var refused *wire.ServerError
	switch {
	case errors.As(err, &refused):
		return p.OwnRefused()
	case err == nil && f.storedAll(p, ok):
		return plan.OwnStored
	}
	return plan.OwnUnknown
}

// storedAll reports whether a statement that succeeded has certainly stored all its rows.
func (f *insertWriter) storedAll(p *plan.Fill, ok wire.OK) bool {
	switch {
	case p.Upsert && (p.FoundRows || ok.AffectedRows != uint64(p.Rows)):
		return false // one row more or less for each that was there
	case p.Upsert && p.Rows > 1:
		return f.duplicates(ok) == 0
	case p.Ignore:
		return ok.AffectedRows >= uint64(p.Rows)
	}
	return true
}

// duplicates returns the second number of an OK packet's text "Records: n Duplicates: n
// Warnings: n", in whatever language; -1 where there is none.
func (f *insertWriter) duplicates(ok wire.OK) int {
	info := ok.Rest
	if f.Has(mysql.CLIENT_SESSION_TRACK) {
		info = infoText(ok)
	}
	if n := numbersIn(info); len(n) >= 3 { // the text's length may read as a digit
		return int(n[len(n)-2])
	}
	return -1
}

// tellExplicit tells a table's sequence of the ids that a statement brought along. It
// comes before the client's answer, so that no id is taken that the client knows to be
// used. Keyed sequences do not learn of such values.
func (f *insertWriter) tellExplicit(p *plan.Fill, t catalog.TableName, outcome plan.OwnOutcome) {
	if !p.Tells() || outcome == plan.OwnNone || f.srv.hasPassed(p) {
		return
	}
	if outcome == plan.OwnStored {
		f.srv.learnOwn(p.Binding, p.Lowest, p.Highest)
		return
	}
	f.learnStored(p, t)
}

// hasPassed reports whether the sequence has nothing to learn of the statement's ids.
func (s *keyspaces) hasPassed(p *plan.Fill) bool {
	seq, err := s.cfg.Sequences.Get(p.Binding.Sequence)
	if err != nil {
		return true // the registry was closed: this process gives no more ids
	}
	if p.Binding.OnExplicit == catalog.ExplicitAdvance {
		return seq.Passed(p.Highest)
	}
	return !seq.Above(p.Highest)
}

// learnOwn tells the sequence of stored ids. One that the column cannot hold was stored
// as the largest that it can.
func (s *keyspaces) learnOwn(b *catalog.Binding, lowest, highest int64) {
	lowest, highest = min(lowest, b.Max), min(highest, b.Max)
	seq, err := s.cfg.Sequences.Get(b.Sequence)
	switch {
	case err != nil:
	case b.OnExplicit == catalog.ExplicitAdvance:
		seq.Observe(lowest, highest)
	case seq.Above(highest):
		s.explicit.warn(b, highest)
	}
}

// lookLimit is how long a client waits while the table is asked for its own ids: behind
// another session's ALTER TABLE that lasts. The answer counts when it comes later, too.
var lookLimit = time.Second // but for tests on slow machines

// learnStored tells the sequence of the largest of the statement's own ids that is in
// the table.
func (f *insertWriter) learnStored(p *plan.Fill, t catalog.TableName) {
	b, lowest, highest := p.Binding, min(p.Lowest, p.Binding.Max), min(p.Highest, p.Binding.Max)
	done := make(chan struct{})
	ctx, k, srv, log := f.ctx, f.keyspace, f.srv, f.log // the session may be elsewhere by then
	go func() {
		defer close(done)
		stored, err := highestBetween(ctx, k, t, b, lowest, highest)
		switch {
		case stored > 0:
			srv.learnOwn(b, stored, stored)
		case err != nil && !errors.Is(err, context.Canceled):
			log.Warn("a table was not asked which of a statement's own ids it has; a later INSERT may find one of them taken",
				"table", b.Table, "err", err)
		}
	}()
	timer := time.NewTimer(lookLimit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// highestBetween returns the largest id of a table from lowest to highest, 0 for none,
// also of what is not committed yet.
func highestBetween(ctx context.Context, k *catalog.Keyspace, t catalog.TableName, b *catalog.Binding, lowest, highest int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, catalog.Timeout)
	defer cancel()
	tx, err := k.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadUncommitted, ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // nothing was changed
	column := catalog.Quote(b.Column)
	var id sql.NullInt64
	err = tx.QueryRowContext(ctx, fmt.Sprintf("SELECT MAX(%[1]s) FROM %[2]s.%[3]s WHERE %[1]s BETWEEN %[4]d AND %[5]d",
		column, catalog.Quote(t.Schema), catalog.Quote(t.Table), lowest, highest)).Scan(&id)
	return id.Int64, err
}

// firstPresent returns the first id of a statement's block that is in its table,
// 0 for none. It reads what is not committed yet: the client's transaction may
// be open.
func firstPresent(ctx context.Context, k *catalog.Keyspace, t catalog.TableName, p *plan.Fill) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, catalog.Timeout)
	defer cancel()
	tx, err := k.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadUncommitted, ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // nothing was changed
	var id sql.NullInt64
	err = tx.QueryRowContext(ctx, "SELECT "+p.FirstOf()+fromBlock(p, t)).Scan(&id)
	return uint64(id.Int64), err
}

func fromBlock(p *plan.Fill, t catalog.TableName) string {
	return " FROM " + catalog.Quote(t.Schema) + "." + catalog.Quote(t.Table) + " WHERE " + catalog.Quote(p.Binding.Column) + p.IsOneOfIDs()
}

// discard drops what was opened as a sequence and is none: a table that counts by key, say. It would stay in memory, in the
// metrics and on the page.
func (s *keyspaces) discard(name sequence.Name, err error) {
	if errors.Is(err, sequence.ErrNotSequence) {
		s.cfg.Sequences.Discard(name)
	}
}

// skipStored skips what is in the table of the ids from first to last, and of those in
// memory behind them.
func (s *keyspaces) skipStored(ctx context.Context, k *catalog.Keyspace, t catalog.TableName, b *catalog.Binding, first, last int64) (bool, error) {
	seq, err := s.cfg.Sequences.Get(b.Sequence)
	if err != nil {
		return false, err
	}
	if ids, ok := seq.Memory(); ok {
		last = max(last, ids.Last())
		if first == 0 {
			first = ids.First
		}
	}
	if first == 0 {
		return false, nil
	}
	stored, err := highestBetween(ctx, k, t, b, first, last)
	if err != nil || stored == 0 {
		return false, err
	}
	if stored == last && last <= b.Max-maxTaken { // they may go on above
		above, err := highestBetween(ctx, k, t, b, last+1, last+maxTaken)
		if err != nil {
			return false, err
		}
		stored = max(stored, above)
	}
	seq.SkipTo(stored + 1)
	if s.taken.due(b.Sequence.String()+" "+b.Table, time.Now()) {
		s.cfg.Logger.Warn("an id in memory was in the table already: a client wrote it itself, past this seqgate; the ids up to there were skipped",
			"table", b.Table, "id", stored, "sequence", b.Sequence.String())
	}
	return true, nil
}
