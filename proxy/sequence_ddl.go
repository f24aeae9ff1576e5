package proxy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// lookSequence asks for a table, as a plan of sequence DDL needs it: a temporary one of the session's hides others.
func (f *statementReader) lookSequence(name catalog.TableName) (catalog.SequenceTable, error) {
	if hidden, err := f.isTemporary(name.Schema, name.Table); hidden || err != nil {
		return catalog.SequenceTable{Exists: hidden}, err
	}
	return catalog.LookSequence(f.ctx, f.keyspace, name)
}

// createSequence makes a sequence above the ids in use. The server judges the statement before it tells of those.
func (d *commandStatement) createSequence() error {
	text := d.CreateText(false)
	if err := d.judge(text); err != nil {
		return err
	}
	name := d.Sequence(0)
	found, err := catalog.LookSequence(d.ctx, d.keyspace, name)
	if err != nil {
		return err
	}
	if !found.Exists { // else the server says so, and no row is wanted if it vanishes meanwhile
		free, err := d.firstFree(name)
		if err == nil {
			err = d.Create.StartAbove(free)
		}
		if err != nil {
			return err
		}
		text = d.CreateText(true)
	}
	if err := d.SendText(text); err != nil {
		return err
	}
	ok, err := d.answerOK()
	if err != nil {
		return err
	}
	if ok.AffectedRows > 0 { // else there was a table
		d.forgetSequence(name)
	}
	return d.replyChanged(ok)
}

// replyChanged answers with an OK of the server's without what it says of the statement that has run.
func (d *commandStatement) replyChanged(ok wire.OK) error {
	ok.AffectedRows = 0
	ok.Rest = withoutInfo(ok.Rest, d.Has(mysql.CLIENT_SESSION_TRACK))
	return d.replyOK(ok)
}

// withoutInfo leaves the text for people out of what follows in an OK packet.
func withoutInfo(rest []byte, tracked bool) []byte {
	n, _, size := wire.LengthEncoded(rest)
	if !tracked || size == 0 || uint64(len(rest)-size) < n {
		return nil
	}
	return append([]byte{0}, rest[size+int(n):]...)
}

// firstFree returns the first id above those that are in use in what a sequence of that name would fill, and those that this
// process was given for it; 0 when it fills nothing: then a new one may begin anew.
func (d *commandStatement) firstFree(table catalog.TableName) (free int64, err error) {
	if d.srv.cfg.FirstFree == nil {
		return 0, nil
	}
	given := int64(0)
	for _, name := range d.names(table) {
		first, err := d.srv.cfg.FirstFree(d.ctx, name)
		if err != nil {
			return 0, fmt.Errorf("find the first free id for sequence %s: %w", name, err)
		}
		free, given = max(free, first), max(given, d.srv.cfg.Sequences.Given(name))
	}
	if free == 0 {
		return 0, nil
	}
	if given == math.MaxInt64 {
		return 0, plan.RefuseSequence("CREATE SEQUENCE of '%s': all its ids were given before", table.Table)
	}
	return max(free, given+1), nil
}

// judge has the server say whether the client may run a statement, which does not run.
func (x *commandRunner) judge(text string) error {
	if err := x.Send(append([]byte{mysql.COM_STMT_PREPARE}, text...)); err != nil {
		return err
	}
	ok, err := x.ReadPrepared()
	if err != nil {
		return err
	}
	return x.SendClose(ok.ID)
}

// dropSequences drops tables of sequences.
func (d *commandStatement) dropSequences() error {
	if err := d.SendText(d.Text); err != nil {
		return err
	}
	ok, err := d.answerOK()
	if err != nil {
		return err
	}
	for i := range d.Tables {
		for _, name := range d.names(d.Sequence(i)) {
			d.srv.cfg.Sequences.Drop(name)
		}
	}
	d.srv.catalog.Forget()
	return d.replyOK(ok)
}

// used returns the names under which a sequence is in memory here: sessions may have come to it from several keyspaces of the same
// server.
func (d *commandStatement) used(table catalog.TableName) (names []sequence.Name) {
	for _, name := range d.srv.cfg.Sequences.Names() {
		k := d.srv.cfg.Keyspaces[name.Keyspace]
		if strings.EqualFold(name.Table, table.Table) && strings.EqualFold(name.Database, table.Schema) &&
			k != nil && k.Backend.Addr == d.keyspace.Backend.Addr {
			names = append(names, name)
		}
	}
	return names
}

// names returns the names that a sequence may have here: those under which it is in memory, and those of the server's keyspaces
// that its database may belong to.
func (d *commandStatement) names(table catalog.TableName) []sequence.Name {
	names := d.used(table)
	for _, k := range d.srv.cfg.Keyspaces {
		name := k.SequenceName(table.Schema, table.Table)
		own := strings.EqualFold(k.Database, table.Schema)
		if own {
			name = k.SequenceName(k.Database, table.Table)
		}
		if (own || k == d.keyspace) && k.Backend.Addr == d.keyspace.Backend.Addr && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// forgetSequence drops what is in memory of a sequence that was made anew.
func (d *commandStatement) forgetSequence(table catalog.TableName) {
	for _, name := range d.names(table) {
		d.srv.cfg.Sequences.Forget(name)
	}
	d.srv.catalog.Forget()
}
