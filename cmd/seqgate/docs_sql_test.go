package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// sqlPage is what the SQL of a page is run on: tables, and a vschema if the page's own does not do.
type sqlPage struct {
	tables  []string
	vschema string
	first   string // is run through seqgate before
	rows    int    // that the last statement is to give at least
}

// sqlPages are the pages with SQL, or single sections of them. Those of the guides are run by these.
var sqlPages = map[string]*sqlPage{
	"README.md":               nil,
	"docs/sequences.md":       nil,
	"docs/moving-in.md":       nil,
	"docs/getting-started.md": nil,
	"docs/sequences.md Keyed sequences": {
		tables: []string{"CREATE TABLE messages (user_id BIGINT, seq_no BIGINT, body VARCHAR(64), PRIMARY KEY (user_id, seq_no))"},
		vschema: `{"keyspaces": {"main": {"tables": {
			"messages": {"auto_increment": {"column": "seq_no", "sequence": "msg_seq", "key": "user_id"}},
			"msg_seq":  {"type": "sequence"}}}}}`,
		rows: 1,
	},
	"docs/operating.md": {
		tables: []string{"CREATE TABLE users (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64))"},
		vschema: `{"keyspaces": {"main": {"tables": {
			"users": {"auto_increment": {"column": "id", "sequence": "users_seq"}}, "users_seq": {"type": "sequence"}}}}}`,
	},
	"docs/generators.md": {
		vschema: `{"keyspaces": {"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter"}}}}}}`,
		first:   "SELECT NEXT VALUE FROM flake",
		rows:    1,
	},
}

// sqlPage is what the block is run on: what its section has, or else its page.
func (b docBlock) sqlPage() (page *sqlPage, known bool) {
	if page, known = sqlPages[b.doc+" "+b.section]; !known {
		page, known = sqlPages[b.doc]
	}
	return page, known
}

// The SQL of the docs is run through a seqgate on real servers.
func TestDocsSQL(t *testing.T) {
	blocks := blocksOf(t, "sql")
	for _, b := range blocks {
		if _, ok := b.sqlPage(); !ok {
			t.Errorf("%s:%d: nothing runs it: add the page to sqlPages", b.doc, b.line)
		}
	}
	s := servertest.First(t)
	for _, b := range blocks {
		if b.doc == "docs/moving-in.md" || b.doc == "docs/getting-started.md" {
			continue
		}
		page, _ := b.sqlPage()
		t.Run(fmt.Sprintf("%s:%d", b.doc, b.line), func(t *testing.T) { b.runSQL(t, s, page) })
	}
}

// runSQL runs a block on a database of its own.
func (b docBlock) runSQL(t *testing.T, s *servertest.Server, page *sqlPage) {
	database := s.NewDatabase(t)
	args := []string{"--upstream", s.DSN(database)}
	if page != nil {
		run1(t, s.Open(t, database), page.tables...)
		schema := writeFile(t, "vschema.json", page.vschema)
		args = []string{"--config", writeFile(t, "seqgate.yaml",
			fmt.Sprintf("vschema: %s\nkeyspaces: {main: {shards: {\"-\": %q}}}\n", schema, s.DSN(database)))}
		if err := run(t.Context(), append([]string{"init"}, args...), io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		database = "main"
	}
	args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	db := openClient(t, s.User, s.Password, start(t, args...).addr, database)
	if page != nil && page.first != "" {
		query1[int64](t, db, page.first)
	}
	rows := 0
	for statement := range strings.SplitSeq(strings.TrimSpace(regexp.MustCompile(`(?m) *-- .*$`).ReplaceAllString(b.text, "")), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			rows = countRows(t, db, statement)
		}
	}
	if page != nil && rows < page.rows {
		t.Errorf("the last statement gave %d rows, want %d or more", rows, page.rows)
	}
}

// countRows runs a statement, with a text for each parameter.
func countRows(t *testing.T, db *sql.DB, statement string) (n int) {
	t.Helper()
	var args []any
	for range strings.Count(statement, "?") {
		args = append(args, "7")
	}
	rows, err := db.QueryContext(context.Background(), statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return n
}
