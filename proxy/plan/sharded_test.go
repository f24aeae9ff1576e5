package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

const shardedVSchema = `{"keyspaces": {"main": {"tables": {"orders_seq": {"type": "sequence"}, "users_seq": {"type": "sequence"}, "cities": {}}}, "customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
	"orders": {"column_vindexes": [{"column": "user", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "orders_seq"}},
	"users": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "users_seq"}},
	"countries": {"type": "reference"}, "parts": {"pinned": "80"}, "copy": {"type": "reference", "source": "main.cities"}}}}}`

// Which shard each row of an INSERT goes to, which row has to wait for its id, and what has to be asked first.
func TestShardedInsert(t *testing.T) {
	t.Parallel()
	r := shardedRouter(t)
	for _, tt := range []struct {
		sql     string
		ids     int64  // the first that is taken, 0 for none
		plan    string // shards of rows, - for one that waits for its id; the statement's shards once the ids are there
		asks    string
		refused string
	}{
		{sql: "INSERT INTO orders (user, v) VALUES (1, 'a'), (4, 'b'), (2, 'c')", ids: 10, plan: "[0 1 0] on [0 1], 3 ids"},
		{sql: "INSERT INTO orders (id, user, v) VALUES (7, 1, 'a')", plan: "[0] on [0], 0 ids"},
		{sql: "INSERT INTO orders SET user = 4", ids: 10, plan: "[1] on [1], 1 ids"},
		{sql: "INSERT INTO users (v) VALUES ('a'), ('b'), ('c'), ('d')", ids: 1, plan: "[- - - -] on [0 1], 4 ids"},
		{sql: "INSERT INTO users (id, v) VALUES (4, 'a'), (NULL, 'b')", ids: 1, plan: "[1 -] on [0 1], 1 ids"},
		{sql: "INSERT INTO orders (user) VALUES (2 + 2)", ids: 10, plan: "[1] on [1], 1 ids", asks: "SELECT CAST((2 + 2) AS BINARY) LIMIT 1"},
		{sql: "INSERT INTO orders (user, v) VALUES (NOW(), 'a')", refused: "its value has to be known before the statement is sent"},
		{sql: "INSERT INTO orders (user, v) VALUES (NULL, 'a')", refused: "VT09023: could not map [NULL]"},
		{sql: "INSERT INTO orders (v) VALUES ('a')", refused: "VT09023"},
		{sql: "INSERT INTO orders VALUES (1, 2, 'a', 'b')", asks: "the table anew", refused: "Column count"},
		{sql: "INSERT INTO orders (user, v) VALUES (1, 'a') ON DUPLICATE KEY UPDATE user = 2", refused: "VT12001"},
		{sql: "INSERT INTO orders (user) VALUES (1), (4) RETURNING id", refused: "RETURNING with rows of several shards"},
		{sql: "INSERT INTO orders (user) VALUES (1), (2) RETURNING id", ids: 10, plan: "[0 0] on [0], 2 ids"},
		{sql: "INSERT INTO countries (id, v) VALUES (1, 'a')", plan: "[] on [0 1], 0 ids"},
		{sql: "INSERT INTO countries (id, v) VALUES (1, UUID())", refused: "each shard would compute"},
		{sql: "INSERT INTO parts (id) VALUES (1)", plan: "[] on [1], 0 ids"},
		{sql: "INSERT INTO copy (id) VALUES (1)", refused: "write to its source, main.cities"},
		{sql: "INSERT INTO nothing (id) VALUES (1)", refused: "doesn't exist in the vschema"},
		{sql: "INSERT INTO hash (id) VALUES (1)", refused: "VT09014"},
	} {
		got, asks, err := planSharded(r, tt.sql, tt.ids, "\x014") // computed: the text 4
		switch {
		case tt.refused == "" && err != nil, tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)):
			t.Errorf("%s: error %v, want %q", tt.sql, err, tt.refused)
		case got != tt.plan || asks != tt.asks:
			t.Errorf("%s: got %q and asked %q, want %q and %q", tt.sql, got, asks, tt.plan, tt.asks)
		}
	}
}

// shardedRouter is a session's in the keyspace customer, of two shards.
func shardedRouter(t *testing.T) *plan.Router {
	v, err := vschema.Load("vschema.json", []byte(shardedVSchema))
	if err != nil {
		t.Fatal(err)
	}
	layout, err := vschema.NewShards([]string{"-80", "80-"})
	if err != nil {
		t.Fatal(err)
	}
	k := catalog.Sharded(layout, []*catalog.Keyspace{{Name: "customer", Shard: "-80", Database: "c0"}, {Name: "customer", Shard: "80-", Database: "c1"}})
	main := &catalog.Keyspace{Name: "main", Database: "m"}
	tables := &shardTables{v: v, fresh: true}
	noTypes := func(keyspace, table, column string) (string, bool) { return "", false }
	return &plan.Router{Place: &plan.Place{Keyspaces: map[string]*catalog.Keyspace{"customer": k, "main": main}, Keyspace: k}, Planner: new(plan.Planner),
		Tables: tables, Home: k.Shards[0], Loaded: &catalog.Loaded{VSchema: v, Planner: route.New(v, map[string]*vschema.Shards{"customer": layout}, noTypes)}}
}

// shardTables are the tables of the vschema, on each shard.
type shardTables struct {
	v     *vschema.VSchema
	fresh bool
}

func (s *shardTables) DeclaredSequence(_ *catalog.Keyspace, _, table string) (string, bool) {
	return "main", strings.HasSuffix(table, "_seq")
}

func (s *shardTables) Fresh(_ *catalog.Keyspace, _, table string) (*catalog.Entry, bool) {
	if !s.fresh {
		return nil, false
	}
	declared, _ := s.v.Keyspace("customer")
	t, _ := declared.Table(table)
	return describe(t), true
}

// planSharded plans with what a shard would say, and then places the rows by ids from first on.
func planSharded(r *plan.Router, sql string, first int64, computed string) (planned, asks string, err error) {
	r.Fetched = plan.RoutedFacts{}
	var p plan.Routed
	for {
		if p, err = r.PlanInsert([]byte(sql), parser.Mode{Strict: true, MariaDB: true}); err == nil {
			break
		}
		var missing *plan.Missing
		switch {
		case !errors.As(err, &missing):
			return "", asks, err
		case missing.Fact == plan.NeedsTableAnew:
			asks, r.Fetched.Anew = "the table anew", true
		default:
			asks, r.Fetched.Computed = missing.Query, []byte(computed)
		}
	}
	in := p.Insert
	rows := make([]string, len(in.Shards))
	for i, shard := range in.Shards {
		if rows[i] = fmt.Sprint(shard); in.Pending && in.DependsOnID(i) {
			rows[i] = "-"
		}
	}
	in.Fill.First = first
	err = in.PlaceByIDs()
	return fmt.Sprintf("%s on %v, %d ids", rows, in.Targets, in.Fill.Open), asks, err
}

func describe(table *vschema.Table) *catalog.Entry {
	e := &catalog.Entry{Table: catalog.Table{Exists: true, Name: table.Name, Kind: "BASE TABLE", Engine: "InnoDB",
		Columns: []catalog.Column{{Name: "id", Type: "bigint(20)", Key: "PRI"}, {Name: "user", Type: "bigint(20)"}, {Name: "v", Type: "varchar(64)", Charset: "utf8mb4"}}}}
	if a := table.AutoIncrement; a != nil {
		e.Binding = &catalog.Binding{Table: table.Name, Column: a.Column, Columns: []string{"id", "user", "v"}, Max: 1 << 40, Transactional: true,
			Sequence: sequence.Name{Keyspace: "main", Database: "d", Table: a.SequenceTable}}
	}
	return e
}

// A row that a server computes as a NULL belongs to no shard.
func TestShardedInsertOfNull(t *testing.T) {
	t.Parallel()
	_, _, err := planSharded(shardedRouter(t), "INSERT INTO orders (user) VALUES (1 + NULL)", 0, "\xfb")
	var refused *mysql.MyError
	if !errors.As(err, &refused) || refused.Code != mysql.ER_UNKNOWN_ERROR {
		t.Errorf("error %v, want VT09023", err)
	}
}
