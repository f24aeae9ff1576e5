package proxy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/vschema"
)

// SHOW VSCHEMA and ALTER VSCHEMA, as Vitess has them: what is shown has the columns
// and the order of buildVschema*Plan in go/vt/vtgate/planbuilder/show.go of Vitess
// v0.22.1. In front of no vschema of seqgate's own both are the server's, which may
// be a Vitess.

func (d *commandStatement) showVSchema() error {
	v := d.srv.VSchema()
	var result shown
	var err error
	switch {
	case d.Topic == "keyspaces":
		result = d.srv.vschemaKeyspaces(v)
	case d.Topic == "tables":
		result, err = d.vschemaTables(v)
	case len(d.Tables) > 0:
		result, err = d.vschemaTableVindexes(v)
	default:
		result = vschemaVindexes(v)
	}
	if err != nil {
		return err
	}
	result.rows = slices.DeleteFunc(result.rows, func(row []string) bool { return !matches(d.Like, row[0]) })
	return d.replyRows(result.columns, result.rows)
}

// vschemaColumns are as Vitess's: text, all of them.
func vschemaColumns(names ...string) (columns []wire.Column) {
	for _, name := range names {
		columns = append(columns, wire.TextColumn(name, 1024))
	}
	return columns
}

func (d *commandStatement) vschemaTables(v *vschema.VSchema) (shown, error) {
	result := shown{columns: vschemaColumns("Tables")}
	name, err := d.vschemaKeyspace("")
	if err != nil {
		return result, err
	}
	if k, ok := v.Keyspace(name); ok {
		for _, t := range k.Tables() {
			result.rows = append(result.rows, []string{t.Name})
		}
	}
	return result, nil
}

func vschemaVindexes(v *vschema.VSchema) shown {
	result := shown{columns: vschemaColumns("Keyspace", "Name", "Type", "Params", "Owner")}
	for _, k := range v.Keyspaces() {
		for _, vindex := range k.Vindexes() {
			result.rows = append(result.rows, []string{k.Name, vindex.Name, vindex.Type, vindexParams(vindex), vindex.Owner})
		}
	}
	return result
}

// vschemaTableVindexes returns those of one table in their order, the primary first; none
// in an unsharded keyspace.
func (d *commandStatement) vschemaTableVindexes(v *vschema.VSchema) (shown, error) {
	result := shown{columns: vschemaColumns("Columns", "Name", "Type", "Params", "Owner")}
	name, err := d.vschemaKeyspace(d.Tables[0].Schema)
	if err != nil {
		return result, err
	}
	k, ok := v.Keyspace(name)
	if !ok || !k.Sharded {
		return result, nil
	}
	t, ok := k.Table(d.Tables[0].Name)
	if !ok {
		return result, mysql.NewError(mysql.ER_NO_SUCH_TABLE, fmt.Sprintf("table '%s' does not exist in keyspace '%s'", d.Tables[0].Name, name))
	}
	for _, c := range t.ColumnVindexes {
		result.rows = append(result.rows, []string{strings.Join(c.Columns, ", "), c.Name, c.Type, vindexParams(c.NamedVindex), c.Owner})
	}
	return result, nil
}

func vindexParams(v *vschema.NamedVindex) string {
	var params []string
	for _, name := range slices.Sorted(maps.Keys(v.Params)) {
		params = append(params, name+"="+v.Params[name])
	}
	return strings.Join(params, "; ")
}

// vschemaKeyspace returns the keyspace that a name stands for: its own, or its
// database's; "" is the session's.
func (d *commandStatement) vschemaKeyspace(name string) (string, error) {
	if name == "" {
		if routed := d.owner.routedKeyspace(); routed != "" {
			return routed, nil
		}
		var err error
		if name, err = d.defaultDatabase(); err != nil {
			return "", err
		}
		if name == d.keyspace.Database {
			return d.keyspace.Name, nil
		}
	} else if d.srv.cfg.Keyspaces[name] != nil {
		return name, nil
	}
	for _, k := range d.srv.cfg.Keyspaces {
		if k.Database == name && k.Backend.Addr == d.keyspace.Backend.Addr {
			return k.Name, nil
		}
	}
	return "", mysql.NewError(mysql.ER_BAD_DB_ERROR, fmt.Sprintf("unknown database '%s' in vschema", name))
}

// alterVSchema changes the vschema where it is kept, for the users that may.
func (d *commandStatement) alterVSchema() error {
	switch {
	case !d.mayAlterVSchema():
		return mysql.NewError(mysql.ER_TABLEACCESS_DENIED_ERROR, fmt.Sprintf(
			"ALTER VSCHEMA command denied to user '%s'; give the user vschema_ddl: true in seqgate's configuration", d.user))
	case d.srv.cfg.AlterVSchema == nil:
		return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "this seqgate has no file to keep the changed vschema in; start it with one in its configuration")
	}
	edit, err := d.vschemaEdit()
	if err != nil {
		return err
	}
	if err := d.srv.cfg.AlterVSchema(d.ctx, edit); err != nil {
		return vschemaError(err)
	}
	return d.replyOK(wire.OK{Status: d.Status()})
}

func (d *commandStatement) mayAlterVSchema() bool {
	return slices.ContainsFunc(d.srv.settings().Users, func(u User) bool { return u.Name == d.user && u.VSchemaDDL })
}

// vschemaError returns what a client sees when the vschema could not be changed, with
// Vitess's number where the change itself is at fault.
func vschemaError(err error) error {
	var wrong *vschema.EditError
	var invalid vschema.Errors
	switch {
	case errors.As(err, &wrong):
		return mysql.NewError(mysql.ER_INTERNAL_ERROR, wrong.Message)
	case errors.As(err, &invalid):
		texts := make([]string, len(invalid))
		for i, e := range invalid {
			texts[i] = e.Message
			if e.Path != "" {
				texts[i] = e.Path + ": " + e.Message
			}
		}
		return mysql.NewError(mysql.ER_INTERNAL_ERROR, "the vschema would not be right, and stays as it is: "+strings.Join(texts, "; "))
	}
	return fmt.Errorf("the vschema stays as it is: %w", err)
}

var vschemaActions = map[parser.VSchemaAction]vschema.EditAction{
	parser.VSchemaCreateVindex: vschema.CreateVindex, parser.VSchemaDropVindex: vschema.DropVindex,
	parser.VSchemaAddTable: vschema.AddTable, parser.VSchemaDropTable: vschema.DropTable,
	parser.VSchemaAddSequence: vschema.AddSequence, parser.VSchemaDropSequence: vschema.DropSequence,
	parser.VSchemaAddColumnVindex: vschema.AddColumnVindex, parser.VSchemaDropColumnVindex: vschema.DropColumnVindex,
	parser.VSchemaAddAutoIncrement: vschema.AddAutoIncrement, parser.VSchemaDropAutoIncrement: vschema.DropAutoIncrement,
}

// vschemaEdit resolves the names of the statement. That of a sequence stays without a
// keyspace where it has none: the vschema finds it by itself.
func (d *commandStatement) vschemaEdit() (vschema.Edit, error) {
	stmt := &d.VSchema
	keyspace, err := d.vschemaKeyspace(stmt.Table.Schema)
	if err != nil {
		return vschema.Edit{}, err
	}
	sequence := vschema.TableName{Keyspace: stmt.Sequence.Schema, Table: stmt.Sequence.Name}
	if sequence.Keyspace != "" {
		if sequence.Keyspace, err = d.vschemaKeyspace(sequence.Keyspace); err != nil {
			return vschema.Edit{}, err
		}
	}
	spec := vschema.VindexSpec{Name: stmt.Vindex, Type: stmt.Type, Owner: stmt.Owner}
	for _, p := range stmt.Params {
		spec.Params = append(spec.Params, vschema.Param(p))
	}
	return vschema.Edit{Action: vschemaActions[stmt.Action], Keyspace: keyspace, Table: stmt.Table.Name,
		Vindex: spec, Columns: stmt.Columns, Sequence: sequence}, nil
}
