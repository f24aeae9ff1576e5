package proxy

import (
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// set runs a SET on one connection: others have it when they are used (settings).
func (r *sessionRouter) set(attributes, sql []byte, m parser.Mode) error {
	stmt, ok := parser.ParseSet(sql, m)
	if !ok {
		return r.Unsupported("a SET that it cannot read", "write it without version comments, with names of variables in ASCII")
	}
	if err := r.refuseSet(stmt, sql); err != nil {
		return err
	}
	if stmt.Form == parser.SetMalformed {
		return r.passHome(attributes, sql) // for the server's own syntax error
	}
	if stmt.Form == parser.SetTransaction && !stmt.Server {
		return r.characterize(stmt, sql)
	}
	conn, sql, err := r.connForSet(sql, m)
	if err != nil {
		return err
	}
	if err := r.commitFor(stmt, sql); err != nil {
		return err
	}
	had := conn.hasSessionState
	err = r.passTo(conn, attributes, sql)
	conn.hasSessionState = had // not for what is noted here
	if err != nil || conn.Answer.Failed {
		return err
	}
	r.settings.Note(&conn.Session, stmt.Assignments...)
	if stmt.Form == parser.SetSessionTransaction {
		r.settings.Note(&conn.Session, conn.transactionVariables()...)
	}
	const autocommit = mysql.SERVER_STATUS_AUTOCOMMIT
	r.s.Answer.Status = r.s.Answer.Status&^autocommit | conn.Answer.Status&autocommit
	return nil
}

// commitFor commits on all connections before a SET turns autocommit on, as the server does on
// the one where that runs (MySQL manual, "autocommit").
func (r *sessionRouter) commitFor(stmt parser.SetStmt, sql []byte) error {
	if r.autocommit() || !r.tx.open && !r.inTransaction() {
		return nil
	}
	for _, a := range stmt.Assignments {
		if a.Scope != parser.SetSessionVariable || a.Name != "autocommit" {
			continue
		}
		switch strings.ToLower(strings.Trim(string(sql[a.Value.Start:a.Value.End]), "'")) {
		case "0", "off", "false":
		case "1", "on", "true", "default":
			return r.commit()
		default:
			return r.Unsupported("SET autocommit to an expression within a transaction", "write 0 or 1, or commit first")
		}
	}
	return nil
}

// refuseSet refuses what is not of the session, and what cannot be the same on several
// servers.
func (r *sessionRouter) refuseSet(stmt parser.SetStmt, sql []byte) error {
	if r.Sharded() && (stmt.Server || stmt.Form == parser.SetAccount) {
		return r.Unsupported("a SET of the server's own", "connect to each server for it")
	}
	for _, a := range stmt.Assignments {
		switch {
		case a.Scope == parser.SetNextTransaction:
			return r.Unsupported("@@"+a.Name+" without SESSION, which is of the next transaction", "use SET TRANSACTION, or SET SESSION")
		case a.Scope == parser.SetSessionVariable && slices.Contains(ownVariables, a.Name):
			return r.Unsupported("SET "+a.Name+", which is of one server's connection", "connect to one shard for it")
		case a.Scope == parser.SetSessionVariable && a.Name == "completion_type" && !isNoChain(sql[a.Value.Start:a.Value.End]):
			return r.Unsupported("a completion_type but NO_CHAIN", "write COMMIT AND CHAIN, or COMMIT RELEASE")
		}
	}
	return nil
}

// isNoChain reports whether a value of completion_type is that by which COMMIT is COMMIT.
func isNoChain(value []byte) bool {
	text := strings.Trim(string(value), "'\"")
	return text == "0" || strings.EqualFold(text, "NO_CHAIN")
}

// ownVariables are those of one connection, whose values cannot be read and set on
// another.
var ownVariables = []string{"insert_id", "rand_seed1", "rand_seed2", "pseudo_thread_id", "gtid_next", "gtid_seq_no", "gtid_domain_id",
	"server_id", "pseudo_replica_mode", "pseudo_slave_mode", "proxy_user", "debug", "debug_sync", "resultset_metadata"}

// connForSet returns the connection that a SET runs on, and its text for that.
func (r *sessionRouter) connForSet(sql []byte, m parser.Mode) (*executor, []byte, error) {
	found := parser.FindSession(sql, m)
	reads := found.Uses&parser.ReadsTables != 0
	if reads && !r.Stays(sql, m) {
		return nil, nil, r.Unsupported("a subquery in SET", "read the value with a SELECT first")
	}
	if err := r.RefuseUses(&found); err != nil {
		return nil, nil, err
	}
	if found.Uses&parser.TakesLocks != 0 && !reads {
		conn, err := r.lockConn()
		return conn, sql, err
	}
	k := r.Shards()[0]
	if r.Sharded() {
		k = r.s.keyspace
	}
	get := r.connectedConn
	if reads {
		get = r.conn
	}
	conn, err := r.anyShard(k, get)
	if err != nil {
		return nil, nil, err
	}
	sql, err = r.replaceSession(conn, sql, &found)
	return conn, sql, err
}
