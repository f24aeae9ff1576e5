package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// galeraHAProxy asks nodes, in MySQL's protocol, whether they are synchronized: it logs in as haproxy, without a password,
// and sends SHOW STATUS and COM_QUIT. The docs have these lines.
const galeraHAProxy = `
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
  option tcp-check
  tcp-check expect string mysql_native_password
  tcp-check send-binary 290000010082000000000001210000000000000000000000000000000000000000000000686170726f78790000
  tcp-check expect binary 0700000200
  tcp-check send-binary 2d00000003
  tcp-check send "SHOW STATUS LIKE 'wsrep_local_state_comment'"
  tcp-check expect string Synced
  tcp-check send-binary 0100000001
  default-server check inter 1s fall 2 rise 2 on-marked-down shutdown-sessions
listen writer
  bind WRITER
  server n1 N1
  server n2 N2 backup
  server n3 N3 backup
listen all
  bind ALL
  balance leastconn
  server n1 N1
  server n2 N2
  server n3 N3
`

// galeraTables are filled by sequences of the strategy that they are named after, and by leased worker ids.
var galeraTables = []string{"cas", "for_update", "increment", "flake"}

// Four seqgates in front of three nodes, two of them over one writer and two over all, give no id twice by any strategy,
// nor with leased worker ids, while a node is killed and comes back, and while another is frozen until the others go on
// without it. No statement waits for ids without end.
func TestGalera(t *testing.T) {
	nodes := startGalera(t, 3)
	for _, table := range galeraTables {
		run1(t, nodes[0].Open(t, ""), "CREATE DATABASE IF NOT EXISTS main", "CREATE TABLE main."+table+" (row_key VARCHAR(40) PRIMARY KEY, id BIGINT NOT NULL, KEY (id))")
	}
	writer, _ := freeAddr(t)
	all, _ := freeAddr(t)
	runHAProxy(t, strings.NewReplacer("WRITER", writer, "ALL", all, "N1", nodes[0].Addr, "N2", nodes[1].Addr, "N3", nodes[2].Addr).Replace(galeraHAProxy))
	awaitGaleraServers(t, writer, all)
	l := &galeraLoad{stop: make(chan struct{})}
	for i, server := range []string{writer, all, writer, all} {
		l.start(openClient(t, "app", "app", startGaleraGate(t, server).addr, "main"), i)
	}
	l.await(t)
	nodes[0].Kill(t)
	l.await(t)
	nodes[0].Start(t)
	servertest.AwaitGalera(t, nodes[0])
	l.await(t)
	nodes[1].Freeze(t)
	awaitGaleraSize(t, nodes[0], "2")
	l.await(t)
	nodes[1].Thaw(t)
	awaitGaleraSize(t, nodes[0], "3")
	servertest.AwaitGalera(t, nodes[1])
	l.await(t)
	close(l.stop)
	l.done.Wait()
	l.check(t, nodes)
}

// A node that is alone takes logins and refuses statements: it is down.
func TestGaleraMinority(t *testing.T) {
	nodes := startGalera(t, 2)
	p := start(t, "serve", "--upstream", nodes[0].DSN(nodes[0].NewDatabase(t)), "--listen", "127.0.0.1:0")
	logged := func(text string) {
		t.Helper()
		awaitGaleraValue(t, func() (string, error) { return fmt.Sprint(p.Logged(text)), nil }, "true")
	}
	logged("server is up")
	nodes[1].Kill(t)
	logged("wsrep_cluster_status is non-Primary")
}

func startGalera(t *testing.T, n int) []*servertest.Server {
	t.Helper()
	if os.Getenv("SEQGATE_TEST_GALERA") == "" {
		t.Skip("it takes minutes, galera-4 and wsrep_sst_rsync in PATH: set SEQGATE_TEST_GALERA=1")
	}
	return servertest.Galera(t, n)
}

// awaitGaleraServers returns when nodes can be reached through HAProxy.
func awaitGaleraServers(t *testing.T, addrs ...string) {
	t.Helper()
	for _, addr := range addrs {
		db := openClient(t, "app", "app", addr, "main")
		awaitGaleraValue(t, func() (string, error) { return "answers", db.PingContext(t.Context()) }, "answers")
	}
}

// awaitGaleraSize returns when a node knows of so many nodes, itself among them.
func awaitGaleraSize(t *testing.T, node *servertest.Server, want string) {
	t.Helper()
	db := node.Open(t, "")
	awaitGaleraValue(t, func() (size string, err error) {
		var name string
		err = db.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'wsrep_cluster_size'").Scan(&name, &size)
		return size, err
	}, want)
}

func awaitGaleraValue(t *testing.T, ask func() (string, error), want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		got, err := ask()
		if err == nil && got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q (%v) after a minute, want %q", got, err, want)
		}
	}
}

// startGaleraGate starts a seqgate with small blocks, so that it often asks for new ones.
func startGaleraGate(t *testing.T, server string) *process {
	t.Helper()
	dir := t.TempDir()
	var tables, overrides []string
	for _, table := range galeraTables[:3] {
		tables = append(tables, fmt.Sprintf(`"%s_seq": {"type": "sequence"}, %[1]q: {"auto_increment": {"column": "id", "sequence": "%[1]s_seq"}}`, table))
		overrides = append(overrides, fmt.Sprintf("main.%s_seq: {refill: %[1]s}", table))
	}
	vschema := fmt.Sprintf(`{"keyspaces": {"main": {"generators": {"flakes": {"type": "snowflake", "params": {"layout": "twitter"}}},
		"tables": {%s, "flake": {"auto_increment": {"column": "id", "generator": "flakes"}}}}}}`, strings.Join(tables, ", "))
	config := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0}\nusers: [{name: app, password: app}]\nvschema: vschema.json\n"+
		"keyspaces: {main: {shards: {\"-\": \"app:app@tcp(%s)/main\"}}}\nworker_ids: {any_server: true, lease: 10s, quarantine: 1s}\n"+
		"sequences: {auto_create: true, max_step: 20, timeout: 15s, overrides: {%s}}\n", server, strings.Join(overrides, ", "))
	for name, text := range map[string]string{"vschema.json": vschema, "seqgate.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return start(t, "serve", "--config", filepath.Join(dir, "seqgate.yaml"))
}

// galeraLoad is clients of several seqgates, and what they were told.
type galeraLoad struct {
	stop    chan struct{}
	done    sync.WaitGroup
	clients []*galeraClient
}

type galeraClient struct {
	name, table string
	db          *sql.DB
	given       map[string]int64 // ids, by the rows' keys
	count       atomic.Int64
	failures    map[string]int
}

// start starts two clients for each table.
func (l *galeraLoad) start(db *sql.DB, gate int) {
	for i := range 2 * len(galeraTables) {
		c := &galeraClient{fmt.Sprint(gate, "-", i), galeraTables[i/2], db, map[string]int64{}, atomic.Int64{}, map[string]int{}}
		l.clients = append(l.clients, c)
		l.done.Go(func() { c.run(l.stop) })
	}
}

var galeraNumbers = regexp.MustCompile(`:\d{4,}|\d+\.\d+s|\d{4}-\S+Z`) // ports and times, that are other ones each time

func (c *galeraClient) run(stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		key := fmt.Sprint(c.name, "-", i)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		r, err := c.db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (row_key) VALUES ('%s'), ('%[2]s+')", c.table, key))
		cancel()
		if err != nil {
			c.failures[galeraNumbers.ReplaceAllString(err.Error(), "N")]++
			continue
		}
		c.given[key], _ = r.LastInsertId() // the driver gives no error
		c.count.Add(1)
	}
}

// await returns when each client has inserted again.
func (l *galeraLoad) await(t *testing.T) {
	t.Helper()
	for _, c := range l.clients {
		want, deadline := c.count.Load()+5, time.Now().Add(2*time.Minute)
		for c.count.Load() < want {
			if time.Now().After(deadline) {
				t.Fatalf("client %s inserts nothing into %s", c.name, c.table)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// check compares the rows on all nodes with what the clients were told.
func (l *galeraLoad) check(t *testing.T, nodes []*servertest.Server) {
	t.Helper()
	for i, node := range nodes {
		db := node.Open(t, "main")
		db.SetMaxOpenConns(1)
		run1(t, db, "SET wsrep_sync_wait = 1")
		for _, table := range galeraTables {
			rows := galeraRows(t, db, table)
			if ids := query1[int](t, db, "SELECT COUNT(DISTINCT id) FROM "+table); ids != len(rows) {
				t.Errorf("node %d: %d rows of %s have %d ids", i+1, len(rows), table, ids)
			}
			t.Logf("node %d: %d rows of %s", i+1, len(rows), table)
			l.compare(t, fmt.Sprintf("node %d: %s", i+1, table), table, rows)
		}
	}
	failures := map[string]int{}
	for _, c := range l.clients {
		for text, n := range c.failures {
			failures[c.table+": "+text] += n
		}
	}
	for text, n := range failures {
		t.Logf("%d times %s", n, text)
	}
}

func (l *galeraLoad) compare(t *testing.T, where, table string, rows map[string]int64) {
	t.Helper()
	for _, c := range l.clients {
		for key, id := range c.given {
			if c.table == table && rows[key] != id {
				t.Errorf("%s: row %s has id %d, its client was told %d", where, key, rows[key], id)
			}
		}
	}
}

// galeraRows returns the ids of a table by the rows' keys.
func galeraRows(t *testing.T, db *sql.DB, table string) map[string]int64 {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT row_key, id FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ids := map[string]int64{}
	for rows.Next() {
		var key string
		var id int64
		if err := rows.Scan(&key, &id); err != nil {
			t.Fatal(err)
		}
		ids[key] = id
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}
