package vschema

func (e *editor) addTable() error {
	if e.sharded() {
		return editErrorf("add vschema table: unsupported on sharded keyspace %s", e.Keyspace)
	}
	if e.table() != nil {
		return editErrorf("vschema already contains table %s in keyspace %s", e.Table, e.Keyspace)
	}
	return e.define("tables", e.Table, "{}")
}

func (e *editor) dropTable() error {
	if e.table() == nil {
		return editErrorf("vschema does not contain table %s in keyspace %s", e.Table, e.Keyspace)
	}
	return e.removeKey(e.keyspace().field("tables"), e.table())
}

func (e *editor) addSequence() error {
	if e.sharded() {
		return editErrorf("add sequence table: unsupported on sharded keyspace %s", e.Keyspace)
	}
	if e.table() != nil {
		return editErrorf("vschema already contains sequence %s in keyspace %s", e.Table, e.Keyspace)
	}
	return e.define("tables", e.Table, jsonObject(jsonMember("type", string(Sequence))))
}

// dropSequence leaves a table that is no sequence alone, which Vitess would drop.
func (e *editor) dropSequence() error {
	if e.sharded() {
		return editErrorf("drop sequence table: unsupported on sharded keyspace %s", e.Keyspace)
	}
	if e.table().field("type").text() != string(Sequence) {
		return editErrorf("vschema does not contain sequence %s in keyspace %s", e.Table, e.Keyspace)
	}
	return e.removeKey(e.keyspace().field("tables"), e.table())
}

func (e *editor) addAutoIncrement() error {
	table := e.table()
	if table == nil {
		return editErrorf("vschema does not contain table %s in keyspace %s", e.Table, e.Keyspace)
	}
	if now := table.field("auto_increment"); now != nil {
		return editErrorf("vschema already contains auto inc column:%q sequence:%q on table %s in keyspace %s",
			now.field("column").text(), now.field("sequence").text(), e.Table, e.Keyspace)
	}
	if len(e.Columns) != 1 {
		return editErrorf("an auto increment takes 1 column, not %d", len(e.Columns))
	}
	sequence := quoteName(e.Sequence.Table)
	if e.Sequence.Keyspace != "" {
		sequence = joinName(e.Sequence.Keyspace, e.Sequence.Table)
	}
	return e.add(table, "auto_increment", jsonObject(jsonMember("column", e.Columns[0]), jsonMember("sequence", sequence)), false)
}

func (e *editor) dropAutoIncrement() error {
	table := e.table()
	if table == nil {
		return editErrorf("vschema does not contain table %s in keyspace %s", e.Table, e.Keyspace)
	}
	now := table.field("auto_increment")
	if now == nil {
		return editErrorf("vschema does not contain auto increment on table %s in keyspace %s", e.Table, e.Keyspace)
	}
	return e.removeKey(table, now)
}
