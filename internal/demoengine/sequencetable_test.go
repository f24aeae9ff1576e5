//go:build !slim

package demoengine

import (
	"strings"
	"testing"
)

func TestSequenceTableComment(t *testing.T) {
	for _, statement := range []string{
		"CREATE TABLE s (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
		"CREATE TABLE s (id INT, next_id BIGINT, cache BIGINT, PRIMARY KEY (id)) ENGINE=InnoDB COMMENT='vitess_sequence'",
		"CREATE TABLE s (id INT, a INT, PRIMARY KEY (id)) COMMENT='vitess_sequence'", // an ordinary table
	} {
		c := connect(t, newEngine(t), "root", "")
		run(t, c, statement)
		var got, create string
		if err := c.QueryRowContext(t.Context(), "SELECT table_comment FROM information_schema.tables WHERE table_name = 's'").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != "vitess_sequence" {
			t.Errorf("table_comment after %s: got %q", statement, got)
		}
		if err := c.QueryRowContext(t.Context(), "SHOW CREATE TABLE s").Scan(new(string), &create); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(create, "COMMENT='vitess_sequence'") || !strings.Contains(create, "PRIMARY KEY (`id`)") {
			t.Errorf("SHOW CREATE TABLE after %s: got %s", statement, create)
		}
		if got := queryInt(t, c, "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 's' AND column_key = 'PRI' AND column_name = 'id'"); got != 1 {
			t.Errorf("primary key columns after %s: got %d, want 1", statement, got)
		}
	}
}

func TestSequenceTableStatements(t *testing.T) {
	const next = "SELECT next_id FROM users_seq WHERE id = 0"
	c := connect(t, newEngine(t), "root", "")
	for _, tc := range []struct {
		statement string
		affected  int64
		want      int64
	}{
		{"UPDATE users_seq SET next_id = 11 WHERE id = 0 AND next_id = 1", 1, 11},
		{"UPDATE users_seq SET next_id = 21 WHERE id = 0 AND next_id = 1", 0, 11},
		{"INSERT INTO users_seq VALUES (0, 5, 10) ON DUPLICATE KEY UPDATE next_id = GREATEST(next_id, VALUES(next_id))", 0, 11},
		{"INSERT INTO users_seq VALUES (0, 31, 10) ON DUPLICATE KEY UPDATE next_id = GREATEST(next_id, VALUES(next_id))", 2, 31},
		{"INSERT IGNORE INTO users_seq VALUES (0, 1, 10)", 0, 31},
		{"REPLACE INTO users_seq VALUES (0, 41, 10)", 2, 41},
	} {
		r, err := c.ExecContext(t.Context(), tc.statement)
		if err != nil {
			t.Fatalf("%s: %v", tc.statement, err)
		}
		if got, err := r.RowsAffected(); got != tc.affected || err != nil {
			t.Errorf("%s: got %d rows affected, error %v, want %d", tc.statement, got, err, tc.affected)
		}
		if got := queryInt(t, c, next); got != tc.want {
			t.Errorf("next_id after %s: got %d, want %d", tc.statement, got, tc.want)
		}
	}
	run(t, c, "BEGIN", "UPDATE users_seq SET next_id = 51", "ROLLBACK")
	if got := queryInt(t, c, next); got != 51 {
		t.Errorf("next_id after ROLLBACK: got %d, want 51: sequences are not transactional", got)
	}
	if _, err := c.ExecContext(t.Context(), "INSERT INTO users_seq VALUES (0, 1, 1)"); errorNumber(err) != 1062 {
		t.Errorf("second row 0: got %v, want error 1062", err)
	}
}

func TestSequenceTableDefinition(t *testing.T) {
	c := connect(t, newEngine(t), "root", "")
	for _, statement := range []string{
		"ALTER TABLE users_seq ADD COLUMN a INT",
		"ALTER TABLE users_seq DROP COLUMN cache",
		"RENAME TABLE users_seq TO other_seq",
		createUsersSeq,
	} {
		if _, err := c.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s: got no error", statement)
		}
	}
	if got := queryInt(t, c, "SELECT next_id FROM users_seq"); got != 1 {
		t.Errorf("next_id: got %d, want 1", got)
	}
	run(t, c, "TRUNCATE TABLE users_seq", "DROP TABLE users_seq", "DROP TABLE users", createUsersSeq, seedUsersSeq, createUsers)
	run(t, c, "RENAME TABLE users TO people", "DROP DATABASE main", "CREATE DATABASE main", "USE main", createUsersSeq)
	if got := queryInt(t, c, "SELECT COUNT(*) FROM users_seq"); got != 0 {
		t.Errorf("rows of a new sequence table: got %d, want 0", got)
	}
}
