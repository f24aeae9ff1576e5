package proxy_test

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A session that is alone with one shard gets ids for tables of the unsharded keyspaces on that server, and no others.
func TestAloneWithAShard(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{vschema: `{"keyspaces": {
			"main": {"tables": {"t_seq": {"type": "sequence"}, "user_seq": {"type": "sequence"}, "t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}},
			"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
				"user": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.user_seq"}}}}}}`})
		const columns = " (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)"
		exec(t, g.direct, "CREATE TABLE t"+columns, "CREATE TABLE plain"+columns, "UPDATE t_seq SET next_id = 1000000")
		exec(t, g.shards[0], "CREATE TABLE user"+columns, "CREATE VIEW v AS SELECT * FROM user", "CREATE VIEW of_t AS SELECT * FROM "+g.database+".t")
		for _, args := range [][]any{nil, {1}} {
			db, values := g.open(t, "customer:-80", "multiStatements=true"), "(1)"
			if args != nil {
				values = "(?)"
			}
			c := conn(t, db)
			for _, table := range []string{g.database + ".t", "t"} {
				if table == "t" {
					exec(t, c, "USE "+g.database)
				}
				if id := inserted(t, c, "INSERT INTO "+table+" (a) VALUES "+values, args...); id < firstFilled {
					t.Errorf("INSERT INTO %s: id %d, want one of the sequence", table, id)
				}
			}
			c = conn(t, g.open(t, "customer:-80", ""))
			for _, table := range []string{"user", "v", g.database + ".plain"} {
				if id := inserted(t, c, "INSERT INTO "+table+" (a) VALUES "+values, args...); id > 100 {
					t.Errorf("INSERT INTO %s: id %d, want the server's own", table, id)
				}
			}
			_, err := c.ExecContext(t.Context(), "INSERT INTO of_t (a) VALUES "+values, args...)
			checkErrno(t, err, 1235)
		}
		c := conn(t, g.open(t, "customer:-80", "multiStatements=true"))
		exec(t, c, "SELECT 1; INSERT INTO "+g.database+".t (a) VALUES (1)", "INSERT INTO "+g.database+".t (a) SELECT 1",
			"PREPARE p FROM 'INSERT INTO "+g.database+".t (a) VALUES (1)'", "EXECUTE p")
		if least := value[int64](t, g.direct, "SELECT MIN(id) FROM t"); least < firstFilled {
			t.Errorf("a row has the id %d, want one of the sequence", least)
		}
	})
}
