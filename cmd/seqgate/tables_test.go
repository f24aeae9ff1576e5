package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/internal/servertest"
)

// place is a database of a test's own, and how the commands reach it.
type place struct {
	t    *testing.T
	s    *servertest.Server
	name string
	db   *sql.DB
	from []string // the flags that name it as keyspace main
}

// newPlace makes a database with these tables. With a vschema, the commands are given a file that names it.
func newPlace(t *testing.T, s *servertest.Server, vschemaText string, statements ...string) *place {
	t.Helper()
	name := s.NewDatabase(t)
	p := &place{t: t, s: s, name: name, db: s.Open(t, name)}
	p.exec(statements...)
	text := fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\n", s.DSN(name))
	if vschemaText != "" {
		text += "vschema: " + writeFile(t, "vschema.json", vschemaText) + "\n"
	}
	p.from = []string{"--config", writeFile(t, "seqgate.yaml", text)}
	return p
}

func (p *place) exec(statements ...string) {
	p.t.Helper()
	for _, statement := range statements {
		if _, err := p.db.Exec(statement); err != nil {
			p.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// run runs a command; the database's name in its output is written as DB.
func (p *place) run(command func(context.Context, []string, *bytes.Buffer) error, args ...string) (string, error) {
	p.t.Helper()
	var out bytes.Buffer
	err := command(p.t.Context(), append(p.from[:len(p.from):len(p.from)], args...), &out)
	return strings.ReplaceAll(out.String(), p.name, "DB"), err
}

func initCommand(ctx context.Context, args []string, out *bytes.Buffer) error {
	return run(ctx, append([]string{"init"}, args...), out, out)
}

func checkCommand(ctx context.Context, args []string, out *bytes.Buffer) error {
	return run(ctx, append([]string{"check"}, args...), out, out)
}

// sequence reads "next_id cache" of the row with id 0.
func (p *place) sequence(table string) string {
	p.t.Helper()
	var next, cache sql.NullString
	err := p.db.QueryRow("SELECT next_id, cache FROM "+ops.Quote(table)+" WHERE id = 0").Scan(&next, &cache)
	if err != nil {
		p.t.Fatalf("read sequence %s: %v", table, err)
	}
	return next.String + " " + cache.String
}

// wantLines compares output with the lines wanted.
func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(got, "\n"), "\n")); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

const vitessSequence = "(id INT, next_id BIGINT, cache BIGINT, PRIMARY KEY (id)) COMMENT 'vitess_sequence'"

func TestReadTables(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "",
			"CREATE TABLE t (`a``b` TINYINT UNSIGNED PRIMARY KEY, b VARCHAR(5) COLLATE utf8mb4_bin, n BIGINT AUTO_INCREMENT UNIQUE) ENGINE = InnoDB COMMENT 'x'",
			"CREATE VIEW v AS SELECT 1 AS one")
		cfg, err := app.Loader(env(nil)).Upstream(s.DSN(p.name))
		if err != nil {
			t.Fatal(err)
		}
		server, err := ops.Connect(t.Context(), cfg.Keyspaces[0], cfg.Keyspaces[0].Shards[0])
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		table := server.Tables["t"]
		if table.Kind != "BASE TABLE" || table.Engine != "InnoDB" || table.Comment != "x" {
			t.Errorf("table t is %+v", table)
		}
		var got []string
		for _, c := range table.Columns {
			got = append(got, fmt.Sprint(c.Name, " ", c.Definition(), " ", c.Key, " ", c.Collation, " ", c.AutoIncrement()))
		}
		want := []string{"a`b tinyint unsigned PRI  false", "b varchar(5)  utf8mb4_bin false", "n bigint UNI  true"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("columns of table t (-want +got):\n%s", diff)
		}
		if got := server.Tables["v"].Kind; got != "VIEW" {
			t.Errorf("view v is a %q, want VIEW", got)
		}
	})
}

func TestReadUsedIDs(t *testing.T) {
	tests := []struct {
		name, table string
		insert      string
		want        ops.UsedIDs
		next        int64 // 0: used up
	}{
		{"empty", "(id BIGINT PRIMARY KEY)", "", ops.UsedIDs{}, 1},
		{"rows", "(id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (5), (7)", ops.UsedIDs{Max: 7}, 8},
		{"negative", "(id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (-5)", ops.UsedIDs{}, 1},
		{"counter", "(id BIGINT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 100", "", ops.UsedIDs{Counter: 100}, 100},
		{"counter after a delete", "(id BIGINT AUTO_INCREMENT PRIMARY KEY)",
			"INSERT INTO t VALUES (), (), (); DELETE FROM t WHERE id > 1", ops.UsedIDs{Max: 1, Counter: 4}, 4},
		{"unsigned past the end", "(id BIGINT UNSIGNED PRIMARY KEY)", "INSERT INTO t VALUES (18446744073709551615)",
			ops.UsedIDs{Max: 9223372036854775807}, 0},
		{"the end", "(id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (9223372036854775807)", ops.UsedIDs{Max: 9223372036854775807}, 0},
		{"one before the end", "(id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (9223372036854775806)",
			ops.UsedIDs{Max: 9223372036854775806}, 9223372036854775807},
		{"characters", "(id VARCHAR(20) PRIMARY KEY)", "INSERT INTO t VALUES ('10'), ('9'), ('abc'), ('99999999999999999999')", ops.UsedIDs{Max: 10}, 11},
		{"double", "(id DOUBLE PRIMARY KEY)", "INSERT INTO t VALUES (10), (9), (1e30)", ops.UsedIDs{Max: 10}, 11},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, "", "CREATE TABLE t "+tt.table)
				if tt.insert != "" {
					p.exec(strings.Split(tt.insert, "; ")...)
				}
				cfg, err := app.Loader(env(nil)).Upstream(s.DSN(p.name))
				if err != nil {
					t.Fatal(err)
				}
				server, err := ops.Connect(t.Context(), cfg.Keyspaces[0], cfg.Keyspaces[0].Shards[0])
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				got, err := server.ReadUsedIDs(t.Context(), "t", *server.Tables["t"].Column("id"))
				if err != nil || got != tt.want {
					t.Errorf("used ids %+v, %v, want %+v", got, err, tt.want)
				}
				next, err := got.Next()
				if (err != nil) != (tt.next == 0) || next != tt.next {
					t.Errorf("next %d, %v, want %d", next, err, tt.next)
				}
			})
		}
	})
}

// TestFreshCounter holds that a counter is read as it is now, and not as MySQL has kept it since somebody asked before.
func TestFreshCounter(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
		var kept int64
		err := p.db.QueryRow("SELECT auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 't'").Scan(&kept)
		if err != nil || kept != 2 {
			t.Fatalf("counter %d, %v, want 2", kept, err)
		}
		p.exec("INSERT INTO t VALUES (50)", "DELETE FROM t WHERE id = 50")
		if _, err := p.run(initCommand, "t"); err != nil {
			t.Fatal(err)
		}
		if got := p.sequence("t_seq"); got != "51 1000" {
			t.Errorf("next_id and cache %s, want 51 1000", got)
		}
	})
}
