package proxy_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// binlogOptions are for both servers; MariaDB always has GTIDs.
var binlogOptions = []string{"--log-bin=bin", "--server-id=7", "--max-allowed-packet=64M", "--loose-gtid-mode=ON", "--loose-enforce-gtid-consistency=ON"}

// replica reads a server's binary log at an address: its own, or a gate's.
type replica struct {
	t    *testing.T
	c    *client.Conn
	id   uint32
	name string // of the log file
}

func newReplica(t *testing.T, s *servertest.Server, addr string, id uint32) *replica {
	t.Helper()
	c, err := client.Connect(addr, s.User, s.Password, "")
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{t: t, c: c, id: id}
	t.Cleanup(r.close)
	r.set("@master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32', @mariadb_slave_capability = 4," +
		" @slave_uuid = UUID(), @replica_uuid = @slave_uuid")
	register := binary.LittleEndian.AppendUint32([]byte{mysql.COM_REGISTER_SLAVE}, id)
	r.send(append(register, make([]byte, 3+2+4+4)...))
	if _, err := c.ReadOKPacket(); err != nil {
		t.Fatalf("register: %v", err)
	}
	return r
}

func (r *replica) close() { _ = r.c.Conn.Conn.Close() } // without a word, as replicas go

func (r *replica) set(variables string) {
	r.t.Helper()
	if _, err := r.c.Execute("SET " + variables); err != nil {
		r.t.Fatal(err)
	}
}

// send sends a command, or what a replica says in a stream.
func (r *replica) send(payload []byte) {
	r.t.Helper()
	r.c.ResetSequence()
	if err := r.c.WritePacket(append(make([]byte, 4), payload...)); err != nil {
		r.t.Fatal(err)
	}
}

// dump begins a stream at a position.
func (r *replica) dump(at mysql.Position) {
	r.t.Helper()
	r.name = at.Name
	b := binary.LittleEndian.AppendUint32([]byte{mysql.COM_BINLOG_DUMP}, at.Pos)
	b = binary.LittleEndian.AppendUint32(append(b, 0, 0), r.id)
	r.send(append(b, at.Name...))
}

// dumpGTID begins a stream of all transactions that there are.
func (r *replica) dumpGTID(mariaDB bool) {
	r.t.Helper()
	if mariaDB {
		r.set("@slave_connect_state = ''")
		r.dump(mysql.Position{Pos: 4})
		return
	}
	const throughGTID = 4
	b := binary.LittleEndian.AppendUint32([]byte{mysql.COM_BINLOG_DUMP_GTID, throughGTID, 0}, r.id)
	b = binary.LittleEndian.AppendUint64(append(b, 0, 0, 0, 0), 4)
	r.send(append(b, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) // a set of no GTIDs
}

// event gives the next event, and acknowledges it when it asks for that.
func (r *replica) event() (string, error) {
	if err := r.c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	b, err := r.c.ReadPacket()
	switch {
	case err != nil:
		return "", err
	case len(b) < 20 || b[0] != 0:
		return "", fmt.Errorf("no event: %q", b)
	case b[1] == 0xef && b[2]&1 == 1:
		ack := binary.LittleEndian.AppendUint64([]byte{0xef}, uint64(logPos(string(b[3:]))))
		r.c.ResetSequence()
		err = r.c.WritePacket(append(make([]byte, 4), append(ack, r.name...)...))
	}
	return string(b[1:]), err
}

// logPos gives where the event after this one begins.
func logPos(event string) uint32 { return binary.LittleEndian.Uint32([]byte(event[13:17])) }

// logEnd gives where the server's binary log ends.
func logEnd(t *testing.T, g *gate) mysql.Position {
	t.Helper()
	statement := "SHOW BINARY LOG STATUS"
	if g.server.IsMariaDB() {
		statement = "SHOW MASTER STATUS"
	}
	rows, err := g.direct.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(columns))
	var end mysql.Position
	for i := range values {
		values[i] = new(any)
	}
	values[0], values[1] = &end.Name, &end.Pos
	if !rows.Next() {
		t.Fatalf("%s: no row", statement)
	}
	if err := rows.Scan(values...); err != nil {
		t.Fatal(err)
	}
	return end
}

// events gives a log's events up to a position.
func (r *replica) events(end uint32) []string {
	r.t.Helper()
	var events []string
	for {
		e, err := r.event()
		if err != nil {
			r.t.Fatalf("after %d events: %v", len(events), err)
		}
		events = append(events, e)
		if logPos(e) >= end {
			return events
		}
	}
}

// A replica gets through seqgate what it gets from the server, event by event.
func TestReplicaReadsTheSameEvents(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		c := conn(t, openDSN(t, fmt.Sprintf("%s:%s@tcp(%s)/%s?maxAllowedPacket=0", s.User, s.Password, g.addr, g.database)))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, v LONGTEXT)")
		createSequence(t, c, "t_seq", 1, 10)
		exec(t, c, "INSERT INTO t (v) VALUES ('one'), ('two')", "UPDATE t SET v = 'changed'",
			"INSERT INTO t (v) VALUES ('"+strings.Repeat("long", 20<<20/4)+"')", // an event of two packets
			"DELETE FROM t")
		end := logEnd(t, g)
		for _, from := range []struct {
			name string
			dump func(*replica)
		}{
			{"position", func(r *replica) { r.dump(mysql.Position{Name: end.Name, Pos: 4}) }},
			{"GTID", func(r *replica) { r.dumpGTID(s.IsMariaDB()) }},
		} {
			t.Run(from.name, func(t *testing.T) {
				var read [2][]string
				for i, addr := range []string{s.Addr, g.addr} {
					r := newReplica(t, s, addr, uint32(90+i))
					from.dump(r)
					read[i] = r.events(end.Pos)
				}
				if len(read[0]) < 10 {
					t.Errorf("only %d events", len(read[0]))
				}
				if diff := cmp.Diff(digests(read[0]), digests(read[1])); diff != "" {
					t.Errorf("events (-direct +seqgate):\n%s", diff)
				}
			})
		}
	}, binlogOptions...)
}

// digests makes events short enough to be shown.
func digests(events []string) []string {
	short := make([]string, len(events))
	for i, e := range events {
		short[i] = fmt.Sprintf("%d bytes, %x, %x", len(e), e[:min(len(e), 40)], sha256.Sum256([]byte(e)))
	}
	return short
}

// A server that waits for a replica's acknowledgement gets it through seqgate.
func TestSemiSyncAcknowledgement(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		prefix := "rpl_semi_sync_source"
		if s.IsMariaDB() {
			prefix = "rpl_semi_sync_master"
		} else {
			exec(t, g.direct, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
		}
		exec(t, g.direct, "CREATE TABLE t (id INT PRIMARY KEY)", "SET GLOBAL "+prefix+"_timeout = 600000", "SET GLOBAL "+prefix+"_enabled = ON")
		status := func(name string) (n int) {
			row := g.direct.QueryRowContext(t.Context(), "SHOW STATUS LIKE '"+prefix+"_"+name+"'")
			if err := row.Scan(new(string), &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		r := newReplica(t, s, g.addr, 90)
		r.set("@rpl_semi_sync_slave = 1, @rpl_semi_sync_replica = 1")
		r.dump(logEnd(t, g))
		await(t, "the server to know its replica", func() bool { return status("clients") == 1 })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			for err := error(nil); err == nil; {
				_, err = r.event()
			}
		}()
		if _, err := g.direct.ExecContext(ctx, "INSERT INTO t VALUES (1), (2)"); err != nil {
			t.Fatalf("the commit is not acknowledged: %v", err)
		}
		if status("yes_tx") == 0 {
			t.Error("the server did not wait for its replica")
		}
	}, binlogOptions...)
}

// A stream ends with its client, and with the server's own stop: a drain does
// not wait for it.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		dumps := func() int {
			return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE COMMAND LIKE 'Binlog Dump%'")
		}
		start := func(id uint32) *replica {
			r := newReplica(t, s, g.addr, id)
			r.dump(logEnd(t, g))
			await(t, "the stream to begin", func() bool { return dumps() == 1 })
			return r
		}
		start(90).close()
		exec(t, g.direct, "CREATE TABLE t (id INT)")
		await(t, "the stream to end with its client", func() bool {
			exec(t, g.direct, "INSERT INTO t VALUES (1)") // a server notices when it has events to send
			return dumps() == 0
		})
		start(91)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := g.proxy.Shutdown(ctx); err != nil {
			t.Errorf("shut down during a stream: %v", err)
		}
	}, binlogOptions...)
}
