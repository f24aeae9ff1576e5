package proxy_test

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What a table of an unsharded keyspace is called is not taken for a keyspace.
func TestRoutedTableNamedAsKeyspace(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		other := s.NewDatabase(t)
		c, n := conn(t, g.open(t, "main", "")), conn(t, s.Open(t, other))
		for _, q := range []string{"CREATE TABLE customer (id INT PRIMARY KEY, customer VARCHAR(20))", "INSERT INTO customer VALUES (1, 'customer')", "SELECT customer FROM customer", "SELECT customer.customer FROM customer",
			"CREATE PROCEDURE pc(a VARCHAR(20)) SELECT customer, a FROM customer", "CALL pc('customer')", "CHECK TABLE customer", "LOCK TABLES customer WRITE", "UNLOCK TABLES", "HANDLER customer OPEN", "HANDLER customer READ FIRST", "HANDLER customer CLOSE",
			"PREPARE p FROM 'SELECT customer FROM customer WHERE id = ?'", "SET @i = 1", "EXECUTE p USING @i", "SHOW CREATE TABLE customer", "SHOW COLUMNS FROM customer", "SHOW INDEX FROM customer", "DESC customer", "EXPLAIN SELECT * FROM customer", "ANALYZE TABLE customer", "OPTIMIZE TABLE customer", "CHECKSUM TABLE customer",
			"SELECT MAX(id) FROM customer INTO @m", "SELECT @m", "CREATE VIEW vc AS SELECT * FROM customer", "SELECT * FROM vc WHERE customer = 'customer'", "WITH customer AS (SELECT 1 AS a) SELECT * FROM customer", "UPDATE customer SET customer = 'x'", "DELETE FROM customer USING customer", "ALTER TABLE customer ADD COLUMN z INT", "RENAME TABLE customer TO customer2", "CREATE TABLE customer LIKE customer2", "TRUNCATE TABLE customer", "CREATE TRIGGER tr BEFORE INSERT ON customer FOR EACH ROW SET NEW.customer = 'customer'", "INSERT INTO customer (id) VALUES (5)", "SELECT SUM(id) OVER (PARTITION BY customer) FROM customer", "SELECT customer FROM customer GROUP BY customer WITH ROLLUP", "SELECT JSON_OBJECT('customer', customer) FROM customer", "CREATE TEMPORARY TABLE tc SELECT * FROM customer", "SELECT * FROM tc", "FLUSH TABLES customer", "TABLE customer", "SELECT 1 FROM customer PROCEDURE ANALYSE()", "DO (SELECT COUNT(*) FROM customer)", "SHOW TABLES LIKE 'customer'", "REPLACE INTO customer VALUES (5, 'customer', 1)", "SELECT GET_LOCK('customer', 1)", "DROP TABLE customer"} {
			run := func(e execer) uint16 { _, err := e.ExecContext(t.Context(), q); return errno(err) }
			want, got := run(n), run(c)
			if want != got {
				_, err := c.ExecContext(t.Context(), q)
				t.Errorf("%s: error %d, want %d: %v", q, got, want, err)
			}
		}
	})
}

// From main, nothing that names customer runs on one server alone.
func TestRoutedNotOnOneServer(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	c := conn(t, g.open(t, "main", ""))
	exec(t, c, "INSERT INTO customer.user (id) VALUES (1), (2), (3), (4)")
	for _, shard := range g.shards {
		exec(t, shard, "CREATE PROCEDURE total() SELECT COUNT(*) FROM user", "CREATE PROCEDURE wipe() DELETE FROM user")
	}
	var n int
	if err := c.QueryRowContext(t.Context(), "CALL customer.total()").Scan(&n); errno(err) != 1235 {
		t.Errorf("CALL customer.total() gives %d of 4, from one shard", n)
	}
	if _, err := c.ExecContext(t.Context(), "CALL customer.wipe()"); errno(err) != 1235 {
		t.Errorf("CALL customer.wipe() has run; %d of 4 rows are left", len(g.users(t)))
	}
	// as where main and a shard are databases of one server
	db := s.Open(t, "mysql")
	exec(t, db, "CREATE DATABASE customer", "CREATE TABLE customer.user (id INT)", "INSERT INTO customer.user VALUES (1), (2)")
	defer exec(t, db, "DROP DATABASE IF EXISTS customer")
	if _, err := c.ExecContext(t.Context(), "SET @a = (SELECT COUNT(*) FROM customer.user)"); errno(err) != 1235 {
		t.Errorf("SET @a = (SELECT COUNT(*) FROM customer.user) gives %d", value[int](t, c, "SELECT @a"))
	}
	if _, err := c.ExecContext(t.Context(), "DROP DATABASE customer"); errno(err) != 1235 {
		t.Error("DROP DATABASE customer has dropped one server's database")
	}
}

// NEXT VALUE FOR without a SELECT is refused with the form that works.
func TestRoutedNextAlone(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	c := conn(t, g.open(t, "customer", ""))
	_, err := c.ExecContext(t.Context(), "NEXT VALUE FOR main.user_seq")
	if errno(err) != 1235 || !strings.Contains(err.Error(), "SELECT NEXT VALUE FOR") {
		t.Errorf("%v", err)
	}
}

// In customer, what is of main's server is refused with the way to it.
func TestRoutedNamesUnsharded(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	c := conn(t, g.open(t, "customer", ""))
	for _, q := range []string{"LOAD DATA INFILE '/x' INTO TABLE main.ua", "CREATE TEMPORARY TABLE main.x (id INT)", "CALL main.p()"} {
		_, err := c.ExecContext(t.Context(), q)
		if errno(err) != 1235 || !strings.Contains(err.Error(), "USE the keyspace") {
			t.Errorf("%s: %v", q, err)
		}
	}
}
