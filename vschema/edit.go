package vschema

import (
	"fmt"
	"strings"
)

// EditAction is what an Edit does.
type EditAction uint8

// The actions, each with the form of ALTER VSCHEMA that has it.
const (
	CreateVindex      EditAction = iota + 1 // CREATE VINDEX v USING type [WITH param=value, ...]
	DropVindex                              // DROP VINDEX v
	AddTable                                // ADD TABLE t
	DropTable                               // DROP TABLE t
	AddSequence                             // ADD SEQUENCE s
	DropSequence                            // DROP SEQUENCE s
	AddColumnVindex                         // ON t ADD VINDEX v (column, ...) [USING type [WITH param=value, ...]]
	DropColumnVindex                        // ON t DROP VINDEX v
	AddAutoIncrement                        // ON t ADD AUTO_INCREMENT column USING sequence
	DropAutoIncrement                       // ON t DROP AUTO_INCREMENT
)

// Edit is one change to the text of a vschema, with the conditions and the results of Vitess's ALTER VSCHEMA
// (ApplyVSchemaDDL in go/vt/topotools/vschema_ddl.go of Vitess v0.22.1).
type Edit struct {
	Action   EditAction
	Keyspace string // one that the vschema does not name yet is added
	Table    string // or sequence; of all actions but CreateVindex and DropVindex
	Vindex   VindexSpec
	Columns  []string  // of AddColumnVindex; the one of AddAutoIncrement
	Sequence TableName // of AddAutoIncrement; the keyspace may be empty
}

// VindexSpec is the vindex of an Edit. Without a type it is one that the keyspace has already.
type VindexSpec struct {
	Name, Type, Owner string
	Params            []Param
}

// Param is one param of a vindex.
type Param struct{ Name, Value string }

// EditError is why an Edit cannot be made, in Vitess's words where it has any.
type EditError struct{ Message string }

// Error returns the message.
func (e *EditError) Error() string { return e.Message }

func editErrorf(format string, args ...any) error {
	return &EditError{fmt.Sprintf(format, args...)}
}

// Apply makes the edit in data, the text of a vschema, and returns the new text, in which all else is as it was, byte for
// byte. Whether the new text is a valid vschema is LoadFiles's to say. The error is an *EditError, or an Errors when
// data is no JSON.
func (e Edit) Apply(data []byte) ([]byte, error) {
	d, err := newDocument("vschema", data)
	if err != nil {
		return nil, err
	}
	ed := editor{document: d, Edit: e}
	apply, ok := map[EditAction]func() error{
		CreateVindex: ed.createVindex, DropVindex: ed.dropVindex, AddTable: ed.addTable, DropTable: ed.dropTable,
		AddSequence: ed.addSequence, DropSequence: ed.dropSequence, AddColumnVindex: ed.addColumnVindex,
		DropColumnVindex: ed.dropColumnVindex, AddAutoIncrement: ed.addAutoIncrement, DropAutoIncrement: ed.dropAutoIncrement,
	}[e.Action]
	if !ok {
		return nil, editErrorf("unexpected vschema ddl operation %d", e.Action)
	}
	if err := apply(); err != nil {
		return nil, err
	}
	return ed.text, nil
}

// editor makes one Edit in a document.
type editor struct {
	*document
	Edit
}

// keyspace is the keyspace of the edit in the tree; nil when the file does not name it.
func (e *editor) keyspace() *node { return e.root.field("keyspaces").member(e.Keyspace) }

func (e *editor) table() *node { return e.keyspace().field("tables").member(e.Table) }

func (e *editor) vindex() *node { return e.keyspace().field("vindexes").member(e.Vindex.Name) }

func (e *editor) sharded() bool {
	n := e.keyspace().field("sharded")
	return n != nil && n.value == true
}

// in is the object below a key of the keyspace, which is made where it is missing, and so is the keyspace.
func (e *editor) in(key string) (*node, error) {
	if e.root.field("keyspaces") == nil {
		return nil, editErrorf(`the vschema has no "keyspaces": correct the file`)
	}
	if e.keyspace() == nil {
		if err := e.add(e.root.field("keyspaces"), e.Keyspace, "{}", true); err != nil {
			return nil, err
		}
	}
	if e.keyspace().field(key) == nil {
		if err := e.add(e.keyspace(), key, "{}", true); err != nil {
			return nil, err
		}
	}
	return e.keyspace().field(key), nil
}

// add adds a member to an object.
func (e *editor) add(to *node, key, value string, ownLine bool) error {
	if _, ok := to.value.(object); !ok {
		return editErrorf("%s is no object in { }: correct the file", to.path)
	}
	return e.insert(to, quoteJSON(key)+": "+value, ownLine)
}

// define adds what a keyspace has below a key: "tables" or "vindexes".
func (e *editor) define(key, name, value string) error {
	in, err := e.in(key)
	if err != nil {
		return err
	}
	return e.add(in, name, value, true)
}

// shard makes the keyspace a sharded one.
func (e *editor) shard() error {
	n := e.keyspace().field("sharded")
	switch {
	case n == nil:
		return e.add(e.keyspace(), "sharded", "true", true)
	case n.value == true:
		return nil
	}
	return e.splice(n.offset, n.end, "true")
}

// jsonObject writes an object in one line.
func jsonObject(members ...string) string { return "{" + strings.Join(members, ", ") + "}" }

func jsonMember(key, value string) string { return quoteJSON(key) + ": " + quoteJSON(value) }

func jsonStrings(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quoteJSON(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
