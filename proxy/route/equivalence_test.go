package route_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// equivalence is the same rows in one database and divided among one for each shard.
type equivalence struct {
	planner *route.Planner
	whole   *sql.Conn
	shards  []*sql.Conn
	mode    parser.Mode
}

// TestPlansAreEquivalent runs random statements on one database with all rows and on the shards that their plans give:
// together these have to answer the same.
func TestPlansAreEquivalent(t *testing.T) {
	statements := 3000
	if testing.Short() {
		statements = 300
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		e := newEquivalence(t, s)
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		kinds := map[route.Kind]int{}
		for range statements {
			q := randomQuery{Rand: random}
			var text string
			if write := random.IntN(5) == 0; write {
				text = q.writes()
			} else {
				text = q.selects()
			}
			kind, ok := e.compare(t, text)
			if ok {
				kinds[kind]++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		for _, kind := range []route.Kind{route.One, route.Keys, route.Scatter, route.Any} {
			if kinds[kind] == 0 && !testing.Short() {
				t.Errorf("none of %d statements was planned as %s, seed %d", statements, kind, seed)
			}
		}
		t.Logf("plans: %v", kinds)
	})
}

func newEquivalence(t *testing.T, s *servertest.Server) *equivalence {
	t.Helper()
	v, shards := loadVSchema(t)
	e := &equivalence{planner: route.New(v, shards, nil), whole: connect(t, s), mode: parser.Mode{MariaDB: s.IsMariaDB()}}
	for range shards["customer"].Len() {
		e.shards = append(e.shards, connect(t, s))
	}
	keyspace, _ := v.Keyspace("customer")
	for _, table := range randomTables {
		create := fmt.Sprintf("CREATE TABLE %s (%s %s, n INT)", table.name, table.key, table.keyType)
		for _, c := range append([]*sql.Conn{e.whole}, e.shards...) {
			mustExec(t, c, create)
		}
		model, _ := keyspace.Table(table.name)
		for i, key := range slices.Concat(table.keys, table.keys) {
			insert := fmt.Sprintf("INSERT INTO %s VALUES (%s, %d)", table.name, key, i%5)
			mustExec(t, e.whole, insert)
			for _, shard := range shardsOfRow(t, model, shards["customer"], key) {
				mustExec(t, e.shards[shard], insert)
			}
		}
	}
	return e
}

// shardsOfRow returns where a row with the key is: everywhere for a reference table.
func shardsOfRow(t *testing.T, table *vschema.Table, shards *vschema.Shards, literal string) []int {
	t.Helper()
	if table.Type == vschema.Reference {
		return []int{0, 1, 2, 3}
	}
	value := vschema.Text([]byte(strings.Trim(literal, "'")))
	var n int64
	if _, err := fmt.Sscanf(literal, "%d", &n); err == nil {
		value = vschema.Int(n)
	}
	id, err := table.ColumnVindexes[0].Map(nil, []vschema.Value{value})
	if err != nil {
		t.Fatal(err)
	}
	return []int{shards.Find(id)}
}

func connect(t *testing.T, s *servertest.Server) *sql.Conn {
	t.Helper()
	c, err := s.Open(t, s.NewDatabase(t)).Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustExec(t *testing.T, c *sql.Conn, query string) {
	t.Helper()
	if _, err := c.ExecContext(context.Background(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// compare runs the statement both ways. It reports false for one that the planner refuses, or the server.
func (e *equivalence) compare(t *testing.T, text string) (route.Kind, bool) {
	t.Helper()
	plan, err := e.planner.Plan([]byte(text), "customer", e.mode)
	var refused *route.Error
	if errors.As(err, &refused) {
		return 0, false
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	shards, err := plan.Shards(nil, nil)
	if err != nil {
		if !errors.As(err, &refused) {
			t.Fatalf("%s: %v", text, err)
		}
		return 0, false
	}
	want, err := answer(e.whole, text)
	if err != nil {
		return 0, false
	}
	several := string(plan.AppendSQL(nil, []byte(text), len(shards) > 1, nil))
	got := []string{}
	for i, shard := range shards {
		rows, err := answer(e.shards[shard], several)
		if err != nil {
			t.Fatalf("%s on shard %d: %v", several, shard, err)
		}
		if i == 0 || !plan.SameRows {
			got = append(got, rows...)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nplan %s, shards %v\n(-one server +shards):\n%s", text, plan, shards, diff)
	}
	return plan.Kind, true
}

// answer returns the rows of a SELECT in an order of their own; of a write, which is undone, a line for each row that it
// changed.
func answer(c *sql.Conn, query string) ([]string, error) {
	if strings.HasPrefix(query, "SELECT") {
		return rowsOf(c, query)
	}
	tx, err := c.BeginTx(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	result, err := tx.Exec(query)
	if err := errors.Join(err, tx.Rollback()); err != nil {
		return nil, err
	}
	n, err := result.RowsAffected()
	return make([]string, n), err
}

func rowsOf(c *sql.Conn, query string) ([]string, error) {
	rows, err := c.QueryContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	all := []string{}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprint(values))
	}
	slices.Sort(all)
	return all, rows.Err()
}
