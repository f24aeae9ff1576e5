package proxy_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// comparedVSchema has a key of each kind; of xi and xd it does not tell the column's type.
const comparedVSchema = `{"keyspaces": {
	"main": {"tables": {"user_seq": {"type": "sequence"}}},
	"customer": {"sharded": true,
		"vindexes": {"hash": {"type": "hash"}, "md5": {"type": "unicode_loose_md5"}, "xx": {"type": "xxhash"}},
		"tables": {
			"user": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.user_seq"}},
			"child": {"column_vindexes": [{"column": "user_id", "name": "hash"}]},
			"strkey": {"column_vindexes": [{"column": "email", "name": "md5"}]},
			"str2": {"column_vindexes": [{"column": "email", "name": "md5"}]},
			"xi": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"xd": {"column_vindexes": [{"column": "k", "name": "xx"}]},
			"ref": {"type": "reference"}}}}}`

var comparedTables = []string{
	"CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(64), age INT, n INT NOT NULL DEFAULT 0, f FLOAT, d DECIMAL(8,2), " +
		"e ENUM('b','a'), b BIT(9), st SET('x','y'))",
	"CREATE TABLE child (cid BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, v VARCHAR(64), KEY (user_id))",
	"CREATE TABLE strkey (id BIGINT, email VARCHAR(64), KEY (email))",
	"CREATE TABLE str2 (id BIGINT, email VARCHAR(64), KEY (email))",
	"CREATE TABLE xi (k INT, v INT)",
	"CREATE TABLE xd (k DATE, v INT)",
	"CREATE TABLE ref (id BIGINT PRIMARY KEY, v VARCHAR(64), y YEAR, e ENUM('2','1'))",
}

// beside is the same tables and rows in one database and behind a seqgate in front of four shards.
type beside struct {
	g               *shardedGate
	db              *sql.DB // of the one database
	single, sharded *sql.Conn
}

func newBeside(t *testing.T, s *servertest.Server) *beside {
	t.Helper()
	g := newShardedGate(t, s, 4, gateOptions{vschema: comparedVSchema}, comparedTables...)
	db := s.Open(t, s.NewDatabase(t))
	exec(t, db, comparedTables...)
	return &beside{g: g, db: db, single: conn(t, db), sharded: conn(t, g.open(t, "customer", ""))}
}

// newBesideUsers has ten users with two children each, and rows of the reference table.
func newBesideUsers(t *testing.T, s *servertest.Server) *beside {
	t.Helper()
	b := newBeside(t, s)
	var users, children []string
	for i := 1; i <= 10; i++ {
		users = append(users, fmt.Sprintf("(%[1]d, 'n%[1]d', %[2]d, %[3]d, %[1]d.1, %[1]d.25, %[4]d, %[1]d, %[5]d)", i, 10*i, i%3, 1+i%2, i%4))
		children = append(children, fmt.Sprintf("(%[1]d, %[2]d, 'v%[2]d')", 100-i, i), fmt.Sprintf("(%[1]d, %[2]d, 'w%[2]d')", 200+i, i))
	}
	b.exec(t, "INSERT INTO user (id, name, age, n, f, d, e, b, st) VALUES "+strings.Join(users, ", "),
		"INSERT INTO child (cid, user_id, v) VALUES "+strings.Join(children, ", "),
		"INSERT INTO ref VALUES (1, 'one', 2005, '2'), (2, 'two', 2002, '1'), (2005, 'y', 2001, '1')")
	return b
}

// exec runs statements on both sides.
func (b *beside) exec(t *testing.T, statements ...string) {
	t.Helper()
	exec(t, b.single, statements...)
	exec(t, b.sharded, statements...)
}

// same compares the rows of queries on both sides, in any order.
func (b *beside) same(t *testing.T, queries ...string) {
	t.Helper()
	for _, query := range queries {
		b.sameArgs(t, query)
	}
}

// sameArgs is same of a prepared query.
func (b *beside) sameArgs(t *testing.T, query string, args ...any) {
	t.Helper()
	want, wantErr := rowTexts(t, b.single, query, args...)
	got, err := rowTexts(t, b.sharded, query, args...)
	if wantErr != nil || err != nil {
		t.Errorf("%s %v: %v, through seqgate %v", query, args, wantErr, err)
		return
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %v (- one server, + seqgate):\n%s", query, args, diff)
	}
}

// refused holds that statements are not supported.
func (b *beside) refused(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if rows, err := rowTexts(t, b.sharded, statement); errno(err) != 1235 {
			t.Errorf("%s: %v, %v, want error 1235", statement, rows, err)
		}
	}
}

// affects runs a write on both sides, and compares how many rows it affects.
func (b *beside) affects(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		want, _ := execArgs(t, b.single, statement)
		if got, _ := execArgs(t, b.sharded, statement); got != want {
			t.Errorf("%s: %d rows, want %d", statement, got, want)
		}
	}
}

// rowTexts gives the rows of a query, each as one text.
func rowTexts(t *testing.T, c *sql.Conn, query string, args ...any) (all []string, err error) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, places := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprint(values))
	}
	return all, rows.Err()
}
