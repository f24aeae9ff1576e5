package plan

import (
	"maps"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// Place is where a session in front of sharded keyspaces stands.
type Place struct {
	Keyspaces map[string]*catalog.Keyspace // that a client can name
	Keyspace  *catalog.Keyspace            // the current one
}

// Unsupported refuses what would need more than one shard's answer.
func (*Place) Unsupported(what, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not support "+what+" in front of sharded keyspaces; "+advice)
}

// ErrLocksWithTables is the refusal of GET_LOCK() and its like where they have to run with tables.
func (p *Place) ErrLocksWithTables() error {
	return p.Unsupported("GET_LOCK() and its like beside tables", "take the lock by a SELECT of its own")
}

// Shards returns those of the current keyspace.
func (p *Place) Shards() []*catalog.Keyspace { return p.Keyspace.EachShard() }

// Sharded reports whether the current keyspace is.
func (p *Place) Sharded() bool { return p.Keyspace != nil && p.Keyspace.Shards != nil }

// KeyspaceName is that of the current keyspace.
func (p *Place) KeyspaceName() string {
	if p.Keyspace == nil {
		return ""
	}
	return p.Keyspace.Name
}

// OneShard gives, as an example, the name under which a client reaches one shard alone.
func (p *Place) OneShard() string {
	shard := p.Shards()[0]
	for _, name := range slices.Sorted(maps.Keys(p.Keyspaces)) {
		if k := p.Keyspaces[name]; shard.Shard == "" && k.Shards != nil {
			shard = k.Shards[0]
		}
	}
	return "'" + shard.String() + "'"
}

// names reports whether a statement names a keyspace that is sharded, or one that is not.
func (p *Place) names(sql []byte, m parser.Mode, sharded bool) bool {
	for name, k := range p.Keyspaces {
		if (k.Shards != nil) == sharded && parser.NamesDatabase(sql, m, name) {
			return true
		}
	}
	return false
}

// Stays reports whether a statement is all the affair of the one server of the current keyspace: nothing in it names another
// keyspace.
func (p *Place) Stays(sql []byte, m parser.Mode) bool {
	if p.Sharded() {
		return false
	}
	for name, k := range p.Keyspaces {
		if (k != p.Keyspace || k.Name != k.Database) && parser.NamesDatabase(sql, m, name) {
			return false
		}
	}
	return true
}

// FirstServer returns the shard that is the first to be asked where a statement goes by such a plan.
func (p *Place) FirstServer(of *route.Plan) *catalog.Keyspace {
	if of.Keyspace == "" {
		return p.Shards()[0]
	}
	return p.Keyspaces[of.Keyspace].EachShard()[0]
}

// DatabaseAt returns what a keyspace's name stands for in a statement to a shard.
func (p *Place) DatabaseAt(k *catalog.Keyspace) func(keyspace string) string {
	return func(keyspace string) string {
		if keyspace == k.Name {
			return k.Database
		}
		if other := p.Keyspaces[keyspace]; other != nil {
			return other.Database
		}
		return keyspace
	}
}

// IsLocal reports whether a statement has functions or variables of the session and no tables.
func IsLocal(kind parser.Kind, sql []byte, found *parser.SessionStmt) bool {
	if found.Uses&(parser.ReadsTables|parser.Unread) != 0 {
		return false
	}
	return kind == parser.Select || kind == parser.Other && parser.Words(sql, 1)[0] == "DO"
}

// RefuseUses refuses what cannot be right on a shard.
func (p *Place) RefuseUses(found *parser.SessionStmt) error {
	if found.Uses&parser.TakesLocks != 0 && found.Uses&parser.ReadsTables != 0 {
		return p.ErrLocksWithTables()
	}
	return nil
}

// CommitsFirst reports whether a server commits before it runs a statement ("Statements That Cause an Implicit Commit" in the MySQL
// manual), which the session's other connections do then too.
func CommitsFirst(kind parser.Kind, sql []byte) bool {
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

// isTemporaryDDL reports whether a statement makes or drops a temporary table, which commits nothing. Changing one does.
func isTemporaryDDL(sql []byte) bool {
	words := parser.Words(sql, 4)
	if words[0] == "CREATE" && words[1] == "OR" && words[2] == "REPLACE" {
		return words[3] == "TEMPORARY"
	}
	return (words[0] == "CREATE" || words[0] == "DROP") && words[1] == "TEMPORARY"
}
