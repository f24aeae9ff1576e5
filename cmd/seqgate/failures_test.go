package main

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Every failure of docs/failures.md is made for real: what is then seen is what the page shows.

const failuresPage = "docs/failures.md"

// failure makes the failure of one section and gives what is seen of it.
type failure struct {
	heading string // of the section
	make    func(t *testing.T, b *failureBed) string
}

// failureBed is a seqgate in front of databases in which things are wrong.
type failureBed struct {
	s               *servertest.Server
	main            string // the database of the keyspace main
	left, right     string // those of the shards of customer
	vschema, config string // files
	gate            *process
	direct          *sql.DB // the database of main, past seqgate
}

const failureVSchema = `{"keyspaces": {
  "main": {
    "generators": {"flake": {"type": "snowflake", "params": {"bits": {"time": 41, "worker": 1, "sequence": 21}, "epoch": "2026-01-01"}}},
    "tables": {%s}
  },
  "customer": {
    "sharded": true,
    "vindexes": {"hash": {"type": "hash"}},
    "tables": {"orders": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.orders_seq"}}}
  },
  "far": {
    "sharded": true,
    "vindexes": {"hash": {"type": "hash"}},
    "tables": {"things": {"column_vindexes": [{"column": "user_id", "name": "hash"}]}}
  }
}}`

const failureConfig = `listen: 127.0.0.1:0
users:
  - {name: app, password: app}
  - {name: limited, password: limited, max_connections: 1}
  - {name: strict, password: strict, require: tls}
vschema: %s
default_keyspace: main
keyspaces:
  main: {shards: {"-": %q}}
  customer: {shards: {"-80": %q, "80-": %q}}
  far: {shards: {"-80": %q, "80-": "app:app@tcp(%s)/far"}}
sequences: {timeout: 20s}
tables: {overrides: {main.warned: {on_explicit_id: warn}}}
`

// filledTables are those of main; each has a sequence of its name and _seq, made by hand where a failure is not.
var filledTables = []string{"missing", "rowless", "uncached", "plain", "full", "locked", "copied", "warned", "lowered", "orders"}

func newFailureBed(t *testing.T, s *servertest.Server) *failureBed {
	t.Helper()
	b := &failureBed{s: s, main: s.NewDatabase(t), left: s.NewDatabase(t), right: s.NewDatabase(t)}
	b.direct = s.Open(t, b.main)
	var tables []string
	for _, name := range filledTables {
		tables = append(tables, fmt.Sprintf(`"%s_seq": {"type": "sequence"}`, name))
		if name == "orders" {
			continue
		}
		tables = append(tables, fmt.Sprintf(`"%s": {"auto_increment": {"column": "id", "sequence": "%[1]s_seq"}}`, name))
		run1(t, b.direct, "CREATE TABLE "+name+" (id BIGINT PRIMARY KEY, v INT)")
		if name != "missing" {
			run1(t, b.direct, "CREATE TABLE "+name+"_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
				"INSERT INTO "+name+"_seq VALUES (0, 1, 1)")
		}
	}
	run1(t, b.direct, "CREATE TABLE orders_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
		"INSERT INTO orders_seq VALUES (0, 1, 1000)")
	for _, shard := range []string{b.left, b.right} {
		run1(t, s.Open(t, shard), "CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64))")
	}
	cut, err := mysql.ParseDSN(s.DSN(b.right))
	if err != nil {
		t.Fatal(err)
	}
	cut.Addr = cutAtCommit(t, cut.Addr)
	b.vschema = writeFile(t, "vschema.json", fmt.Sprintf(failureVSchema, strings.Join(tables, ", ")))
	b.config = writeFile(t, "seqgate.yaml", fmt.Sprintf(failureConfig, b.vschema, s.DSN(b.main), s.DSN(b.left), cut.FormatDSN(), s.DSN(b.left), servertest.FreeAddr(t)))
	b.gate = start(t, "serve", "--config", b.config)
	return b
}

// as is a client with one connection, a listed user whose password is the name.
func (b *failureBed) as(t *testing.T, user string) *sql.DB {
	t.Helper()
	db := openClient(t, user, user, b.gate.addr, "main")
	db.SetMaxOpenConns(1)
	return db
}

// fails runs a statement that is to fail, and gives the error as MySQL's clients show it.
func (b *failureBed) fails(t *testing.T, statement string) string {
	t.Helper()
	_, err := b.as(t, "app").ExecContext(t.Context(), statement)
	return shown(t, err)
}

// shown is an error as the clients mysql and mariadb print it.
func shown(t *testing.T, err error) string {
	t.Helper()
	var told *mysql.MySQLError
	switch {
	case err == nil:
		t.Fatal("nothing fails")
	case errors.As(err, &told):
		return fmt.Sprintf("ERROR %d (%s): %s", told.Number, told.SQLState[:], told.Message)
	}
	return err.Error()
}

// line waits for a line of the log with a text, and gives it from its message on.
func (p *process) line(t *testing.T, text string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		log := p.Log()
		for line := range strings.Lines(log) {
			if at := strings.Index(line, "msg="); at >= 0 && strings.Contains(line, text) {
				return strings.TrimSpace(line[at:])
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log does not tell %q", text)
		}
	}
}

// insertInto fails to insert into a table of main, after statements that have made something wrong.
func insertInto(table string, wrong ...string) func(t *testing.T, b *failureBed) string {
	return func(t *testing.T, b *failureBed) string {
		run1(t, b.direct, wrong...)
		return b.fails(t, "INSERT INTO "+table+" (v) VALUES (1)")
	}
}

// failing is a statement that fails by itself.
func failing(statement string) func(t *testing.T, b *failureBed) string {
	return func(t *testing.T, b *failureBed) string { return b.fails(t, statement) }
}

var failures = []failure{
	{"The sequence table is missing", insertInto("missing")},
	{"Its row is missing", insertInto("rowless", "DELETE FROM rowless_seq")},
	{"Its row makes no sense", insertInto("uncached", "UPDATE uncached_seq SET cache = 0")},
	{"It is not marked as a sequence", insertInto("plain", "ALTER TABLE plain_seq COMMENT ''")},
	{"The column is full", fullColumn},
	{"The sequence row is locked", lockedRow},
	{"The database of the sequences is away", nil},
	{"An id exists already", func(t *testing.T, b *failureBed) string {
		run1(t, b.direct, "INSERT INTO copied VALUES (1, 1), (2, 1)")
		return b.fails(t, "INSERT INTO copied (v) VALUES (1) /* not repeated */")
	}},
	{"A row brought an id above its sequence", warnedID},
	{"A sequence row was set back", loweredRow},
	{"All worker ids are taken", takenWorkers},
	{"The clock differs", wrongClock},
	{"The lease of the worker id is over", nil},
	{"A layout has ended", endedLayout},
	{"A shard is away", failing("SELECT * FROM far.things WHERE user_id = 4")},
	{"A part of a transaction is committed", partlyCommitted},
	{"A row has no shard", failing("INSERT INTO customer.orders (item) VALUES ('tea')")},
	{"A statement over several shards is refused", failing("SELECT COUNT(DISTINCT item) FROM customer.orders")},
	{"A statement on a sequenced table is refused", failing("LOAD DATA INFILE 'rows.csv' INTO TABLE copied (v)")},
	{"The password is wrong", wrongPassword},
	{"The user has to encrypt", func(t *testing.T, b *failureBed) string { return shown(t, b.as(t, "strict").PingContext(t.Context())) }},
	{"Everybody has to encrypt", nil},
	{"A user has too few rights", nil},
	{"A user has too many connections", tooManyOfUser},
	{"There are too many connections", nil},
	{"A changed vschema is refused", refusedVSchema},
	{"A changed configuration is refused", refusedConfig},
	{"seqgate is stopped", stopped},
}

// Each failure of one seqgate's.
func TestFailures(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b := newFailureBed(t, s)
		for _, f := range failures {
			if f.make != nil {
				t.Run(f.heading, func(t *testing.T) { b.want(t, f.heading, f.make(t, b)) })
			}
		}
	})
}

// want compares what is seen with the section of the page.
func (b *failureBed) want(t *testing.T, heading, seen string) {
	t.Helper()
	for name, shown := range map[string]string{b.main: "main", b.left: "customer_a", b.right: "customer_b"} {
		seen = strings.ReplaceAll(seen, name, shown)
	}
	wantShown(t, heading, seen)
}

func wantShown(t *testing.T, heading, seen string) {
	t.Helper()
	for _, d := range documents(t) {
		for _, b := range d.parts {
			if d.path != failuresPage || b.section != heading {
				continue
			}
			parts := strings.Split(strings.TrimSpace(strings.ReplaceAll(b.text, "\n", " ")), "...")
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			if !regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(seen) {
				t.Errorf("seen:\n%s\nthe page has:\n%s", seen, b.text)
			}
			return
		}
	}
	t.Errorf("docs/failures.md has no section %q with what is seen:\n%s", heading, seen)
}

// Those of the network and of a limit for all.
func TestFailuresOfLimits(t *testing.T) {
	s := servertest.First(t)
	_, database, args := sequencedTable(t, s)
	t.Setenv("SEQGATE_LIMITS_CONNECTIONS", "1")
	gate := start(t, args...)
	held := openClient(t, s.User, s.Password, gate.addr, database)
	if err := held.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantShown(t, "There are too many connections", shown(t, openClient(t, s.User, s.Password, gate.addr, database).PingContext(t.Context())))

	t.Setenv("SEQGATE_TLS_REQUIRED", "true")
	gate = start(t, args...)
	wantShown(t, "Everybody has to encrypt", shown(t, openClient(t, s.User, s.Password, gate.addr, database).PingContext(t.Context())))
}

// Those of a server of sequences and worker ids that is gone.
func TestFailuresWithoutServer(t *testing.T) {
	t.Parallel()
	data := servertest.First(t)
	servertest.Private(t, func(t *testing.T, ids *servertest.Server) {
		tables := data.NewDatabase(t)
		run1(t, data.Open(t, tables), "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		sequences := ids.NewDatabase(t)
		run1(t, ids.Open(t, sequences), "CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
			"INSERT INTO t_seq VALUES (0, 1, 5)")
		schema := writeFile(t, "vschema.json", `{"keyspaces": {
			"main": {"tables": {"t": {"auto_increment": {"column": "id", "sequence": "ids.t_seq"}}}},
			"ids": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter"}}}, "tables": {"t_seq": {"type": "sequence"}}}}}`)
		config := fmt.Sprintf("listen: 127.0.0.1:0\nusers: [{name: app, password: app}]\nvschema: %s\ndefault_keyspace: main\n"+
			"keyspaces: {main: {shards: {\"-\": %q}}, ids: {shards: {\"-\": %q}}}\nsequences: {timeout: 3s, max_step: 5}\nworker_ids: {keyspace: ids, lease: 3s}\n",
			schema, data.DSN(tables), ids.DSN(sequences))
		db := openClient(t, "app", "app", start(t, "serve", "--config", writeFile(t, "seqgate.yaml", config)).addr, "main")
		run1(t, db, "INSERT INTO t (v) VALUES (1)")
		query1[int64](t, db, "SELECT NEXT VALUE FROM ids.flake")
		ids.Kill(t)
		given, err := untilError(t, db, "INSERT INTO t (v) VALUES (1)", "connection refused")
		if given == 0 {
			t.Error("no id was left in memory")
		}
		wantShown(t, "The database of the sequences is away", strings.ReplaceAll(shown(t, err), sequences, "ids"))
		_, err = untilError(t, db, "SELECT NEXT VALUE FROM ids.flake", "connection refused")
		wantShown(t, "The lease of the worker id is over", strings.ReplaceAll(shown(t, err), sequences, "ids"))
	})
}

// untilError runs a statement until it fails with an error that contains the text, and says how often it did not fail: a
// server that goes away, and seqgates that begin, may have other errors first.
func untilError(t *testing.T, db *sql.DB, statement, text string) (n int, err error) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		_, err = db.ExecContext(t.Context(), statement)
		switch {
		case err == nil:
			n++
		case strings.Contains(err.Error(), text):
			return n, err
		}
	}
	t.Fatalf("%s: got %v last, want %q", statement, err, text)
	return 0, nil
}

// The page has a section for each failure, in their order, and no other.
func TestFailuresPage(t *testing.T) {
	var want, got []string
	for _, f := range failures {
		want = append(want, f.heading)
	}
	for _, d := range documents(t) {
		for _, b := range d.parts {
			if d.path == failuresPage && b.kind == "text" {
				got = append(got, b.section)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/failures.md has the sections\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
