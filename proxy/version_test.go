package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// versionCases have version comments within and round an INSERT.
var versionCases = []insertCase{
	{name: "modifier", stmt: "INSERT /*!40001 LOW_PRIORITY */ INTO t (u) VALUES ('a')"},
	{name: "value", stmt: "INSERT INTO t (id, u) VALUES (/*!50000 NULL */, 'a'), (/*!40000 7*/, 'b')"},
	{name: "value or other", stmt: "INSERT INTO t (id, u) VALUES (/*!99999 7 */ /*!40000 0 */, 'a')"},
	{name: "part of a value", stmt: "INSERT INTO t (id, u) VALUES (1 /*!40000 - 1 */, 'a'), (/*!40000 400 */ /*!99999 - 400 */, 'b')"},
	{name: "value that begins within and ends behind", stmt: "INSERT INTO t (u, id) VALUES ('a' /*!40000 , 1 */ - 1 /*!40000 ) */"},
	{name: "column", stmt: "INSERT INTO t (u /*!40000 , n */) VALUES ('a' /*!40000 , 5 */)"},
	{name: "column list", stmt: "INSERT INTO t /*!40000 (u) */ VALUES ('a')"},
	{name: "row", stmt: "INSERT INTO t (u) VALUES ('a') /*!40000 , ('b') */ /*!99999 , ('c') */"},
	{name: "all", stmt: "/*!40000 INSERT INTO t (u) VALUES ('a') */"},
	{name: "no blank, deprecated", stmt: "/*!40000INSERT INTO t (u) VALUES ('a')*/;"},
	{name: "verb", stmt: "/*!40000 REPLACE */ /*!99999 INSERT */ INTO t (u) VALUES ('a')"},
	{name: "ignored at the begin", stmt: "/*!999999 nothing */ INSERT INTO t (u) VALUES ('a')"},
	{name: "no number", stmt: "INSERT /*! INTO */ t (u) VALUES ('a')"},
	{name: "nested, deprecated", stmt: "INSERT INTO t /*!40000 /* x */ (u) */ VALUES ('a')"},
	{name: "clause", stmt: "INSERT INTO t (id, u) VALUES (NULL, 'a') /*!40000 ON DUPLICATE KEY UPDATE n = n + 1 */",
		setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"}},
	{name: "SET", stmt: "INSERT INTO t SET /*!40000 id = NULL, */ u = 'a'"},
	{name: "MySQL 8 only", stmt: "INSERT INTO t (u) VALUES (/*!80000 'mysql' */ /*M!100000 'mariadb' */)"},
	{name: "in a string", stmt: "INSERT INTO t (u) VALUES ('/*!40000 a */'), (/*!40000 '*/' */)"},
	{name: "prepared", stmt: "INSERT /*!40000 INTO */ t (id, u) VALUES (?, /*!40000 ? */)", args: []any{nil, "a"}},
	{name: "prepared, all", stmt: "/*!40000 INSERT INTO t (u) VALUES (?) */", args: []any{"a"}},
	{name: "prepared, explicit", stmt: "INSERT /*!40000 INTO */ t (id, u) VALUES (?, ?)", args: []any{17, "a"}},
	{name: "wrong number of values", stmt: "INSERT INTO t (u) VALUES ('a' /*!40000 , 'b' */)"},
	{name: "TRIGGER", stmt: "/*!50003 CREATE*/ /*!50003 TRIGGER t_before BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 3 */"},
}

// Version comments are read as the session's own server reads them.
func TestVersionComments(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		native, through := openDSN(t, s.DSN(s.NewDatabase(t))), g.open(t, "")
		for i, tt := range versionCases {
			t.Run(tt.name, func(t *testing.T) {
				tt := tt.on(fmt.Sprintf("t%d", i))
				const columns = " (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)"
				exec(t, native, "CREATE TABLE "+tt.table+columns)
				exec(t, through, "CREATE TABLE "+tt.table+columns)
				createSequence(t, through, tt.table+"_seq", firstID, 10)
				a, b := conn(t, native), conn(t, through)
				exec(t, a, tt.setup...)
				exec(t, b, tt.setup...)
				want, got := runInsert(t, a, tt), runInsert(t, b, tt)
				if strings.HasSuffix(tt.name, "deprecated") {
					want.Warnings = got.Warnings // MySQL warns of comments that the server behind seqgate does not see
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-native +seqgate):\n%s", tt.stmt, diff)
				}
				if n := value[int](t, b, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id BETWEEN 8 AND %d AND id NOT IN (17, 400)", tt.table, firstID-1)); n > 0 {
					t.Errorf("%s: %d rows with ids of the server's own", tt.stmt, n)
				}
			})
		}
	})
}

// What mysqldump and mariadb-dump write runs through seqgate, statement by statement
// and as one text: rows keep their ids.
func TestDump(t *testing.T) {
	const dump = `-- dump
/*!999999\- enable the sandbox mode */
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
LOCK TABLES users WRITE;
/*!40000 ALTER TABLE users DISABLE KEYS */;
INSERT INTO users VALUES (1,'a'),(0,'zero');
INSERT  IGNORE INTO users VALUES (2,'b');
INSERT INTO users (u) VALUES ('open');
/*!40000 INSERT INTO users VALUES (3,'c') */;
/*!40000 ALTER TABLE users ENABLE KEYS */;
UNLOCK TABLES;
/*!50003 CREATE*/ /*!50017 DEFINER=CURRENT_USER*/ /*!50003 TRIGGER users_x AFTER INSERT ON users FOR EACH ROW SET @x = 'INSERT INTO users' */;
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */`
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const want = "0/zero,1/a,2/b,3/c,1000000/open"
		g := newUsersGate(t, s, gateOptions{})
		exec(t, conn(t, g.open(t, "")), strings.Split(dump, ";\n")...)
		g.checkUsers(t, want)
		before, behind, _ := strings.Cut(dump, "/*!50003 CREATE*/") // a stored program is sent alone
		_, behind, _ = strings.Cut(behind, ";\n")
		g = newUsersGate(t, s, gateOptions{})
		exec(t, conn(t, g.open(t, "multiStatements=true")), before+behind)
		g.checkUsers(t, want)
	})
}
