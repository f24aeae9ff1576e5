package plan

import "github.com/seqgate/seqgate/parser"

const (
	adviceServer = "connect to each server for it"
	adviceShard  = "run it on each shard alone, by its name as the database"
	adviceLock   = "use a transaction with SELECT ... FOR UPDATE"
)

// oneServerStatements are those of one server's connection, or of its operators, by their first words, with what to do instead.
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

// oneServerAdvice returns what such a statement is, and what to do instead; no advice for others.
func (p *Place) oneServerAdvice(kind parser.Kind, sql []byte) (what, advice string) {
	switch kind {
	case parser.Call:
		return "CALL: stored programs see the rows of one shard only", "connect to one shard for it, as in the database name " + p.OneShard()
	case parser.Prepare, parser.Execute, parser.Deallocate:
		return "PREPARE and EXECUTE in SQL", "prepare by the protocol (COM_STMT_PREPARE), as drivers do"
	case parser.Load:
		return "LOAD DATA and LOAD XML", "use INSERT, or load each shard's own rows, as in the database name " + p.OneShard()
	}
	words := parser.Words(sql, 2)
	if advice := oneServerStatements[words[0]]; advice != "" {
		return words[0] + " " + words[1], advice
	}
	two := words[0] + " " + words[1]
	return two, oneServerStatements[two]
}

// refuseOneServer refuses such statements where the current keyspace is sharded or they name one that is.
func (p *Place) refuseOneServer(kind parser.Kind, sql []byte, m parser.Mode) error {
	switch kind {
	case parser.Select, parser.Insert, parser.Replace, parser.Update, parser.Delete, parser.With:
		return nil // the most of all
	}
	what, advice := p.oneServerAdvice(kind, sql)
	words := parser.Words(sql, 2)
	named := p.names(sql, m, true)
	switch {
	case advice == "":
		return nil
	case !p.Sharded() && !named && words[1] != "DATABASE" && words[1] != "SCHEMA":
		return nil
	case p.Sharded() && !named && words[0] != "NEXT" && p.names(sql, m, false):
		advice = "USE the keyspace that it names first, which has one server"
	}
	return p.Unsupported(what, advice)
}
