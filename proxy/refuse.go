package proxy

import "github.com/seqgate/seqgate/proxy/catalog"

// What plans refuse of statements that write rows past seqgate: see [plan.Planner].

// refuseDynamicSQL refuses a statement that writes to a sequenced table in a form that cannot be filled, also by another one
// that it may make of literals.
func (f *statementReader) refuseDynamicSQL(form string, sql []byte) error {
	err := f.planned(func() error { return f.planner.RefuseDynamicSQL(form, sql) })
	if mustChangePassword(err) {
		return nil // the server itself prepares nothing but the new password
	}
	return err
}

// refuseBehindRoutines refuses a text of stored programs, and of statements behind them that may write to a sequenced table.
func (f *statementReader) refuseBehindRoutines(sql []byte) error {
	return f.planned(func() error { return f.planner.RefuseBehindRoutines(sql) })
}

// refuseBeside refuses a text with a compound statement that may write to a sequenced table.
func (f *statementReader) refuseBeside(sql []byte) error {
	return f.planned(func() error { return f.planner.RefuseBeside(sql) })
}

// refuseDuality refuses a text that may update a JSON duality view of a sequenced table.
func (f *statementReader) refuseDuality(sql []byte) error {
	return f.planned(func() error { return f.planner.RefuseDuality(sql) })
}

// writesElsewhere reports whether a text can only write to tables without a sequence, of all that it may name in any reading.
func (f *statementReader) writesElsewhere(sql []byte) (elsewhere bool) {
	err := f.planned(func() (err error) {
		elsewhere, err = f.planner.WritesElsewhere(sql, false)
		return err
	})
	return elsewhere && err == nil
}

// binding looks up how a table's ids are made; nil when it has no sequence.
func (f *statementReader) binding(schema, table string) (b *catalog.Binding, err error) {
	err = f.planned(func() (err error) {
		b, err = f.planner.Binding(schema, table)
		return err
	})
	return b, err
}
