package proxy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// alterSequence has the server judge the statement by an ALTER TABLE in the client's session, which also commits its
// transaction, before anything is told of the sequence. The row is changed over seqgate's own connections: a transaction of the
// client's would lock it.
func (d *commandStatement) alterSequence() error {
	if d.Text != "" {
		return d.runText(d.Text)
	}
	held := false
	ok, err := d.alterTable("", d.Alter.Comment == "")
	if err == nil && d.Alter.Next > 0 {
		held, err = d.checkRestart()
	}
	if err == nil && d.Alter.Comment != "" {
		ok, err = d.alterTable(d.Alter.Comment, true)
	}
	if err == nil {
		err = d.changeRow(held)
	}
	if err != nil {
		return err
	}
	return d.replyChanged(ok)
}

// checkRestart refuses to go backwards: ids that were given, here or by others that read the row, would be given again. held
// says that the number to restart with is in this process' memory: the row is past it.
func (d *commandStatement) checkRestart() (held bool, err error) {
	name, next := d.Sequence(0), d.Alter.Next
	if d.Alter.Max > 0 && next > d.Alter.Max {
		return false, plan.WrongArguments("ALTER SEQUENCE", "RESTART WITH %d is past MAXVALUE %d", next, d.Alter.Max)
	}
	for _, used := range d.used(name) {
		seq, err := d.srv.cfg.Sequences.Get(used)
		if err != nil {
			return false, err
		}
		held = held || seq.Holds(next)
	}
	ctx, cancel := context.WithTimeout(d.ctx, catalog.Timeout)
	defer cancel()
	var row sql.NullInt64
	err = d.keyspace.DB.QueryRowContext(ctx, "SELECT next_id FROM "+fullName(name)+" WHERE id = 0").Scan(&row)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return held, nil // which is told when a value is asked for
	case err != nil:
		return false, &catalog.DescribeError{Table: name.Schema + "." + name.Table, Err: err}
	case held || next >= row.Int64:
		return held, nil
	}
	return false, plan.RefuseSequence("RESTART of '%s.%s' at %d: its next_id is %d, and ids from there back may have been given; "+
		"make the sequence anew, or stop every seqgate that uses it and run seqgate seq set --force", name.Schema, name.Table, next, row.Int64)
}

func fullName(name catalog.TableName) string {
	return catalog.Quote(name.Schema) + "." + catalog.Quote(name.Table)
}

// alterTable runs an ALTER TABLE. last says that nothing else is sent for the client's statement.
func (d *commandStatement) alterTable(option string, last bool) (wire.OK, error) {
	if err := d.SendText(d.AlterText(option)); err != nil {
		return wire.OK{}, err
	}
	if last {
		return d.answerOK()
	}
	return d.readOK()
}

// changeRow changes what the row says. held is as checkRestart tells it.
func (d *commandStatement) changeRow(held bool) error {
	ctx, cancel := context.WithTimeout(d.ctx, catalog.Timeout)
	defer cancel()
	name, full, next := d.Sequence(0), fullName(d.Sequence(0)), d.Alter.Next
	if d.Options.Cache.Given {
		if _, err := d.keyspace.DB.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET cache = %d WHERE id = 0", full, plan.CacheOf(d.Options.Cache))); err != nil {
			return fmt.Errorf("set the cache of sequence %s: %w", full, err)
		}
	}
	if next == 0 {
		return nil
	}
	if !held {
		if _, err := d.keyspace.DB.ExecContext(ctx, sequence.RaiseSQL(name.Schema, name.Table, next)); err != nil {
			return fmt.Errorf("raise sequence %s to %d: %w", full, next, err)
		}
	}
	for _, used := range d.used(name) {
		seq, err := d.srv.cfg.Sequences.Get(used)
		if err != nil {
			return err
		}
		seq.SkipTo(next)
	}
	return nil
}
