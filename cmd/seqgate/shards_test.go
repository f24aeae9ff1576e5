package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// shardedPlace is a keyspace main, and a keyspace customer of several shards, each in a database of its own.
type shardedPlace struct {
	*place          // of the keyspace main
	shards []*place // of customer, in the order of names
	names  []string
}

// newSharded makes the databases. users: are there, as sharded keyspaces need them.
func newSharded(t *testing.T, s *servertest.Server, vschemaText string, names ...string) *shardedPlace {
	t.Helper()
	p := &shardedPlace{place: newPlace(t, s, ""), names: names}
	var dsns []string
	for _, name := range names {
		p.shards = append(p.shards, newPlace(t, s, ""))
		dsns = append(dsns, fmt.Sprintf("%q: %q", name, s.DSN(p.shards[len(p.shards)-1].name)))
	}
	p.config(vschemaText, dsns...)
	return p
}

// config writes the configuration with these shards.
func (p *shardedPlace) config(vschemaText string, shards ...string) {
	p.t.Helper()
	text := fmt.Sprintf("listen: 127.0.0.1:0\nusers: [{name: app, password: app}]\ndefault_keyspace: main\nvschema: %s\nkeyspaces:\n  main: {shards: {\"-\": %q}}\n  customer: {shards: {%s}}\n",
		writeFile(p.t, "vschema.json", vschemaText), p.s.DSN(p.name), strings.Join(shards, ", "))
	p.from = []string{"--config", writeFile(p.t, "seqgate.yaml", text)}
}

// onAll runs statements on every shard.
func (p *shardedPlace) onAll(statements ...string) {
	p.t.Helper()
	for _, shard := range p.shards {
		shard.exec(statements...)
	}
}

// run runs a command; the databases' names in its output are written as DB and DB:shard.
func (p *shardedPlace) run(command func(context.Context, []string, *bytes.Buffer) error, args ...string) (string, error) {
	p.t.Helper()
	out, err := p.place.run(command, args...)
	for i, shard := range p.shards {
		out = strings.ReplaceAll(out, shard.name, "DB:"+p.names[i])
	}
	return out, err
}

const ordersVSchema = `{"keyspaces": {
	"main": {"tables": {"orders_seq": {"type": "sequence"}, "notes": {"auto_increment": {"column": "id", "sequence": "orders_seq"}}}},
	"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"orders": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.orders_seq"}}}}}}`

const (
	ordersTable = "CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64) COLLATE utf8mb4_bin)"
	notesTable  = "CREATE TABLE notes (id BIGINT PRIMARY KEY)"
)

// Of the users 1 to 6, hash has 4 alone in 80-: see vindex-vectors.json.
func TestInitSharded(t *testing.T) {
	tests := []struct {
		name                string
		main, first, second []string // the statements of each database, besides the tables
		sequence            []string
		want                string // next_id and cache
	}{
		{"empty", nil, nil, nil, nil, "1 1000"},
		{"the largest id on the first shard", nil, []string{"INSERT INTO orders VALUES (70, 1, '')"}, []string{"INSERT INTO orders VALUES (60, 4, '')"}, nil, "71 1000"},
		{"the largest id on the last shard", nil, []string{"INSERT INTO orders VALUES (70, 1, '')"}, []string{"INSERT INTO orders VALUES (90, 4, '')"}, nil, "91 1000"},
		{"the largest id in another keyspace", []string{"INSERT INTO notes VALUES (500)"}, []string{"INSERT INTO orders VALUES (70, 1, '')"}, nil, nil, "501 1000"},
		{"a counter of one shard", nil, nil, []string{"ALTER TABLE orders MODIFY id BIGINT AUTO_INCREMENT", "ALTER TABLE orders AUTO_INCREMENT = 4000"}, nil, "4000 1000"},
		{"only raises", nil, []string{"INSERT INTO orders VALUES (70, 1, '')"}, nil,
			[]string{"CREATE TABLE orders_seq " + vitessSequence, "INSERT INTO orders_seq VALUES (0, 800, 7)"}, "800 7"},
		{"raises", nil, []string{"INSERT INTO orders VALUES (70, 1, '')"}, nil,
			[]string{"CREATE TABLE orders_seq " + vitessSequence, "INSERT INTO orders_seq VALUES (0, 8, 7)"}, "71 7"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newSharded(t, s, ordersVSchema, "-80", "80-")
				p.onAll(ordersTable)
				p.exec(notesTable)
				p.exec(tt.main...)
				p.exec(tt.sequence...)
				p.shards[0].exec(tt.first...)
				p.shards[1].exec(tt.second...)
				if _, err := p.run(initCommand); err != nil {
					t.Fatal(err)
				}
				if got := p.sequence("orders_seq"); got != tt.want {
					t.Errorf("next_id and cache %s, want %s", got, tt.want)
				}
			})
		}
	})
}

// A dry run tells what would be done, and of tables that one shard lacks; it does nothing.
func TestInitShardedDryRun(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, ordersVSchema, "-80", "80-")
		p.shards[0].exec(ordersTable, "INSERT INTO orders VALUES (7, 1, '')")
		out, err := p.run(initCommand, "--dry-run")
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, "CREATE TABLE `DB`.`orders_seq` (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT 'vitess_sequence';",
			"-- customer:80-.orders does not exist yet: its ids start at 8", "-- main.notes does not exist yet: its ids start at 8",
			"INSERT INTO `DB`.`orders_seq` (id, next_id, cache) VALUES (0, 8, 1000);")
		if got := query1[int](t, p.db, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); got != 0 {
			t.Errorf("%d tables after a dry run, want none", got)
		}
	})
}

// A shard that is away keeps the sequences of its tables from being made, and no others.
func TestInitShardAway(t *testing.T) {
	const text = `{"keyspaces": {
		"main": {"tables": {"orders_seq": {"type": "sequence"}, "notes_seq": {"type": "sequence"}, "notes": {"auto_increment": {"column": "id", "sequence": "notes_seq"}}}},
		"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
			"orders": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.orders_seq"}}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, text, "-80")
		p.config(text, fmt.Sprintf("\"-80\": %q", s.DSN(p.shards[0].name)), `"80-": "app:app@tcp(127.0.0.1:1)/away"`)
		p.onAll(ordersTable)
		p.exec(notesTable, "INSERT INTO notes VALUES (7)")
		_, err := p.run(initCommand)
		const want = "sequence main.orders_seq: nothing is seeded: which ids are in use cannot be read: table customer.orders: keyspace customer:80- at 127.0.0.1:1: "
		if err == nil || !strings.HasPrefix(err.Error(), want) || exitCode(err) != 1 {
			t.Errorf("error %v, want %s...", err, want)
		}
		if got := p.sequence("notes_seq"); got != "8 1000" {
			t.Errorf("notes_seq: next_id and cache %s, want 8 1000", got)
		}
		if got := query1[int](t, p.db, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'orders_seq'"); got != 0 {
			t.Error("orders_seq is made though a shard is away")
		}
	})
}

func TestSeqSharded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, ordersVSchema, "-80", "80-")
		p.onAll(ordersTable)
		p.exec(notesTable, "CREATE TABLE orders_seq "+vitessSequence, "INSERT INTO orders_seq VALUES (0, 10, 5)")
		p.shards[0].exec("INSERT INTO orders VALUES (7, 1, '')")
		p.shards[1].exec("INSERT INTO orders VALUES (9, 4, '')")
		out, err := p.run(seqCommand("list"))
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, "SEQUENCE         KIND  NEXT_ID  CACHE  FILLS               MAX  USED",
			"main.orders_seq  row   10       5      customer.orders.id  9    0.0% of bigint",
			"                                       main.notes.id       0    0.0% of bigint")
		for _, tt := range []struct {
			command, args, want string
		}{
			{"next", "orders_seq 3", "10 12\n"},
			{"next", "main.orders_seq", "13\n"},
			{"set", "orders_seq 20", ""},
			{"set", "orders_seq 5", "next_id is 20"},
			{"reset", "--force orders_seq", ""},
			{"next", "customer.orders", "sequences are in unsharded keyspaces"},
			{"set", "customer.orders 5", "sequences are in unsharded keyspaces"},
		} {
			out, err := p.run(seqCommand(tt.command), strings.Fields(tt.args)...)
			if err != nil {
				out = err.Error()
			}
			if !strings.Contains(out, tt.want) {
				t.Errorf("seq %s %s: %s, want %q", tt.command, tt.args, out, tt.want)
			}
		}
		if got := p.sequence("orders_seq"); got != "10 5" {
			t.Errorf("after reset: next_id and cache %s, want 10 5, above the ids of both shards", got)
		}
	})
}

// An own sequence, and auto_create, begin above the rows of all shards, also those that are not committed yet.
func TestFirstFreeSharded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, ordersVSchema, "-80", "80-")
		p.onAll(ordersTable)
		p.shards[0].exec("INSERT INTO orders VALUES (41, 1, '')")
		open, err := p.shards[1].db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = open.Rollback() }()
		if _, err := open.ExecContext(t.Context(), "INSERT INTO orders VALUES (50, 4, '')"); err != nil {
			t.Fatal(err)
		}
		free := func() (int64, error) {
			cfg, err := (&source{file: p.from[1]}).load()
			if err != nil {
				t.Fatal(err)
			}
			return ops.FirstFree(t.Context(), cfg, sequence.Name{Keyspace: "main", Database: p.name, Table: "orders_seq"})
		}
		if got, err := free(); err != nil || got != 51 {
			t.Errorf("firstFree = %d, %v, want 51", got, err)
		}
		p.config(ordersVSchema, fmt.Sprintf("%q: %q", "-80", s.DSN(p.shards[0].name)), `"80-": "app:app@tcp(127.0.0.1:1)/away"`)
		if got, err := free(); err == nil {
			t.Errorf("firstFree = %d with a shard away, want an error", got)
		}
	})
}

// transactions: xa wants to see what is prepared. MySQL asks for a privilege, MariaDB does not.
func TestCheckRecovery(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, ordersVSchema, "-80", "80-")
		p.onAll(ordersTable)
		p.exec(notesTable, "CREATE TABLE orders_seq "+vitessSequence, "INSERT INTO orders_seq VALUES (0, 10, 5)")
		user := "x" + p.name[len(p.name)-8:]
		p.exec("CREATE USER "+user+"@'%' IDENTIFIED BY 'pw'", "GRANT SELECT ON *.* TO "+user+"@'%'")
		defer p.exec("DROP USER " + user + "@'%'")
		p.config(ordersVSchema, fmt.Sprintf("%q: %q", "-80", s.DSN(p.shards[0].name)), fmt.Sprintf("%q: %q", "80-", user+":pw@tcp("+s.Addr+")/"+p.shards[1].name))
		file, err := os.OpenFile(p.from[1], os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString("transactions: xa\n")
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.run(checkCommand)
		refused := strings.Contains(out, "error: customer:80-: transactions: xa cannot be recovered there after a crash")
		if refused == s.IsMariaDB() || (err != nil) != refused || strings.Contains(out, "error: customer:-80") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
