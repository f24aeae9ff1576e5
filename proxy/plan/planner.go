package plan

import (
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Planner plans INSERTs, REPLACEs and LOAD DATA, and refuses statements that may write rows past seqgate. It asks nobody: besides the
// text it goes by what is known of the session and of tables. Where that is not enough its error is a *[Missing]: whoever
// plans fetches that, and plans again from the start.
//
// It is one session's: Stmt and Slots are of the INSERT that was planned last, and are used again for the next.
type Planner struct {
	Session Session
	Tables  Tables
	Fetched Fetched

	Stmt  parser.InsertStmt
	Slots []parser.Slot // of a text, what its rows say of the id; empty when they leave it out
	whole Calls         // the latest that was one query of values, used again
}

// Session is what is known of the session on its server.
type Session struct {
	*backend.State
	MariaDB    bool
	Temporary  bool   // it may have tables of its own, which hide others
	QueryNames string // what seqgate calls what it adds to a query: see [parser.InsertStmt.BindQuery]
}

// Tables is what is known of tables.
type Tables interface {
	// Known tells of a table. It reports false where the server has to be asked.
	Known(schema, table string) (Table, bool)
	// Source tells what a name stands for that is written as a sequence's: in a call, where it may be a column as well, or
	// in SELECT NEXT VALUE. It reports false as Known does.
	Source(schema, name string, call bool) (catalog.Source, bool)
}

// Table is how the ids of a table are made: by Binding, nil when nothing is to be filled there, or why that cannot be said.
type Table struct {
	Binding *catalog.Binding
	Err     error
}

// Fetched is what was missing for the statement that is being planned, and has been fetched.
type Fetched struct {
	NoDatabase bool // nobody tells the default database
	Anew       bool // the table was looked at anew
	Asked      bool // the session, by a statement of seqgate's own: what the one before has left is gone
	Temporary  map[catalog.TableName]bool
	Variables  Copied
	Charset    string // of files without one: that of the default database
	HasCharset bool
	Duality    []catalog.DualityView
	HasDuality bool

	Expression    Expression
	HasExpression bool
	Charsets      []string // of the client's texts, and of the literals in them

	SequenceTables map[catalog.TableName]catalog.SequenceTable
	Filled         map[catalog.TableName]string // from a sequence: the name of one such table, "" where there is none
}

// Copied are copies of user variables in the places of ids: what each says of its row's id, judged in a mode.
type Copied struct {
	Rows  []int
	Names [][]byte // of the variables
	Slots []parser.Slot
	Mode  parser.Mode
}

// Fact is a kind of what a plan goes by.
type Fact uint8

const (
	NeedsSettings      Fact = iota // of the session: sql_mode, character set, default database
	NeedsLastID                    // LAST_INSERT_ID(), and the settings
	NeedsDatabase                  // the default one alone
	NeedsTable                     // Missing.Table: how its ids are made
	NeedsTableAnew                 // the same, whatever is known of it
	NeedsTemporary                 // whether Missing.Table is the session's own
	NeedsVariables                 // copies of Missing.Names, those of Missing.Rows, as ids
	NeedsDuality                   // JSON duality views of sequenced tables
	NeedsCharset                   // of files for which LOAD DATA names none
	NeedsSource                    // what the name Missing.Table of SELECT NEXT VALUE stands for
	NeedsCallSource                // ... and of a call
	NeedsComputed                  // the row that Missing.Query gives, of constant expressions
	NeedsSequenceTable             // what the server says now of the sequence Missing.Table
	NeedsShardTable                // what a shard says of the sharded table Missing.Table
	NeedsVariablesSet              // which of the user variables in Missing.Found a program has set
	NeedsSessionText               // the statement with what the session's functions in Missing.Found give
	NeedsExpression                // the value of the expression Missing.Query
	NeedsCharsets                  // of the client's texts
	NeedsFilledTable               // whether the sequence Missing.Table fills a table, and which
)

// Missing is the error of a plan for which a fact has to be fetched first.
type Missing struct {
	Fact  Fact
	Table catalog.TableName

	Rows  []int    // of NeedsVariables: whose ids they are
	Names [][]byte // as they are written
	Mode  parser.Mode

	Query string // of NeedsComputed and NeedsExpression

	SQL   []byte              // of NeedsSessionText: the statement
	Found *parser.SessionStmt // of NeedsVariablesSet and NeedsSessionText
}

func (m *Missing) Error() string {
	return fmt.Sprintf("fact %d is to be fetched before a plan is made", m.Fact)
}

// isMissing reports whether err says that a fact is missing.
func isMissing(err error) bool {
	if err == nil { // as nearly always: nothing is allocated
		return false
	}
	var missing *Missing
	return errors.As(err, &missing)
}

// reading returns the mode in which a text reads: the settings need not be known where it is the same in all.
func (p *Planner) reading(sql []byte) (parser.Mode, error) {
	if !p.Session.EnvironmentKnown && parser.Plain(sql) {
		return parser.Mode{MariaDB: p.Session.MariaDB}, nil
	}
	return p.Session.Mode, p.settings()
}

// settings has the session's settings known from there on.
func (p *Planner) settings() error {
	if p.Session.EnvironmentKnown {
		return nil
	}
	return &Missing{Fact: NeedsSettings}
}

// lastID has LAST_INSERT_ID() known from there on.
func (p *Planner) lastID() error {
	if p.Session.EnvironmentKnown && p.Session.LastIDKnown {
		return nil
	}
	return &Missing{Fact: NeedsLastID}
}

// database reports whether the default database is known, or can be.
func (p *Planner) database() (bool, error) {
	if p.Session.DatabaseKnown || p.Fetched.NoDatabase {
		return p.Session.DatabaseKnown, nil
	}
	return false, &Missing{Fact: NeedsDatabase}
}

// tableBinding tells how the ids of a table are made; nil when nothing is to be filled there.
func (p *Planner) tableBinding(schema, table string) (*catalog.Binding, error) {
	t, known := p.Tables.Known(schema, table)
	if !known {
		return nil, &Missing{Fact: NeedsTable, Table: catalog.TableName{Schema: schema, Table: table}}
	}
	return t.Binding, t.Err
}

// Binding is tableBinding for a table as the statement names it: the session's default database may be its schema, and a
// temporary table of the session may hide it.
func (p *Planner) Binding(schema, table string) (*catalog.Binding, error) {
	if schema == "" {
		schema = p.Session.Database
	}
	if schema == "" {
		return nil, nil // the server answers 1046: no database selected
	}
	b, err := p.tableBinding(schema, table)
	if !p.Session.Temporary || b == nil && err == nil || isMissing(err) {
		return b, err
	}
	name := catalog.TableName{Schema: schema, Table: table}
	hidden, asked := p.Fetched.Temporary[name]
	switch {
	case !asked:
		return nil, &Missing{Fact: NeedsTemporary, Table: name}
	case hidden:
		return nil, nil
	}
	return b, err
}

// IsOpen reports whether a row of the INSERT in Stmt gets an id.
func (p *Planner) IsOpen(row int) bool { return len(p.Slots) == 0 || p.Slots[row].State == parser.Open }

// Schema returns the database of the table in Stmt.
func (p *Planner) Schema() string {
	if p.Stmt.Schema != "" {
		return p.Stmt.Schema
	}
	return p.Session.Database
}
