package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

// INSERT and REPLACE into tables of sharded keyspaces: the statement is read once, in
// the client's own session. Rows whose shard does not depend on a new id are placed
// first, so that one that has none uses up no ids; then ids are taken, and the other
// rows placed by them. Each shard gets the client's own text with its rows and ids.

// shardedInsert is such a statement under way.
type shardedInsert struct {
	r        *textRouter
	keyspace *catalog.Keyspace
	table    *vschema.Table
	// attributes stands before the text of a COM_QUERY.
	attributes, sql []byte
	mode            parser.Mode
	stmt            *parser.InsertStmt // the session's

	described *catalog.Table
	binding   *catalog.Binding // nil when no column is filled
	columns   []string         // that a statement without a column list has values for
	operands  []operand
	fill      plan.Fill
	kind      plan.Kind
	effect    plan.Effect
	pending   bool  // the shards of some rows depend on their new ids
	shards    []int // of each row, by index; nil when all rows go to the same ones
	targets   []int // the shards that get the statement, in their order
	room      insertRoom
}

// insertRoom is memory of a statement's own for what most have little of.
type insertRoom struct {
	operands [1]operand
	shards   [1]int
	targets  [2]int
	values   [2]vschema.Value
	id       [16]byte
}

// planInsert plans an INSERT or REPLACE.
func (r *textRouter) planInsert(p *routedStatement) error {
	p.read, p.inserts = true, true
	stmt := &r.s.planner.Stmt
	if err := stmt.ParseTarget(p.sql, p.mode); err != nil {
		return err
	}
	k, err := r.ownerOf(stmt.Schema, stmt.Table)
	switch {
	case err != nil:
		return err
	case k == nil:
		p.kind = routedHome
		return nil
	case k.Shards != nil:
		return r.planInsertSharded(p, k)
	}
	return r.planInsertUnsharded(p, k)
}

// ownerOf gives the keyspace of a table, nil for one of the servers' own.
func (r *textRouter) ownerOf(schema, table string) (*catalog.Keyspace, error) {
	loaded := r.s.srv.loaded()
	name, err := loaded.Planner.Owner(parser.Table{Schema: schema, Name: table}, r.keyspaceName())
	if err == nil {
		return r.s.srv.cfg.Keyspaces[name], nil
	}
	if schema == "" {
		schema = r.keyspaceName()
	}
	if declared, ok := loaded.VSchema.Keyspace(schema); ok {
		if _, ok := declared.Vindex(table); ok {
			err = errVindexModified(table)
		}
	}
	return nil, err
}

// errVindexModified is the error for an INSERT into a vindex, as if that were a table.
func errVindexModified(name string) error {
	return mysql.NewError(mysql.ER_UNKNOWN_ERROR, "VT09014: vindex cannot be modified: '"+name+"' is the name of a vindex")
}

// planInsertSharded plans an INSERT or REPLACE into a table of a sharded keyspace, whose
// target stands in the session's statement.
func (r *textRouter) planInsertSharded(p *routedStatement, k *catalog.Keyspace) error {
	in := &shardedInsert{r: r, keyspace: k, sql: p.sql, mode: p.mode, stmt: &r.s.planner.Stmt}
	if err := in.find(); err != nil {
		return err
	}
	if mayQuery(p.sql) && in.stmt.ParseQuery(p.sql, p.mode) == nil {
		p.kind = routedQuery
		return in.checkQueryColumns()
	}
	if err := in.read(); err != nil {
		return err
	}
	p.kind, p.insert = routedInsert, in
	return in.place()
}

// find looks the table up, in the vschema and on the first shard.
func (in *shardedInsert) find() error {
	name := in.stmt.Table
	declared, ok := in.r.s.srv.VSchema().Keyspace(in.keyspace.Name)
	if !ok {
		return fmt.Errorf("keyspace %s is not in the vschema", in.keyspace.Name)
	}
	if in.table, ok = declared.Table(name); !ok {
		if _, ok := declared.Vindex(name); ok {
			return errVindexModified(name)
		}
		return mysql.NewError(mysql.ER_NO_SUCH_TABLE, fmt.Sprintf(
			"Table '%s.%s' is not in the vschema: add it there with its vindex", in.keyspace.Name, name))
	}
	if source := in.table.Source; source != nil {
		return in.unsupported("writing to a copy of another table",
			fmt.Sprintf("write to its source, %s.%s", source.Keyspace, source.Table))
	}
	return in.describe()
}

// lookup describes the table by the first shard, or by another one while that is away.
func (in *shardedInsert) lookup() (e *catalog.Entry, err error) {
	const tries = 3 // which may each take catalog.Timeout
	s := in.r.s.executor
	for _, shard := range in.keyspace.Shards[:min(tries, len(in.keyspace.Shards))] {
		var away *catalog.DescribeError
		if e, err = s.srv.catalog.Find(s.ctx, shard, shard.Database, in.table.Name, true); !errors.As(err, &away) {
			break
		}
	}
	return e, err
}

// describe learns of the table's columns.
func (in *shardedInsert) describe() error {
	e, err := in.lookup()
	switch {
	case err != nil:
		return err
	case e.Err != nil:
		return e.Err
	case !e.Table.Exists:
		return catalog.NotSeen(in.keyspace.Name, in.table.Name)
	}
	in.described, in.binding, in.columns = &e.Table, e.Binding, nil
	if in.binding != nil {
		in.columns = in.binding.Columns
		return nil
	}
	for i := range e.Table.Columns {
		if c := &e.Table.Columns[i]; !c.Invisible() {
			in.columns = append(in.columns, c.Name)
		}
	}
	return nil
}

// read reads what the rows say of their ids and of the vindex's columns.
func (in *shardedInsert) read() error {
	mode, column := in.mode, ""
	if in.binding != nil {
		mode, column = in.binding.Mode(in.mode), in.binding.Column
	}
	if err := in.stmt.ParseFor(in.sql, mode, column, in.columns); err != nil {
		return in.refuse(err)
	}
	if err := in.check(); err != nil {
		return err
	}
	err := in.readRows()
	if errors.Is(err, parser.ErrServerRefuses) && !in.stmt.HasColumns {
		// Counted by the columns that are known here: they may have changed.
		in.r.s.srv.catalog.Forget()
		if err := in.describe(); err != nil {
			return err
		}
		err = in.readRows()
	}
	if err != nil {
		return in.refuse(err)
	}
	if err := in.evaluate(); err != nil {
		return err
	}
	return in.judge()
}

// refuse gives the error for a statement that cannot be read: the server's own where
// it would refuse it too.
func (in *shardedInsert) refuse(err error) error {
	var count *parser.ColumnCountError
	var twice *parser.DuplicateColumnError
	var form *parser.UnsupportedError
	switch {
	case errors.As(err, &count):
		return mysql.NewDefaultError(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, count.Row)
	case errors.As(err, &twice):
		return mysql.NewDefaultError(mysql.ER_FIELD_SPECIFIED_TWICE, twice.Column)
	case errors.As(err, &form):
		return in.unsupported(form.Form, "use INSERT or REPLACE ... VALUES or SET with a column list")
	}
	return err
}

// unsupported refuses a form of statement on the table.
func (in *shardedInsert) unsupported(form, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
		"seqgate does not support %s on the sharded table '%s'; %s", form, in.table.Name, advice))
}

// check refuses what no division of the rows makes right.
func (in *shardedInsert) check() error {
	switch {
	case in.stmt.Params > 0:
		return &parser.SyntaxError{Near: "?", Line: 1}
	case in.stmt.HasForeignNames(in.sql):
		return in.unsupported("a query on a table, or a column's name with its keyspace, in an INSERT", "read the value with SELECT first, and leave the keyspace's name out")
	case in.binding != nil && in.binding.Ticket:
		return in.unsupported("tickets", "keep ticket tables in an unsharded keyspace")
	case in.reference() && len(in.keyspace.Shards) > 1 && !in.stmt.IsConstant(in.sql, in.columns):
		return in.unsupported("values that each shard would compute for itself", "write them as literals: a reference table has the same rows in all shards")
	}
	for _, column := range in.vindexColumns() {
		if in.stmt.UpdatesTo(in.sql, column) {
			return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
				"VT12001: unsupported: DML cannot update vindex column '%s' of table '%s': delete the row and insert it anew", column, in.table.Name))
		}
	}
	return nil
}

// vindexColumns gives the columns that say which shard a row is in.
func (in *shardedInsert) vindexColumns() []string {
	if len(in.table.ColumnVindexes) == 0 {
		return nil
	}
	return in.table.ColumnVindexes[0].Columns
}

// readRows reads the rows' values. The ids come last: they are what is filled in.
func (in *shardedInsert) readRows() (err error) {
	s := in.r.s.executor
	if in.reference() {
		if err := in.checkComputed(); err != nil {
			return err
		}
	}
	in.operands = in.room.operands[:0]
	for _, name := range in.vindexColumns() {
		o := operand{name: name, column: in.described.Column(name), id: in.binding != nil && strings.EqualFold(name, in.binding.Column)}
		if o.column == nil {
			return fmt.Errorf("the vschema's vindex column '%s' is no column of table '%s'; correct the vschema or the table", name, in.table.Name)
		}
		if err := in.stmt.Bind(name, in.columns); err != nil {
			return err
		}
		if !o.id || !in.stmt.LeavesOut() {
			if o.cells, err = in.stmt.Cells(nil, in.sql, name, in.columns); err != nil {
				return err
			}
		}
		in.operands = append(in.operands, o)
	}
	if in.binding == nil {
		s.planner.Slots = s.planner.Slots[:0]
		return in.stmt.Bind("", in.columns)
	}
	in.fill.Keys, err = s.planner.ReadRows(in.sql, in.binding, false)
	return err
}

// judge plans how the ids are filled.
func (in *shardedInsert) judge() (err error) {
	s := in.r.s.executor
	in.kind, in.effect = plan.Pass, plan.EffectOfExplicit(in.stmt)
	if in.binding == nil {
		if slices.ContainsFunc(in.described.Columns, func(c catalog.Column) bool { return c.AutoIncrement() }) {
			in.effect = plan.MayLook | plan.MayChangeLastID
		}
		return nil
	}
	keys := in.fill.Keys
	if in.fill, err = plan.NewFill(in.stmt, in.binding, s.planner.Slots, in.binding.Mode(in.mode)); err != nil {
		return err
	}
	in.fill.FoundRows, in.fill.Keys = s.Has(mysql.CLIENT_FOUND_ROWS), keys
	in.fill.Appends = in.fill.AppendsID(in.sql)
	in.kind, in.effect = s.planner.KindOf(&in.fill, in.effect)
	return nil
}

// sourcesOf gives the shards, or the server, that answer a query.
func (r *textRouter) sourcesOf(p *route.Plan) ([]*catalog.Keyspace, error) {
	switch p.Kind {
	case route.Local:
		return r.shards()[:1], nil
	case route.Unsharded:
		return []*catalog.Keyspace{r.s.srv.cfg.Keyspaces[p.Keyspace]}, nil
	}
	indexes, err := p.Shards(nil, nil)
	if err != nil {
		return nil, err
	}
	k := r.s.srv.cfg.Keyspaces[p.Keyspace]
	shards := make([]*catalog.Keyspace, len(indexes))
	for i, index := range indexes {
		shards[i] = k.Shards[index]
	}
	return shards, nil
}

// wantLastID says what LAST_INSERT_ID() has to give on all connections.
func (r *textRouter) wantLastID(id uint64) {
	for _, conn := range r.conns.all {
		if !conn.State.LastIDKnown || conn.State.LastID != id {
			conn.State.LastID, conn.State.LastIDKnown, conn.State.Restore = id, true, true
		}
	}
}

// checkQueryColumns refuses a query for a table whose vindex columns the statement does
// not list.
func (in *shardedInsert) checkQueryColumns() error {
	if !in.stmt.HasColumns {
		return nil
	}
	for _, name := range in.vindexColumns() {
		listed := in.binding != nil && strings.EqualFold(name, in.binding.Column)
		for _, column := range in.stmt.Columns {
			listed = listed || strings.EqualFold(name, column)
		}
		if !listed {
			return mysql.NewError(mysql.ER_UNKNOWN_ERROR, fmt.Sprintf(
				"VT09003: INSERT query does not have primary vindex column '%s' in the column list", name))
		}
	}
	return nil
}
