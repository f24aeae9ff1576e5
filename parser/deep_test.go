package parser

import (
	"runtime/debug"
	"strings"
	"testing"
)

// maxTestedStack is what reading any text may take of a goroutine's stack, in bytes. The runtime ends the process that
// takes 1 GB.
const maxTestedStack = 32 << 20

// No text is nested so deeply that reading it takes a stack without bound: the runtime would end the process, and this
// test's with it.
func TestDeepTexts(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(maxTestedStack))
	deep := func(n int, open, within, end string) string {
		return strings.Repeat(open, n) + within + strings.Repeat(end, n)
	}
	many := 100_000
	few := maxRouteOperators / 8 // what the TiDB parser is still given
	for name, expression := range map[string]string{
		"parentheses, 128 KiB": deep(1<<17, "(", "1", ""),
		"parentheses, closed":  deep(many, "(", "1", ")"),
		"parentheses, few":     deep(maxRouteNesting-1, "(", "1", ")"),
		"comments":             deep(many, "/*", "1", "*/"),
		"version comments":     deep(many, "/*!", "1", "*/"),
		"subqueries":           deep(many, "(SELECT ", "1", ")"),
		"subqueries, few":      deep(maxRouteNesting-10, "(SELECT ", "1", ")"),
		"derived tables":       deep(maxRouteNesting-10, "(SELECT * FROM ", "t", " x)"),
		"NOT":                  deep(many, "NOT ", "1", ""),
		"NOT, few":             deep(maxRouteOperators-100, "NOT ", "1", ""),
		"minus, few":           deep(maxRouteOperators-100, "- ", "1", ""),
		"exclamation, few":     deep(maxRouteOperators-100, "!", "1", ""),
		"tilde":                deep(many, "~", "1", ""),
		"CASE":                 deep(many/4, "CASE WHEN ", "1", " THEN 1 END"),
		"CASE, few":            deep(few, "CASE WHEN ", "1", " THEN 1 END"),
		"sums, few":            deep(few, "a + ", "1", ""),
		"AND, few":             deep(few, "a = 1 AND ", "1", ""),
		"calls":                deep(maxRouteNesting-10, "ABS(", "1", ")"),
		"BINARY":               deep(few, "BINARY ", "1", ""),
		"INTERVAL":             deep(few, "INTERVAL ", "1", " DAY"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{
				"SELECT " + expression + " FROM t WHERE a = " + expression, expression, "(" + expression,
				"INSERT INTO t (id, a) VALUES (NULL, " + expression + ")", "INSERT INTO t (id, a) SELECT " + expression,
				"UPDATE t SET a = " + expression + " WHERE b = 1", "SET @a = " + expression, "WITH a AS (" + expression + ") SELECT 1",
				"SELECT NEXT " + expression + " VALUES FROM s", "SELECT NEXTVAL(s), " + expression, "EXPLAIN " + expression,
				"CREATE SEQUENCE s START WITH " + expression, "PREPARE p FROM '" + expression + "'", "LOAD DATA LOCAL INFILE 'f' INTO TABLE t (a) SET a = " + expression,
			} {
				readEveryWay([]byte(text))
			}
		})
	}
}

// readEveryWay reads a text in all the ways in which a session may; most refuse it.
func readEveryWay(sql []byte) {
	m := NewMode("", "utf8mb4", true)
	modes := []Mode{m}
	s := new(InsertStmt)
	if s.Parse(sql, m) == nil {
		_, _ = s.Slots(nil, sql, "id", nil)
		_, _ = s.Cells(nil, sql, "a", nil)
	}
	_ = s.ParseQuery(sql, m)
	_, _ = Split(nil, sql, m)
	_, _ = ResolveVersions(sql, m, 101106)
	_, _ = Writes(nil, sql, m)
	_ = AppendDigest(nil, sql, modes)
	_, _ = ParseNext(sql, m)
	_, _ = ParseCommand(sql, m)
	_, _ = ParsePrepare(sql, m)
	_, _ = ParseSet(sql, m)
	_, _ = ParseLoad(sql, m)
	_ = FindCalls(sql, m)
	_ = FindSession(sql, m)
	_, _, _ = Fingerprint(nil, sql, m, nil)
	_, _ = ReadRoute(sql, m)
	_, _ = ReadScatter(sql, m, ScatterOptions{})
}
