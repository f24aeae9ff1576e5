package plan

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// planSequences plans a statement about sequences for the server that can run it: one that names a keyspace for that of it, one
// without a qualifier for that of the keyspace that has the sequence in the vschema. It reports false for what is routed by its
// tables.
func (r *Router) planSequences(p *Routed, kind parser.Kind, verb parser.CommandVerb) (done bool, err error) {
	sql, m := p.SQL, p.Mode
	switch verb {
	case parser.NoCommand:
	case parser.ShowSeqgate:
		p.Kind = RoutedHome // answered there, for the current keyspace
		if stmt, err := parser.ParseCommand(sql, m); err == nil && stmt.Topic == "plan" {
			p.Kind = RoutedExplain
		}
		return true, nil
	case parser.ShowVSchema, parser.AlterVSchema, parser.SelectDecode:
		p.Kind = RoutedHome // answered there, for the current keyspace
		return true, nil
	default:
		return r.planDefinition(p, verb)
	}
	if r.Stays(sql, m) {
		return false, nil
	}
	var table parser.Table
	if kind == parser.Next {
		stmt, err := parser.ParseNext(sql, m)
		if err != nil && stmt.Sequence == "" {
			return true, err
		}
		table = parser.Table{Schema: stmt.Schema, Name: stmt.Sequence}
	} else {
		found, calls := parser.FindSession(sql, m), parser.FindCalls(sql, m).Calls
		if len(calls) == 0 || found.Uses&parser.ReadsTables != 0 || kind != parser.Select && kind != parser.Other {
			return false, nil
		}
		table = calls[0].Sequence
	}
	p.at(r.sequenceKeyspace(table), false)
	return true, nil
}

// at plans a statement about sequences for the server of a keyspace, where the keyspace's name stands for a database.
func (p *Routed) at(k *catalog.Keyspace, joins bool) {
	p.Kind, p.Keyspace, p.Joins, p.Text = RoutedAt, k, joins, p.SQL
	if k.Name != k.Database && parser.ContainsWord(p.SQL, k.Name) {
		p.Text = parser.AppendQualified(nil, p.SQL, p.Mode, k.Name, k.Database)
	}
}

// planDefinition plans DDL of sequences, and SHOW of them.
func (r *Router) planDefinition(p *Routed, verb parser.CommandVerb) (done bool, err error) {
	stmt, err := parser.ParseCommand(p.SQL, p.Mode)
	if err != nil { // the server's, which says so
		return false, nil
	}
	k := r.Shards()[0]
	if stmt.Schema != "" {
		k = r.sequenceKeyspace(parser.Table{Schema: stmt.Schema})
	}
	for i, t := range stmt.Tables {
		of := r.sequenceKeyspace(t)
		if i > 0 && of != k {
			return true, r.Unsupported("sequences of several keyspaces in one statement", "name them one by one")
		}
		k = of
	}
	if k.Shard != "" && verb != parser.ShowSequences {
		return true, r.Unsupported("sequences in a sharded keyspace", "put the name of an unsharded keyspace before theirs")
	}
	p.at(k, true)
	return true, nil
}

// sequenceKeyspace returns the unsharded keyspace, or else the shard, that a statement about a sequence goes to: of one that is
// not found the current keyspace's, whose server says so.
func (r *Router) sequenceKeyspace(t parser.Table) *catalog.Keyspace {
	if k := r.Keyspaces[t.Schema]; k != nil {
		return k.EachShard()[0]
	}
	current := r.Shards()[0]
	if t.Schema == "" {
		if name, ok := r.Tables.DeclaredSequence(current, "", t.Name); ok && r.Keyspaces[name] != nil {
			return r.Keyspaces[name].EachShard()[0]
		}
	}
	return current
}
