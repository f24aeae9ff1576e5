package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/vschema"
)

// keptVSchema keeps the text of a gate's vschema in memory, in the place of a file.
type keptVSchema struct {
	mu     sync.Mutex
	text   string
	server *proxy.Server
}

func (a *keptVSchema) alter(_ context.Context, edit vschema.Edit) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, err := edit.Apply([]byte(a.text))
	if err != nil {
		return err
	}
	v, err := vschema.Load("vschema.json", text)
	if err != nil {
		return err
	}
	if err := a.server.SetVSchema(v); err != nil {
		return err
	}
	a.text = string(text)
	return nil
}

func (a *keptVSchema) kept() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text
}

// alterable lets the user app change the vschema that the options have, but not the user reader.
func (a *keptVSchema) alterable(o gateOptions) gateOptions {
	a.text = o.vschema
	o.users = []proxy.User{{Name: gateUser, Password: gatePassword, VSchemaDDL: true}, {Name: "reader", Password: gatePassword}}
	o.configure = func(cfg *proxy.Config) { cfg.AlterVSchema = a.alter }
	return o
}

// newAlterGate is newGate with such a vschema.
func newAlterGate(t *testing.T, s *servertest.Server, text string) (*gate, *keptVSchema) {
	t.Helper()
	a := &keptVSchema{}
	g := newGate(t, s, a.alterable(gateOptions{vschema: text}))
	a.server = g.proxy
	return g, a
}

// table gives a result as lines, its columns first.
func table(t *testing.T, c *sql.Conn, query string) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{strings.Join(columns, "|")}
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Join(row, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

const shownVSchema = `{"keyspaces": {
	"main": {"tables": {"zebra": {}, "user_seq": {"type": "sequence"}}},
	"customer": {"sharded": true,
		"vindexes": {"xx": {"type": "xxhash"}, "hash": {"type": "hash"},
			"found": {"type": "lookup_unique", "params": {"to": "keyspace_id", "table": "main.found", "from": "name"}},
			"reg": {"type": "region_experimental", "params": {"region_bytes": "1"}}},
		"tables": {
			"user": {"column_vindexes": [{"column": "id", "name": "hash"}, {"column": "name", "name": "found"}]},
			"placed": {"column_vindexes": [{"columns": ["region", "id"], "name": "reg"}]},
			"everywhere": {"type": "reference"}}}}}`

// Rows D1, D2 and D3: what SHOW VSCHEMA shows, in a session over shards and in one on a shard.
func TestShowVSchema(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{vschema: shownVSchema})
	const keyspaces = "Keyspace|Sharded|Foreign Key|Comment\ncustomer|true|unmanaged|\nmain|false|unmanaged|"
	const vindexes = `Keyspace|Name|Type|Params|Owner
customer|found|lookup_unique|from=name; table=main.found; to=keyspace_id|
customer|hash|hash||
customer|reg|region_experimental|region_bytes=1|
customer|xx|xxhash||`
	for database, tables := range map[string]string{"customer": "everywhere\nplaced\nuser", "customer:80-": "everywhere\nplaced\nuser", "main": "user_seq\nzebra"} {
		c := conn(t, g.open(t, database, ""))
		for query, want := range map[string]string{
			"show vschema tables":                             "Tables\n" + tables,
			"SHOW VSCHEMA KEYSPACES":                          keyspaces,
			"SHOW /* all */ VSCHEMA VINDEXES;":                vindexes,
			"SHOW VSCHEMA VINDEXES ON main.zebra":             "Columns|Name|Type|Params|Owner",
			"SHOW VSCHEMA VINDEXES ON `customer`.`placed`":    "Columns|Name|Type|Params|Owner\nregion, id|reg|region_experimental|region_bytes=1|",
			"SHOW VSCHEMA VINDEXES FROM customer.user":        "Columns|Name|Type|Params|Owner\nid|hash|hash||\nname|found|lookup_unique|from=name; table=main.found; to=keyspace_id|",
			"SHOW VSCHEMA VINDEXES ON customer.everywhere":    "Columns|Name|Type|Params|Owner",
			"SHOW VSCHEMA KEYSPACES LIKE 'cust%'":             "Keyspace|Sharded|Foreign Key|Comment\ncustomer|true|unmanaged|",
			"SHOW VSCHEMA VINDEXES ON customer.user LIKE '_'": "Columns|Name|Type|Params|Owner",
		} {
			if diff := cmp.Diff(want, table(t, c, query)); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", query, database, diff)
			}
		}
		fails(t, c, 1146, "table 'nosuch' does not exist in keyspace 'customer'", "SHOW VSCHEMA VINDEXES ON customer.nosuch")
		fails(t, c, 1049, "unknown database 'nosuch' in vschema", "SHOW VSCHEMA VINDEXES ON nosuch.t")
		fails(t, c, 1064, "near 'SHARDS'", "SHOW VSCHEMA SHARDS")
	}
}

// Without a vschema of seqgate's own, both statements are the server's, which may be a Vitess.
func TestShowVSchemaWithout(t *testing.T) {
	s := servertest.First(t)
	g := newGate(t, s, gateOptions{})
	c := conn(t, g.open(t, ""))
	for _, statement := range []string{"SHOW VSCHEMA TABLES", "ALTER VSCHEMA ADD SEQUENCE s"} {
		_, want := g.direct.Exec(statement)
		_, got := c.ExecContext(t.Context(), statement)
		if want == nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want the server's %v", statement, got, want)
		}
	}
}

// Rows D4, D5 and D6: sequences and auto-increments come and go, and the next INSERT goes by them.
func TestAlterVSchema(t *testing.T) {
	s := servertest.First(t)
	g, a := newAlterGate(t, s, `{"keyspaces": {"main": {"tables": {}}}}`)
	c := conn(t, g.open(t, ""))
	exec(t, g.direct, "CREATE TABLE t (id BIGINT NOT NULL DEFAULT -1, v INT)")
	createSequence(t, g.direct, "t_seq", 100, 10)
	before := a.kept()
	stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t (v) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "INSERT INTO t (v) VALUES (1)")
	fails(t, c, 1815, "vschema does not contain table t in keyspace main", "ALTER VSCHEMA ON t ADD AUTO_INCREMENT id USING t_seq")
	exec(t, c, "alter vschema add sequence t_seq", "ALTER VSCHEMA ADD TABLE "+g.database+".t", "ALTER VSCHEMA ON main.t ADD AUTO_INCREMENT id USING main.t_seq")
	fails(t, c, 1815, "vschema already contains sequence t_seq in keyspace main", "ALTER VSCHEMA ADD SEQUENCE t_seq")
	fails(t, c, 1815, "vschema already contains auto inc column:\"id\" sequence:\"main.t_seq\" on table t", "ALTER VSCHEMA ON t ADD AUTO_INCREMENT id USING t_seq")
	fails(t, c, 1815, "keyspaces.main.tables.t.auto_increment.sequence: there is no sequence", "ALTER VSCHEMA DROP SEQUENCE t_seq")
	fails(t, c, 1049, "unknown database 'nosuch' in vschema", "ALTER VSCHEMA ADD TABLE nosuch.t")
	fails(t, c, 1064, "near 'COLUMN", "ALTER VSCHEMA ADD COLUMN t")
	if got := strings.Join(texts(t, c, "SHOW VSCHEMA TABLES"), " "); got != "t t_seq" {
		t.Errorf("tables %s", got)
	}
	exec(t, c, "INSERT INTO t (v) VALUES (2)")
	if _, err := stmt.Exec(3); errno(err) != 1615 { // prepared without a place for the id
		t.Errorf("a statement from before: %v, want 1615", err)
	}
	exec(t, c, "ALTER VSCHEMA ON t DROP AUTO_INCREMENT", "INSERT INTO t (v) VALUES (4)")
	if got := strings.Join(texts(t, c, "SELECT id FROM t ORDER BY v"), " "); got != "-1 100 -1" {
		t.Errorf("ids %s, want -1 100 -1", got)
	}
	fails(t, c, 1815, "vschema does not contain auto increment on table t", "ALTER VSCHEMA ON t DROP AUTO_INCREMENT")
	exec(t, c, "ALTER VSCHEMA DROP SEQUENCE t_seq", "ALTER VSCHEMA DROP TABLE t")
	if a.kept() != before {
		t.Errorf("the vschema is %s, want %s as before", a.kept(), before)
	}
}

// Who has no right to change the vschema is refused, and so is everybody where no file keeps it.
func TestAlterVSchemaRefused(t *testing.T) {
	s := servertest.First(t)
	g, _ := newAlterGate(t, s, `{"keyspaces": {"main": {}}}`)
	reader := conn(t, openDSN(t, strings.Replace(g.dsn(""), gateUser+":", "reader:", 1)))
	fails(t, reader, 1142, "ALTER VSCHEMA command denied to user 'reader'; give the user vschema_ddl: true", "ALTER VSCHEMA ADD TABLE t")
	if got := table(t, reader, "SHOW VSCHEMA TABLES"); got != "Tables" {
		t.Errorf("tables %s, want none", got)
	}
	without := newGate(t, s, gateOptions{vschema: `{"keyspaces": {"main": {}}}`, users: []proxy.User{{Name: gateUser, Password: gatePassword, VSchemaDDL: true}}})
	fails(t, conn(t, without.open(t, "")), 1235, "no file to keep the changed vschema in", "ALTER VSCHEMA ADD TABLE t")
}

// Rows D7 and D8: vindexes of a sharded keyspace and of its tables.
func TestAlterVSchemaVindexes(t *testing.T) {
	s := servertest.First(t)
	a := &keptVSchema{}
	g := newShardedGate(t, s, 2, a.alterable(gateOptions{vschema: `{"keyspaces": {"customer": {"sharded": true}}}`}))
	a.server = g.proxy
	c := conn(t, g.open(t, "customer", ""))
	for i, shard := range g.shards {
		exec(t, shard, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)", fmt.Sprintf("INSERT INTO t VALUES (%d, 7)", []int{1, 4}[i]))
	}
	fails(t, c, 1146, "t", "UPDATE t SET v = v + 1 WHERE id = 4")
	exec(t, c, "ALTER VSCHEMA CREATE VINDEX xx USING xxhash", "BEGIN", "ALTER VSCHEMA ON t ADD VINDEX hash (id) USING hash",
		"UPDATE t SET v = v + 1 WHERE id = 4", "ROLLBACK", "INSERT INTO t VALUES (2, 8), (5, 8)")
	if got := fmt.Sprint(value[int](t, c, "SELECT v FROM t WHERE id = 4"), value[int](t, g.shards[0], "SELECT COUNT(*) FROM t"), value[int](t, c, "SELECT COUNT(*) FROM t")); got != "7 3 4" {
		t.Errorf("v, rows in -80, all rows: %s, want 7 3 4", got)
	}
	exec(t, c, "ALTER VSCHEMA ON t ADD VINDEX xx (v)",
		"ALTER VSCHEMA ON customer.u ADD VINDEX reg (region, id) USING region_experimental WITH region_bytes='1'")
	const want = "Columns|Name|Type|Params|Owner\nid|hash|hash||\nv|xx|xxhash||"
	if diff := cmp.Diff(want, table(t, c, "SHOW VSCHEMA VINDEXES ON t")); diff != "" {
		t.Errorf("vindexes of t (-want +got):\n%s", diff)
	}
	fails(t, c, 1815, "vindex hash already defined on table t", "ALTER VSCHEMA ON t ADD VINDEX hash (v)")
	fails(t, c, 1815, "can not drop vindex cause hash still defined on table t", "ALTER VSCHEMA DROP VINDEX hash")
	fails(t, c, 1815, "add vschema table: unsupported on sharded keyspace customer", "ALTER VSCHEMA ADD TABLE x")
	fails(t, c, 1815, "add sequence table: unsupported on sharded keyspace customer", "ALTER VSCHEMA ADD SEQUENCE x")
	fails(t, c, 1815, "unknown value \"hsah\": did you mean \"hash\"?", "ALTER VSCHEMA CREATE VINDEX h USING hsah")
	fails(t, c, 1815, "are not kept by this version when those of its owner \"t\" change", "ALTER VSCHEMA CREATE VINDEX l USING lookup WITH owner=t, table=main.l, from=v, to=keyspace_id")
	exec(t, c, "ALTER VSCHEMA ON t DROP VINDEX xx", "ALTER VSCHEMA DROP VINDEX xx", "ALTER VSCHEMA ON t DROP VINDEX hash", "ALTER VSCHEMA DROP VINDEX hash")
	if got := strings.Join(texts(t, c, "SHOW VSCHEMA TABLES"), " "); got != "u" {
		t.Errorf("tables %s, want u alone: t went with its last vindex", got)
	}
	// The first vindex makes a keyspace sharded, which one without shards cannot become.
	fails(t, c, 1815, "keyspaces.main: it becomes sharded, which it was not when seqgate was started", "ALTER VSCHEMA CREATE VINDEX main.h USING hash")
}

// What the servers of a running seqgate do not have cannot be taken over.
func TestSetVSchema(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	for text, want := range map[string]string{
		`{"keyspaces": {"customer": {"sharded": true}, "other": {}}}`: `keyspaces.other: it has no servers`,
		`{"keyspaces": {"main": {}}}`:                                 `keyspaces.customer: it was sharded when seqgate was started`,
		`{"keyspaces": {"customer": {"sharded": true, "vindexes": {"m": {"type": "modulo", "params": {"shards": "a,b,c"}}}}}}`:                                                                                      `keyspaces.customer: the vindex "m" lists the shards a, b, c`,
		`{"keyspaces": {"customer": {"sharded": true, "tables": {"t": {"type": "reference"}}, "vindexes": {"l": {"type": "lookup", "owner": "t", "params": {"table": "a", "from": "b", "to": "c"}}}}, "main": {}}}`: `keyspaces.customer.vindexes.l.owner: `,
	} {
		v, err := vschema.Load("v.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		before := g.proxy.VSchema()
		if err := g.proxy.SetVSchema(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if g.proxy.VSchema() != before {
			t.Errorf("%s was taken over", text)
		}
	}
}

// Statements that run while the vschema is replaced each go by one of both: every row gets an id, none twice.
func TestSetVSchemaUnderLoad(t *testing.T) {
	s := servertest.First(t)
	text := func(sequence string) string {
		return fmt.Sprintf(`{"keyspaces": {"main": {"tables": {"a_seq": {"type": "sequence"}, "b_seq": {"type": "sequence"},
			"t": {"auto_increment": {"column": "id", "sequence": %q}}}}}}`, sequence)
	}
	g := newGate(t, s, gateOptions{vschema: text("a_seq")})
	exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
	createSequence(t, g.direct, "a_seq", 1, 100)
	createSequence(t, g.direct, "b_seq", 1_000_000, 100)
	const clients, rows = 4, 100
	another, begin := context.WithCancel(t.Context()) // done when the second sequence is set
	defer begin()
	var writers sync.WaitGroup
	for range clients {
		c := conn(t, g.open(t, ""))
		writers.Go(func() {
			for i := range rows {
				if i == rows-1 {
					<-another.Done()
				}
				if _, err := c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (1), (2)"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	written := func(sequence string) int {
		return value[int](t, g.direct, "SELECT COUNT(*) FROM t WHERE IF(id < 1000000, 'a_seq', 'b_seq') = ?", sequence)
	}
	eventually(t, func() bool { return written("a_seq") > 0 }, "a row from the first sequence")
	for i := 0; ; i++ {
		sequence := []string{"b_seq", "a_seq"}[i%2]
		v, err := vschema.Load("v.json", []byte(text(sequence)))
		if err == nil {
			err = g.proxy.SetVSchema(v)
		}
		if err != nil {
			t.Fatal(err)
		}
		begin()
		// The next one follows when a client has written by this one, or all are done.
		for before := written(sequence); written(sequence) == before; {
			select {
			case <-done:
				first, second := written("a_seq"), written("b_seq")
				if first+second != 2*clients*rows || first == 0 || second == 0 {
					t.Errorf("%d and %d rows after %d vschemas, want %d from both sequences", first, second, i+1, 2*clients*rows)
				}
				return
			default:
			}
		}
	}
}
