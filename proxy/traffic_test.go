package proxy_test

import (
	"database/sql"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/meter"
)

// counted gives what a gate has counted of each kind, of errors and of routes, once all that was sent over c before is
// counted: a command is counted before the next one is looked at.
func counted(t testing.TB, p *proxy.Server, c *sql.Conn) (queries, failed, errors, routes map[string]int64) {
	t.Helper()
	if err := c.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	queries, failed, errors, routes = map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
	note := func(m map[string]int64, name string, n int64) {
		if n != 0 {
			m[name] = n
		}
	}
	snapshot := p.Traffic()
	for _, k := range meter.Kinds() {
		if k != meter.Command {
			note(queries, k.String(), snapshot.Queries[k].Took.Count())
			note(failed, k.String(), snapshot.Queries[k].Failed)
		}
	}
	for _, c := range meter.Classes() {
		note(errors, c.String(), snapshot.Errors[c])
	}
	for _, r := range meter.Routes() {
		note(routes, r.String(), snapshot.Routes[r])
	}
	return queries, failed, errors, routes
}

func TestCommandsAreCounted(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT UNIQUE)", "CREATE TABLE n (v INT)")
		createSequence(t, g.direct, "t_seq", 1, 100)
		c := conn(t, g.open(t, "multiStatements=true"))
		exec(t, c, "INSERT INTO t (v) VALUES (1)", "INSERT INTO n VALUES (1)", "UPDATE n SET v = 2", "DELETE FROM n", "BEGIN", "COMMIT",
			"SET @a = 1", "CREATE TABLE d (v INT)", "SELECT 1; SELECT 2")
		value[int](t, c, "SELECT COUNT(*) FROM n")
		value[int64](t, c, "SELECT NEXT VALUE FROM t_seq")
		value[int](t, c, "SELECT v FROM t WHERE v = ?", 1) // is prepared first
		exec(t, c, "SHOW WARNINGS", "SHOW SEQGATE STATUS", "CREATE SEQUENCE other_seq")
		for _, sql := range []string{"INSERT INTO t (v) VALUES (1)", "SELECT nonsense", "SELEC 1", "LOAD DATA INFILE 'f' INTO TABLE t"} {
			if _, err := c.ExecContext(t.Context(), sql); err == nil {
				t.Fatalf("%s: no error", sql)
			}
		}
		queries, failed, errors, routes := counted(t, g.proxy, c)
		want := map[string]int64{"select": 3, "insert_filled": 2, "insert": 2, "update": 1, "delete": 1, "next": 1, "transaction": 2,
			"set": 1, "show": 1, "ddl": 1, "admin": 2, "several": 1, "prepare": 1, "other": 1}
		if s.IsMariaDB() { // has sequences of its own: CREATE SEQUENCE is left to it
			want["admin"], want["ddl"] = 1, 2
		}
		if diff := cmp.Diff(want, queries); diff != "" {
			t.Errorf("commands (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int64{"insert_filled": 1, "select": 1, "other": 1, "insert": 1}, failed); diff != "" {
			t.Errorf("failed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int64{"duplicate_key": 1, "missing": 1, "syntax": 1, "not_supported": 1}, errors); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
		if len(routes) > 0 {
			t.Errorf("routes without sharded keyspaces: %v", routes)
		}
	})
}

func TestRoutesAreCounted(t *testing.T) {
	g, c := newInsertGate(t, servertest.First(t), 2)
	exec(t, c, "INSERT INTO user (id, name) VALUES (1, 'a'), (4, 'b')", "INSERT INTO user (name) VALUES ('a')", "SELECT * FROM user ORDER BY id",
		"SELECT * FROM user WHERE id = 1", "UPDATE user SET name = 'c'", "SHOW SEQGATE STATUS", "SHOW VSCHEMA TABLES")
	if _, err := c.ExecContext(t.Context(), "INSERT INTO user (id, name) VALUES (1, 'a')"); errno(err) != 1062 {
		t.Fatalf("got %v, want error 1062", err)
	}
	value[string](t, c, "SELECT name FROM user WHERE id = ?", 4)
	queries, _, errors, routes := counted(t, g.proxy, c)
	if diff := cmp.Diff(map[string]int64{"insert_filled": 1, "insert": 2, "select": 3, "update": 1, "admin": 2, "prepare": 1}, queries); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"duplicate_key": 1}, errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if routes["single"] < 4 || routes["scatter"] != 3 || routes["single"]+routes["scatter"]+routes["local"] != 9 {
		t.Errorf("routes %v, want 3 of 9 on several shards", routes)
	}
	for _, b := range g.proxy.Traffic().Backends {
		if b.Keyspace == "customer" && (b.Queries < 3 || b.In == 0 || b.Out == 0 || b.Busy != 1) {
			t.Errorf("shard %s: %+v, want what the statements took there, over one connection", b.Shard, b)
		}
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{configure: func(c *proxy.Config) { c.MaxConnections, c.IdleBackends = 3, 1 }})
	exec(t, g.direct, "CREATE TABLE n (v INT)")
	c := rawClient(t, g.dsn(""))
	packet := command("\x03INSERT INTO n VALUES (1)")
	answer := answerOf(t, c, packet)
	var s meter.Snapshot
	eventually(t, func() bool { // the client may have the answer before it is counted
		s = g.proxy.Traffic()
		return s.Out >= int64(len(answer))
	}, "the answer is counted")
	if s.In < int64(len(packet)) || s.Out < int64(len(answer)) || s.Accepted != 1 || s.Sessions != 1 || s.Limit != 3 || s.Pinned != 0 || !s.Ready {
		t.Errorf("got %+v", s)
	}
	if b := s.Backends[0]; b.Keyspace != "main" || b.Shard != "-" || b.Busy != 1 || b.Queries < 1 || b.Out < int64(len(packet)) || b.In < int64(len(answer)) {
		t.Errorf("got %+v, want one connection in use", b)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		s := g.proxy.Traffic()
		if b := s.Backends[0]; s.Sessions == 0 && b.Busy == 0 && b.Idle == 0 { // its reset may have taken too long: another one
			c := rawClient(t, g.dsn(""))
			answerOf(t, c, packet)
			_ = c.Close()
		}
		return s.Sessions == 0 && s.Backends[0].Busy == 0 && s.Backends[0].Idle == 1
	}, "the server's connection is idle")
}

func TestRefusalsAreCounted(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{configure: func(c *proxy.Config) { c.MaxUserConnections = 1 }})
	bare, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Close(); err != nil {
		t.Fatal(err)
	}
	wrong := openDSN(t, "app:wrong@tcp("+g.addr+")/")
	if err := wrong.PingContext(t.Context()); errno(err) != 1045 {
		t.Fatalf("got %v, want error 1045", err)
	}
	rawClient(t, g.dsn(""))
	if err := g.open(t, "").PingContext(t.Context()); errno(err) != 1226 {
		t.Fatalf("got %v, want error 1226", err)
	}
	eventually(t, func() bool {
		s := g.proxy.Traffic()
		return s.Refused[meter.RefusedLeft] == 1 && s.Refused[meter.RefusedLogin] == 1 && s.Refused[meter.RefusedUser] == 1 && s.Accepted == 4
	}, "three refusals are counted")
}

// Where clients log in by themselves no connection to the server is another client's.
func TestPinnedSessions(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{passThrough: true})
	conn(t, g.open(t, ""))
	eventually(t, func() bool { // the client hears of its login before that is counted
		s := g.proxy.Traffic()
		return s.Sessions == 1 && s.Pinned == 1 && s.Backends[0].Busy == 1
	}, "one pinned session")
}
