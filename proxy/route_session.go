package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
)

// runCurrent runs a statement of routedCurrent.
func (r *textRouter) runCurrent(p *plan.Routed, attributes []byte) error {
	kind, sql := parser.Sniff(p.SQL), p.SQL
	if p.Found == nil {
		return r.passCurrent(kind, attributes, sql)
	}
	conn, err := r.conn(r.Shards()[0])
	if err != nil {
		return err
	}
	if p.Found.Uses&parser.TakesLocks != 0 {
		if conn.keyspace != r.lockKeyspace() {
			return r.ErrLocksWithTables()
		}
		conn.locked = true
	}
	if p.Found.Uses&parser.Unread == 0 && kind != parser.DDL && kind != parser.DynamicSQL {
		if sql, err = r.replaceSession(conn, sql, p.Found); err != nil {
			return err
		}
	}
	return r.passCurrent(kind, attributes, sql)
}

// passCurrent passes a statement to the server of the current keyspace, which is not
// sharded.
func (r *textRouter) passCurrent(kind parser.Kind, attributes, sql []byte) error {
	get := r.conn
	if plan.CommitsFirst(kind, sql) {
		if err := r.commit(); err != nil {
			return err
		}
		get = r.connectedConn
	}
	conn, err := get(r.Shards()[0])
	if err != nil {
		return err
	}
	if err := r.passTo(conn, attributes, sql); err != nil {
		return err
	}
	if kind == parser.Call || kind == parser.Execute || kind == parser.DynamicSQL {
		r.opaque = conn // a program may have set any variable
	}
	return nil
}
