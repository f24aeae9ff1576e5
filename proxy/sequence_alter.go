package proxy

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// planAlter plans ALTER SEQUENCE: START WITH, CACHE and RESTART.
func (d *commandStatement) planAlter() (func() error, error) {
	found, missing, passes, err := d.lookOnly()
	if err != nil || passes {
		return nil, err
	}
	if missing && d.IfExists {
		return func() error { return d.runText("DO 0") }, nil // the warnings of the statement before are gone
	}
	o := d.Options
	switch {
	case o.Min.Given || o.Max.Given:
		return nil, refuseSequence("MINVALUE and MAXVALUE in ALTER SEQUENCE: seqgates that run would not know of them; make the sequence anew")
	case o.Start.Given && o.Start.Value < 1:
		return nil, refuseSequence("START WITH %d: ids are 1 or more", o.Start.Value)
	case o.Restart.Given && !o.Restart.None && o.Restart.Value < 1:
		return nil, refuseSequence("RESTART WITH %d: ids are 1 or more", o.Restart.Value)
	}
	if err := refuseOptions(o); err != nil {
		return nil, err
	}
	if o.Start.Given {
		found.options.Start = o.Start.Value
	}
	a := alteration{commandStatement: d, sequenceTable: found}
	if o.Restart.Given {
		a.next = o.Restart.Value
		if o.Restart.None {
			a.next = cmp.Or(found.options.Start, found.options.Min, 1)
		}
	}
	return a.run, nil
}

// alteration is an ALTER SEQUENCE.
type alteration struct {
	*commandStatement
	sequenceTable
	next int64 // to restart with; 0: not
	held bool  // that is in this process' memory: the row is past it
}

// checkRestart refuses to go backwards: ids that were given, here or by others that
// read the row, would be given again.
func (a *alteration) checkRestart() error {
	t := a.Tables[0]
	if a.options.Max > 0 && a.next > a.options.Max {
		return wrongArguments("ALTER SEQUENCE", "RESTART WITH %d is past MAXVALUE %d", a.next, a.options.Max)
	}
	for _, name := range a.used(t) {
		seq, err := a.srv.cfg.Sequences.Get(name)
		if err != nil {
			return err
		}
		a.held = a.held || seq.Holds(a.next)
	}
	ctx, cancel := context.WithTimeout(a.ctx, catalog.Timeout)
	defer cancel()
	var row sql.NullInt64
	err := a.keyspace.DB.QueryRowContext(ctx, "SELECT next_id FROM "+a.fullName()+" WHERE id = 0").Scan(&row)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil // which is told when a value is asked for
	case err != nil:
		return &catalog.DescribeError{Table: a.schemaOf(t) + "." + t.Name, Err: err}
	case a.held || a.next >= row.Int64:
		return nil
	}
	return refuseSequence("RESTART of '%s.%s' at %d: its next_id is %d, and ids from there back may have been given; "+
		"make the sequence anew, or stop every seqgate that uses it and run seqgate seq set --force", a.schemaOf(t), t.Name, a.next, row.Int64)
}

func (a *alteration) fullName() string {
	t := a.Tables[0]
	return catalog.Quote(a.schemaOf(t)) + "." + catalog.Quote(t.Name)
}

// run has the server judge the statement by an ALTER TABLE in the client's session,
// which also commits its transaction, before anything is told of the sequence. The
// row is changed over seqgate's own connections: a transaction of the client's would
// lock it.
func (a *alteration) run() error {
	comment, err := a.comment()
	if err != nil {
		return err
	}
	ok, err := a.alterTable("", comment == "")
	if err == nil && a.next > 0 {
		err = a.checkRestart()
	}
	if err == nil && comment != "" {
		ok, err = a.alterTable(comment, true)
	}
	if err == nil {
		err = a.changeRow()
	}
	if err != nil {
		return err
	}
	ok.AffectedRows = 0
	ok.Rest = withoutInfo(ok.Rest, a.Has(mysql.CLIENT_SESSION_TRACK))
	return a.replyOK(ok)
}

// alterTable runs an ALTER TABLE. last says that nothing else is sent for the
// client's statement.
func (a *alteration) alterTable(option string, last bool) (wire.OK, error) {
	if err := a.SendText("ALTER TABLE " + a.table(0) + option); err != nil {
		return wire.OK{}, err
	}
	if last {
		return a.answerOK()
	}
	return a.readOK()
}

// comment gives the option that stores START WITH, "" without one. The rest of the
// comment stays.
func (a *alteration) comment() (option string, err error) {
	if !a.Options.Start.Given || !a.exists {
		return "", nil
	}
	text := a.options.In(a.text)
	for _, c := range []byte(text) {
		if c >= 0x80 || c == '\\' { // read by the session's character set and sql_mode
			return "", refuseSequence("ALTER SEQUENCE ... START WITH of a table with such text in its comment; write its comment with ALTER TABLE: start=%d", a.options.Start)
		}
	}
	return " COMMENT = '" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

func (a *alteration) changeRow() error {
	ctx, cancel := context.WithTimeout(a.ctx, catalog.Timeout)
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
