package proxy_test

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
)

// A client of a sharded keyspace logs in to its first shard, and may name one shard
// to be alone with that.
func TestRoutedLogin(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	exec(t, g.shards[1], "INSERT INTO user (id, name) VALUES (4, 'd')")
	routed := conn(t, g.open(t, "customer", ""))
	if got := value[int](t, routed, "SELECT 1"); got != 1 {
		t.Errorf("SELECT 1 gives %d", got)
	}
	for database, want := range map[string]int{"customer:-80": 0, "customer:80-": 1, "customer/80-": 1} {
		if got := value[int](t, conn(t, g.open(t, database, "")), "SELECT COUNT(*) FROM user"); got != want {
			t.Errorf("%s: %d rows, want %d", database, got, want)
		}
	}
	if _, err := g.open(t, "customer:40-", "").Exec("DO 1"); errno(err) != 1049 && errno(err) != 1044 {
		t.Errorf("a shard that is not there: %v, want 1049", err)
	}
}

func TestRoutedTransaction(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	c := conn(t, g.open(t, "customer", ""))
	exec(t, c, "BEGIN", "SELECT 1", "SAVEPOINT a", "ROLLBACK TO a", "COMMIT", "SET @x = 5", "START TRANSACTION READ ONLY", "ROLLBACK", "SET autocommit = 0", "COMMIT")
	if got := value[int](t, c, "SELECT @x"); got != 5 {
		t.Errorf("@x is %d, want 5", got)
	}
	if _, err := c.ExecContext(t.Context(), "ROLLBACK TO SAVEPOINT b"); errno(err) != 1305 {
		t.Errorf("an unknown savepoint: %v, want 1305", err)
	}
}

// A text of many statements takes time in proportion to its length.
func TestRoutedParts(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	c := conn(t, g.open(t, "customer", "multiStatements=true"))
	const statements = 2000
	exec(t, c, strings.Repeat("DO 'a;b'; ", statements)+"SET sql_mode = 'ANSI_QUOTES'; UPDATE user SET name = 'x;' WHERE \"id\" = 4; INSERT INTO user (name) VALUES ('y')")
	if got := value[int](t, c, "SELECT COUNT(*) FROM user WHERE name = 'y'"); got != 1 {
		t.Errorf("%d rows of the last statement, want 1", got)
	}
	if _, err := c.ExecContext(t.Context(), "INSERT INTO user (name) VALUES ('z'); UPDATE none SET a = 1; INSERT INTO user (name) VALUES ('z')"); errno(err) != 1146 {
		t.Errorf("%v, want error 1146", err)
	}
	if got := value[int](t, c, "SELECT COUNT(*) FROM user WHERE name = 'z'"); got != 1 {
		t.Errorf("%d rows of the statements around one that fails, want 1", got)
	}
}

// Version comments, as dumps have them, are read as the servers read them.
func TestRoutedVersionComments(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "/*!40101 SET @saved = @@sql_mode */", "/*!999999 nonsense */ INSERT INTO user (name) VALUES ('a')",
			"INSERT INTO user (name) VALUES /*!40000 ('b'), */ ('c')")
		if got := value[int](t, c, "SELECT /*!40000 COUNT(*) */ FROM user WHERE name > ?", ""); got != 3 {
			t.Errorf("%d rows, want 3", got)
		}
		if _, err := c.ExecContext(t.Context(), "/*!40000 REPLACE INTO child */ (v) VALUES ('x')"); errno(err) == 0 {
			t.Error("a child without a user was inserted")
		}
	})
}

// What no server understands gets the server's own error.
func TestRoutedSyntaxError(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		for statement, want := range map[string]uint16{
			"SELECT * FROM user WHERE": 1064, "SELEKT * FROM user": 1064, "UPDATE user SET WHERE id = 1": 1064,
			"SELECT a.name FROM user a JOIN user b ON a.name = b.name": 1235,
		} {
			if _, err := c.ExecContext(t.Context(), statement); errno(err) != want {
				t.Errorf("%s: %v, want error %d", statement, err, want)
			}
		}
	})
}

// A shard whose server is away fails the statements that need it, and no others.
func TestRoutedShardAway(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
		cfg.Keyspaces["customer"].Shards[0].Backend = &backend.Backend{Network: "tcp", Addr: "127.0.0.1:1", User: "app"}
		cfg.Default = "customer"
	}})
	exec(t, g.shards[1], "INSERT INTO user (id, name) VALUES (4, 'd')")
	c := conn(t, g.open(t, "customer", ""))
	if got := value[string](t, c, "SELECT name FROM user WHERE id = 4"); got != "d" {
		t.Errorf("user 4 is %q", got)
	}
	for _, statement := range []string{"SELECT name FROM user WHERE id = 1", "SELECT name FROM user", "INSERT INTO user (id) VALUES (4), (1)"} {
		if _, err := c.ExecContext(t.Context(), statement); errno(err) != 1429 {
			t.Errorf("%s: %v, want error 1429", statement, err)
		}
	}
	exec(t, c, "UPDATE user SET name = 'x' WHERE id = 4")
}
