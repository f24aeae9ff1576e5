package parser

import (
	"strings"
	"testing"
)

// Texts made to be read again and again are read once, or a few times: a text of
// 1 MiB would else take minutes.
func TestHostileTexts(t *testing.T) {
	const size = 1 << 20
	nested := func(open, within, end string) string {
		n := size / len(open)
		return strings.Repeat(open, n) + within + strings.Repeat(end, n)
	}
	texts := map[string]string{
		"version comments that do not end": "INSERT INTO t (id, a) VALUES (NULL, 1" + nested("/*!", "", ""),
		"version comments, one end":        "INSERT INTO t (id, a) VALUES (NULL, 1" + nested("/*!", "*/", ""),
		"nested version comments":          "INSERT INTO t (id, a) VALUES (NULL, 1" + nested("/*!40000 ", "", "*/") + ")",
		"empty version comments":           "INSERT INTO t (id, a) VALUES (NULL, 1" + nested("/*!*/", "", "") + ")",
		"MariaDB's version comments":       "INSERT INTO t (id, a) VALUES (NULL, 1" + nested("/*M!", "", "*/") + ")",
		"subqueries":                       "INSERT INTO t (id, a) VALUES (NULL, " + nested("(select b, ", "id", ")") + ")",
		"subqueries that read the column":  "INSERT INTO t (id, a) VALUES (NULL, (select id))" + nested(", (NULL, (select id from b))", "", ""),
		"parentheses":                      "INSERT INTO t (id, a) VALUES (NULL, " + nested("(", "id", ")") + ")",
		"user variables":                   "INSERT INTO t (id, a) VALUES (@a, 1)" + nested(", (@a, 1)", "", ""),
		"queries":                          "INSERT INTO t (id, a) " + nested("(select ", "1", ")"),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			sql, m := []byte(text), NewMode("", "utf8mb4", true)
			s, err := ParseInsert(sql, m)
			if err == nil {
				_, err = s.Slots(nil, sql, "id", nil)
			}
			for row := range s.Rows {
				if err == nil {
					s.Variable(sql, row)
				}
			}
			ResolveVersions(sql, m, 101106)
			Writes(nil, sql, m)
			_ = new(InsertStmt).ParseQuery(sql, m) // an error, or none, but soon
		})
	}
}

// A column within a subquery is read from the tables of the innermost one that has
// a FROM clause.
func TestReadsColumn(t *testing.T) {
	for value, want := range map[string]bool{
		"(SELECT id)": true, "(SELECT id FROM u)": false, "(SELECT (SELECT id) FROM u)": false, "(SELECT (SELECT 1 FROM u), id)": true,
		"((id))": true, "IF(1, (SELECT a FROM id), id + 1)": true, "SUBSTRING(id FROM 1)": true, "(SELECT SUBSTRING(id FROM 1))": true,
		"(SELECT SUBSTRING(id FROM 1) FROM u)": false, "u.`id`": true, "(1) + id": true, strings.Repeat("(", 999) + "1" + strings.Repeat(")", 999) + "+ f(u.b)": false,
	} {
		sql := []byte("INSERT INTO t (id, a) VALUES (NULL, " + value + ")")
		s, err := ParseInsert(sql, Mode{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Slots(nil, sql, "id", nil)
		if got := err != nil; got != want {
			t.Errorf("%.60s: reads the column is %v (%v), want %v", value, got, err, want)
		}
	}
}
