// Package route says which shards a statement goes to. It is pure: a statement's text and a vschema in, a plan out.
package route

import (
	"fmt"
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/vschema"
)

// Kind says where a statement goes.
type Kind uint8

// The kinds of plans.
const (
	Local      Kind = iota // it needs no table: any connection answers
	Unsharded              // the one server of an unsharded keyspace
	Any                    // any one shard of the keyspace: all have the same rows or the same definition
	One                    // the one shard that has all rows it is about
	Keys                   // the shards of some values
	Scatter                // all shards
	Everywhere             // all shards do the same: DDL, writes to reference tables
	Insert                 // INSERT or REPLACE that writes to or reads a sharded keyspace, which is planned by its rows
)

var kindNames = [...]string{"Local", "Unsharded", "Any", "One", "Keys", "Scatter", "Everywhere", "Insert"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// A Plan says what becomes of one statement. It refers to nothing of the text that it was made from. It may be used for
// several statements at once, so it is not to be changed.
type Plan struct {
	Kind     Kind
	Keyspace string // whose servers answer; empty for Local
	Table    string // the first table that the statement writes to, else the first that it reads
	Write    bool   // it changes rows or tables
	Locks    bool   // SELECT ... FOR UPDATE, FOR SHARE
	Select   bool   // SELECT and the like: it answers rows that Scatter merges
	Explain  bool
	// SameRows says that every shard writes the same rows, so that the count of one of them is the statement's.
	SameRows bool
	// Updates says of an UPDATE with SameRows which columns it sets.
	Updates []Update
	// Scatter says how the answers of several shards to a SELECT merge; nil for other statements and where the answer
	// is always that of one shard.
	Scatter *parser.Scatter
	// Functions are those that the statement calls by a plain name, in lower case; Reads and Assigns say that it uses
	// and sets user variables.
	Functions      []string
	Reads, Assigns bool

	shards   *vschema.Shards
	bindings []binding // all the ways in which the statement is bound to keyspace ids
	values   []vschema.Value
	slots    []literalSlot // of the values, by the same index
	several  *Error        // why several shards cannot answer; nil when they can
	edits    []parser.RouteQualifier
	untyped  bool // made without knowing the type of a column that it is bound by
	// askedTypes says that it was made by what the servers told of columns, which may change.
	askedTypes bool
	ownText    bool // it is that of its own text only: the values of literals decide about more than the shards
}

// An Update says which columns of a table an UPDATE surely sets, by their names in lower case.
type Update struct {
	Table   string
	Columns []string
}

// literalSlot is the literal of the text that a value is.
type literalSlot struct {
	index    int
	negative bool
}

// Shards appends to dst the indexes of the shards that the statement goes to, ascending. args gives the value of
// placeholder i; it may be nil for a text without any. Its errors are args' own and *Error.
func (p *Plan) Shards(dst []int, args func(i int) (vschema.Value, error)) ([]int, error) {
	begin := len(dst)
	switch p.Kind {
	case Local, Unsharded, Any, Insert:
		return append(dst, 0), nil
	case Scatter, Everywhere:
		return p.all(dst), nil
	}
	for i := range p.bindings {
		var known bool
		var err error
		dst, known, err = p.bindings[i].shards(dst, p, args)
		if err != nil {
			return dst[:begin], err
		}
		if !known {
			dst = p.all(dst[:begin])
			break
		}
	}
	slices.Sort(dst[begin:])
	dst = dst[:begin+len(slices.Compact(dst[begin:]))]
	switch n := len(dst) - begin; {
	case n == 0:
		return append(dst, 0), nil // no row has these values: any shard says so
	case n > 1 && p.Explain:
		return dst[:begin+1], nil
	case n > 1 && p.several != nil:
		return dst[:begin], p.several
	}
	return dst, nil
}

func (p *Plan) all(dst []int) []int {
	for i := range p.shards.Len() {
		dst = append(dst, i)
	}
	return dst
}

// AppendSQL appends the statement as servers get it: names of keyspaces before a dot are those of databases there, the
// rest is byte for byte the client's. sql is the text that the plan was made from. With several, more than one shard
// answers, and the text is the one whose answers merge.
func (p *Plan) AppendSQL(dst, sql []byte, several bool, database func(keyspace string) string) []byte {
	if several && p.Scatter != nil {
		return p.appendScatter(dst, sql, database)
	}
	return p.appendPart(dst, sql, 0, len(sql), database)
}

// appendPart appends sql[start:end] with the names of databases. No name is in two parts.
func (p *Plan) appendPart(dst, sql []byte, start, end int, database func(keyspace string) string) []byte {
	for _, e := range p.edits {
		if e.Start >= start && e.End <= end {
			dst = append(dst, sql[start:e.Start]...)
			dst = appendName(dst, database(e.Schema))
			start = e.End
		}
	}
	return append(dst, sql[start:end]...)
}

// AskedTypes reports whether the plan was made by what the servers told of columns.
func (p *Plan) AskedTypes() bool { return p.askedTypes }

// HasEdits reports whether AppendSQL for one server changes anything.
func (p *Plan) HasEdits() bool { return len(p.edits) > 0 }

// appendName appends a name in backticks.
func appendName(dst []byte, name string) []byte {
	dst = append(dst, '`')
	for i := range len(name) {
		if name[i] == '`' {
			dst = append(dst, '`')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '`')
}

// String describes the plan in lines, for tests and for people.
func (p *Plan) String() string {
	s := p.Kind.String()
	if p.Keyspace != "" {
		s += " " + p.Keyspace
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{{p.Write, "write"}, {p.Locks, "locks"}, {p.Explain, "explain"}, {p.SameRows, "same-rows"}, {p.Scatter != nil, "merge"}} {
		if flag.set {
			s += " " + flag.name
		}
	}
	for i := range p.bindings {
		s += "\n" + p.bindings[i].describe(p)
	}
	if p.several != nil {
		s += fmt.Sprintf("\nseveral shards: %d %s", p.several.Errno, p.several.Message)
	}
	return s
}
