package proxy

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// planAlter plans ALTER SEQUENCE: START WITH, CACHE and RESTART.
func (d *ownStatement) planAlter() (func() error, error) {
	found, missing, passes, err := d.lookOnly()
	if err != nil || passes {
		return nil, err
	}
	if missing && d.IfExists {
		return func() error { return d.replyOK(okPacket{status: d.answer.status}) }, nil
	}
	o := d.Options
	switch {
	case o.Min.Given || o.Max.Given:
		return nil, refuseSequence("MINVALUE and MAXVALUE in ALTER SEQUENCE: seqgates that run would not know of them; make the sequence anew")
	case o.Start.Given && o.Start.Value < 1:
		return nil, refuseSequence("START WITH %d: ids are 1 or more", o.Start.Value)
	}
	if err := refuseOptions(o); err != nil {
		return nil, err
	}
	if o.Start.Given {
		found.options.Start = o.Start.Value
	}
	a := alteration{ownStatement: d, options: found.options}
	if o.Restart.Given {
		a.next = o.Restart.Value
		if o.Restart.None {
			a.next = cmp.Or(found.options.Start, found.options.Min, 1)
		}
		if !missing {
			err = a.planRestart()
		}
	}
	return a.run, err
}

// alteration is an ALTER SEQUENCE.
type alteration struct {
	*ownStatement
	options sequence.Options
	next    int64 // to restart with; 0: not
	held    bool  // that is in this process' memory: the row is past it
}

// planRestart refuses to go backwards: ids that were given, here or by others that
// read the row, would be given again.
func (a *alteration) planRestart() error {
	t := a.Tables[0]
	if a.next < 1 || a.options.Max > 0 && a.next > a.options.Max {
		return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, fmt.Sprintf("Incorrect arguments to RESTART: %d is not between 1 and MAXVALUE", a.next))
	}
	for _, name := range a.used(t) {
		seq, err := a.srv.cfg.Sequences.Get(name)
		if err != nil {
			return err
		}
		a.held = a.held || seq.Holds(a.next)
	}
	ctx, cancel := context.WithTimeout(a.ctx, catalogTimeout)
	defer cancel()
	var row sql.NullInt64
	err := a.keyspace.DB.QueryRowContext(ctx, "SELECT next_id FROM "+a.fullName()+" WHERE id = 0").Scan(&row)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil // which is told when a value is asked for
	case err != nil:
		return &describeError{a.schemaOf(t) + "." + t.Name, err}
	case a.held || a.next >= row.Int64:
		return nil
	}
	return refuseSequence("RESTART of '%s.%s' at %d: its next_id is %d, and ids from there back may have been given; "+
		"make the sequence anew, or stop every seqgate that uses it and run seqgate seq set --force", a.schemaOf(t), t.Name, a.next, row.Int64)
}

func (a *alteration) fullName() string {
	t := a.Tables[0]
	return quoteIdentifier(a.schemaOf(t)) + "." + quoteIdentifier(t.Name)
}

// run has the server judge the statement by an ALTER TABLE in the client's session,
// which also commits its transaction, and then changes the row over seqgate's own
// connections: a transaction of the client's would lock it.
func (a *alteration) run() error {
	text := "ALTER TABLE " + a.table(0)
	if a.Options.Start.Given {
		text += " COMMENT = '" + a.options.Comment() + "'"
	}
	if err := a.sendText(text); err != nil {
		return err
	}
	ok, err := a.answerOK()
	if err != nil {
		return err
	}
	if err := a.changeRow(); err != nil {
		return err
	}
	ok.affectedRows = 0
	return a.replyOK(ok)
}

func (a *alteration) changeRow() error {
	ctx, cancel := context.WithTimeout(a.ctx, catalogTimeout)
	defer cancel()
	if a.Options.Cache.Given {
		if _, err := a.keyspace.DB.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET cache = %d WHERE id = 0", a.fullName(), cacheOf(a.Options.Cache))); err != nil {
			return fmt.Errorf("set the cache of sequence %s: %w", a.fullName(), err)
		}
	}
	if a.next == 0 {
		return nil
	}
	t := a.Tables[0]
	if !a.held {
		if _, err := a.keyspace.DB.ExecContext(ctx, sequence.RaiseSQL(a.schemaOf(t), t.Name, a.next)); err != nil {
			return fmt.Errorf("raise sequence %s to %d: %w", a.fullName(), a.next, err)
		}
	}
	for _, name := range a.used(t) {
		seq, err := a.srv.cfg.Sequences.Get(name)
		if err != nil {
			return err
		}
		seq.SkipTo(a.next)
	}
	return nil
}
