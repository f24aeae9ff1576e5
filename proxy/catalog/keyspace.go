package catalog

import (
	"database/sql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Account is a user of the servers'. What it may do there is all that a listed user whose account it is may do.
type Account struct{ User, Password string }

// Keyspace is a logical database on one server: an unsharded one, or one shard of
// a sharded one. A sharded keyspace as a whole has its Shards, and is otherwise as
// the first of them.
type Keyspace struct {
	Name     string
	Shard    string // the shard's name; empty of an unsharded keyspace, and of a sharded one as a whole
	Database string // its name at the server
	Backend  *backend.Backend
	DB       *sql.DB // seqgate's own connections, for what it asks of tables
	Refills  *sql.DB // and those for its sequences (sequence.NewPool)
	// OpenAs opens connections as DB's of another account, over which seqgate ends its threads and asks what they do. When
	// nil that is done over DB, whose account needs the privileges to see and to end those of others then.
	OpenAs func(Account) (*sql.DB, error)

	Shards []*Keyspace     // of a sharded keyspace, in the order of Layout; nil for others
	Layout *vschema.Shards // which keyspace ids each shard holds
}

// Sharded makes a sharded keyspace of its shards, which are in the order of the layout.
func Sharded(layout *vschema.Shards, shards []*Keyspace) *Keyspace {
	whole := *shards[0]
	whole.Shard, whole.Shards, whole.Layout = "", shards, layout
	return &whole
}

// EachShard returns the shards of the keyspace: itself, when it is no sharded one.
func (k *Keyspace) EachShard() []*Keyspace {
	if k.Shards == nil {
		return []*Keyspace{k}
	}
	return k.Shards
}

// String names the keyspace, and the shard of a sharded one, as clients name it to
// reach that alone.
func (k *Keyspace) String() string {
	if k.Shard == "" {
		return k.Name
	}
	return k.Name + ":" + k.Shard
}

// Own is the account of the keyspace's DSN, with which listed users without one of their own run their statements.
func (k *Keyspace) Own() Account { return Account{k.Backend.User, k.Backend.Password} }

// Logged returns the attributes by which the log names a keyspace and its server. A sharded keyspace as a whole has several
// servers, and nil none.
func (k *Keyspace) Logged() []any {
	switch {
	case k == nil:
		return nil
	case k.Shards != nil || k.Backend == nil:
		return []any{"keyspace", k.String()}
	}
	return []any{"keyspace", k.String(), "server", k.Backend.Addr}
}

// SequenceName names a sequence of a database of the keyspace's server.
func (k *Keyspace) SequenceName(database, table string) sequence.Name {
	foreign := k.Name != "" && (database != k.Database || k.Shard != "")
	return sequence.Name{Keyspace: k.Name, Database: database, Table: table, Foreign: foreign}
}
