package proxy_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// TestContradictingKeys holds that two keys of joined tables, as of an ownership check, give no rows and end nothing.
func TestContradictingKeys(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBesideUsers(t, s)
		const query = "SELECT u.id, c.cid FROM user u %sJOIN child c ON u.id = c.user_id %s u.id = %s AND c.user_id = %s"
		b.exec(t, "BEGIN", "UPDATE user SET n = 77 WHERE id = 3")
		for _, keys := range [][2]string{{"1", "4"}, {"1", "1"}, {"4", "1"}} {
			b.same(t, fmt.Sprintf(query, "", "WHERE", keys[0], keys[1]), fmt.Sprintf(query, "LEFT ", "AND c.cid > 0 WHERE", keys[0], keys[1]))
		}
		for _, keys := range [][2]any{{1, 4}, {1, 1}, {"4.0", 4}, {4, "4.0"}, {"1.0", "4.0"}} {
			b.sameArgs(t, fmt.Sprintf(query, "", "WHERE", "?", "?"), keys[0], keys[1])
		}
		b.same(t, "SELECT COUNT(*) FROM user u JOIN child c ON u.id = c.user_id WHERE u.id = 1 AND c.user_id = 4")
		b.exec(t, "COMMIT")
		b.same(t, "SELECT n FROM user WHERE id = 3")
	})
}

// TestWindowsOfSubqueries holds that no shard counts its rows alone where a subquery counts them all.
func TestWindowsOfSubqueries(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBesideUsers(t, s)
		for _, inner := range []string{
			"SELECT user_id, ROW_NUMBER() OVER (ORDER BY cid) FROM child",
			"SELECT user_id, cid - 190 + 0 * SUM(cid) OVER () FROM child",
			"SELECT user_id, ROW_NUMBER() OVER w FROM child WINDOW w AS (ORDER BY cid)",
			"SELECT user_id, COUNT(*) FROM child",
		} {
			b.refused(t, "SELECT id FROM user WHERE (id, 9) IN ("+inner+")", "SELECT (id, 9) NOT IN ("+inner+") FROM user",
				"DELETE FROM user WHERE (id, 3) IN ("+inner+")", "UPDATE user SET age = 0 WHERE (id, 9) IN ("+inner+")")
		}
		b.same(t, "SELECT * FROM user", "SELECT id FROM user WHERE id = 5 AND (id, 2) IN (SELECT user_id, COUNT(*) FROM child WHERE user_id = 5)")
	})
}

// TestKeysOfUnknownTypes holds that rows are found by their key however it is written, where the vschema does not tell the
// column's type.
func TestKeysOfUnknownTypes(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBeside(t, s)
		for i := range 9 {
			b.exec(t, fmt.Sprintf("INSERT INTO xi (k, v) VALUES (%d, %[1]d)", i), fmt.Sprintf("INSERT INTO xd (k, v) VALUES ('2020-01-%02d', %[1]d)", i+1))
		}
		for i := range 9 {
			for _, key := range []string{"%d", "'%d'", "'0%d'", "'%d.0'", "%d.0", "' %d'", "'%dx'"} {
				b.same(t, fmt.Sprintf("SELECT v FROM xi WHERE k = "+key, i), fmt.Sprintf("SELECT v FROM xi WHERE k IN ("+key+", 3)", i))
			}
			for _, key := range []any{i, fmt.Sprint(i), fmt.Sprintf("%d.0", i)} {
				b.sameArgs(t, "SELECT v FROM xi WHERE k = ?", key)
			}
			for _, key := range []string{"'2020-01-%02d'", "'2020-1-%d'", "'202001%02d'", "'20-1-%d'"} {
				b.same(t, fmt.Sprintf("SELECT v FROM xd WHERE k = "+key, i+1))
			}
			b.affects(t, fmt.Sprintf("UPDATE xi SET v = 99 WHERE k = '0%d'", i), fmt.Sprintf("DELETE FROM xi WHERE k = '%d.0'", i))
		}
	})
}

// TestKeyTypeChanges holds that plans go by a column's type as it is now.
func TestKeyTypeChanges(t *testing.T) {
	b := newBeside(t, servertest.First(t))
	b.exec(t, "INSERT INTO xi (k, v) VALUES (5, 5)")
	b.same(t, "SELECT v FROM xi WHERE k = '05'", "SELECT v FROM xi WHERE k = 5")
	b.exec(t, "ALTER TABLE xi MODIFY k VARCHAR(10)", "INSERT INTO xi (k, v) VALUES ('05', 6), ('5.0', 7)")
	b.same(t, "SELECT v FROM xi WHERE k = '05'", "SELECT v FROM xi WHERE k = '5'", "SELECT v FROM xi WHERE k = 5")
}

// TestOuterAggregates holds that an aggregate of the whole SELECT is none of a shard's rows, wherever it stands.
func TestOuterAggregates(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBesideUsers(t, s)
		b.refused(t, "SELECT (SELECT SUM(u.age)) FROM user u", "SELECT (SELECT SUM(age)) FROM user",
			"SELECT (SELECT COUNT(u.id) FROM ref r WHERE r.id = 1) AS c FROM user u",
			"SELECT 1 FROM user u HAVING (SELECT COUNT(u.id)) > 5",
			"SELECT n FROM user u GROUP BY n HAVING (SELECT COUNT(u.id)) > 3",
			"SELECT n FROM user u GROUP BY n ORDER BY (SELECT COUNT(u.id))")
		b.same(t, "SELECT (SELECT SUM(u.age)) FROM user u WHERE u.id = 3",
			"SELECT u.id, (SELECT COUNT(*) FROM child c WHERE c.user_id = u.id), (SELECT MAX(c.cid + u.n) FROM child c WHERE c.user_id = u.id) FROM user u",
			"SELECT u.id, (SELECT MIN(cid) FROM child WHERE user_id = u.id) FROM user u")
	})
}

// TestCommentsAreNotRead holds that no comment is read that the servers do not.
func TestCommentsAreNotRead(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		newBesideUsers(t, s).same(t, "SELECT /*T! DISTINCT */ n FROM user", "SELECT n FROM user /*T! WHERE id = 3 */", "SELECT n FROM user /*T! LIMIT 3 */",
			"SELECT n FROM user WHERE id = 3 /*T! OR 1=1 */", "SELECT /*T![x] SUM(n), */ n FROM user", "SELECT /*+ NO_SUCH_HINT(1) */ n FROM user ORDER BY n",
			"SELECT n, /* n, */ COUNT(*) FROM user GROUP BY n -- , id\n ORDER BY n # DESC")
	})
}

// TestGroupNames holds that GROUP BY takes a column before the alias that hides it, and constants as they are.
func TestGroupNames(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBesideUsers(t, s)
		b.same(t, "SELECT n AS id, COUNT(*) FROM user WHERE id IN (1, 4) GROUP BY id", "SELECT n % 2 AS id, COUNT(*) FROM user WHERE id IN (1, 4) GROUP BY id",
			"SELECT n AS id, SUM(age) FROM user WHERE age IN (10, 40) GROUP BY id ORDER BY 2 DESC",
			"SELECT n % 2 AS odd, COUNT(*) FROM user GROUP BY odd", "SELECT n + 1 AS odd, COUNT(*) FROM user u GROUP BY ODD",
			"SELECT 5 AS k, COUNT(*) FROM user GROUP BY k", "SELECT COUNT(*), 5 FROM user GROUP BY 2", "SELECT 'x' AS k, COUNT(*) FROM user GROUP BY k",
			"SELECT 2 AS k, n, COUNT(*) FROM user GROUP BY k, n", "SELECT 3 AS k, n, COUNT(*) FROM user GROUP BY k, n ORDER BY n DESC",
			"SELECT -1 AS k, n, COUNT(*) FROM user GROUP BY k, n ORDER BY k, n")
		b.refused(t, "SELECT n, age, COUNT(*) FROM user WHERE id IN (1, 4) GROUP BY 7, 1")
		b.same(t, "SELECT n, age, COUNT(*) FROM user WHERE id IN (1, 4) GROUP BY 1, 2") // not refused because another text was
		b.exec(t, "SET sql_mode = ''")
		for _, c := range []*sql.Conn{b.single, b.sharded} {
			if groups, err := rowTexts(t, c, "SELECT COUNT(*), id AS n FROM user GROUP BY n"); err != nil || len(groups) != 3 {
				t.Errorf("groups by n: %v, %v, want 3", groups, err)
			}
		}
	})
}

// TestNullKeys holds that a key which is NULL has part in NOT IN and <=> of other shards' rows.
func TestNullKeys(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBeside(t, s)
		b.exec(t, "INSERT INTO strkey (id, email) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)", "INSERT INTO str2 (id, email) VALUES (1, 'a'), (9, 'c'), (10, NULL)")
		b.refused(t, "SELECT * FROM strkey WHERE email NOT IN (SELECT email FROM str2 WHERE id > 8)",
			"SELECT id, email NOT IN (SELECT email FROM str2 WHERE id > 8) FROM strkey", "SELECT a.id, b.id FROM strkey a JOIN str2 b ON a.email <=> b.email")
		b.same(t, "SELECT * FROM strkey WHERE email IN (SELECT email FROM str2)", "SELECT a.id, b.id FROM strkey a JOIN str2 b ON a.email = b.email",
			"SELECT id FROM user WHERE id NOT IN (SELECT user_id FROM child)", "SELECT u.id FROM user u JOIN child c ON u.id <=> c.user_id")
	})
}

// TestValuesOfOtherColumns holds that a constant that a YEAR or an ENUM is equal to is none for a key that is equal to it.
func TestValuesOfOtherColumns(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		b := newBesideUsers(t, s)
		for y := 1; y <= 12; y++ {
			b.exec(t, fmt.Sprintf("INSERT INTO ref VALUES (%d, 'x', %d, '1')", 3000+y, 2020+y), fmt.Sprintf("INSERT INTO user (id, name) VALUES (%d, 'y')", 2020+y))
			b.same(t, fmt.Sprintf("SELECT u.id, r.id FROM user u JOIN ref r ON u.id = r.y WHERE r.y = %d", 20+y),
				fmt.Sprintf("SELECT u.id, r.id FROM user u JOIN ref r ON u.id = r.id WHERE r.id = %d", y))
		}
		b.same(t, "SELECT u.id, r.id FROM user u JOIN ref r ON u.id = r.e WHERE r.e = '1' AND r.id = 2", "SELECT u.id, r.id FROM user u JOIN ref r ON u.id = r.e WHERE r.e = '2'")
	})
}
