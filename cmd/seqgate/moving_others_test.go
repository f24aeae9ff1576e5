package main

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Guides whose ids were made by other proxies and databases, which are not run here: the rows are as they leave them.

const plainOrders = "CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64))"

func TestMoveFromAutoRandom(t *testing.T) {
	s := servertest.First(t)
	g := newGuide(t, s, "From AUTO_RANDOM", "10.0.0.1/shop")
	shop := g.db("10.0.0.1", "shop")
	// The first, second and third id, with the random bits 3, 31 and 17.
	const last = 31<<58 + 2
	run1(t, shop, plainOrders, fmt.Sprintf("INSERT INTO orders VALUES (%d, 1, 'a'), (%d, 2, 'b'), (%d, 3, 'c')", 3<<58+1, last, 17<<58+3))
	wantClean(t, g.do(1))
	g.do(1)
	if id := insert(t, g.client(s.User, s.Password, g.dbs["10.0.0.1/shop"]), 1); id != last+1 {
		t.Errorf("the first id is %d, want %d", id, last+1)
	}
	g.end()
}

func TestMoveFromCreateSequence(t *testing.T) {
	s := servertest.First(t)
	if !s.IsMariaDB() {
		t.Skip("only MariaDB has sequences")
	}
	untilHandedBack(t, func() bool {
		g := newGuide(t, s, "From CREATE SEQUENCE", "10.0.0.1/shop")
		shop := g.db("10.0.0.1", "shop")
		run1(t, shop, plainOrders, "CREATE SEQUENCE order_numbers START WITH 5000 NOCACHE", "INSERT INTO orders VALUES (NEXT VALUE FOR order_numbers, 1, 'a')")
		g.do(1)
		wantClean(t, g.do(1))
		g.do(1)
		if id := insert(t, g.client(s.User, s.Password, g.dbs["10.0.0.1/shop"]), 1); id != 5001 {
			t.Errorf("the first id is %d, want 5001", id)
		}
		if !g.stop() {
			return false
		}
		g.do(2)
		if next := query1[int64](t, shop, "SELECT NEXT VALUE FOR order_numbers"); next != 5002 {
			t.Errorf("MariaDB's sequence goes on at %d, want 5002", next)
		}
		g.end()
		return true
	})
}

func TestMoveFromShardingSphere(t *testing.T) {
	s := servertest.First(t)
	g := newGuide(t, s, "From ShardingSphere", "10.0.0.1/ids", "10.0.0.2/customer", "10.0.0.3/customer")
	even, odd := g.db("10.0.0.2", "customer"), g.db("10.0.0.3", "customer")
	// Ids of two days ago: milliseconds since the epoch, worker 0, a count.
	const id = "(TIMESTAMPDIFF(SECOND, '2016-11-01', UTC_TIMESTAMP() - INTERVAL 2 DAY) * 1000 << 22)"
	run1(t, even, plainOrders, "INSERT INTO orders VALUES ("+id+", 2, 'a'), ("+id+" + 1, 4, 'b')")
	run1(t, odd, plainOrders, "INSERT INTO orders VALUES ("+id+" + 2, 1, 'c')")
	old := query1[int64](t, odd, "SELECT MAX(id) FROM orders")
	wantClean(t, g.do(3))
	g.do(1)
	app := g.client("app", "secret", "")
	first := insert(t, app, 6)
	if second := insert(t, app, 3); first <= old || second != first+1 {
		t.Errorf("ids %d and %d, want two above %d", first, second, old)
	}
	if e, o := query1[int](t, even, "SELECT COUNT(*) FROM orders"), query1[int](t, odd, "SELECT COUNT(*) FROM orders"); e != 3 || o != 2 {
		t.Errorf("%d and %d rows, want 3 of even users and 2 of odd ones", e, o)
	}
	g.stop()
	g.do(1)
	if g.number != 1 {
		t.Errorf("the way back is not open: %d, want 1", g.number)
	}
	g.end()
}
