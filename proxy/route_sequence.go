package proxy

import (
	"github.com/seqgate/seqgate/parser"
)

// sequences runs a statement about sequences on the connection that can: one that names a
// keyspace on that of it, one without a qualifier on that of the keyspace that has the
// sequence in the vschema. It reports false for what is routed by its tables.
func (r *router) sequences(kind parser.Kind, verb parser.OwnVerb, attributes, sql []byte, m parser.Mode) (done bool, err error) {
	switch verb {
	case parser.NoOwn:
	case parser.ShowSeqgate, parser.ShowVSchema, parser.AlterVSchema, parser.SelectDecode:
		return true, r.passHome(attributes, sql) // answered there, for the current keyspace
	default:
		return r.defineSequence(verb, attributes, sql, m)
	}
	if r.stays(sql, m) {
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
	conn, err := r.connectedConn(r.sequenceKeyspace(table))
	if err != nil {
		return true, err
	}
	return true, r.passTo(conn, attributes, r.qualified(conn, sql, m))
}

// defineSequence runs DDL of sequences, and SHOW of them.
func (r *router) defineSequence(verb parser.OwnVerb, attributes, sql []byte, m parser.Mode) (done bool, err error) {
	stmt, err := parser.ParseOwn(sql, m)
	if err != nil { // the server's, which says so
		return false, nil
	}
	k := r.shards()[0]
	if stmt.Schema != "" {
		k = r.sequenceKeyspace(parser.Table{Schema: stmt.Schema})
	}
	for i, t := range stmt.Tables {
		of := r.sequenceKeyspace(t)
		if i > 0 && of != k {
			return true, r.unsupported("sequences of several keyspaces in one statement", "name them one by one")
		}
		k = of
	}
	if k.Shard != "" && verb != parser.ShowSequences {
		return true, r.unsupported("sequences in a sharded keyspace", "put the name of an unsharded keyspace before theirs")
	}
	conn, err := r.conn(k)
	if err != nil {
		return true, err
	}
	return true, r.passTo(conn, attributes, r.qualified(conn, sql, m))
}

// qualified gives a statement about sequences as a connection's server reads it: the name of
// its keyspace stands for a database there.
func (r *router) qualified(conn *executor, sql []byte, m parser.Mode) []byte {
	k := conn.keyspace
	if k.Name == k.Database || !parser.Mentions(sql, k.Name) {
		return sql
	}
	return parser.AppendQualified(nil, sql, m, k.Name, k.Database)
}

// sequenceKeyspace gives the unsharded keyspace, or else the shard, that a statement
// about a sequence goes to: of one that is not found the current keyspace's, whose
// server says so.
func (r *router) sequenceKeyspace(t parser.Table) *Keyspace {
	srv := r.s.srv
	if k := srv.cfg.Keyspaces[t.Schema]; k != nil {
		return k.EachShard()[0]
	}
	current := r.shards()[0]
	if t.Schema == "" {
		if name, ok := srv.catalog.declaredSequence(current, "", t.Name); ok && srv.cfg.Keyspaces[name] != nil {
			return srv.cfg.Keyspaces[name].EachShard()[0]
		}
	}
	return current
}
