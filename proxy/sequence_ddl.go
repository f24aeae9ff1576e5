package proxy

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// Sequence DDL runs as a statement of the server's on a sequence table, in the
// client's session: privileges, implicit commits, errors and warnings are the
// server's. CREATE is one statement, so that there is no table without its row.

// refuseSequence refuses an option or a form that cannot be made exact.
func refuseSequence(format string, args ...any) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not support "+fmt.Sprintf(format, args...))
}

// planCreate plans CREATE SEQUENCE.
func (d *commandStatement) planCreate() (func() error, error) {
	if d.Replace {
		return nil, refuseSequence("CREATE OR REPLACE SEQUENCE: ids that were given would be given again; use DROP SEQUENCE and CREATE SEQUENCE, or ALTER SEQUENCE")
	}
	n, err := newSequenceOptions(d.Options)
	if err != nil {
		return nil, err
	}
	return func() error { return d.create(n) }, nil
}

// createText gives the statement that makes a sequence. where is empty, or keeps the
// row away.
func (d *commandStatement) createText(n newOptions, where string) string {
	exists := ""
	if d.IfExists {
		exists = "IF NOT EXISTS "
	}
	return fmt.Sprintf("CREATE TABLE %s%s (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT '%s' SELECT 0 AS id, %d AS next_id, %d AS cache%s",
		exists, d.table(0), n.Comment(), n.next, n.cache, where)
}

// create makes a sequence above the ids in use. The server judges the statement
// before it tells of those.
func (d *commandStatement) create(n newOptions) error {
	text := d.createText(n, " FROM DUAL WHERE FALSE")
	if err := d.judge(text); err != nil {
		return err
	}
	found, err := d.lookPermanent(d.Tables[0])
	if err != nil {
		return err
	}
	if !found.exists { // else the server says so, and no row is wanted if it vanishes meanwhile
		free, err := d.firstFree(d.Tables[0])
		if err == nil {
			err = n.startAbove(free)
		}
		if err != nil {
			return err
		}
		text = d.createText(n, "")
	}
	if err := d.SendText(text); err != nil {
		return err
	}
	ok, err := d.answerOK()
	if err != nil {
		return err
	}
	if ok.AffectedRows > 0 { // else there was a table
		d.forgetSequence(d.Tables[0])
	}
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

// newOptions is what a new sequence's table says.
type newOptions struct {
	sequence.Options
	next, cache int64
	start       bool // next is what the client wants
}

// newSequenceOptions gives what a new sequence's table says. The numbers that are
// not given are those of MariaDB, but for the end: its last id is 2^63-1.
func newSequenceOptions(o parser.SequenceOptions) (n newOptions, err error) {
	if err := refuseOptions(o); err != nil {
		return n, err
	}
	least, last := int64(1), int64(math.MaxInt64)
	if o.Min.Given && !o.Min.None {
		least, n.Min = o.Min.Value, o.Min.Value
	}
	if o.Max.Given && !o.Max.None && o.Max.Value != math.MaxInt64 {
		last, n.Max = o.Max.Value, o.Max.Value
	}
	n.next, n.cache, n.start = least, cacheOf(o.Cache), o.Start.Given
	if n.start {
		n.next = o.Start.Value
	}
	switch {
	case n.next < 1:
		return n, refuseSequence("a sequence that begins with %d: ids are 1 or more; write START WITH 1", n.next)
	case n.next < least || n.next > last:
		return n, wrongArguments("CREATE SEQUENCE", "START WITH %d is not between MINVALUE %d and MAXVALUE %d", n.next, least, last)
	}
	if n.next > 1 {
		n.Start = n.next
	}
	return n, nil
}

// startAbove has a sequence begin with the first id that is free in what it fills.
func (n *newOptions) startAbove(free int64) error {
	switch {
	case free <= n.next:
		return nil
	case n.start:
		return wrongArguments("CREATE SEQUENCE", "ids up to %d are in use in what it fills: START WITH %d would give them again; write START WITH %d, or leave it out", free-1, n.next, free)
	case n.Max > 0 && free > n.Max:
		return wrongArguments("CREATE SEQUENCE", "the first id that is free in what it fills is %d, past MAXVALUE %d", free, n.Max)
	}
	n.next, n.Start = free, free
	return nil
}

func wrongArguments(to, format string, args ...any) error {
	return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, "Incorrect arguments to "+to+": "+fmt.Sprintf(format, args...))
}

// firstFree gives the first id above those that are in use in what a sequence of that
// name would fill, and those that this process was given for it; 0 when it fills
// nothing: then a new one may begin anew.
func (d *commandStatement) firstFree(t parser.Table) (free int64, err error) {
	if d.srv.cfg.FirstFree == nil {
		return 0, nil
	}
	given := int64(0)
	for _, name := range d.names(t) {
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
		return 0, refuseSequence("CREATE SEQUENCE of '%s': all its ids were given before", t.Name)
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

// cacheOf gives the cache of a table: one that keeps nothing reserves single ids.
func cacheOf(o parser.Setting) int64 {
	if !o.Given {
		return sequence.DefaultCache
	}
	return max(1, o.Value)
}

// refuseOptions refuses what the row of a sequence table cannot say, and what
// reads it would not know.
func refuseOptions(o parser.SequenceOptions) error {
	switch {
	case o.Cycle:
		return refuseSequence("CYCLE: a sequence that begins anew gives ids again that it gave before; leave it out")
	case o.Increment.Given && o.Increment.Value != 1:
		return refuseSequence("INCREMENT BY %d: who fills a table or reads the row with Vitess counts by 1; use SELECT NEXT n VALUES for blocks", o.Increment.Value)
	case o.Cache.Given && (o.Cache.Value < 0 || o.Cache.Value > sequence.MaxN):
		return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, fmt.Sprintf("Incorrect arguments to CACHE: %d is not between 0 and %d", o.Cache.Value, int64(sequence.MaxN)))
	}
	return nil
}

// sequenceTable is what a server says of a table that a statement takes for a sequence.
type sequenceTable struct {
	exists  bool
	ours    bool   // it is a sequence table
	text    string // its comment
	options sequence.Options
}

// look asks for a table, past the catalog: what was just made or dropped counts.
func (d *commandStatement) look(t parser.Table) (found sequenceTable, err error) {
	schema := d.schemaOf(t)
	if hidden, err := d.isTemporary(schema, t.Name); hidden || err != nil {
		return sequenceTable{exists: hidden}, err
	}
	return d.lookPermanent(t)
}

// lookPermanent asks for a table that no temporary one hides.
func (d *commandStatement) lookPermanent(t parser.Table) (found sequenceTable, err error) {
	schema := d.schemaOf(t)
	ctx, cancel := context.WithTimeout(d.ctx, catalog.Timeout)
	defer cancel()
	var kind string
	err = d.keyspace.DB.QueryRowContext(ctx, "SELECT TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		schema, t.Name).Scan(&kind, &found.text)
	if errors.Is(err, sql.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return found, &catalog.DescribeError{Table: schema + "." + t.Name, Err: err}
	}
	found.exists = true
	if found.options, found.ours = sequence.ParseComment(found.text); kind != "BASE TABLE" {
		found.ours = false
	}
	return found, nil
}

func (d *commandStatement) schemaOf(t parser.Table) string { return cmp.Or(t.Schema, d.State.Database) }

// notSequence is MySQL's error for a table that is something else.
func (d *commandStatement) notSequence(t parser.Table) error {
	return mysql.NewDefaultError(mysql.ER_WRONG_OBJECT, d.schemaOf(t), t.Name, "SEQUENCE")
}

// lookOnly looks at the statement's only sequence. serverSays tells that the
// server's answer to a statement on that table is the right one: it is not there.
// On MariaDB what is not seqgate's passes.
func (d *commandStatement) lookOnly() (found sequenceTable, serverSays, passes bool, err error) {
	found, err = d.look(d.Tables[0])
	switch {
	case err != nil || found.ours:
		return found, false, false, err
	case d.MariaDB:
		return found, false, true, nil
	case found.exists:
		return found, false, false, d.notSequence(d.Tables[0])
	}
	return found, true, false, nil
}

// planDrop plans DROP SEQUENCE.
func (d *commandStatement) planDrop() (func() error, error) {
	ours, names := 0, make([]string, len(d.Tables))
	for i, t := range d.Tables {
		found, err := d.look(t)
		switch {
		case err != nil:
			return nil, err
		case found.ours:
			ours++
			err = d.refuseFilled(t)
		case found.exists && !d.MariaDB:
			err = d.notSequence(t)
		}
		if err != nil {
			return nil, err
		}
		names[i] = d.table(i)
	}
	if d.MariaDB && ours == 0 {
		return nil, nil
	}
	if d.MariaDB && ours < len(d.Tables) {
		return nil, refuseSequence("DROP SEQUENCE of its own and of the server's sequences at once; drop them in two statements")
	}
	text := "DROP TABLE " + strings.Join(names, ", ")
	if d.IfExists {
		text = "DROP TABLE IF EXISTS " + strings.Join(names, ", ")
	}
	return func() error { return d.drop(text) }, nil
}

func (d *commandStatement) drop(text string) error {
	if err := d.SendText(text); err != nil {
		return err
	}
	ok, err := d.answerOK()
	if err != nil {
		return err
	}
	for _, t := range d.Tables {
		for _, name := range d.names(t) {
			d.srv.cfg.Sequences.Drop(name)
		}
	}
	d.srv.catalog.Forget()
	return d.replyOK(ok)
}

// refuseFilled refuses to drop a sequence that fills a table: its rows would go in
// without their ids.
func (d *commandStatement) refuseFilled(t parser.Table) error {
	table, err := d.srv.catalog.FilledFrom(d.ctx, d.keyspace, d.schemaOf(t), t.Name)
	if err != nil || table == "" {
		return err
	}
	return refuseSequence("DROP SEQUENCE of '%s.%s' while it fills table '%s': drop that table first; or use DROP TABLE, after which its ids are the server's affair",
		d.schemaOf(t), t.Name, table)
}

// used gives the names under which a sequence is in memory here: sessions may have
// come to it from several keyspaces of the same server.
func (d *commandStatement) used(t parser.Table) (names []sequence.Name) {
	for _, name := range d.srv.cfg.Sequences.Names() {
		k := d.srv.cfg.Keyspaces[name.Keyspace]
		if strings.EqualFold(name.Table, t.Name) && strings.EqualFold(name.Database, d.schemaOf(t)) &&
			k != nil && k.Backend.Addr == d.keyspace.Backend.Addr {
			names = append(names, name)
		}
	}
	return names
}

// names gives the names that a sequence may have here: those under which it is in
// memory, and those of the server's keyspaces that its database may belong to.
func (d *commandStatement) names(t parser.Table) []sequence.Name {
	schema, names := d.schemaOf(t), d.used(t)
	for _, k := range d.srv.cfg.Keyspaces {
		name := k.SequenceName(schema, t.Name)
		own := strings.EqualFold(k.Database, schema)
		if own {
			name = k.SequenceName(k.Database, t.Name)
		}
		if (own || k == d.keyspace) && k.Backend.Addr == d.keyspace.Backend.Addr && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// forgetSequence drops what is in memory of a sequence that was made anew.
func (d *commandStatement) forgetSequence(t parser.Table) {
	for _, name := range d.names(t) {
		d.srv.cfg.Sequences.Forget(name)
	}
	d.srv.catalog.Forget()
}

// planShowCreate plans SHOW CREATE SEQUENCE, with MariaDB's columns.
func (d *commandStatement) planShowCreate() (func() error, error) {
	found, _, passes, err := d.lookOnly()
	if err != nil || passes {
		return nil, err
	}
	o, name := found.options, d.Tables[0].Name
	begin := fmt.Sprintf("CREATE SEQUENCE %s start with %d minvalue %d maxvalue %d increment by 1 cache ",
		catalog.Quote(name), cmp.Or(o.Start, 1), cmp.Or(o.Min, 1), cmp.Or(o.Max, math.MaxInt64))
	text := fmt.Sprintf("SELECT %s AS `Table`, CONCAT(%s, cache, ' nocycle ENGINE=InnoDB') AS `Create Table` FROM %s WHERE id = 0",
		literal(name), literal(begin), d.table(0))
	return func() error { return d.runText(text) }, nil
}
