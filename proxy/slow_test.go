package proxy_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// logText gives what the gate has logged so far.
func (g *gate) logText() string {
	g.log.mu.Lock()
	defer g.log.mu.Unlock()
	return g.log.text.String()
}

// slowLines gives what the log says of slow statements, without times and addresses.
func (g *gate) slowLines() []string {
	varying := regexp.MustCompile(`.*msg="slow statement" client=\S+ | duration=\S+`)
	var lines []string
	for line := range strings.Lines(g.logText()) {
		if strings.Contains(line, "slow statement") {
			lines = append(lines, varying.ReplaceAllString(strings.TrimSpace(line), ""))
		}
	}
	return lines
}

// Slow statements are logged without their values, as text and prepared, on one shard and on several.
func TestSlowStatements(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(c *proxy.Config) { c.SlowStatement = time.Nanosecond }})
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "INSERT INTO user (name) VALUES ('MARKER1'), ('MARKER2'), ('MARKER3')")
		if got := table(t, c, "SELECT id FROM user WHERE name LIKE 'MARKER%' ORDER BY id"); strings.Count(got, "\n") != 3 {
			t.Errorf("users: %q", got)
		}
		exec(t, c, "SELECT 1 FROM user WHERE id = 77")
		if _, err := c.ExecContext(t.Context(), "UPDATE user SET name = ? WHERE id = ?", "MARKER4", 1); err != nil {
			t.Error(err)
		}
		fails(t, c, 0+1146, "", "SELECT 'MARKER5' FROM customer.missing WHERE a = 'MARKER6'")
		want := []string{
			`rows=0 failed=false statement="INSERT INTO user(name) VALUES(?)"`,
			`keyspace=customer shards=customer:-80,customer:80- rows=3 failed=false statement="SELECT id FROM user WHERE name LIKE ? ORDER BY id"`,
			`rows=0 failed=false statement="SELECT ? FROM user WHERE id = ?"`,
			`failed=false statement="UPDATE user SET name = ? WHERE id = ?"`,
			`failed=true statement="SELECT ? FROM customer.missing WHERE a = ?"`,
		}
		await(t, "the log", func() bool { return len(g.slowLines()) >= len(want)+1 }) // one is prepared
		all := strings.Join(g.slowLines(), "\n")
		for _, line := range want {
			if !strings.Contains(all, line) {
				t.Errorf("the log lacks %q:\n%s", line, all)
			}
		}
		if text := g.logText(); strings.Contains(text, "MARKER") {
			t.Errorf("a value is in the log:\n%s", text)
		}
	})
}

// At info and above the log has no value of a statement, whatever goes wrong with it, and with what is slow logged.
func TestLogHasNoValues(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const marker = "m4rker"
		g := newGate(t, s, gateOptions{onExplicit: catalog.ExplicitWarn, configure: func(c *proxy.Config) { c.SlowStatement = time.Nanosecond }})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(40) UNIQUE)")
		createSequence(t, g.direct, "t_seq", 1, 100)
		c := conn(t, g.open(t, "multiStatements=true"))
		for _, statement := range []string{
			"INSERT INTO t (v) VALUES ('m4rker')", "INSERT INTO t (v) VALUES ('m4rker')", "INSERT INTO t VALUES (5000, 'm4rker5')", "SELECT 'm4rker' FROM",
			"SELECT * FROM t WHERE v = 'm4rker' AND nosuch = 1", "INSERT INTO t (v) SELECT CONCAT('m4rker', id) FROM t", "INSERT INTO t VALUES ('m4rker', 'm4rker')",
			`SELECT '\', 'm4rker'`, "SELECT \"m4rker\"", "SELECT 1; SELECT 'm4rker", "PREPARE s FROM 'SELECT ''m4rker'''", "EXECUTE s", "SET @a = 'm4rker'", "/*!40000 SELECT 'm4rker' */",
			"SELECT NEXT VALUE FROM t_seq /* m4rker */", "ALTER SEQUENCE t_seq RESTART 'm4rker'", "CALL nosuch('m4rker')", "LOAD DATA LOCAL INFILE 'm4rker' INTO TABLE t", "KILL 'm4rker'", "USE `nosuch`",
			"SET NAMES gbk; SELECT 'm4rker'", "SELECT 'é', 'm4rker'",
		} {
			_, _ = c.ExecContext(t.Context(), statement) // what fails is to be logged, if at all, without values
		}
		_, _ = c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (?)", marker) // it is there already
		exec(t, c, "SET NAMES utf8mb4", "SELECT 'last' AS behind_all")
		await(t, "the log of the last statement", func() bool { return g.logged("behind_all") })
		if text := g.logText(); strings.Contains(text, marker) {
			for line := range strings.Lines(text) {
				if strings.Contains(line, marker) {
					t.Errorf("a value is in the log: %s", line)
				}
			}
		}
	})
}
