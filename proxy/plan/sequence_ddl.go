package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// Sequence DDL is planned as a statement of the server's on a sequence table, in the client's session: privileges, implicit
// commits, errors and warnings are the server's. CREATE is one statement, so that there is no table without its row.

// sequenceCommand plans CREATE, ALTER, DROP and SHOW CREATE SEQUENCE, and SHOW SEQUENCES.
func (p *Planner) sequenceCommand(c *CommandPlan) (ours bool, err error) {
	switch c.Verb {
	case parser.CreateSequence:
		return true, c.planCreate()
	case parser.AlterSequence:
		return p.alterSequence(c)
	case parser.DropSequence:
		return p.dropSequences(c)
	case parser.ShowCreateSequence:
		return p.showCreateSequence(c)
	}
	c.Text = c.showSequences()
	return true, nil
}

// RefuseSequence refuses an option or a form that cannot be made exact: error 1235.
func RefuseSequence(format string, args ...any) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not support "+fmt.Sprintf(format, args...))
}

// WrongArguments is error 1210 for the options of a statement.
func WrongArguments(to, format string, args ...any) error {
	return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, "Incorrect arguments to "+to+": "+fmt.Sprintf(format, args...))
}

// NewSequence is what a new sequence's table says.
type NewSequence struct {
	sequence.Options
	next, cache int64
	start       bool // next is what the client wants
}

// planCreate reads the options of CREATE SEQUENCE. The numbers that are not given are those of MariaDB, but for the end: its last
// id is 2^63-1.
func (c *CommandPlan) planCreate() error {
	if c.Replace {
		return RefuseSequence("CREATE OR REPLACE SEQUENCE: ids that were given would be given again; use DROP SEQUENCE and CREATE SEQUENCE, or ALTER SEQUENCE")
	}
	o := &c.Options
	if err := refuseOptions(o); err != nil {
		return err
	}
	n := &c.Create
	least, last := int64(1), int64(math.MaxInt64)
	if o.Min.Given && !o.Min.None {
		least, n.Min = o.Min.Value, o.Min.Value
	}
	if o.Max.Given && !o.Max.None && o.Max.Value != math.MaxInt64 {
		last, n.Max = o.Max.Value, o.Max.Value
	}
	n.next, n.cache, n.start = least, CacheOf(o.Cache), o.Start.Given
	if n.start {
		n.next = o.Start.Value
	}
	switch {
	case n.next < 1:
		return RefuseSequence("a sequence that begins with %d: ids are 1 or more; write START WITH 1", n.next)
	case n.next < least || n.next > last:
		return WrongArguments("CREATE SEQUENCE", "START WITH %d is not between MINVALUE %d and MAXVALUE %d", n.next, least, last)
	}
	if n.next > 1 {
		n.Start = n.next
	}
	return nil
}

// CreateText returns the statement that makes a sequence, with its row or, for the server to judge, without.
func (c *CommandPlan) CreateText(row bool) string {
	exists, where := "", " FROM DUAL WHERE FALSE"
	if c.IfExists {
		exists = "IF NOT EXISTS "
	}
	if row {
		where = ""
	}
	n := &c.Create
	return fmt.Sprintf("CREATE TABLE %s%s (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT '%s' SELECT 0 AS id, %d AS next_id, %d AS cache%s",
		exists, c.written(0), n.Comment(), n.next, n.cache, where)
}

// StartAbove has a sequence begin with the first id that is free in what it fills.
func (n *NewSequence) StartAbove(free int64) error {
	switch {
	case free <= n.next:
		return nil
	case n.start:
		return WrongArguments("CREATE SEQUENCE", "ids up to %d are in use in what it fills: START WITH %d would give them again; write START WITH %d, or leave it out", free-1, n.next, free)
	case n.Max > 0 && free > n.Max:
		return WrongArguments("CREATE SEQUENCE", "the first id that is free in what it fills is %d, past MAXVALUE %d", free, n.Max)
	}
	n.next, n.Start = free, free
	return nil
}

// CacheOf returns the cache of a table: one that keeps nothing reserves single ids.
func CacheOf(o parser.Setting) int64 {
	if !o.Given {
		return sequence.DefaultCache
	}
	return max(1, o.Value)
}

// refuseOptions refuses what the row of a sequence table cannot say, and what reads it would not know.
func refuseOptions(o *parser.SequenceOptions) error {
	switch {
	case o.Cycle:
		return RefuseSequence("CYCLE: a sequence that begins anew gives ids again that it gave before; leave it out")
	case o.Increment.Given && o.Increment.Value != 1:
		return RefuseSequence("INCREMENT BY %d: who fills a table or reads the row with Vitess counts by 1; use SELECT NEXT n VALUES for blocks", o.Increment.Value)
	case o.Cache.Given && (o.Cache.Value < 0 || o.Cache.Value > sequence.MaxN):
		return mysql.NewError(mysql.ER_WRONG_ARGUMENTS, fmt.Sprintf("Incorrect arguments to CACHE: %d is not between 0 and %d", o.Cache.Value, int64(sequence.MaxN)))
	}
	return nil
}

// sequenceTable tells what the server says now of the n-th sequence that a command names.
func (p *Planner) sequenceTable(c *CommandPlan, n int) (catalog.SequenceTable, error) {
	name := c.Sequence(n)
	found, ok := p.Fetched.SequenceTables[name]
	if !ok {
		return found, &Missing{Fact: NeedsSequenceTable, Table: name}
	}
	return found, nil
}

// notSequence is MySQL's error for a table that is something else.
func notSequence(t catalog.TableName) error {
	return mysql.NewDefaultError(mysql.ER_WRONG_OBJECT, t.Schema, t.Table, "SEQUENCE")
}

// onlySequence looks at the command's only sequence. One that does not exist is ours on MySQL, whose error for a statement on
// its table is the right one; on MariaDB only what is a table of seqgate's.
func (p *Planner) onlySequence(c *CommandPlan) (found catalog.SequenceTable, ours bool, err error) {
	found, err = p.sequenceTable(c, 0)
	switch {
	case err != nil:
		return found, false, err
	case found.Ours:
		return found, true, nil
	case found.Exists && !p.Session.MariaDB:
		return found, false, notSequence(c.Sequence(0))
	}
	return found, !p.Session.MariaDB, nil
}

// showCreateSequence plans SHOW CREATE SEQUENCE, with MariaDB's columns.
func (p *Planner) showCreateSequence(c *CommandPlan) (ours bool, err error) {
	found, ours, err := p.onlySequence(c)
	if err != nil || !ours {
		return false, err
	}
	o, name := found.Options, c.Tables[0].Name
	begin := fmt.Sprintf("CREATE SEQUENCE %s start with %d minvalue %d maxvalue %d increment by 1 cache ",
		catalog.Quote(name), cmp.Or(o.Start, 1), cmp.Or(o.Min, 1), cmp.Or(o.Max, math.MaxInt64))
	c.Text = fmt.Sprintf("SELECT %s AS `Table`, CONCAT(%s, cache, ' nocycle ENGINE=InnoDB') AS `Create Table` FROM %s WHERE id = 0",
		catalog.Literal(name), catalog.Literal(begin), c.written(0))
	return true, nil
}

// dropSequences plans DROP SEQUENCE.
func (p *Planner) dropSequences(c *CommandPlan) (ours bool, err error) {
	count, names := 0, make([]string, len(c.Tables))
	for i := range c.Tables {
		found, err := p.sequenceTable(c, i)
		switch {
		case err != nil:
			return false, err
		case found.Ours:
			count++
			err = p.refuseFilled(c.Sequence(i))
		case found.Exists && !p.Session.MariaDB:
			err = notSequence(c.Sequence(i))
		}
		if err != nil {
			return false, err
		}
		names[i] = c.written(i)
	}
	switch {
	case p.Session.MariaDB && count == 0:
		return false, nil
	case p.Session.MariaDB && count < len(c.Tables):
		return false, RefuseSequence("DROP SEQUENCE of its own and of the server's sequences at once; drop them in two statements")
	}
	c.Text = "DROP TABLE "
	if c.IfExists {
		c.Text += "IF EXISTS "
	}
	c.Text += strings.Join(names, ", ")
	return true, nil
}

// refuseFilled refuses to drop a sequence that fills a table: its rows would go in without their ids.
func (p *Planner) refuseFilled(name catalog.TableName) error {
	table, known := p.Fetched.Filled[name]
	switch {
	case !known:
		return &Missing{Fact: NeedsFilledTable, Table: name}
	case table == "":
		return nil
	}
	return RefuseSequence("DROP SEQUENCE of '%s.%s' while it fills table '%s': drop that table first; or use DROP TABLE, after which its ids are the server's affair",
		name.Schema, name.Table, table)
}

// ChangedSequence is what an ALTER SEQUENCE changes.
type ChangedSequence struct {
	Next    int64  // to restart with; 0: not
	Max     int64  // past which it cannot; 0 for none
	Comment string // the option of ALTER TABLE that stores START WITH, "" without one
}

// alterSequence plans ALTER SEQUENCE: START WITH, CACHE and RESTART.
func (p *Planner) alterSequence(c *CommandPlan) (ours bool, err error) {
	found, ours, err := p.onlySequence(c)
	if err != nil || !ours {
		return false, err
	}
	if !found.Exists && c.IfExists {
		c.Text = "DO 0" // the warnings of the statement before are gone
		return true, nil
	}
	o := &c.Options
	switch {
	case o.Min.Given || o.Max.Given:
		return false, RefuseSequence("MINVALUE and MAXVALUE in ALTER SEQUENCE: seqgates that run would not know of them; make the sequence anew")
	case o.Start.Given && o.Start.Value < 1:
		return false, RefuseSequence("START WITH %d: ids are 1 or more", o.Start.Value)
	case o.Restart.Given && !o.Restart.None && o.Restart.Value < 1:
		return false, RefuseSequence("RESTART WITH %d: ids are 1 or more", o.Restart.Value)
	}
	if err := refuseOptions(o); err != nil {
		return false, err
	}
	if o.Start.Given {
		found.Options.Start = o.Start.Value
	}
	a := &c.Alter
	a.Max = found.Options.Max
	if o.Restart.Given {
		a.Next = o.Restart.Value
		if o.Restart.None {
			a.Next = cmp.Or(found.Options.Start, found.Options.Min, 1)
		}
	}
	if o.Start.Given && found.Exists {
		a.Comment, err = comment(&found)
	}
	return err == nil, err
}

// comment returns the option that stores what a sequence starts with. The rest of the comment stays.
func comment(t *catalog.SequenceTable) (option string, err error) {
	text := t.Options.In(t.Comment)
	for _, c := range []byte(text) {
		if c >= 0x80 || c == '\\' { // read by the session's character set and sql_mode
			return "", RefuseSequence("ALTER SEQUENCE ... START WITH of a table with such text in its comment; write its comment with ALTER TABLE: start=%d", t.Options.Start)
		}
	}
	return " COMMENT = '" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

// AlterText returns the ALTER TABLE of an ALTER SEQUENCE, with an option or, for the server to judge, without.
func (c *CommandPlan) AlterText(option string) string { return "ALTER TABLE " + c.written(0) + option }
