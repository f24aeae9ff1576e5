package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The guides of docs/moving-in.md are done with rows, there and back. They call MariaDB's clients, so they are done on the
// first of the servers.

const countedOrders = "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64), KEY (user_id))"

// userOrders are rows of the users 1 to 6, of whom hash has 4 and 6 on 80-.
const userOrders = "INSERT INTO orders (user_id, item) VALUES (1, 'a'), (2, 'it''s'), (3, NULL), (4, 'd'), (5, 'e'), (6, 'f')"

// idsOf reads the ids of a table, in order.
func idsOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	return query1[string](t, db, "SELECT COALESCE(GROUP_CONCAT(id ORDER BY id), '') FROM orders")
}

// wantIDs compares the ids of a table.
func wantIDs(t *testing.T, db *sql.DB, where, want string) {
	t.Helper()
	if got := idsOf(t, db); got != want {
		t.Errorf("ids at %s: %s, want %s", where, got, want)
	}
}

// wantClean checks that the check in what a guide printed found no errors.
func wantClean(t *testing.T, out string) {
	t.Helper()
	if !strings.Contains(out, "errors: 0, ") {
		t.Errorf("seqgate check:\n%s", out)
	}
}

func TestMoveFromAutoIncrement(t *testing.T) {
	s := servertest.First(t)
	g := newGuide(t, s, "From one MySQL with AUTO_INCREMENT", "10.0.0.1/shop", "10.0.0.2/customer", "10.0.0.3/customer")
	shop, first, second := g.db("10.0.0.1", "shop"), g.db("10.0.0.2", "customer"), g.db("10.0.0.3", "customer")
	run1(t, shop, countedOrders, userOrders)
	wantClean(t, g.do(1))
	g.do(1)
	if id := insert(t, g.client(s.User, s.Password, g.dbs["10.0.0.1/shop"]), 1); id != 7 {
		t.Errorf("the first id through seqgate is %d, want 7", id)
	}

	g.do(4) // the files, the tables and the other seqgate
	wantClean(t, g.do(1))
	wantIDs(t, first, "-80", "1,2,3,5,7")
	wantIDs(t, second, "80-", "4,6")
	if got := query1[string](t, first, "SELECT item FROM orders WHERE id = 2"); got != "it's" {
		t.Errorf("a copied text is %q", got)
	}
	app := g.client("app", "secret", "")
	if one, other := insert(t, app, 4), insert(t, app, 1); one < 8 || other <= one {
		t.Errorf("ids %d and %d, want new ones in order", one, other)
	}
	wantIDs(t, first, "-80", "1,2,3,5,7,9")
	wantIDs(t, second, "80-", "4,6,8")

	g.stop()
	g.do(3)
	wantIDs(t, shop, "shop", "1,2,3,4,5,6,7,8,9")
	if id := insert(t, shop, 1); id != 10 {
		t.Errorf("the first id of AUTO_INCREMENT is %d, want 10", id)
	}
	g.end()
}

func TestMoveFromModulo(t *testing.T) {
	s := servertest.First(t)
	g := newGuide(t, s, "From `id % n` with auto_increment_offset", "10.0.0.1/ids", "10.0.0.2/customer", "10.0.0.3/customer")
	odd, even := offsetServer(t, g.db("10.0.0.2", "customer"), 1), offsetServer(t, g.db("10.0.0.3", "customer"), 2)
	run1(t, odd, countedOrders, userOrders)
	run1(t, even, countedOrders, userOrders)
	wantIDs(t, odd, "odd", "1,3,5,7,9,11")
	wantClean(t, g.do(3))
	g.do(1)
	app := g.client("app", "secret", "")
	for want := int64(14); want < 18; want++ { // the servers' counters are at 13 and 14
		if id := insert(t, app, 1); id != want {
			t.Errorf("id %d, want %d", id, want)
		}
	}
	wantIDs(t, odd, "odd", "1,3,5,7,9,11,15,17")
	wantIDs(t, even, "even", "2,4,6,8,10,12,14,16")
	if got := query1[int](t, app, "SELECT COUNT(*) FROM orders WHERE id = 14"); got != 1 {
		t.Errorf("%d rows of id 14, want 1", got)
	}

	g.stop()
	g.do(2)
	if one, other := insert(t, odd, 1), insert(t, even, 1); one != 19 || other != 18 {
		t.Errorf("ids %d and %d of the servers alone, want 19 and 18", one, other)
	}
	g.end()
}

// offsetServer is one of two servers with auto_increment_increment = 2, as its sessions see them.
func offsetServer(t *testing.T, db *sql.DB, offset int) *sql.DB {
	t.Helper()
	db.SetMaxOpenConns(1)
	run1(t, db, fmt.Sprintf("SET auto_increment_increment = 2, auto_increment_offset = %d", offset))
	return db
}

func TestMoveFromVitess(t *testing.T) {
	s := servertest.First(t)
	untilHandedBack(t, func() bool {
		g := newGuide(t, s, "From Vitess", "10.0.0.1/vt_commerce", "10.0.0.2/vt_customer", "10.0.0.3/vt_customer")
		commerce, first, second := g.db("10.0.0.1", "vt_commerce"), g.db("10.0.0.2", "vt_customer"), g.db("10.0.0.3", "vt_customer")
		// As in Vitess's own example, with rows where its vindex hash puts them.
		run1(t, commerce, "CREATE TABLE orders_seq (id INT, next_id BIGINT, cache BIGINT, PRIMARY KEY (id)) COMMENT 'vitess_sequence'",
			"INSERT INTO orders_seq (id, next_id, cache) VALUES (0, 1001, 100)")
		for _, db := range []*sql.DB{first, second} {
			run1(t, db, "CREATE TABLE orders (id BIGINT, user_id BIGINT, item VARCHAR(64), PRIMARY KEY (id))")
		}
		run1(t, first, "INSERT INTO orders VALUES (1, 1, 'a'), (2, 2, 'b'), (900, 5, 'c')")
		run1(t, second, "INSERT INTO orders VALUES (3, 4, 'a'), (4, 6, 'b')")
		wantClean(t, g.do(3))
		g.do(1)
		app := g.client("app", "secret", "")
		if got := query1[int](t, app, "SELECT id FROM orders WHERE user_id = 6"); got != 4 {
			t.Errorf("the order of user 6 is %d, want 4", got)
		}
		// vtgate takes a block meanwhile.
		run1(t, commerce, "UPDATE orders_seq SET next_id = next_id + 100 WHERE id = 0")
		if one, other := insert(t, app, 4), insert(t, app, 3); one != 1101 || other != 1102 {
			t.Errorf("ids %d and %d, want 1101 and 1102", one, other)
		}
		wantIDs(t, first, "-80", "1,2,900,1102")
		wantIDs(t, second, "80-", "3,4,1101")
		if !g.stop() {
			return false
		}
		g.do(1)
		if g.number != 1103 {
			t.Errorf("Vitess goes on at %d, want 1103", g.number)
		}
		g.end()
		return true
	})
}

func TestMoveFromLeaf(t *testing.T) {
	s := servertest.First(t)
	untilHandedBack(t, func() bool {
		g := newGuide(t, s, "From Leaf", "10.0.0.1/shop", "10.0.0.2/leaf")
		shop, leaf := g.db("10.0.0.1", "shop"), g.db("10.0.0.2", "leaf")
		run1(t, leaf, leafTable, "INSERT INTO leaf_alloc VALUES ('order', 5001, 2000)")
		if !wantMove(t, g, shop, 5001) {
			return false
		}
		g.do(2)
		if got := query1[int64](t, leaf, "SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order'"); got != 5003 {
			t.Errorf("max_id %d, want 5003: Leaf gives it next", got)
		}
		g.end()
		return true
	})
}

func TestMoveFromTinyid(t *testing.T) {
	s := servertest.First(t)
	untilHandedBack(t, func() bool {
		g := newGuide(t, s, "From tinyid", "10.0.0.1/shop", "10.0.0.2/tinyid", "10.0.0.3/tinyid")
		shop := g.db("10.0.0.1", "shop")
		for i, name := range []string{"10.0.0.2", "10.0.0.3"} {
			run1(t, g.db(name, "tinyid"), tinyidInfo, fmt.Sprintf(
				"INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, version) VALUES ('order', 1, %d, 1000, 2, %d, 3)", 4000+1000*i, i))
		}
		if !wantMove(t, g, shop, 5001) {
			return false
		}
		g.do(2)
		for _, name := range []string{"10.0.0.2", "10.0.0.3"} {
			if got := query1[string](t, g.db(name, "tinyid"), "SELECT CONCAT(max_id, ' ', version) FROM tiny_id_info"); got != "5002 4" {
				t.Errorf("%s: max_id and version %s, want 5002 4: tinyid gives 5003 or 5004 next", name, got)
			}
		}
		g.end()
		return true
	})
}

// tinyidInfo is the table of tinyid-server/db.sql.
const tinyidInfo = "CREATE TABLE tiny_id_info (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, biz_type VARCHAR(63) NOT NULL DEFAULT '', " +
	"begin_id BIGINT NOT NULL DEFAULT 0, max_id BIGINT NOT NULL DEFAULT 0, step INT DEFAULT 0, delta INT NOT NULL DEFAULT 1, " +
	"remainder INT NOT NULL DEFAULT 0, create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', " +
	"update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', version BIGINT NOT NULL DEFAULT 0, UNIQUE KEY uniq_biz_type (biz_type))"

func TestMoveFromUidGenerator(t *testing.T) {
	s := servertest.First(t)
	g := newGuide(t, s, "From uid-generator", "10.0.0.1/shop")
	shop := g.db("10.0.0.1", "shop")
	// An id of now: seconds since the epoch, worker 7, count 0.
	run1(t, shop, "CREATE TABLE WORKER_NODE (ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, "+
		"TYPE INT NOT NULL, LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, CREATED TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
		"INSERT INTO WORKER_NODE (ID, HOST_NAME, PORT, TYPE, LAUNCH_DATE) VALUES (7, 'h', '1', 1, '2026-01-01')",
		"CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64))",
		"INSERT INTO orders VALUES ((TIMESTAMPDIFF(SECOND, '2016-05-20', UTC_TIMESTAMP() - INTERVAL 2 DAY) << 34) + (7 << 13), 1, 'a')")
	greatest := query1[int64](t, shop, "SELECT MAX(id) FROM orders")
	if out := g.do(1); !strings.Contains(out, "errors: 0, ") || !strings.Contains(out, "uid_generator_2016") {
		t.Errorf("output:\n%s", out)
	}
	g.do(1)
	app := g.client(s.User, s.Password, g.dbs["10.0.0.1/shop"])
	if one, other := insert(t, app, 1), insert(t, app, 2); one != greatest+1 || other != greatest+2 {
		t.Errorf("ids %d and %d, want the two after %d", one, other, greatest)
	}
	g.stop()
	g.do(1)
	if g.number != 1 {
		t.Error("the guide's SQL says that a uid-generator of now would make smaller ids")
	}
	g.do(1)
	g.end()
}

// wantMove does a guide up to the first ids, which begin at first, and stops its seqgate.
func wantMove(t *testing.T, g *guide, shop *sql.DB, first int64) (handedBack bool) {
	t.Helper()
	run1(t, shop, "CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64))",
		fmt.Sprintf("INSERT INTO orders VALUES (%d, 1, 'old')", first-1))
	wantClean(t, g.do(1))
	g.do(1)
	app := g.client(g.s.User, g.s.Password, g.dbs["10.0.0.1/shop"])
	if one, other := insert(t, app, 1), insert(t, app, 2); one != first || other != first+1 {
		t.Errorf("ids %d and %d, want %d and %d", one, other, first, first+1)
	}
	return g.stop()
}
