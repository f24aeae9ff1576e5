package proxy

import (
	"github.com/seqgate/seqgate/parser"
)

// plan runs one statement that is none of transactions.
func (r *router) plan(attributes, sql []byte, m parser.Mode) error {
	kind := parser.Sniff(sql)
	switch kind {
	case parser.Set:
		return r.set(attributes, sql, m)
	case parser.Use:
		name, ok := parser.UseTarget(sql, m)
		if !ok {
			return r.passHome(attributes, sql)
		}
		return r.use(name)
	case parser.Kill:
		conn, err := r.connectedConn(r.shards()[0]) // whose ids SHOW PROCESSLIST tells
		if id, _, ok := parser.KillTarget(sql); isAway(err) && ok && id >= firstSessionID {
			conn, err = r.anyConn() // it is not the server that does it
		}
		if err != nil {
			return err
		}
		return r.passTo(conn, attributes, sql)
	case parser.Prepare, parser.Execute, parser.Deallocate:
		return r.planNamed(kind, attributes, sql, m)
	}
	rest, done, err := r.inSession(kind, attributes, sql, m)
	if done || err != nil {
		return err
	}
	if kind == parser.Insert || kind == parser.Replace {
		return r.insert(attributes, rest, m)
	}
	sql = rest
	return r.routed(attributes, sql, m)
}
