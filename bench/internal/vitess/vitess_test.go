package vitess

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestShardNames(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "0", 2: "-80 80-", 3: "", 4: "-40 40-80 80-c0 c0-", 512: ""} {
		if got := strings.Join(ShardNames(n), " "); got != want {
			t.Errorf("ShardNames(%d) is %q, want %q", n, got, want)
		}
	}
	if got := ShardNames(256)[254:]; !slices.Equal(got, []string{"fe-ff", "ff-"}) {
		t.Errorf("ShardNames(256) ends with %q, want fe-ff and ff-", got)
	}
}

func TestTopology(t *testing.T) {
	got, err := topology([]Keyspace{{Name: "main", Databases: []string{"a"}}, {Name: "customer", Databases: []string{"b", "c"}}})
	want := `{"keyspaces":[{"name":"main","shards":[{"name":"0","db_name_override":"a"}],"replica_count":1,"rdonly_count":-1},` +
		`{"name":"customer","shards":[{"name":"-80","db_name_override":"b"},{"name":"80-","db_name_override":"c"}],"replica_count":1,"rdonly_count":-1}]}`
	if err != nil || got != want {
		t.Errorf("got %s and %v, want %s", got, err, want)
	}
	for _, bad := range [][]Keyspace{nil, {{Name: "main"}}, {{Name: "main", Databases: []string{"a", "b", "c"}}}} {
		if got, err := topology(bad); err == nil {
			t.Errorf("topology(%v) is %s, want an error", bad, got)
		}
	}
}

func TestVSchemasAreWhereVtcomboLooks(t *testing.T) {
	dir := t.TempDir()
	if err := writeVSchemas(dir, []Keyspace{{Name: "main", VSchema: `{"tables": {}}`}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "schema", "main", "vschema.json"))
	if err != nil || string(got) != `{"tables": {}}` {
		t.Errorf("the file holds %s, %v", got, err)
	}
}

func TestFlags(t *testing.T) {
	server := mysql.NewConfig()
	server.User, server.Passwd, server.Net, server.Addr = "app", `a"b`, "tcp", "127.0.0.1:3306"
	value := func(o *Options, name string) string {
		all := flags(o, "", "/dir", "127.0.0.1:99")
		i := slices.Index(all, name)
		if i < 0 {
			return "none"
		}
		return all[i+1]
	}
	byTCP := &Options{Server: server, PoolSize: 32}
	bySocket := &Options{Server: server.Clone()}
	bySocket.Server.Net, bySocket.Server.Addr = "unix", "/run/s"
	for _, c := range []struct {
		options    *Options
		name, want string
	}{
		{byTCP, "--schema_dir", "/dir/schema"},
		{byTCP, "--mysql_server_port", "99"},
		{byTCP, "--db_host", "127.0.0.1"},
		{byTCP, "--db_port", "3306"},
		{byTCP, "--db_socket", "none"},
		{byTCP, "--queryserver-config-pool-size", "32"},
		{byTCP, "--queryserver-config-transaction-cap", "32"},
		{byTCP, "--queryserver-config-txpool-timeout", "30s"}, // some of 256 clients wait longer than the default
		{byTCP, "--db_app_password", `a"b`},
		{bySocket, "--db_socket", "/run/s"},
		{bySocket, "--db_host", "none"},
		{bySocket, "--queryserver-config-pool-size", "64"},
	} {
		if got := value(c.options, c.name); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
}

func TestServersThatDoNotFit(t *testing.T) {
	for version, fits := range map[string]bool{
		"8.0.36": true, "8.4.0-log": true, "9.7.0-debian": true, "5.7.44": false, "10.11.14-MariaDB-0+deb12u2": false, "": false,
	} {
		if err := checkVersion(version); (err == nil) != fits || err != nil && !errors.Is(err, ErrUnavailable) {
			t.Errorf("%q: got %v, want fit: %v", version, err, fits)
		}
	}
}

func TestBuildOnceOrSayWhyNot(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where other systems have it
	t.Setenv("PATH", "")
	if path, err := Build(t.Context(), nil); !errors.Is(err, ErrUnavailable) || !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("without a compiler: got %q, %v, want unavailable because of it", path, err)
	}
	binary, err := binaryPath()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(binary)); err != nil || len(left) != 0 {
		t.Errorf("a failed build left %v, %v", left, err)
	}
	if err := os.WriteFile(binary, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := Build(t.Context(), nil); path != binary || err != nil {
		t.Errorf("got %q, %v, want what is built already, %q", path, err, binary)
	}
}

// The tables of the benchmark, in an unsharded keyspace and in one of two shards; the sequence stands in the first.
var testTables = []string{
	"CREATE TABLE points (id BIGINT PRIMARY KEY, v VARCHAR(64) NOT NULL)",
	"CREATE TABLE filled (id BIGINT PRIMARY KEY, a INT NOT NULL, b VARCHAR(64) NOT NULL)",
	"CREATE TABLE filled_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
	"INSERT INTO filled_seq VALUES (0, 1, 1000)",
}

const (
	testMain = `{"tables": {"points": {}, "filled_seq": {"type": "sequence"},
		"filled": {"auto_increment": {"column": "id", "sequence": "main.filled_seq"}}}}`
	testCustomer = `{"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"points": {"column_vindexes": [{"column": "id", "name": "hash"}]},
		"filled": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.filled_seq"}}}}`
)

// What the benchmark asks of Vitess, from 64 clients at a time.
func TestEndToEnd(t *testing.T) {
	if os.Getenv("SEQGATE_TEST_VITESS") == "" {
		t.Skip("SEQGATE_TEST_VITESS is not set: building Vitess takes minutes")
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		server, err := mysql.ParseDSN(s.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		var databases []string
		for range 3 {
			name := s.NewDatabase(t)
			db := s.Open(t, name)
			for _, statement := range testTables {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			databases = append(databases, name)
		}
		v, err := Start(t.Context(), Options{Server: server, Log: t.Output(), Keyspaces: []Keyspace{
			{"main", databases[:1], testMain}, {"customer", databases[1:], testCustomer}}})
		if errors.Is(err, ErrUnavailable) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := v.Stop(); err != nil {
				t.Error(err)
			}
		}()
		ids := map[int64]bool{}
		for _, keyspace := range []string{"main", "customer"} {
			for id := range insertAndRead(t, v.Client(keyspace)) {
				if ids[id] {
					t.Errorf("%s got the id %d again", keyspace, id)
				}
				ids[id] = true
			}
		}
		for _, d := range databases {
			var rows int
			if err := s.Open(t, d).QueryRow("SELECT COUNT(*) FROM filled").Scan(&rows); err != nil || rows == 0 {
				t.Errorf("%d rows, %v in the shard %s, want some", rows, err, d)
			}
		}
	})
}

// insertAndRead inserts rows without ids, text and prepared, takes ids, and reads points; it returns all ids it saw.
func insertAndRead(t *testing.T, client *mysql.Config) map[int64]bool {
	t.Helper()
	const clients, rounds = 64, 5
	ids := make(chan int64, clients*rounds*4)
	insert := "INSERT INTO filled (a, b) VALUES (?, ?)"
	var group errgroup.Group
	for _, text := range []bool{true, false} {
		c := client.Clone()
		c.InterpolateParams = text
		db, err := sql.Open("mysql", c.FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(clients / 2)
		for i := range clients / 2 {
			group.Go(func() error {
				for j := range rounds {
					a := i*rounds + j
					if text {
						a += clients * rounds
					}
					if _, err := db.Exec(insert, a, "a note"); err != nil {
						return fmt.Errorf("insert: %w", err)
					}
					var id, next int64
					if err := db.QueryRow("SELECT id FROM filled WHERE a = ?", a).Scan(&id); err != nil {
						return fmt.Errorf("select: %w", err)
					}
					if err := db.QueryRow("SELECT NEXT 1 VALUES FROM main.filled_seq").Scan(&next); err != nil {
						return fmt.Errorf("next: %w", err)
					}
					ids <- id
					ids <- next
					if _, err := db.Exec("INSERT INTO points (id, v) VALUES (?, 'a point')", id); err != nil {
						return fmt.Errorf("insert a point: %w", err)
					}
					var point string
					if err := db.QueryRow("SELECT v FROM points WHERE id = ?", id).Scan(&point); err != nil || point != "a point" {
						return fmt.Errorf("the point %d is %q, %w", id, point, err)
					}
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	close(ids)
	seen := map[int64]bool{}
	for id := range ids {
		if seen[id] {
			t.Errorf("the id %d came twice", id)
		}
		seen[id] = true
	}
	if len(seen) != clients*rounds*2 {
		t.Errorf("%d ids, want %d", len(seen), clients*rounds*2)
	}
	return seen
}
