package vschema

import "maps"

func (e *editor) createVindex() error {
	if e.vindex() != nil {
		return editErrorf("vindex %s already exists in keyspace %s", e.Vindex.Name, e.Keyspace)
	}
	if e.Vindex.Type == "" {
		return editErrorf("vindex %s has no type: write USING and one, such as hash", e.Vindex.Name)
	}
	// As in Vitess, a keyspace becomes sharded by its first vindex.
	first := len(e.keyspace().field("vindexes").names()) == 0
	if err := e.define("vindexes", e.Vindex.Name, e.Vindex.json()); err != nil || !first {
		return err
	}
	return e.shard()
}

// names are the keys of an object.
func (n *node) names() (names []string) {
	if n == nil {
		return nil
	}
	obj, _ := n.value.(object)
	for _, m := range obj {
		names = append(names, m.key)
	}
	return names
}

func (v VindexSpec) json() string {
	members := []string{jsonMember("type", v.Type)}
	if len(v.Params) > 0 {
		var params []string
		for _, p := range v.Params {
			params = append(params, jsonMember(p.Name, p.Value))
		}
		members = append(members, quoteJSON("params")+": "+jsonObject(params...))
	}
	if v.Owner != "" {
		members = append(members, jsonMember("owner", v.Owner))
	}
	return jsonObject(members...)
}

func (e *editor) dropVindex() error {
	if e.vindex() == nil {
		return editErrorf("vindex %s does not exists in keyspace %s", e.Vindex.Name, e.Keyspace)
	}
	tables := e.keyspace().field("tables")
	for _, name := range tables.names() {
		if i, _ := tables.member(name).columnVindex(e.Vindex.Name); i >= 0 {
			return editErrorf("can not drop vindex cause %s still defined on table %s", e.Vindex.Name, name)
		}
	}
	return e.removeKey(e.keyspace().field("vindexes"), e.vindex())
}

// columnVindex is the index of a vindex among those of a table, -1 when the table has it not, and how many there are.
func (n *node) columnVindex(vindex string) (index, count int) {
	list := n.field("column_vindexes")
	if list == nil {
		return -1, 0
	}
	items, _ := list.value.(array)
	for i := range items {
		if items[i].field("name").text() == vindex {
			return i, len(items)
		}
	}
	return -1, len(items)
}

// addColumnVindex makes the vindex where it has a type and is not there, and the table where it is not.
func (e *editor) addColumnVindex() error {
	if i, _ := e.table().columnVindex(e.Vindex.Name); i >= 0 {
		return editErrorf("vindex %s already defined on table %s", e.Vindex.Name, e.Table)
	}
	if err := e.needVindex(); err != nil {
		return err
	}
	if e.table() == nil {
		if err := e.define("tables", e.Table, "{}"); err != nil {
			return err
		}
	}
	columns := quoteJSON("columns") + ": " + jsonStrings(e.Columns)
	if len(e.Columns) == 1 {
		columns = jsonMember("column", e.Columns[0])
	}
	value := jsonObject(columns, jsonMember("name", e.Vindex.Name))
	list := e.table().field("column_vindexes")
	if list == nil {
		return e.add(e.table(), "column_vindexes", "["+value+"]", false)
	}
	if _, ok := list.value.(array); !ok {
		return editErrorf("%s is no list in [ ]: correct the file", list.path)
	}
	return e.insert(list, value, false)
}

// needVindex makes the vindex that a table is to have, or compares it with the one that is there.
func (e *editor) needVindex() error {
	now := e.vindex()
	switch {
	case now == nil && e.Vindex.Type == "":
		return editErrorf("vindex %s does not exist in keyspace %s", e.Vindex.Name, e.Keyspace)
	case now == nil:
		return e.createVindex()
	case e.Vindex.Type == "":
		return nil
	}
	params := map[string]string{}
	for _, name := range now.field("params").names() {
		params[name] = now.field("params").member(name).text()
	}
	wanted := map[string]string{}
	for _, p := range e.Vindex.Params {
		wanted[p.Name] = p.Value
	}
	if got := now.field("type").text(); got != e.Vindex.Type {
		return editErrorf("vindex %s defined with type %s not %s", e.Vindex.Name, got, e.Vindex.Type)
	}
	if got := now.field("owner").text(); got != e.Vindex.Owner {
		return editErrorf("vindex %s defined with owner %s not %s", e.Vindex.Name, got, e.Vindex.Owner)
	}
	if !maps.Equal(params, wanted) {
		return editErrorf("vindex %s defined with different parameters", e.Vindex.Name)
	}
	return nil
}

// dropColumnVindex drops the table with its last vindex, as Vitess does: nothing says where its rows are then.
func (e *editor) dropColumnVindex() error {
	if e.table() == nil {
		return editErrorf("table %s.%s not defined in vschema", e.Keyspace, e.Table)
	}
	i, count := e.table().columnVindex(e.Vindex.Name)
	switch {
	case i < 0:
		return editErrorf("vindex %s not defined in table %s.%s", e.Vindex.Name, e.Keyspace, e.Table)
	case count == 1:
		return e.removeKey(e.keyspace().field("tables"), e.table())
	}
	return e.remove(e.table().field("column_vindexes"), i)
}
