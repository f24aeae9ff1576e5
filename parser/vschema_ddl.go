package parser

// VSchemaAction is what an ALTER VSCHEMA does.
type VSchemaAction uint8

// The actions of [VSchemaEdit].
const (
	VSchemaCreateVindex VSchemaAction = iota + 1
	VSchemaDropVindex
	VSchemaAddTable
	VSchemaDropTable
	VSchemaAddSequence
	VSchemaDropSequence
	VSchemaAddColumnVindex
	VSchemaDropColumnVindex
	VSchemaAddAutoIncrement
	VSchemaDropAutoIncrement
)

// VSchemaEdit is what ALTER VSCHEMA says, in Vitess's grammar (go/vt/sqlparser/sql.y of Vitess v0.22.1):
//
//	ALTER VSCHEMA CREATE VINDEX [keyspace.]v [USING type] [WITH param=value [, ...]]
//	ALTER VSCHEMA DROP VINDEX [keyspace.]v
//	ALTER VSCHEMA ADD|DROP TABLE [keyspace.]t
//	ALTER VSCHEMA ADD|DROP SEQUENCE [keyspace.]s
//	ALTER VSCHEMA ON [keyspace.]t ADD VINDEX v (column [, ...]) [USING type] [WITH param=value [, ...]]
//	ALTER VSCHEMA ON [keyspace.]t DROP VINDEX v
//	ALTER VSCHEMA ON [keyspace.]t ADD AUTO_INCREMENT column USING [keyspace.]s
//	ALTER VSCHEMA ON [keyspace.]t DROP AUTO_INCREMENT
type VSchemaEdit struct {
	Action   VSchemaAction
	Table    Table    // a table or sequence; of a keyspace's vindex, its keyspace and no name
	Columns  []string // of a vindex or AUTO_INCREMENT
	Vindex   string
	Type     string        // of the vindex; empty when not given
	Owner    string        // the param that Vitess has apart
	Params   []VindexParam // the others
	Sequence Table
}

// VindexParam is one param of a vindex as WITH has it.
type VindexParam struct{ Name, Value string }

func (p *commandParser) showVSchema() bool {
	if !p.words("show", "vschema") || !p.topic("keyspaces", "tables", "vindexes") {
		return false
	}
	if p.stmt.Topic == "vindexes" && (p.word("on") || p.word("from")) && !p.name() {
		return false
	}
	return p.like()
}

func (p *commandParser) alterVSchema() bool {
	e := &p.stmt.VSchema
	if !p.words("alter", "vschema") {
		return false
	}
	switch {
	case p.word("on"):
		return p.table(&e.Table) && p.alterVSchemaTable(e)
	case p.word("create"):
		return p.vschemaVindex(e, VSchemaCreateVindex) && p.vindexType(e)
	case p.word("add"):
		return p.vschemaTable(e, VSchemaAddTable, VSchemaAddSequence)
	case p.word("drop"):
		if p.is(p.t, "vindex") {
			return p.vschemaVindex(e, VSchemaDropVindex)
		}
		return p.vschemaTable(e, VSchemaDropTable, VSchemaDropSequence)
	}
	return false
}

// vschemaVindex reads VINDEX and the vindex of a keyspace.
func (p *commandParser) vschemaVindex(e *VSchemaEdit, action VSchemaAction) bool {
	e.Action = action
	ok := p.word("vindex") && p.table(&e.Table)
	e.Vindex, e.Table.Name = e.Table.Name, ""
	return ok
}

// vschemaTable reads TABLE or SEQUENCE, and its name.
func (p *commandParser) vschemaTable(e *VSchemaEdit, table, sequence VSchemaAction) bool {
	switch {
	case p.word("table"):
		e.Action = table
	case p.word("sequence"):
		e.Action = sequence
	default:
		return false
	}
	return p.table(&e.Table)
}

// alterVSchemaTable reads what follows ON and the table.
func (p *commandParser) alterVSchemaTable(e *VSchemaEdit) bool {
	switch add := p.word("add"); {
	case add && p.word("vindex"):
		e.Action = VSchemaAddColumnVindex
		return p.identifier(&e.Vindex) && p.vindexColumns(e) && p.vindexType(e)
	case add && p.word("auto_increment"):
		e.Action = VSchemaAddAutoIncrement
		return p.column(e) && p.word("using") && p.table(&e.Sequence)
	case add || !p.word("drop"):
		return false
	case p.word("vindex"):
		e.Action = VSchemaDropColumnVindex
		return p.identifier(&e.Vindex)
	}
	e.Action = VSchemaDropAutoIncrement
	return p.word("auto_increment")
}

// vindexColumns reads the columns in parentheses.
func (p *commandParser) vindexColumns(e *VSchemaEdit) bool {
	for p.t == '(' && len(e.Columns) == 0 || p.t == ',' && len(e.Columns) > 0 {
		p.advance()
		if !p.column(e) {
			return false
		}
	}
	return len(e.Columns) > 0 && p.punctuation(')')
}

func (p *commandParser) column(e *VSchemaEdit) bool {
	var column string
	ok := p.identifier(&column)
	e.Columns = append(e.Columns, column)
	return ok
}

// vindexType reads USING and WITH, if they are there.
func (p *commandParser) vindexType(e *VSchemaEdit) bool {
	if p.word("using") && !p.identifier(&e.Type) {
		return false
	}
	if !p.word("with") {
		return true
	}
	for {
		var param VindexParam
		if !p.identifier(&param.Name) || !p.punctuation('=') || !p.paramValue(&param.Value) {
			return false
		}
		if equalFold([]byte(param.Name), "owner") {
			e.Owner = param.Value
		} else {
			e.Params = append(e.Params, param)
		}
		if !p.punctuation(',') {
			return true
		}
	}
}

// paramValue reads a string, a number, or a name that may be qualified.
func (p *commandParser) paramValue(to *string) (ok bool) {
	if p.t == tokenString {
		*to, ok = p.mode.Charset.Decode(p.appendString(nil))
		p.advance()
		return ok
	}
	var name Table
	ok = p.table(&name)
	*to = name.Name
	if name.Schema != "" {
		*to = name.Schema + "." + name.Name
	}
	return ok
}

// table reads a name that may be qualified.
func (p *commandParser) table(to *Table) (ok bool) {
	*to, p.t, ok = p.tableName(p.t, p.mode.Charset)
	return ok
}

// identifier reads a name.
func (p *commandParser) identifier(to *string) bool {
	if !isName(p.t) {
		return false
	}
	name, ok := p.appendName(nil, p.t, p.mode.Charset)
	*to = string(name)
	p.advance()
	return ok
}

func (p *commandParser) punctuation(c token) bool {
	if p.t != c {
		return false
	}
	p.advance()
	return true
}
