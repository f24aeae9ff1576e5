package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/seqgate/seqgate/internal/app"
)

// How the failures of docs/failures.md are made that need more than a statement.

// fullColumn also does what the page says to do.
func fullColumn(t *testing.T, b *failureBed) string {
	seen := insertInto("full", "ALTER TABLE full MODIFY id TINYINT", "UPDATE full_seq SET next_id = 128")(t, b)
	run1(t, b.direct, "ALTER TABLE full MODIFY id BIGINT")
	db := b.as(t, "app")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, err := db.ExecContext(t.Context(), "INSERT INTO full (v) VALUES (1)")
		if err == nil {
			return seen
		}
		if time.Now().After(deadline) {
			t.Fatalf("the column is wider, and: %v", err)
		}
	}
}

// lockedRow has a seqgate of its own, which waits for a second: the others' statements have longer on a busy machine. It has
// given an id before, so that its second is spent on the lock alone.
func lockedRow(t *testing.T, b *failureBed) string {
	t.Setenv("SEQGATE_SEQUENCES_TIMEOUT", "1s")
	db := openClient(t, b.s.User, b.s.Password, start(t, "serve", "--upstream", b.s.DSN(b.main), "--listen", "127.0.0.1:0").addr, b.main)
	const statement = "INSERT INTO locked (v) VALUES (1)"
	awaitThat(t, "an id before the lock", func() bool {
		_, err := db.ExecContext(t.Context(), statement)
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
	tx, err := b.direct.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // nothing was changed
	if _, err := tx.Exec("UPDATE locked_seq SET cache = 1 WHERE id = 0"); err != nil {
		t.Fatal(err)
	}
	_, err = untilError(t, db, statement, "")
	return shown(t, err)
}

func warnedID(t *testing.T, b *failureBed) string {
	run1(t, b.as(t, "app"), "INSERT INTO warned (id, v) VALUES (500, 1)")
	return b.gate.line(t, "an INSERT brought an id")
}

func loweredRow(t *testing.T, b *failureBed) string {
	db := b.as(t, "app")
	query1[int64](t, db, "SELECT NEXT 1000 VALUES FROM lowered_seq")
	run1(t, b.direct, "UPDATE lowered_seq SET next_id = 1")
	for range 3 { // more than is in memory
		query1[int64](t, db, "SELECT NEXT 1000 VALUES FROM lowered_seq")
	}
	return b.gate.line(t, "sequence row was behind")
}

// takenWorkers has two seqgates lease the worker ids that the layout, with one bit, has, and asks a third.
func takenWorkers(t *testing.T, b *failureBed) string {
	const statement = "SELECT NEXT VALUE FROM flake"
	for _, gate := range []*process{b.gate, start(t, "serve", "--config", b.config)} {
		db := openClient(t, "app", "app", gate.addr, "main")
		awaitThat(t, "a worker id", func() bool { // the lease may come after the start
			_, err := db.ExecContext(t.Context(), statement)
			if err != nil {
				t.Log(err)
			}
			return err == nil
		})
	}
	t.Setenv("SEQGATE_SEQUENCES_TIMEOUT", "1s") // that long it waits for a worker id to be free
	third := start(t, "serve", "--config", b.config)
	given, err := untilError(t, openClient(t, "app", "app", third.addr, "main"), statement, "are taken")
	if given > 0 {
		t.Fatalf("the third gave %d ids", given)
	}
	return shown(t, err)
}

// wrongClock has the server's sessions tell another time, as TestServeClockDiffers does.
func wrongClock(t *testing.T, b *failureBed) string {
	dsn, err := mysql.ParseDSN(b.s.DSN(b.main))
	if err != nil {
		t.Fatal(err)
	}
	dsn.Params = map[string]string{"timestamp": fmt.Sprint(time.Now().Add(time.Hour).Unix())}
	config := fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\nvschema: %s\n", dsn.FormatDSN(), writeFile(t, "vschema.json", leasedGenerator))
	return shown(t, serveFails(t, "--config", writeFile(t, "seqgate.yaml", config)))
}

func endedLayout(t *testing.T, _ *failureBed) string {
	path := writeFile(t, "vschema.json", `{"keyspaces": {"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "uid_generator_2016"}}}}}}`)
	_, err := app.Loader(env(nil)).Load(writeFile(t, "seqgate.yaml", mainKeyspace+"vschema: "+path+"\n"))
	return strings.ReplaceAll(shown(t, err), path, "vschema.json")
}

// partlyCommitted has the second shard's connection end at its COMMIT.
func partlyCommitted(t *testing.T, b *failureBed) string {
	conn, err := b.as(t, "app").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{"BEGIN", "INSERT INTO customer.orders (user_id) VALUES (1)", "INSERT INTO customer.orders (user_id) VALUES (4)"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, err = conn.ExecContext(t.Context(), "COMMIT")
	if left, right := b.rows(t, b.left), b.rows(t, b.right); left != 1 || right != 0 {
		t.Errorf("%d and %d rows on the shards, want that of the first alone", left, right)
	}
	return shown(t, err)
}

func (b *failureBed) rows(t *testing.T, database string) int {
	t.Helper()
	return query1[int](t, b.direct, "SELECT COUNT(*) FROM "+database+".orders")
}

// cutAtCommit is a way to a server on which connections end when they send COMMIT.
func cutAtCommit(t *testing.T, to string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close() // ends what accepts; seqgate, which has ended, has closed the others
		work.Wait()
	})
	work.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				_ = client.Close()
				return
			}
			work.Go(func() { _, _ = io.Copy(client, server); _ = client.Close() }) // either end ends both
			work.Go(func() { copyToCommit(server, client); _ = server.Close(); _ = client.Close() })
		}
	})
	return l.Addr().String()
}

// copyToCommit copies until a COMMIT comes, which it does not copy.
func copyToCommit(to io.Writer, from io.Reader) {
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if bytes.Contains(bytes.ToUpper(buf[:n]), []byte("COMMIT")) {
			return
		}
		if _, wrote := to.Write(buf[:n]); err != nil || wrote != nil {
			return
		}
	}
}

func wrongPassword(t *testing.T, b *failureBed) string {
	return shown(t, openClient(t, "app", "guessed", b.gate.addr, "main").PingContext(t.Context()))
}

func tooManyOfUser(t *testing.T, b *failureBed) string {
	if err := b.as(t, "limited").PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return shown(t, b.as(t, "limited").PingContext(t.Context()))
}

// spoil changes a file for the time of a test.
func spoil(t *testing.T, path, text string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Error(err)
		}
	})
}

func refusedVSchema(t *testing.T, b *failureBed) string {
	spoil(t, b.vschema, `{"keyspaces": {"main": {"tabels": {}}}}`)
	b.gate.signal(t, syscall.SIGHUP)
	return strings.ReplaceAll(b.gate.line(t, "vschema not loaded"), b.vschema, "vschema.json")
}

func refusedConfig(t *testing.T, b *failureBed) string {
	spoil(t, b.config, mainKeyspace+"drain_timeout: 10\n")
	b.gate.signal(t, syscall.SIGHUP)
	return strings.ReplaceAll(b.gate.line(t, "drain_timeout"), b.config, "seqgate.yaml")
}

// stopped reads what a session that is idle is sent when seqgate is told to stop.
func stopped(t *testing.T, b *failureBed) string {
	var raw net.Conn
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", b.gate.addr, "app", "app", "main"
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		raw = conn
		return conn, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.gate.signal(t, syscall.SIGTERM)
	if err := raw.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	packet, err := io.ReadAll(raw)
	if err != nil || len(packet) < 13 || packet[4] != 0xff {
		t.Fatalf("the session was sent %q, %v; want an error packet", packet, err)
	}
	return fmt.Sprintf("ERROR %d (%s): %s", int(packet[5])|int(packet[6])<<8, packet[8:13], packet[13:])
}
