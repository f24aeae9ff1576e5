package proxy_test

import (
	"database/sql"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A statement of any kind among several is answered so that the client finds the results behind it, and the answer
// to its next command.
func TestRoutedPartsChain(t *testing.T) {
	t.Parallel()
	statements := []string{
		"INSERT INTO user (name) VALUES ('x'), ('y'), ('z'), ('w'), ('v')",
		"INSERT INTO user (id, name) VALUES (777, 'x')", "REPLACE INTO user (id, name) VALUES (777, 'x')",
		"INSERT INTO child (user_id, v) SELECT id, name FROM user", "INSERT INTO child (user_id, v) SELECT id + 5, name FROM user",
		"BEGIN; INSERT INTO user (name) VALUES ('x'), ('y'), ('z'), ('w'); COMMIT", "ROLLBACK", "SAVEPOINT a",
		"UPDATE user SET n = 1", "UPDATE user SET n = 1 WHERE id = 1", "DELETE FROM child", "UPDATE ref SET v = 'a'",
		"USE main; INSERT INTO customer.user (name) VALUES ('x'), ('y'), ('z'), ('w'); USE customer",
		"SHOW WARNINGS", "SHOW DATABASES", "SHOW VSCHEMA TABLES", "SHOW SEQGATE STATUS", "SHOW TABLES",
		"SET @a = 1", "SET TRANSACTION READ ONLY", "SELECT NEXTVAL(main.user_seq)", "SELECT COUNT(*) FROM user",
		"SELECT id FROM user ORDER BY id", "SELECT DISTINCT name FROM user", "SELECT GET_LOCK('routed_parts', 1)", "DO 1",
		"ALTER TABLE ref ADD x INT; ALTER TABLE ref DROP x", "INSERT INTO ref (id) VALUES (17), (18)",
		"CREATE SEQUENCE main.zz; DROP SEQUENCE main.zz", "INSERT INTO main.ua (id) VALUES (NULL)", "ANALYZE TABLE user",
		"PREPARE p FROM 'SELECT 1'", "TRUNCATE TABLE child",
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY)")
		exec(t, conn(t, g.open(t, "customer", "")), "INSERT INTO user (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
		for _, q := range statements {
			c := conn(t, g.open(t, "customer", "multiStatements=true"))
			got, err := firstOfResults(t, c, "SELECT 11; "+q+"; SELECT 12")
			if errno(err) == 1235 { // refused, which ends the text
				t.Logf("%s: %v", q, err)
			} else if err != nil || len(got) == 0 || got[len(got)-1] != "12" {
				t.Errorf("%s: the results end with %v, %v", q, got, err)
			}
			if v := value[int](t, c, "SELECT 5"); v != 5 {
				t.Errorf("%s: the next command is answered with %d", q, v)
			}
		}
	})
}

// firstOfResults gives the first column of all rows of all results.
func firstOfResults(t *testing.T, c *sql.Conn, text string) (got []string, err error) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		if err != nil {
			return got, err
		}
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(sql.NullString)
		}
		for rows.Next() {
			if err := rows.Scan(row...); err != nil {
				return got, err
			}
			got = append(got, row[0].(*sql.NullString).String)
		}
	}
	return got, rows.Err()
}
