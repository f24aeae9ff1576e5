package route

import (
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/vschema"
)

// isSystem reports whether the database is one that every server has of its own.
func isSystem(database string) bool {
	switch strings.ToLower(database) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

// resolve finds what each table's name stands for.
func (s *statement) resolve() error {
	s.tables = make([]table, len(s.Tables))
	for i, t := range s.Tables {
		if s.Kind == parser.RouteShow && t.Schema == "" && s.Database != "" {
			t.Schema = s.Database
		}
		found, err := s.find(t.Table)
		if err != nil {
			return err
		}
		s.tables[i] = found
	}
	return nil
}

// find returns what the name stands for: a qualified name is of that keyspace, another one of the current keyspace, or of
// the one keyspace that has it.
func (s *statement) find(name parser.Table) (table, error) {
	if shardTarget(name) {
		return table{}, errorf(errUnsupported, "seqgate does not support a shard in a table's name, `%s`; connect to the database "+
			"\"keyspace:shard\" to ask one shard", strings.TrimPrefix(name.Schema+"`.`"+name.Name, "`.`"))
	}
	database := name.Schema
	if database == "" {
		database = s.current
	}
	k, sharded := s.planner.keyspace(database)
	switch {
	case isSystem(database):
		return table{system: true}, nil
	case k == nil && name.Schema != "":
		return s.foreign(name)
	case database == "":
		return s.search(name.Name)
	case !sharded:
		return s.unsharded(k, database, name.Name), nil
	}
	if model, ok := k.Table(name.Name); ok {
		return newTable(k, model)
	}
	if name.Schema == "" {
		if t, ok, err := s.elsewhere(name.Name); ok || err != nil {
			return t, err
		}
	}
	if s.Kind == parser.RouteDDL || s.Kind == parser.RouteOther {
		return table{keyspace: k.Name, sharded: true}, nil
	}
	return table{}, errorf(errNoTable, "Table '%s.%s' doesn't exist in the vschema: add it to the tables of the sharded keyspace %s "+
		"with its column_vindexes", k.Name, name.Name, k.Name)
}

// shardTarget reports whether the name has a shard in brackets, as Vitess writes it: user[-80].
func shardTarget(name parser.Table) bool {
	for _, part := range [...]string{name.Schema, name.Name} {
		if i := strings.IndexByte(part, '['); i > 0 && strings.HasSuffix(part, "]") {
			return true
		}
	}
	return false
}

// foreign is a database that is no keyspace: it may be one more of the server of the current keyspace.
func (s *statement) foreign(name parser.Table) (table, error) {
	if _, sharded := s.planner.keyspace(s.current); sharded || s.current == "" {
		return table{}, errorf(errUnknownDatabase, "Unknown database '%s': seqgate has no keyspace of this name", name.Schema)
	}
	return table{keyspace: s.current}, nil
}

// unsharded is a table of an unsharded keyspace, which may have more tables than the vschema names.
func (s *statement) unsharded(k *vschema.Keyspace, keyspace, name string) table {
	t := table{keyspace: keyspace}
	if k != nil {
		t.model, _ = k.Table(name)
	}
	return t
}

// search finds a table without a current keyspace.
func (s *statement) search(name string) (table, error) {
	t, ok, err := s.elsewhere(name)
	if err == nil && !ok {
		err = errorf(errNoDatabase, "No database selected")
	}
	return t, err
}

// elsewhere finds the one keyspace that has a table of that name.
func (s *statement) elsewhere(name string) (found table, ok bool, err error) {
	for _, k := range s.planner.vschema.Keyspaces() {
		model, has := k.Table(name)
		if !has || k.RequireExplicitRouting || model.Source != nil && model.Source.Keyspace != k.Name {
			continue // the source of a reference table is the one that is meant
		}
		if ok {
			return table{}, false, errorf(errUnknown, "ambiguous table reference: %s is in the keyspaces %s and %s; write its keyspace before it",
				name, found.keyspace, k.Name)
		}
		if found, err = newTable(k, model); err != nil {
			return table{}, false, err
		}
		ok = true
	}
	return found, ok, nil
}

// newTable is a table that the vschema names.
func newTable(k *vschema.Keyspace, model *vschema.Table) (table, error) {
	t := table{keyspace: k.Name, sharded: k.Sharded, model: model}
	if !t.divided() || len(model.Pinned) > 0 {
		return t, nil
	}
	if len(model.ColumnVindexes) == 0 {
		return table{}, errorf(errNoVindex, "table '%s' does not have a primary vindex", model.Name)
	}
	if v := &model.ColumnVindexes[0]; v.Vindex != nil {
		t.primary = v
	}
	return t, nil
}
