package proxy

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

var updatePlans = flag.Bool("update", false, "write the plans that are, in place of those that were wanted")

const statementPlans = "../testdata/plan/statement"

// TestStatementPlans holds what SHOW SEQGATE PLAN shows to testdata/plan/statement/*.txt, with no server: all that a plan
// is made of is known before. Each case is the statement, and indented below it its plan.
func TestStatementPlans(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(statementPlans, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans in %s: %v", statementPlans, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := planStatements(t, want)
			if *updatePlans {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the plans are others (run with -update to write them): %s", diff)
			}
		})
	}
}

// planStatements writes a file anew with the plans that are.
func planStatements(t *testing.T, file []byte) []byte {
	var out bytes.Buffer
	var s *session
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "    ") {
			continue
		}
		fmt.Fprintln(&out, line)
		switch {
		case strings.HasPrefix(line, "use "):
			words := strings.Fields(line)
			s = planSession(t, words[1], words[2] == "mariadb")
		case line != "" && !strings.HasPrefix(line, "#"):
			e, err := explainIn(s, line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			for _, row := range e {
				fmt.Fprintf(&out, "    %s: %s\n", row[0], row[1])
			}
		}
	}
	return out.Bytes()
}

func explainIn(s *session, statement string) (plan.Explanation, error) {
	if s.router != nil {
		return s.router.explain([]byte(statement), parser.Mode{})
	}
	return s.explain([]byte(statement))
}

// planTables are the tables of the golden plans by their databases, each with its columns.
var planTables = map[string]map[string][]catalog.Column{
	"shop": {
		"users":    {idColumnOf("bigint"), {Name: "name", Type: "varchar(64)"}},
		"lines":    {{Name: "order_id", Type: "bigint", Key: "PRI"}, {Name: "line", Type: "bigint", Key: "PRI"}, {Name: "text", Type: "varchar(64)"}},
		"events":   {{Name: "id", Type: "bigint", Key: "PRI"}, {Name: "text", Type: "varchar(64)"}},
		"files":    {{Name: "id", Type: "binary(16)", Key: "PRI"}, {Name: "text", Type: "varchar(64)"}},
		"tickets":  {idColumnOf("bigint"), {Name: "stub", Type: "char(1)", Key: "UNI"}},
		"settings": {{Name: "name", Type: "varchar(64)", Key: "PRI"}},
		"more":     {},
	},
	"customer": {
		"users":  {{Name: "id", Type: "bigint", Key: "PRI"}, {Name: "name", Type: "varchar(64)"}},
		"orders": {{Name: "id", Type: "bigint", Key: "PRI"}, {Name: "user_id", Type: "bigint"}, {Name: "text", Type: "varchar(64)"}},
		"notes":  {{Name: "user_id", Type: "bigint"}, {Name: "text", Type: "varchar(64)"}},
		"colors": {{Name: "id", Type: "int", Key: "PRI"}, {Name: "name", Type: "varchar(64)"}},
		"log":    {{Name: "text", Type: "varchar(64)"}},
	},
}

func idColumnOf(typ string) catalog.Column {
	return catalog.Column{Name: "id", Type: typ, Key: "PRI", Extra: "auto_increment"}
}

// planSession returns a session in a keyspace, whose server says nothing but that it takes a statement to be prepared.
// convention is the keyspace shop without a vschema.
func planSession(t *testing.T, keyspace string, mariaDB bool) *session {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	sequences := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{Store: sequencetest.NewStore(1, 1000)}, nil
	}, sequence.Config{Logger: log})
	db := sql.OpenDB(noServer{})
	t.Cleanup(func() { _ = db.Close() })
	shop := &catalog.Keyspace{Name: "shop", Database: "shop", DB: db, Backend: &backend.Backend{Addr: "shop"}}
	cfg := Config{Keyspaces: map[string]*catalog.Keyspace{"shop": shop}, Default: "shop", Sequences: sequences, Logger: log,
		Generators: generate.New(generate.Config{Workers: generate.StaticWorkers(1, "", worker.Config{})})}
	databases := map[*catalog.Keyspace]string{shop: "shop"}
	if keyspace != "convention" {
		data, err := os.ReadFile(filepath.Join(statementPlans, "vschema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if cfg.VSchema, err = vschema.Load("vschema.json", data); err != nil {
			t.Fatal(err)
		}
	}
	if keyspace == "customer" {
		layout, err := vschema.NewShards([]string{"-40", "40-80", "80-c0", "c0-"})
		if err != nil {
			t.Fatal(err)
		}
		var shards []*catalog.Keyspace
		for i := range layout.Len() {
			shard := &catalog.Keyspace{Name: "customer", Shard: layout.Name(i), Database: fmt.Sprintf("customer_%d", i), DB: db, Backend: &backend.Backend{Addr: layout.Name(i)}}
			shards, databases[shard] = append(shards, shard), "customer"
		}
		cfg.Keyspaces["customer"] = catalog.Sharded(layout, shards)
	}
	srv, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(srv.Shutdown(context.Background()), cfg.Generators.Close(context.Background()), sequences.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	asked := time.Now()
	srv.catalog = catalog.NewCache(catalog.CacheConfig{Keyspaces: cfg.Keyspaces, VSchema: cfg.VSchema, Generators: cfg.Generators, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return asked }})
	for k, database := range databases {
		knowTables(t, srv.catalog, k, planTables[database])
	}
	srv.cfg.Keyspaces["main"] = shop // as which fakeSession knows the session's own
	s, _, _ := fakeSession(t, srv, mysql.CLIENT_PROTOCOL_41|mysql.CLIENT_DEPRECATE_EOF, mariaDB, 1, nil)
	delete(srv.cfg.Keyspaces, "main")
	s.State = backend.State{EnvironmentKnown: true, Mode: parser.Mode{Strict: true, MariaDB: mariaDB}, Database: "shop", DatabaseKnown: true, LastIDKnown: true}
	if keyspace == "customer" {
		s.router = newRouter(s, cfg.Keyspaces["customer"], "")
		shard := cfg.Keyspaces["customer"].Shards[0]
		srv.cfg.Keyspaces["main"] = shard
		other, _, _ := fakeSession(t, srv, mysql.CLIENT_PROTOCOL_41|mysql.CLIENT_DEPRECATE_EOF, mariaDB, 1, nil)
		delete(srv.cfg.Keyspaces, "main")
		other.State = s.State
		other.State.Database = shard.Database
		s.router.conns.add(other.executor)
	}
	return s
}

// knowTables has the catalog know tables of a keyspace, each with a sequence beside it in shop.
func knowTables(t *testing.T, c *catalog.Cache, k *catalog.Keyspace, tables map[string][]catalog.Column) {
	t.Helper()
	counter := catalog.Table{Exists: true, Name: "users_seq", Kind: "BASE TABLE", Engine: "InnoDB", Columns: []catalog.Column{{Name: "id"}, {Name: "next_id"}, {Name: "cache"}}}
	learn := func(table, sequence catalog.Table) {
		if err := c.Learn(t.Context(), k, table, sequence); err != nil {
			t.Fatal(err)
		}
	}
	for name, columns := range tables {
		table := catalog.Table{Exists: true, Name: name, Kind: "BASE TABLE", Engine: "InnoDB", Columns: columns}
		if name == "users" {
			learn(table, counter)
		} else {
			learn(table, catalog.Table{})
		}
	}
	if k.Shard == "" {
		learn(counter, catalog.Table{})
	}
}

// noServer is a server that cannot be reached.
type noServer struct{}

func (noServer) Connect(context.Context) (driver.Conn, error) { return nil, errors.New("no server") }
func (noServer) Driver() driver.Driver                        { return nil }
