package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// fillPlan is how the ids of one INSERT or REPLACE are filled: pure, from its
// text and its table's binding.
type fillPlan struct {
	binding *catalog.Binding
	rows    int
	open    int64        // rows that get an id
	params  int64        // rows of which a parameter decides
	first   int64        // the first id, once taken
	keys    []parser.Key // each row's, with a keyed sequence
	ids     []int64      // the ids, where they are not one block
	texts   []byte       // the ids that are no numbers, one behind the other: see text
	// wrap says that the first id is written as LAST_INSERT_ID(id), so that the
	// server answers with it itself. It cannot be where the text uses
	// LAST_INSERT_ID() too: that would give the new id.
	wrap        bool
	readsLastID bool // the text uses LAST_INSERT_ID()
	appends     bool // of an upsert that does so: see appendsID
	// ignore: rows may be left out; upsert: rows may change others instead.
	ignore, upsert bool
	replace        bool         // REPLACE
	fromQuery      bool         // the rows come from a query: nothing is told of a row that was there
	returning      bool         // the answer is rows, of MariaDB's RETURNING
	prepared       bool         // the first id is a parameter that is wrapped, whatever its value
	variables      bool         // some ids are user variables, which were copied
	bound          *idVariables // of a prepared statement; nil for none
	foundRows      bool         // an existing row that does not change counts as affected
	explicit       int64        // the last row's own id, where known
	hasExplicit    bool
	// lowest and highest are the least and the largest of the rows' own ids above
	// 0, where known; 0 when there is none.
	lowest, highest int64
	ahead           bool    // one of those stands before an open row
	own             eachOwn // all of those; nil where they are not known
	reach           int64   // see ownReach; 0 for that
	repeatable      bool    // see repeats
	sent            sentAs  // by which it can be sent again
	sentParams      int     // how many parameters it had
	forced          int64   // the first id, where SET insert_id gives it; 0 for none
	step            int64   // by how much each id is above the one before; 0 for 1
}

// id gives the n-th id that was taken, from 0.
func (p *fillPlan) id(n int) int64 {
	if p.ids != nil {
		return p.ids[n]
	}
	return p.first + int64(n)*p.stride()
}

// rewrites reports whether the statement cannot go to the server as it came: an
// id is open, or the id of a row that was there has to be learned.
func (p *fillPlan) rewrites() bool {
	return p.open > 0 || p.tellsUpdated() && !p.binding.AutoIncrement
}

// tellsUpdated reports whether the statement is made to tell the id of a row that was there.
func (p *fillPlan) tellsUpdated() bool { return p.upsert && !p.returning && (p.wrap || p.appends) }

// runsFilled reports whether an execution is of the filled statement, not of the
// client's own.
func (p *fillPlan) runsFilled() bool { return p.rewrites() || p.bound != nil }

// reports says that the OK packet has to tell the explicit id.
func (p *fillPlan) reports() bool {
	return !p.binding.AutoIncrement && p.hasExplicit && !p.upsert && !p.returning
}

// tells says that the sequence has to be told of explicit ids.
func (p *fillPlan) tells() bool {
	return p.highest > 0 && p.binding.OnExplicit != catalog.ExplicitIgnore && p.binding.Key.Name == ""
}

// newFillPlan judges an INSERT by the slots of its rows, which it corrects by
// the column's type. Without slots all rows leave the id out.
func newFillPlan(stmt *parser.InsertStmt, b *catalog.Binding, slots []parser.Slot, m parser.Mode) (fillPlan, error) {
	p := fillPlan{binding: b, rows: stmt.Rows, wrap: !stmt.UsesLastInsertID && b.Form == 0, readsLastID: stmt.UsesLastInsertID,
		ignore: stmt.Ignore, upsert: stmt.OnDuplicate, replace: stmt.Replace, returning: stmt.Returning}
	if len(slots) == 0 {
		p.open = int64(stmt.Rows)
	}
	for i := range slots {
		slots[i] = b.Judge(slots[i], m.Strict && !stmt.Ignore)
		slot := slots[i]
		switch slot.State {
		case parser.Open:
			p.open++
		case parser.Param:
			p.params++
		case parser.Unknown:
			return p, catalog.Unsupported("an expression as the value of '"+b.Column+"'", b.Table,
				"write NULL, DEFAULT or a literal there, or leave the column out")
		}
		p.noteExplicit(slot)
	}
	if b.Key.Name != "" && p.open+p.params > 0 && (p.ignore || p.upsert) {
		return p, catalog.Unsupported("IGNORE or ON DUPLICATE KEY UPDATE with a keyed sequence", b.Table, "insert the rows without them")
	}
	return p, nil
}

// toldExplicit gives the last row's own id as a server tells it.
func (p *fillPlan) toldExplicit() uint64 { return uint64(p.binding.Clip(p.explicit)) }

// noteExplicit takes in what the next row says of its own id.
func (p *fillPlan) noteExplicit(slot parser.Slot) {
	p.explicit, p.hasExplicit = slot.Value, slot.State == parser.Explicit && slot.HasValue
	p.ahead = p.ahead || slot.State == parser.Open && p.highest > 0
	if p.hasExplicit && slot.Value > 0 {
		if p.highest == 0 {
			p.lowest = slot.Value
		}
		p.lowest, p.highest = min(p.lowest, slot.Value), max(p.highest, slot.Value)
	}
}

// outcome is what an INSERT's OK packet says, and what it has to say.
type outcome struct {
	affected uint64
	reported uint64 // the insert id of the server's OK packet
	first    uint64 // the first id of the block that the statement got
}

// verdict is what the client is to see.
type verdict struct {
	insertID uint64
	// lastID is what LAST_INSERT_ID() has to give afterwards, actual what the
	// backend's gives; neither is known when unknown is set.
	lastID, actual uint64
	unknown        bool
}

// needsProbe reports whether only the table can tell which of the statement's
// rows were inserted.
func (p *fillPlan) needsProbe(o outcome) bool {
	switch {
	case p.open == 0:
		return false
	case p.upsert && p.rows == 1:
		return p.wrap && p.foundRows && o.affected == 1 && o.reported == 0 // hidden by a trigger's INSERT
	case p.upsert:
		return o.affected > 0
	case p.ignore:
		return o.affected > 0 && o.affected < uint64(p.rows)
	}
	return false
}

// settle decides what the client sees of a statement that succeeded, equal to
// what a native AUTO_INCREMENT gives (docs/insert-ids.md). inserted is the first
// id of the block that is in the table, 0 for none; it is only looked at where
// needsProbe asked for it. old is LAST_INSERT_ID() before the statement.
func (p *fillPlan) settle(o outcome, inserted, old uint64) verdict {
	actual := old
	if (p.wrap || p.appends) && o.reported != 0 {
		actual = o.reported
	}
	if p.open == 0 && o.affected == 1 && !p.fromQuery && (o.reported == 0 || p.prepared && o.reported == uint64(p.explicit)) {
		return verdict{insertID: p.toldExplicit(), lastID: old, actual: actual}
	}
	if !p.needsProbe(o) {
		inserted = p.inserted(o)
	}
	switch {
	case inserted != 0:
		return verdict{insertID: inserted, lastID: inserted, actual: actual}
	case !p.wrap && !p.appends:
		return verdict{insertID: o.reported, unknown: true}
	case p.ignore && !p.upsert && o.affected > 0 && p.hasExplicit:
		return verdict{insertID: p.toldExplicit(), lastID: old, actual: actual}
	case p.upsert && p.changed(o) && !p.fromQuery:
		return verdict{insertID: o.reported, lastID: old, actual: actual}
	}
	return verdict{lastID: old, actual: actual}
}

// hidesUpdated reports whether a row that was there was changed, and the packet does not tell which: on a column without
// AUTO_INCREMENT, where a trigger has inserted into a table that has it.
func (p *fillPlan) hidesUpdated(o outcome) bool {
	changed := o.affected > uint64(p.rows) || p.open > 0 && p.changed(o) // else rows with ids of their own may be new
	return changed && p.upsert && p.wrap && !p.fromQuery && o.reported == 0 && p.inserted(o) == 0
}

// changed reports whether a row that was there was changed, of a statement that
// inserted none.
func (p *fillPlan) changed(o outcome) bool {
	if p.foundRows {
		return o.affected > uint64(p.rows)
	}
	return o.affected > 0
}

// inserted tells without a look at the table whether the statement's first id
// went in.
func (p *fillPlan) inserted(o outcome) uint64 {
	switch {
	case p.open == 0:
		return 0
	case p.upsert && (o.affected != 1 || o.reported != o.first && o.reported != 0):
		return 0
	case p.ignore && o.affected == 0:
		return 0
	}
	return o.first
}
