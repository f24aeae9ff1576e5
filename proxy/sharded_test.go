package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// shardedVSchema is that of reference cases C and D: users by their id, children by
// their user, string keys, a reference table, and the sequences in main.
const shardedVSchema = `{"keyspaces": {
	"main": {"tables": {"user_seq": {"type": "sequence"}, "child_seq": {"type": "sequence"}, "strkey_seq": {"type": "sequence"},
		"t_seq": {"type": "sequence"}, "ua": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}},
	"customer": {"sharded": true,
		"vindexes": {"hash": {"type": "hash"}, "md5": {"type": "unicode_loose_md5"}},
		"tables": {
			"user": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.user_seq"}},
			"child": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "cid", "sequence": "main.child_seq"}},
			"strkey": {"column_vindexes": [{"column": "email", "name": "md5"}], "auto_increment": {"column": "id", "sequence": "main.strkey_seq"}},
			"ref": {"type": "reference"}}}}}`

// shardedTables are created in each shard.
var shardedTables = []string{
	"CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(64), age INT, n INT NOT NULL DEFAULT 0)",
	"CREATE TABLE child (cid BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, v VARCHAR(64), KEY (user_id))",
	"CREATE TABLE strkey (id BIGINT, email VARCHAR(64) PRIMARY KEY)",
	"CREATE TABLE ref (id BIGINT PRIMARY KEY, v VARCHAR(64))",
}

// shardedGate is a gate with the unsharded keyspace main and the sharded keyspace
// customer, whose shards are databases of one server.
type shardedGate struct {
	*gate
	layout *vschema.Shards
	shards []*sql.DB // directly to each shard, in order
}

// shardNames divides the keyspace ids into so many ranges.
func shardNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		low, high := "", ""
		if i > 0 {
			low = fmt.Sprintf("%02x", i*256/n)
		}
		if i < n-1 {
			high = fmt.Sprintf("%02x", (i+1)*256/n)
		}
		names[i] = low + "-" + high
	}
	return names
}

// newShardedGate starts a seqgate in front of n shards with shardedVSchema and
// shardedTables, unless the options say otherwise.
func newShardedGate(t testing.TB, s *servertest.Server, n int, o gateOptions, tables ...string) *shardedGate {
	t.Helper()
	if o.vschema == "" {
		o.vschema, tables = shardedVSchema, append(shardedTables, tables...)
	}
	layout, err := vschema.NewShards(shardNames(n))
	if err != nil {
		t.Fatal(err)
	}
	g := &shardedGate{layout: layout}
	shards := make([]*catalog.Keyspace, n)
	for i := range shards {
		database := s.NewDatabase(t)
		db := s.Open(t, database)
		for _, table := range tables {
			if _, err := db.Exec(table); err != nil {
				t.Fatal(err)
			}
		}
		dsn, err := mysql.ParseDSN(s.DSN(database))
		if err != nil {
			t.Fatal(err)
		}
		g.shards = append(g.shards, db)
		shards[i] = &catalog.Keyspace{Name: "customer", Shard: layout.Name(i), Database: database, DB: db,
			Backend: &backend.Backend{Network: dsn.Net, Addr: dsn.Addr, User: dsn.User, Password: dsn.Passwd, TLS: o.tlsMode}}
	}
	o.more = map[string]*catalog.Keyspace{"customer": catalog.Sharded(layout, shards)}
	g.gate = newGate(t, s, o)
	for _, name := range []string{"user_seq", "child_seq", "strkey_seq", "t_seq"} {
		if strings.Contains(o.vschema, name) {
			createSequence(t, g.direct, name, 1, 1000)
		}
	}
	return g
}

// open gives a client whose database is the keyspace customer, or one shard of it.
func (g *shardedGate) open(t testing.TB, database, params string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(g.dsn(params))
	if err != nil {
		t.Fatal(err)
	}
	cfg.DBName = database
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
