package parser

import (
	"strings"
	"testing"
)

func TestDigest(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT * FROM t WHERE a = 5 AND b='x'":              "SELECT * FROM t WHERE a = ? AND b = ?",
		"select 1.5, -2e-3 , 0x1f, x'ab', _utf8mb4'z'":       "select ?, - ?",
		"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');": "INSERT INTO t VALUES(?);",
		"SELECT a /* 77 */ FROM t WHERE id IN (1,2,3) -- 78": "SELECT a FROM t WHERE id IN(?)",
		"SELECT `a`.b FROM s.t WHERE c = ?":                  "SELECT `a`.b FROM s.t WHERE c = ?",
		"SELECT 'open":                                       "SELECT ...",
		"INSERT INTO t (a, b) VALUES (7, 'cut":               "INSERT INTO t(a, b) VALUES(?, ...",
		`SELECT '\', 'secret'`:                               "SELECT ...", // one mode reads the second as a name
		`SELECT "a"`:                                         "SELECT ...",
		"/*!40000 SELECT 'secret' */":                        "...",
		"":                                                   "...",
	} {
		if got := string(AppendDigest(nil, []byte(sql), Readings([]byte(sql), false))); got != want {
			t.Errorf("%s:\n got %q\nwant %q", sql, got, want)
		}
	}
	if got := string(AppendDigest(nil, []byte("SELECT 'é'"), nil)); got != "SELECT ..." {
		t.Errorf("a text of which no reading is known: %q", got)
	}
	if got := string(AppendDigest(nil, []byte("SELECT a"+strings.Repeat(", a + 1", 10_000)), []Mode{{}})); len(got) > maxDigest+10 || !strings.HasSuffix(got, "...") {
		t.Errorf("a long text: %d bytes", len(got))
	}
}

// No text within quotes is ever in a digest.
func FuzzDigest(f *testing.F) {
	f.Add("a = ", "x", " AND b = 1")
	f.Fuzz(func(t *testing.T, before, value, behind string) {
		const marker = "SECRET7"
		if strings.Contains(before+value+behind, marker) || strings.ContainsAny(before+value, "'\"`\\/*#-") {
			return
		}
		sql := []byte(before + "'" + value + marker + "'" + behind)
		if got := AppendDigest(nil, sql, Readings(sql, true)); strings.Contains(string(got), marker) {
			t.Errorf("%s: %s", sql, got)
		}
	})
}

// A digest is short, however long one name in it is.
func TestDigestIsBounded(t *testing.T) {
	long := strings.Repeat("x", 4*maxDigest)
	for _, sql := range []string{"SELECT `" + long + "`", "SELECT " + long, "SELECT " + strings.Repeat("x, ", maxDigest)} {
		if got := AppendDigest(nil, []byte(sql), []Mode{{}}); len(got) > maxDigest+10 || !strings.HasSuffix(string(got), "...") {
			t.Errorf("the digest of %.20s... has %d bytes, and ends in %s", sql, len(got), got[max(0, len(got)-20):])
		}
	}
}

// A digest takes nothing from the heap once its buffers are there.
func TestDigestAllocations(t *testing.T) {
	sql, modes := []byte("UPDATE t SET a = 'x', b = 5 WHERE id IN (1, 2, 3)"), []Mode{{}}
	dst := AppendDigest(nil, sql, modes)
	if n := testing.AllocsPerRun(100, func() { dst = AppendDigest(dst[:0], sql, modes) }); n >= 1 { // a pool may be emptied in between
		t.Errorf("%v allocations, want none", n)
	}
}
