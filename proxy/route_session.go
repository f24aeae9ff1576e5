package proxy

import (
	"github.com/seqgate/seqgate/parser"
)

// What a statement takes from its session, or leaves there, is one server's. Here it
// is seen to that a routed session has one of each: variables are set on each connection
// that is used (settings), LAST_INSERT_ID() goes with the client, functions of the
// session are answered from the connection that ran the statement before, or are replaced by
// what seqgate knows.

// planInSession plans a statement by what it has to do with its session. done says that this is all of it; else it is
// still to be routed.
func (r *textRouter) planInSession(p *routedStatement, kind parser.Kind) (done bool, err error) {
	verb := parser.SniffCommand(p.sql)
	if verb != parser.NoCommand || kind == parser.Next || parser.MayCall(p.sql) {
		if done, err := r.planSequences(p, kind, verb); done || err != nil {
			return true, err
		}
	}
	if kind == parser.Show && r.isOfSession(p.sql) {
		p.kind = routedShow
		return true, nil
	}
	if parser.MayUseSession(p.sql) {
		return r.planUses(p, kind)
	}
	if r.stays(p.sql, p.mode) {
		p.kind = routedCurrent
		return true, nil
	}
	return false, r.refuseOneServer(kind, p.sql, p.mode)
}

// planUses is planInSession for a statement with functions or variables of the session.
func (r *textRouter) planUses(p *routedStatement, kind parser.Kind) (done bool, err error) {
	found := parser.FindSession(p.sql, p.mode)
	if r.opaque != nil {
		if err := r.settings.NoteOpaque(&r.opaque.Session, found.Variables); err != nil {
			return true, err
		}
	}
	p.assigned = found.Assigned
	stays := r.stays(p.sql, p.mode)
	if isLocal(kind, p.sql, &found) {
		p.kind, p.found = routedLocal, &found
		return true, nil
	}
	if kind == parser.Call || kind == parser.Execute || kind == parser.DynamicSQL {
		p.assigned = found.Variables // as OUT parameters
	}
	if stays {
		p.kind, p.found = routedCurrent, &found
		return true, nil
	}
	if err := r.refuseOneServer(kind, p.sql, p.mode); err != nil {
		return true, err
	}
	if err := r.refuseUses(&found); err != nil {
		return true, err
	}
	sql, err := r.replaceSession(nil, p.sql, &found)
	if err == nil {
		p.sql = sql
	}
	return err != nil, err
}

// runCurrent runs a statement of routedCurrent.
func (r *textRouter) runCurrent(p *routedStatement, attributes []byte) error {
	kind, sql := parser.Sniff(p.sql), p.sql
	if p.found == nil {
		return r.passCurrent(kind, attributes, sql)
	}
	conn, err := r.conn(r.shards()[0])
	if err != nil {
		return err
	}
	if p.found.Uses&parser.TakesLocks != 0 {
		if conn.keyspace != r.lockKeyspace() {
			return r.locksBeside()
		}
		conn.locked = true
	}
	if p.found.Uses&parser.Unread == 0 && kind != parser.DDL && kind != parser.DynamicSQL {
		if sql, err = r.replaceSession(conn, sql, p.found); err != nil {
			return err
		}
	}
	return r.passCurrent(kind, attributes, sql)
}

// passCurrent passes a statement to the server of the current keyspace, which is not
// sharded.
func (r *textRouter) passCurrent(kind parser.Kind, attributes, sql []byte) error {
	get := r.conn
	if commitsFirst(kind, sql) {
		if err := r.commit(); err != nil {
			return err
		}
		get = r.connectedConn
	}
	conn, err := get(r.shards()[0])
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

// commitsFirst reports whether a server commits before it runs a statement ("Statements
// That Cause an Implicit Commit" in the MySQL manual), which the other connections do then too.
func commitsFirst(kind parser.Kind, sql []byte) bool {
	if kind == parser.DDL {
		return !isTemporaryDDL(sql)
	}
	switch words := parser.Words(sql, 2); words[0] {
	case "GRANT", "REVOKE", "INSTALL", "UNINSTALL", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "FLUSH", "RESET", "CACHE":
		return kind == parser.Other
	case "LOCK":
		return words[1] == "TABLE" || words[1] == "TABLES"
	}
	return false
}

// isTemporaryDDL reports whether a statement makes or drops a temporary table, which
// commits nothing. Changing one does.
func isTemporaryDDL(sql []byte) bool {
	words := parser.Words(sql, 4)
	if words[0] == "CREATE" && words[1] == "OR" && words[2] == "REPLACE" {
		return words[3] == "TEMPORARY"
	}
	return (words[0] == "CREATE" || words[0] == "DROP") && words[1] == "TEMPORARY"
}

// refuseOneServer refuses statements that are of one server's connection, or of its
// operators, where the current keyspace is sharded or they name one that is.
func (r *textRouter) refuseOneServer(kind parser.Kind, sql []byte, m parser.Mode) error {
	switch kind {
	case parser.Select, parser.Insert, parser.Replace, parser.Update, parser.Delete, parser.With:
		return nil // the most of all
	}
	what, advice := r.oneServerAdvice(kind, sql)
	words := parser.Words(sql, 2)
	named := r.namesSharded(sql, m)
	switch {
	case advice == "":
		return nil
	case !r.sharded() && !named && words[1] != "DATABASE" && words[1] != "SCHEMA":
		return nil
	case r.sharded() && !named && words[0] != "NEXT" && r.namesUnsharded(sql, m):
		advice = "USE the keyspace that it names first, which has one server"
	}
	return r.unsupported(what, advice)
}

const (
	adviceServer = "connect to each server for it"
	adviceShard  = "run it on each shard alone, by its name as the database"
	adviceLock   = "use a transaction with SELECT ... FOR UPDATE"
)

// oneServerStatements are such statements by their first words, with what to do instead.
var oneServerStatements = map[string]string{
	"LOCK": adviceLock, "UNLOCK": adviceLock, "HANDLER": "use SELECT", "FLUSH": adviceServer, "GRANT": adviceServer, "REVOKE": adviceServer,
	"SHUTDOWN": adviceServer, "RESTART": adviceServer, "INSTALL": adviceServer, "UNINSTALL": adviceServer, "PURGE": adviceServer,
	"RESET": adviceServer, "CHANGE": adviceServer, "STOP": adviceServer, "START": adviceServer, "CLONE": adviceServer, "BINLOG": adviceServer,
	"IMPORT": adviceServer, "BACKUP": adviceServer, "CREATE USER": adviceServer, "ALTER USER": adviceServer, "DROP USER": adviceServer,
	"RENAME USER": adviceServer, "CREATE ROLE": adviceServer, "DROP ROLE": adviceServer, "CREATE DATABASE": adviceServer,
	"CREATE SCHEMA": adviceServer, "DROP DATABASE": adviceServer, "DROP SCHEMA": adviceServer, "ALTER DATABASE": adviceServer,
	"ALTER SCHEMA": adviceServer, "CREATE SERVER": adviceServer, "CREATE TABLESPACE": adviceServer,
	"CHECK": adviceShard, "CHECKSUM": adviceShard, "REPAIR": adviceShard,
	"NEXT VALUE":       "write SELECT NEXT VALUE FOR ...",
	"CREATE TEMPORARY": "make it in an unsharded keyspace, which has one server, and INSERT ... SELECT into it",
}

// refuseUses refuses what cannot be right on a shard.
func (r *sessionRouter) refuseUses(found *parser.SessionStmt) error {
	if found.Uses&parser.TakesLocks != 0 && found.Uses&parser.ReadsTables != 0 {
		return r.locksBeside()
	}
	return nil
}
