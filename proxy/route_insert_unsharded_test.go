package proxy_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// An INSERT into a table of an unsharded keyspace never reads a table of its server that
// has the name of one of another keyspace: in customer, user is customer.user.
func TestUnshardedInsertForeignNames(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.shards[0], userValues+"(1, 'a', 10)")
		exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY AUTO_INCREMENT, val VARCHAR(64))",
			"CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(64))", "INSERT INTO user VALUES (1, 'of main')")
		inCustomer, inMain := g.open(t, "customer", ""), g.open(t, "main", "")
		for _, tt := range []struct {
			db    *sql.DB
			text  string // with a place for the number 1
			want  string
			errno uint16
		}{
			{inCustomer, "INSERT INTO main.ua (val) SELECT name FROM user WHERE id = %s", "a", 0},
			{inCustomer, "INSERT INTO ua (val) SELECT name FROM user WHERE id = %s", "a", 0},
			{inMain, "INSERT INTO ua (val) SELECT name FROM user WHERE id = %s", "of main", 0},
			{inMain, "INSERT INTO ua (val) SELECT name FROM customer.user WHERE id = %s", "a", 0},
			{inCustomer, "INSERT INTO main.ua (val) SELECT name FROM main.user WHERE id = %s", "of main", 0},
			{inCustomer, "INSERT INTO main.ua (val) VALUES ((SELECT name FROM main.user WHERE main.user.id = %s))", "of main", 0},
			{inMain, "INSERT INTO ua SET val = (SELECT name FROM user WHERE id = %s)", "of main", 0},
			{inCustomer, "INSERT INTO main.ua (val) VALUES ((SELECT name FROM user WHERE id = %s))", "", 1235},
			{inMain, "INSERT INTO ua (val) VALUES ((SELECT name FROM customer.user WHERE id = %s))", "", 1235},
			{inCustomer, "INSERT INTO main.ua (val) VALUES (%s) ON DUPLICATE KEY UPDATE val = (SELECT name FROM user WHERE id = 1)", "", 1235},
			{inCustomer, "INSERT INTO main.ua (val) SELECT name FROM main.user WHERE id = %s ON DUPLICATE KEY UPDATE val = (SELECT MAX(user.name) FROM user)", "", 1235},
			{inMain, "INSERT INTO ua (val) VALUES (customer.f(%s))", "", 1235},
			{inCustomer, "INSERT INTO main.ua (val) VALUES (FROM %s)", "", 1064},
		} {
			for _, way := range []string{"text", "prepared"} {
				exec(t, g.direct, "DELETE FROM ua")
				var err error
				if way == "text" {
					_, err = tt.db.Exec(fmt.Sprintf(tt.text, "1"))
				} else {
					_, err = tt.db.Exec(fmt.Sprintf(tt.text, "?"), 1)
				}
				if errno(err) != tt.errno || err != nil && tt.errno == 0 {
					t.Errorf("%s of %s: %v, want error %d", way, tt.text, err, tt.errno)
					continue
				}
				if tt.errno != 0 {
					continue
				}
				if got := value[sql.NullString](t, g.direct, "SELECT GROUP_CONCAT(val) FROM ua"); got.String != tt.want {
					t.Errorf("%s of %s: %q, want %q", way, tt.text, got.String, tt.want)
				}
			}
		}
	})
}

// A prepared INSERT finds its table as the text does.
func TestPreparedInsertUnqualified(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY, val VARCHAR(64))")
		inCustomer := g.open(t, "customer", "")
		for _, text := range []string{"INSERT INTO ua (val) VALUES (?)", "REPLACE INTO ua (val) VALUES (?)"} {
			if _, err := inCustomer.Exec(text, "x"); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM ua WHERE val = 'x' AND id > 0"); got != 2 {
			t.Errorf("%d rows, want 2", got)
		}
		for _, db := range []*sql.DB{g.open(t, "main", ""), inCustomer} {
			_, err := db.Exec("INSERT INTO nowhere (val) VALUES (1)")
			_, prepared := db.Exec("INSERT INTO nowhere (val) VALUES (?)", 1)
			if errno(err) != 1146 || errno(prepared) != 1146 {
				t.Errorf("a table that is nowhere: text %v, prepared %v, want 1146", err, prepared)
			}
		}
	})
}
