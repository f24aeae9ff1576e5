package plan

import (
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Fill is how the ids of one INSERT or REPLACE are filled: pure, from its
// text and its table's binding.
type Fill struct {
	Binding *catalog.Binding
	Rows    int
	Open    int64        // rows that get an id
	Params  int64        // rows of which a parameter decides
	First   int64        // the first id, once taken
	Keys    []parser.Key // each row's, with a keyed sequence
	IDs     []int64      // the ids, where they are not one block
	Texts   []byte       // the ids that are no numbers, one behind the other: see Text
	// Wrap says that the first id is written as LAST_INSERT_ID(id), so that the
	// server answers with it itself. It cannot be where the text uses
	// LAST_INSERT_ID() too: that would give the new id.
	Wrap        bool
	ReadsLastID bool // the text uses LAST_INSERT_ID()
	Appends     bool // of an upsert that does so: see AppendsID
	// Ignore: rows may be left out; Upsert: rows may change others instead.
	Ignore, Upsert bool
	Replace        bool         // REPLACE
	FromQuery      bool         // the rows come from a query: nothing is told of a row that was there
	Returning      bool         // the answer is rows, of MariaDB's RETURNING
	Prepared       bool         // the first id is a parameter that is wrapped, whatever its value
	Variables      bool         // some ids are user variables, which were copied
	Bound          *IDVariables // of a prepared statement; nil for none
	FoundRows      bool         // an existing row that does not change counts as affected
	Explicit       int64        // the last row's own id, where known
	HasExplicit    bool
	// Lowest and Highest are the least and the largest of the rows' own ids above
	// 0, where known; 0 when there is none.
	Lowest, Highest int64
	Ahead           bool    // one of those stands before an open row
	Own             EachOwn // all of those; nil where they are not known
	Reach           int64   // see OwnReach; 0 for that
	Repeatable      bool    // it may run twice when the first run was undone
	Sent            sentAs  // by which it can be sent again
	SentParams      int     // how many parameters it had
	Forced          int64   // the first id, where SET insert_id gives it; 0 for none
	Step            int64   // by how much each id is above the one before; 0 for 1
}

// ID returns the n-th id that was taken, from 0.
func (p *Fill) ID(n int) int64 {
	if p.IDs != nil {
		return p.IDs[n]
	}
	return p.First + int64(n)*p.Stride()
}

// Rewrites reports whether the statement cannot go to the server as it came: an
// id is open, or the id of a row that was there has to be learned.
func (p *Fill) Rewrites() bool {
	return p.Open > 0 || p.TellsUpdated() && !p.Binding.AutoIncrement
}

// TellsUpdated reports whether the statement is made to tell the id of a row that was there.
func (p *Fill) TellsUpdated() bool { return p.Upsert && !p.Returning && (p.Wrap || p.Appends) }

// RunsFilled reports whether an execution is of the filled statement, not of the
// client's own.
func (p *Fill) RunsFilled() bool { return p.Rewrites() || p.Bound != nil }

// Reports says that the OK packet has to tell the explicit id.
func (p *Fill) Reports() bool {
	return !p.Binding.AutoIncrement && p.HasExplicit && !p.Upsert && !p.Returning
}

// Tells says that the sequence has to be told of explicit ids.
func (p *Fill) Tells() bool {
	return p.Highest > 0 && p.Binding.OnExplicit != catalog.ExplicitIgnore && p.Binding.Key.Name == ""
}

// NewFill returns how an INSERT is filled, by the slots of its rows, which it corrects by
// the column's type. Without slots all rows leave the id out.
func NewFill(stmt *parser.InsertStmt, b *catalog.Binding, slots []parser.Slot, m parser.Mode) (Fill, error) {
	p := Fill{Binding: b, Rows: stmt.Rows, Wrap: !stmt.UsesLastInsertID && b.Form == 0, ReadsLastID: stmt.UsesLastInsertID,
		Ignore: stmt.Ignore, Upsert: stmt.OnDuplicate, Replace: stmt.Replace, Returning: stmt.Returning}
	if len(slots) == 0 {
		p.Open = int64(stmt.Rows)
	}
	for i := range slots {
		slots[i] = b.Judge(slots[i], m.Strict && !stmt.Ignore)
		slot := slots[i]
		switch slot.State {
		case parser.Open:
			p.Open++
		case parser.Param:
			p.Params++
		case parser.Unknown:
			return p, catalog.Unsupported("an expression as the value of '"+b.Column+"'", b.Table,
				"write NULL, DEFAULT or a literal there, or leave the column out")
		}
		p.NoteExplicit(slot)
	}
	if b.Key.Name != "" && p.Open+p.Params > 0 && (p.Ignore || p.Upsert) {
		return p, catalog.Unsupported("IGNORE or ON DUPLICATE KEY UPDATE with a keyed sequence", b.Table, "insert the rows without them")
	}
	return p, nil
}

// ToldExplicit returns the last row's own id as a server tells it.
func (p *Fill) ToldExplicit() uint64 { return uint64(p.Binding.Clip(p.Explicit)) }

// NoteExplicit takes in what the next row says of its own id.
func (p *Fill) NoteExplicit(slot parser.Slot) {
	p.Explicit, p.HasExplicit = slot.Value, slot.State == parser.Explicit && slot.HasValue
	p.Ahead = p.Ahead || slot.State == parser.Open && p.Highest > 0
	if p.HasExplicit && slot.Value > 0 {
		if p.Highest == 0 {
			p.Lowest = slot.Value
		}
		p.Lowest, p.Highest = min(p.Lowest, slot.Value), max(p.Highest, slot.Value)
	}
}

// IDVariables are the user variables of a prepared statement that are ids.
type IDVariables struct {
	Names [][]byte // as they were written
	At    []int    // where each stands among the parameters, these included
	Rows  []int    // whose ids they are
}

const (
	SentOnce    sentAs = iota // it cannot
	SentText                  // as the text that was composed
	SentExecute               // as the COM_STMT_EXECUTE that was composed
)

// sentAs says how a filled statement was sent, as far as it can be sent again.
type sentAs uint8

// LearnsTaken reports whether ids that are in the table may be skipped: the sequence's
// own, where it goes on above those that clients write.
func (p *Fill) LearnsTaken() bool {
	return p.Open > 0 && p.IDs == nil && p.Texts == nil && p.Forced == 0 && p.Binding.OnExplicit == catalog.ExplicitAdvance && p.Binding.Generator == nil
}

// LeftOut reports whether rows of a statement may not be in the table as new ones.
func (p *Fill) LeftOut(ok wire.OK) bool {
	rows := uint64(p.Rows)
	switch {
	case p.Upsert:
		return ok.AffectedRows != rows
	case p.Ignore:
		return ok.AffectedRows < rows
	}
	return p.Replace && ok.AffectedRows > rows
}

// MovesAhead reports whether the sequence learns of the statement's own ids.
func (p *Fill) MovesAhead() bool {
	return p.Tells() && p.Binding.OnExplicit == catalog.ExplicitAdvance
}

// NoteForced has the sequence learn of the ids as of any that a client writes.
func (p *Fill) NoteForced() {
	last := p.ID(int(p.Open) - 1)
	if p.Highest == 0 {
		p.Lowest = p.First
	}
	p.Lowest, p.Highest = min(p.Lowest, p.First), max(p.Highest, last)
}

// Stride is by how much each id is above the one before.
func (p *Fill) Stride() int64 { return max(p.Step, 1) }

// Span returns how many ids the open rows take, with those between.
func (p *Fill) Span() int64 { return (p.Open-1)*p.Stride() + 1 }

// AppendsID reports whether the id of a row that was there can be learned although the
// statement reads LAST_INSERT_ID() itself: of one row, on a column without
// AUTO_INCREMENT, the assignment that tells it comes behind all that read. A call with
// an argument sets what is to be kept.
func (p *Fill) AppendsID(sql []byte) bool {
	return p.Upsert && p.ReadsLastID && p.Rows == 1 && p.Binding.Form == 0 && !p.Binding.AutoIncrement && !p.Returning && !setsLastID(sql)
}

// Has reports whether a row's id is a user variable.
func (v *IDVariables) Has(row int) bool {
	if v == nil {
		return false
	}
	_, found := slices.BinarySearch(v.Rows, row)
	return found
}

// Index returns where the client's parameter of this index stands.
func (v *IDVariables) Index(i int) int {
	if v == nil {
		return i
	}
	for _, at := range v.At {
		if at <= i {
			i++
		}
	}
	return i
}

// Options says how the statement is filled: with ON DUPLICATE KEY UPDATE a row that was there already has to be told apart, and
// its id told to the client, as a native column does.
func (p *Fill) Options() parser.FillOptions { return parser.FillOptions{TellUpdated: p.TellsUpdated()} }
