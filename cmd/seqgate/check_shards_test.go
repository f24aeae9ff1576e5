package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Users 1, 2, 3 and 5 are on -80 by hash, 4 and 6 on 80-.
func TestCheckSharded(t *testing.T) {
	const (
		ok    = "ok: customer: 2 shards: -80, 80-"
		first = "ok: customer:-80.orders.id: filled from main.orders_seq: next_id 10, cache 5, 9223372036854775798 ids left of bigint"
		last  = "ok: customer:80-.orders.id: filled from main.orders_seq: next_id 10, cache 5, 9223372036854775798 ids left of bigint"
	)
	tests := []struct {
		name          string
		first, second string   // the statements on each shard, after the tables are made on both
		want          []string // the lines, but for those of the table notes
	}{
		{"good", "INSERT INTO orders VALUES (1, 1, 'a'), (2, 5, 'b')", "INSERT INTO orders VALUES (3, 4, 'a')", []string{first, last, ok}},
		{"ids would repeat on one shard", "", "INSERT INTO orders VALUES (30, 4, 'a')", []string{first,
			"error: customer:80-.orders.id: filled from main.orders_seq: next_id 10 is not above the largest id 30, ids would repeat: run seqgate init", ok}},
		{"missing on one shard", "", "DROP TABLE orders", []string{first,
			"error: customer:80-.orders: the table is missing: the database DB:80- has no tables", ok}},
		{"a column is missing", "", "ALTER TABLE orders DROP item", []string{first, last, ok,
			"error: customer:80-.orders: the column item is missing, which shard -80 has: the tables of all shards are to be the same"}},
		{"a column more", "", "ALTER TABLE orders ADD note INT", []string{first, last, ok,
			"error: customer:80-.orders: it has the column note, which is missing on shard -80: the tables of all shards are to be the same"}},
		{"another type", "", "ALTER TABLE orders MODIFY item VARCHAR(65) COLLATE utf8mb4_bin", []string{first, last, ok,
			"error: customer:80-.orders: the column item is a varchar(65), on shard -80 a varchar(64): the tables of all shards are to be the same"}},
		{"another collation", "", "ALTER TABLE orders MODIFY item VARCHAR(64) COLLATE utf8mb4_general_ci", []string{first, last, ok,
			"error: customer:80-.orders: the column item has the collation utf8mb4_general_ci, on shard -80 utf8mb4_bin: rows would be ordered and compared in two ways"}},
		{"another order", "", "ALTER TABLE orders MODIFY item VARCHAR(64) COLLATE utf8mb4_bin FIRST", []string{first, last, ok,
			"error: customer:80-.orders: the columns are item, id, user_id, on shard -80 id, user_id, item: an INSERT without a column list, and SELECT *, need one order"}},
		{"AUTO_INCREMENT", "", "ALTER TABLE orders MODIFY id BIGINT AUTO_INCREMENT", []string{first, last, ok,
			"warning: customer:80-.orders.id: it is still AUTO_INCREMENT: a row that reaches the server past seqgate gets an id that another row may get too: ALTER TABLE `orders` MODIFY `id` BIGINT NOT NULL"}},
		{"a unique key of each shard", "ALTER TABLE orders ADD UNIQUE KEY by_item (item), ADD UNIQUE KEY by_user (item, user_id)", "ALTER TABLE orders ADD UNIQUE KEY by_item (item)", []string{first, last, ok,
			"note: customer.orders: the unique key by_item (item) does not contain user_id: its values are unique on each shard, not over all"}},
		{"rows of another shard", "INSERT INTO orders VALUES (1, 1, 'a'), (2, 4, 'b'), (3, 6, 'c')", "", []string{first, last, ok,
			"error: customer:-80.orders: of 3 rows looked at, 2 are not on the shard where the vindex hash has them, such as user_id = 4, which belongs to 80-: seqgate does not find them; move them, or correct the vindex"}},
		{"no vindex column", "", "ALTER TABLE orders CHANGE user_id usr_id BIGINT NOT NULL", []string{first, last, ok,
			"error: customer:80-.orders: the column user_id is missing, which shard -80 has: the tables of all shards are to be the same",
			"error: customer:80-.orders: it has the column usr_id, which is missing on shard -80: the tables of all shards are to be the same",
			`error: customer:80-.orders: the vindex column user_id is missing: did you mean "usr_id"?`}},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newSharded(t, s, ordersVSchema, "-80", "80-")
				p.onAll(ordersTable)
				p.exec(notesTable, "CREATE TABLE orders_seq "+vitessSequence, "INSERT INTO orders_seq VALUES (0, 10, 5)")
				for i, statements := range []string{tt.first, tt.second} {
					if statements != "" {
						p.shards[i].exec(statements)
					}
				}
				out, err := p.run(checkCommand)
				wantFindings(t, out, err, tt.want)
			})
		}
	})
}

// wantFindings compares the lines of check without those of main.notes, and whether it failed.
func wantFindings(t *testing.T, out string, err error, want []string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "main.notes") && !strings.HasPrefix(line, "errors: ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	wantLines(t, strings.Join(got, "\n"), want...)
	if fails := strings.Contains(out, "error: "); fails != (exitCode(err) == 1) {
		t.Errorf("%v with errors found: %v", err, fails)
	}
}

// A pinned table is on one shard, a reference table on all; neither is asked where its rows belong.
func TestCheckOtherShardedTables(t *testing.T) {
	const text = `{"keyspaces": {"main": {"tables": {"ids": {"type": "sequence"}}}, "customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"settings": {"pinned": "ff", "auto_increment": {"column": "id", "sequence": "main.ids"}}, "countries": {"type": "reference"},
		"logs": {"column_vindexes": [{"column": "id", "name": "hash"}]}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, text, "-80", "80-")
		p.onAll("CREATE TABLE countries (id INT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO countries VALUES (1), (4)")
		p.shards[0].exec("CREATE TABLE logs (id INT AUTO_INCREMENT PRIMARY KEY)")
		p.shards[1].exec("CREATE TABLE settings (id BIGINT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO settings VALUES (1), (7)")
		if _, err := p.run(initCommand); err != nil {
			t.Fatal(err)
		}
		if got := p.sequence("ids"); got != "8 1000" {
			t.Errorf("next_id and cache %s, want 8 1000", got)
		}
		out, err := p.run(checkCommand)
		wantFindings(t, out, err, []string{
			"ok: customer:80-.settings.id: filled from main.ids: next_id 8, cache 1000, 9223372036854775800 ids left of bigint",
			"ok: customer: 2 shards: -80, 80-",
			"warning: customer:-80.logs.id: each shard counts its AUTO_INCREMENT for itself, so that ids repeat: give the table auto_increment in the vschema",
			"error: customer:80-.logs: the table is missing in database DB:80-, or the vschema names it wrongly: write one of countries, settings"})
	})
}

func TestCheckShardsAway(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newSharded(t, s, ordersVSchema, "-80")
		p.onAll(ordersTable)
		p.exec(notesTable, "CREATE TABLE orders_seq "+vitessSequence, "INSERT INTO orders_seq VALUES (0, 10, 5)")
		one := s.DSN(p.shards[0].name)
		p.config(ordersVSchema, fmt.Sprintf("%q: %q", "-80", one), `"80-": "app:app@tcp(127.0.0.1:1)/away"`)
		out, err := p.run(checkCommand)
		if err != nil || !strings.Contains(out, "warning: customer:80-: the server cannot be reached, its tables are not checked: ") ||
			!strings.Contains(out, "ok: customer:-80.orders.id: filled from main.orders_seq: ") {
			t.Errorf("error %v, output:\n%swant a warning, and the other shard checked", err, out)
		}
		p.config(ordersVSchema, fmt.Sprintf("%q: %q, %q: %[2]q", "-80", one, "80-"))
		out, err = p.run(checkCommand)
		if want := "error: customer: the shards -80 and 80- are the same database, DB:-80 at "; exitCode(err) != 1 || !strings.Contains(out, want) {
			t.Errorf("error %v, output:\n%swant %q", err, out, want)
		}
	})
}
