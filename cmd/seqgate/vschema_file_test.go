package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/internal/servertest"
)

// aVSchema has a table t that a sequence fills.
func aVSchema(sequence string) string {
	return fmt.Sprintf(`{"keyspaces": {"main": {"tables": {
  "a_seq": {"type": "sequence"},
  "b_seq": {"type": "sequence"},
  "t": {"auto_increment": {"column": "id", "sequence": %q}}
}}}}
`, sequence)
}

// served is a seqgate with a vschema that can be changed, and what tests look at.
type served struct {
	*process
	file   string
	db     *sql.DB
	direct *sql.DB
	admin  string
}

func serveVSchema(t *testing.T, s *servertest.Server) *served {
	t.Helper()
	p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)",
		"CREATE TABLE a_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'", "INSERT INTO a_seq VALUES (0, 100, 10)",
		"CREATE TABLE b_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'", "INSERT INTO b_seq VALUES (0, 2000, 10)")
	v := &served{file: filepath.Join(t.TempDir(), "vschema.json"), direct: s.Open(t, p.name)}
	replace(t, v.file, []byte(aVSchema("a_seq")))
	v.process = start(t, "serve", "--config", writeFile(t, "serve.yaml", fmt.Sprintf(`listen: 127.0.0.1:0
users: [{name: app, password: app, vschema_ddl: true}]
vschema: %s
keyspaces: {main: {shards: {"-": %q}}}
admin: {listen: "127.0.0.1:0"}
`, v.file, s.DSN(p.name))))
	v.db = openClient(t, "app", "app", v.addr, "main")
	v.admin = v.adminAddr(t)
	return v
}

// reloads gives the count of one result on the admin page.
func (v *served) reloads(t *testing.T, result string) (n int) {
	t.Helper()
	answer, err := http.Get("http://" + v.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, line, ok := strings.Cut(string(body), fmt.Sprintf("\nseqgate_vschema_reloads_total{result=%q} ", result))
	if _, err := fmt.Sscan(line, &n); !ok || err != nil {
		t.Fatalf("no count of %s: %v in\n%s", result, err, body)
	}
	return n
}

// id inserts a row and gives its id.
func (v *served) id(t *testing.T) int64 {
	t.Helper()
	result, err := v.db.Exec("INSERT INTO t (v) VALUES (1)")
	if err != nil {
		t.Fatal(err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A changed file is in force for the next statement of sessions that go on; a bad one changes nothing, is told with its
// line, and counted.
func TestVSchemaReload(t *testing.T) {
	s := servertest.First(t)
	v := serveVSchema(t, s)
	v.db.SetMaxOpenConns(1)
	session := query1[int](t, v.db, "SELECT CONNECTION_ID()")
	if id := v.id(t); id != 100 {
		t.Errorf("id %d, want 100", id)
	}
	replace(t, v.file, []byte(aVSchema("b_seq")))
	awaitThat(t, "the changed file", func() bool { return v.reloads(t, "ok") == 1 })
	if id := v.id(t); id != 2000 {
		t.Errorf("id %d, want 2000 of the other sequence", id)
	}

	// Rows D9 and D10: what Vitess would ignore or leave out refuses the whole file.
	for i, bad := range []struct{ text, logged string }{
		{aVSchema("c_seq"), `:4:56: keyspaces.main.tables.t.auto_increment.sequence: there is no sequence`},
		{strings.Replace(aVSchema("a_seq"), "auto_increment", "auto_incremnt", 1), `:4:9: keyspaces.main.tables.t.auto_incremnt: unknown key: did you mean`},
		{strings.Replace(aVSchema("a_seq"), "main", "other", 1), `keyspaces.other: it has no servers`},
		{strings.Replace(aVSchema("a_seq"), `{"main": {"tables"`, `{"two": {"tables": {}}, "main": {"sharded": true, "tables"`, 1), `:2:21: keyspaces.main.tables.a_seq.type: a sequence has to be in an unsharded keyspace`},
		{`{"keyspaces": {"main": {"sharded": true}}}`, `keyspaces.main: it becomes sharded, which it was not when seqgate was started`},
		{`{`, `:1:2: the file ends too early`},
	} {
		replace(t, v.file, []byte(bad.text))
		v.signal(t, syscall.SIGHUP)
		awaitThat(t, "error "+bad.logged, func() bool { return v.Logged(bad.logged) })
		awaitThat(t, "the count of errors", func() bool { return v.reloads(t, "error") > i })
	}
	if id := v.id(t); id != 2001 {
		t.Errorf("id %d, want 2001: the vschema from before the bad ones", id)
	}
	if err := os.Remove(v.file); err != nil {
		t.Fatal(err)
	}
	awaitThat(t, "an error for the missing file", func() bool { return v.Logged("vschema.json: no such file") })

	replace(t, v.file, []byte(aVSchema("a_seq")))
	v.signal(t, syscall.SIGHUP)
	awaitThat(t, "the file that is right again", func() bool { return v.reloads(t, "ok") >= 2 })
	if id := v.id(t); id != 101 {
		t.Errorf("id %d, want 101", id)
	}
	if got := query1[int](t, v.db, "SELECT CONNECTION_ID()"); got != session {
		t.Errorf("the connection is %d, want %d: sessions go on", got, session)
	}
}

// ALTER VSCHEMA writes the file, changes nothing else in it, and is not taken for somebody else's change.
func TestAlterVSchemaFile(t *testing.T) {
	s := servertest.First(t)
	v := serveVSchema(t, s)
	if err := os.Chmod(v.file, 0o640); err != nil {
		t.Fatal(err)
	}
	run1(t, v.db, "ALTER VSCHEMA ON t DROP AUTO_INCREMENT", "ALTER VSCHEMA ON t ADD AUTO_INCREMENT id USING b_seq")
	if id := v.id(t); id != 2000 {
		t.Errorf("id %d, want 2000", id)
	}
	got, err := os.ReadFile(v.file)
	if want := aVSchema("b_seq"); err != nil || string(got) != want {
		t.Errorf("the file has\n%s, %v; want\n%s", got, err, want)
	}
	if info, err := os.Stat(v.file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v, %v, want 0640", info.Mode(), err)
	}

	// Edits of many sessions at once all get in.
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := v.db.Exec(fmt.Sprintf("ALTER VSCHEMA ADD TABLE x%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if loaded, _, err := config.ReadVSchema(v.file); err != nil {
		t.Error(err)
	} else if k, _ := loaded.Keyspace("main"); len(k.Tables()) != 3+8 {
		t.Errorf("%d tables in the file, want %d", len(k.Tables()), 3+8)
	}

	// Nothing is left of the files that took its place.
	entries, err := os.ReadDir(filepath.Dir(v.file))
	if err != nil || len(entries) != 1 {
		t.Errorf("files %v, %v, want the vschema alone", entries, err)
	}
	v.signal(t, syscall.SIGHUP)
	awaitThat(t, "the reload", func() bool { return v.reloads(t, "ok") == 1 })
	if n := v.reloads(t, "error"); n != 0 {
		t.Errorf("%d failed reloads, want none", n)
	}
}
