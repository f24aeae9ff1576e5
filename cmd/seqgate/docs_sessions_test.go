package main

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var typedClient = regexp.MustCompile(`^\$ mariadb -h 127\.0\.0\.1 -P 3307 -u root (\S+)$`)

// The sessions of the README are typed at the demo, one after the other: each statement answers what stands below it.
func TestReadmeSessions(t *testing.T) {
	p := start(t, "demo", "--listen", "127.0.0.1:0")
	count := 0
	for _, b := range blocksOf(t, "console") {
		if b.doc != "README.md" || !strings.Contains(b.text, "\n> ") {
			continue
		}
		var conn *sql.Conn
		statement, answer := "", ""
		check := func() {
			if statement == "" {
				return
			}
			count++
			if got := typed(t, conn, statement); got != answer {
				t.Errorf("README.md, %s\nanswers\n%s\nand the page says\n%s", statement, got, answer)
			}
			statement, answer = "", ""
		}
		for line := range strings.Lines(b.text) {
			line = strings.TrimSuffix(line, "\n")
			if m := typedClient.FindStringSubmatch(line); m != nil {
				check()
				conn = session(t, openClient(t, "root", "", p.addr, m[1]))
			} else if text, ok := strings.CutPrefix(line, "> "); ok {
				check()
				statement = strings.TrimSuffix(text, ";")
			} else if line != "" {
				answer += line + "\n"
			}
		}
		check()
	}
	if count < 8 {
		t.Errorf("%d statements were found, want those of both sessions", count)
	}
}

// session is one connection to the end of the test.
func session(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // as the server's going would
	return conn
}

// typed runs a statement and gives the answer as MySQL's client shows it.
func typed(t *testing.T, conn *sql.Conn, statement string) string {
	t.Helper()
	if !strings.HasPrefix(statement, "SELECT ") {
		r, err := conn.ExecContext(t.Context(), statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		n, err := r.RowsAffected()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("Query OK, %d row%s affected\n", n, map[bool]string{false: "s"}[n == 1])
	}
	rows, err := conn.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	names, cells, to := make([]string, len(types)), make([]string, len(types)), make([]any, len(types))
	for i, column := range types {
		names[i], to[i] = column.Name(), &cells[i]
	}
	lines := [][]string{names}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, append([]string(nil), cells...))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return drawn(lines, types)
}

// drawn is a result as a table, with its names in the first line: numbers at the right, texts at the left.
func drawn(lines [][]string, types []*sql.ColumnType) string {
	widths, edge := make([]int, len(types)), "+"
	for i := range types {
		for _, line := range lines {
			widths[i] = max(widths[i], len(line[i]))
		}
		edge += strings.Repeat("-", widths[i]+2) + "+"
	}
	text := edge + "\n"
	for n, line := range lines {
		text += "|"
		for i, cell := range line {
			width := widths[i]
			if n == 0 || !strings.Contains(types[i].DatabaseTypeName(), "INT") {
				width = -width
			}
			text += fmt.Sprintf(" %*s |", width, cell)
		}
		text += "\n"
		if n == 0 {
			text += edge + "\n"
		}
	}
	return text + edge + "\n"
}
