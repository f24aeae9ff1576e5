package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// use makes another keyspace the current one, or another database of the server of an
// unsharded one: the current one, or else the default one.
func (r *sessionRouter) use(name string) error {
	srv := r.s.srv
	if k := srv.cfg.Keyspaces[name]; k != nil {
		r.Keyspace, r.database = k, ""
		return r.changedDatabase(name)
	}
	if _, ok := srv.targeted(name); ok {
		return r.Unsupported("changing to one shard within a session", "connect with '"+name+"' as the database")
	}
	k := r.Keyspace
	if r.Sharded() {
		k = srv.cfg.Keyspaces[srv.cfg.Default]
	}
	if k.Shards != nil {
		return mysql.NewDefaultError(mysql.ER_BAD_DB_ERROR, name)
	}
	conn, err := r.connectedConn(k)
	if err != nil {
		return err
	}
	if err := conn.ChangeDatabase(name); err != nil {
		return err
	}
	if r.Keyspace, r.database = k, name; name == k.Database {
		r.database = ""
	}
	return r.changedDatabase(name)
}

// changedDatabase answers with OK, which tells of the change where that is tracked, as
// the server does (MySQL manual, "OK_Packet": SESSION_TRACK_SCHEMA).
func (r *sessionRouter) changedDatabase(name string) error {
	const trackSchema = 1
	ok := wire.OK{Status: r.status()}
	if r.s.Has(mysql.CLIENT_SESSION_TRACK) {
		text := wire.AppendText(nil, name)
		change := wire.AppendText([]byte{trackSchema}, string(text))
		ok.Status |= mysql.SERVER_SESSION_STATE_CHANGED
		ok.Rest = wire.AppendText(wire.AppendText(nil, ""), string(change))
	}
	r.ran(0, 0)
	return r.s.replyOK(ok)
}
