package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/plan"
)

// What seqgate asks in a client's session is a statement there: it changes what
// FOUND_ROWS() and ROW_COUNT() give, it is counted, profiled and tracked, and it
// costs a round trip. So a session is asked only for a statement that may concern
// a table with a sequence, and whose reading depends on the answer.

// insertsElsewhere reports whether an INSERT or REPLACE can only write to tables
// without a sequence, whatever the session's settings are. s.insert has its table
// then, if prepared: later executions look it up again.
func (f *statementReader) insertsElsewhere(sql []byte, prepared bool) bool {
	if f.insert.ParsePlainTarget(sql, f.MariaDB) {
		return !f.mayBeSequenced(f.insert.Schema, f.insert.Table)
	}
	return !prepared && f.writesElsewhere(sql, true)
}

// planUnlisted plans an INSERT or REPLACE that has no value for the id and reads
// alike in every session: its ids are the same whatever the session's settings.
// It reports false for any other; s.insert has the table.
func (f *statementReader) planUnlisted(p *textPlan, sql []byte) bool {
	if !f.State.LastIDKnown || f.State.IDs.Unknown || f.temporary != nil || !parser.Plain(sql) || f.insert.Schema == "" && !f.learnDatabase() {
		return false
	}
	b, err := f.binding(f.insert.Schema, f.insert.Table)
	if err != nil || b == nil || b.Key.Name != "" || !backend.IsPlainName(b.Column) {
		return false
	}
	mode := parser.Mode{MariaDB: f.MariaDB}
	if err := f.insert.Parse(sql, mode); err != nil || !f.insert.HasColumns {
		return false
	}
	if err := f.insert.Bind(b.Column, b.Columns); err != nil || !f.insert.LeavesOut() {
		return false
	}
	f.slots = f.slots[:0]
	fill, err := plan.NewFill(&f.insert, b, f.slots, mode)
	if err != nil {
		return false
	}
	fill.FoundRows, fill.Appends = f.Has(mysql.CLIENT_FOUND_ROWS), fill.AppendsID(sql)
	p.kind, p.effect, p.fill = planFill, f.effectOfFill(&fill), fill
	return true
}

// maxTables is of how many tables it is looked up whether they have a sequence,
// for a text in which each INTO counts, also those in literals.
const maxTables = 16

// writesElsewhere reports whether a text can only write to tables without a
// sequence, of all that it may name in any reading. One that is known to write
// names a table: with none found, it was not understood.
func (f *statementReader) writesElsewhere(sql []byte, writes bool) bool {
	tables, ok := parser.Writes(nil, sql, f.State.Mode)
	if !ok || len(tables) > maxTables || writes && len(tables) == 0 {
		return false
	}
	for _, t := range tables {
		if !f.State.EnvironmentKnown && !backend.IsPlainName(t.Schema+t.Name) || f.mayBeSequenced(t.Schema, t.Name) {
			return false
		}
	}
	return true
}

// mayBeSequenced reports whether a table has a sequence, as far as that can be
// told. It asks nothing in the client's session.
func (f *statementReader) mayBeSequenced(schema, table string) bool {
	if schema == "" && !f.learnDatabase() {
		return true
	}
	if schema == "" {
		schema = f.State.Database
	}
	if schema == "" {
		return false // the server answers 1046: no database selected
	}
	b, err := f.tableBinding(schema, table)
	return b != nil || err != nil
}

// preparesElsewhere is writesElsewhere for the statement that SQL's PREPARE and the
// like make of literals.
func (f *statementReader) preparesElsewhere(sql []byte) bool {
	readings := parser.Readings(sql, f.MariaDB)
	for _, m := range readings {
		if text, ok := parser.Literals(sql, m); !ok || !f.writesElsewhere(text, false) {
			return false
		}
	}
	return len(readings) > 0
}

// effectOfFill: only a statement that uses LAST_INSERT_ID() itself looks at it. Ids that are no numbers leave it alone,
// but another column of the table may not.
func (f *statementReader) effectOfFill(p *plan.Fill) plan.Effect {
	switch {
	case p.Wrap:
		return 0
	case p.Binding.Form != 0 && p.Binding.Counts:
		return plan.MayLook | plan.MayChangeLastID
	case p.Binding.Form != 0:
		return plan.EffectOfExplicit(&f.insert)
	}
	return plan.MayLook
}
