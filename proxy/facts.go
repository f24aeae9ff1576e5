package proxy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
)

// A plan is made of what is known. Where that is not enough the planner says what is missing: it is fetched here, and the
// plan is made anew.

// askedTable is what a server said of a table, for the statement that is being planned.
type askedTable struct {
	owner *catalog.Keyspace
	entry *catalog.Entry
	err   error
}

// startPlan has the planner begin with a statement.
func (f *statementReader) startPlan() {
	f.planner.Session = plan.Session{State: &f.State, MariaDB: f.MariaDB, Temporary: f.temporary != nil, QueryNames: f.srv.queryNames}
	f.planner.Tables, f.planner.Fetched = knownTables{f}, plan.Fetched{Asked: f.Intervened}
	clear(f.asked)
	clear(f.sources)
}

// planned has a part of a plan made, and what it lacks fetched.
func (f *statementReader) planned(part func() error) error {
	for f.startPlan(); ; {
		if again, err := f.fetchMissing(part()); !again {
			return err
		}
	}
}

// fetchMissing fetches what a plan could not be made without: it is to be made again then. Any other error is given back.
func (f *statementReader) fetchMissing(err error) (again bool, _ error) {
	if err == nil { // as nearly always: nothing is allocated
		return false, nil
	}
	var missing *plan.Missing
	if !errors.As(err, &missing) {
		return false, err
	}
	err = f.fetch(missing)
	return err == nil, err
}

func (f *statementReader) fetch(m *plan.Missing) (err error) {
	fetched := &f.planner.Fetched
	defer func() { fetched.Asked = f.Intervened }()
	switch m.Fact {
	case plan.NeedsSettings:
		return f.Know()
	case plan.NeedsLastID:
		return f.KnowLastID()
	case plan.NeedsDatabase:
		fetched.NoDatabase = !f.learnDatabase()
	case plan.NeedsTable:
		f.askTable(m.Table)
	case plan.NeedsTableAnew:
		f.srv.catalog.Forget()
		f.askTable(m.Table)
		fetched.Anew = true
	case plan.NeedsTemporary:
		hidden, err := f.isTemporary(m.Table.Schema, m.Table.Table)
		if fetched.Temporary == nil {
			fetched.Temporary = make(map[catalog.TableName]bool)
		}
		fetched.Temporary[m.Table] = hidden
		return err
	case plan.NeedsVariables:
		fetched.Variables, err = f.copyIDVariables(m)
	case plan.NeedsDuality:
		fetched.Duality, err = f.dualityUpdates()
		fetched.HasDuality = true
	case plan.NeedsSource, plan.NeedsCallSource:
		f.askSource(m.Table, m.Fact == plan.NeedsCallSource)
	case plan.NeedsCharset:
		fetched.Charset, err = f.DatabaseCharset()
		fetched.HasCharset = true
	case plan.NeedsExpression:
		fetched.Expression, err = f.evaluate(m.Query)
		fetched.HasExpression = true
	case plan.NeedsCharsets:
		fetched.Charsets, err = f.QueryRow("SELECT CAST(@@character_set_client AS BINARY), CAST(@@character_set_connection AS BINARY) LIMIT 1", 2)
	case plan.NeedsSequenceTable:
		found, err := f.lookSequence(m.Table)
		if fetched.SequenceTables == nil {
			fetched.SequenceTables = make(map[catalog.TableName]catalog.SequenceTable)
		}
		fetched.SequenceTables[m.Table] = found
		return err
	case plan.NeedsFilledTable:
		table, err := f.srv.catalog.FilledFrom(f.ctx, f.keyspace, m.Table.Schema, m.Table.Table)
		if fetched.Filled == nil {
			fetched.Filled = make(map[catalog.TableName]string)
		}
		fetched.Filled[m.Table] = table
		return err
	default:
		return fmt.Errorf("a plan needs a fact %d that nobody fetches", m.Fact)
	}
	return err
}

// askTable asks for a table, unless it has become known meanwhile. It asks nothing in the client's session.
func (f *statementReader) askTable(name catalog.TableName) {
	var t askedTable
	if t.owner, t.err = f.srv.catalog.Owner(f.ctx, f.keyspace, name.Schema); t.err == nil {
		t.entry, t.err = f.srv.catalog.Find(f.ctx, t.owner, name.Schema, name.Table, true)
	}
	if f.asked == nil {
		f.asked = make(map[catalog.TableName]askedTable)
	}
	f.asked[name] = t
}

// sourceKey is a name that is written as a sequence's, in a call or in SELECT NEXT VALUE.
type sourceKey struct {
	catalog.TableName
	call bool
}

// askSource asks what a name stands for. It asks nothing in the client's session.
func (f *statementReader) askSource(name catalog.TableName, call bool) {
	if f.sources == nil {
		f.sources = make(map[sourceKey]catalog.Source)
	}
	f.sources[sourceKey{name, call}] = f.srv.catalog.Source(f.ctx, f.keyspace, name.Schema, name.Table, call)
}

// knownTables is what plans go by of tables.
type knownTables struct{ f *statementReader }

func (k knownTables) Known(schema, table string) (plan.Table, bool) {
	f := k.f
	f.unfilled = nil
	if len(f.asked) > 0 {
		if t, ok := f.asked[catalog.TableName{Schema: schema, Table: table}]; ok {
			if t.err != nil {
				return plan.Table{Err: t.err}, true
			}
			return f.fills(t.owner, t.entry), true
		}
	}
	owner, e, known := f.srv.catalog.Known(f.keyspace, schema, table)
	if !known {
		return plan.Table{}, false
	}
	return f.fills(owner, e), true
}

func (k knownTables) Source(schema, name string, call bool) (catalog.Source, bool) {
	if len(k.f.sources) > 0 {
		if s, ok := k.f.sources[sourceKey{catalog.TableName{Schema: schema, Table: name}, call}]; ok {
			return s, true
		}
	}
	return k.f.srv.catalog.KnownSource(k.f.keyspace, schema, name, call)
}

// fills tells what is to be filled in a table of this session.
func (f *statementReader) fills(owner *catalog.Keyspace, e *catalog.Entry) plan.Table {
	if f.targetsShard() && (owner.Shard != "" || owner.Shards != nil) {
		if e.Unsharded {
			return plan.Table{Err: e.Err}
		}
		return plan.Table{}
	}
	if e.Binding == nil && e.Err == nil && !e.Counts {
		f.unfilled = e
	}
	return plan.Table{Binding: e.Binding, Err: e.Err}
}

// copyIDVariables copies the user variables that are ids in a text to ones of seqgate's own, so that what was judged is what
// the statement writes, and judges those.
func (f *statementReader) copyIDVariables(m *plan.Missing) (plan.Copied, error) {
	copies, set := make([][]byte, len(m.Rows)), make([]string, len(m.Rows))
	for i, row := range m.Rows {
		copies[i] = fmt.Appendf(nil, copiedVariable, row)
		set[i] = fmt.Sprintf("%s = %s", copies[i], m.Names[i])
	}
	if err := f.Quietly("SET " + strings.Join(set, ", ")); err != nil {
		return plan.Copied{}, err
	}
	slots, err := f.readVariables(copies, m.Mode, f.planner.Stmt.Ignore)
	return plan.Copied{Rows: m.Rows, Names: m.Names, Slots: slots, Mode: m.Mode}, err
}
