package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
)

// What becomes of a statement in front of shards, text and prepared, and which facts that needs. SHOW SEQGATE PLAN's golden files
// have more of them.
func TestRoutedPlans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sql      string
		opaque   bool // a program has run
		stale    bool // tables have to be asked for
		current  string
		plan     string // of the text
		prepared string
		asks     string // both
		refused  string
	}{
		{sql: "SET @a = 1", plan: "set", prepared: "as text at -80"},
		{sql: "USE main", plan: "use main", prepared: "as text at -80"},
		{sql: "SHOW WARNINGS", plan: "show", prepared: "on one shard at -80"},
		{sql: "SHOW SEQGATE STATUS", plan: "home", refused: "prepared statement protocol"},
		{sql: "SELECT @a", plan: "local", prepared: "on one shard at -80"},
		{sql: "SELECT @a", opaque: true, plan: "local", prepared: "on one shard at -80", asks: "variables [a]"},
		{sql: "SELECT * FROM orders WHERE user = 1", plan: "tables on [0]", prepared: "by plan at -80"},
		{sql: "SELECT * FROM orders WHERE id = LAST_INSERT_ID()", plan: "tables on [0 1]", prepared: "anew at -80", asks: "text"},
		{sql: "UPDATE orders SET v = ROW_COUNT() WHERE user = 4", plan: "tables on [1]", prepared: "as text at -80", asks: "text"},
		{sql: "SELECT GET_LOCK('a', 1) FROM orders", refused: "GET_LOCK()"},
		{sql: "SELECT NEXT VALUE FROM orders_seq", plan: "at main", prepared: "on one shard at main"},
		{sql: "SELECT * FROM cities", current: "main", plan: "current", prepared: "on one shard at main"},
		{sql: "INSERT INTO cities VALUES (1)", current: "main", plan: "current", prepared: "on one shard at main"},
		{sql: "INSERT INTO main.cities VALUES (1)", plan: "at main: INSERT INTO `m`.cities VALUES (1)", prepared: "on one shard at main"},
		{sql: "INSERT INTO main.cities SELECT user FROM orders", plan: "query", prepared: "as text at main: DO 0"},
		{sql: "INSERT INTO orders (user) VALUES (1)", plan: "insert on [0]", prepared: "as text at -80"},
		{sql: "INSERT INTO orders (user) VALUES (1)", stale: true, plan: "insert on [0]", prepared: "as text at -80", asks: "customer.orders"},
		{sql: "INSERT INTO orders (user) VALUES (1 + 1)", stale: true, plan: "insert on [0]", prepared: "as text at -80", asks: "customer.orders, computed"},
		{sql: "LOCK TABLES orders READ", refused: "LOCK TABLES"},
		{sql: "CALL p()", refused: "CALL"},
	} {
		t.Run(tt.sql, func(t *testing.T) {
			r := shardedRouter(t)
			r.Opaque, r.Tables.(*shardTables).fresh = tt.opaque, !tt.stale
			if tt.current != "" {
				r.Keyspace = r.Keyspaces[tt.current]
			}
			mode := parser.Mode{Strict: true}
			got, asks, err := withRoutedFacts(r, func() (string, error) {
				p, err := r.Plan([]byte(tt.sql), mode)
				return showRouted(&p), err
			})
			if tt.plan != "" && (err != nil || !strings.HasPrefix(got, tt.plan)) {
				t.Errorf("plan %q, error %v, want %q", got, err, tt.plan)
			}
			if tt.plan != "" && asks != tt.asks {
				t.Errorf("asked for %q, want %q", asks, tt.asks)
			}
			if tt.plan == "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
				t.Errorf("error %v, want %q", err, tt.refused)
			}
			got, _, err = withRoutedFacts(r, func() (string, error) {
				p, err := r.Prepare([]byte(tt.sql), mode)
				if err != nil {
					return "", err
				}
				return fmt.Sprintf("%s at %s: %s", map[plan.Manner]string{plan.AsText: "as text", plan.OnOneShard: "on one shard", plan.ByPlan: "by plan", plan.Anew: "anew"}[p.Run],
					strings.TrimPrefix(p.Prepares.String(), "customer:"), p.Text), nil
			})
			if tt.prepared != "" && (err != nil || !strings.HasPrefix(got, tt.prepared)) {
				t.Errorf("prepared %q, error %v, want %q", got, err, tt.prepared)
			}
			if tt.prepared == "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
				t.Errorf("prepared: error %v, want %q", err, tt.refused)
			}
		})
	}
}

// withRoutedFacts plans with what package proxy would fetch.
func withRoutedFacts(r *plan.Router, part func() (string, error)) (got, asks string, err error) {
	r.Fetched = plan.RoutedFacts{}
	var asked []string
	for missing := (*plan.Missing)(nil); len(asked) < 9; {
		if got, err = part(); !errors.As(err, &missing) {
			break
		}
		switch missing.Fact {
		case plan.NeedsVariablesSet:
			r.Fetched.Noted = true
			asked = append(asked, fmt.Sprintf("variables %s", missing.Found.Variables))
		case plan.NeedsSessionText:
			r.Fetched.Text = missing.Found.AppendReplaced(nil, missing.SQL, func(dst []byte, _ parser.SessionCall) ([]byte, bool) { return append(dst, '7'), true })
			asked = append(asked, "text")
		case plan.NeedsShardTable:
			declared, _ := r.Loaded.VSchema.Keyspace(missing.Table.Schema)
			table, _ := declared.Table(missing.Table.Table)
			r.Fetched.Described = describe(table)
			asked = append(asked, missing.Table.Schema+"."+missing.Table.Table)
		case plan.NeedsComputed:
			r.Fetched.Computed = []byte("\x012")
			asked = append(asked, "computed")
		default:
			return "", "", err
		}
	}
	return got, strings.Join(asked, ", "), err
}

func showRouted(p *plan.Routed) string {
	switch p.Kind {
	case plan.RoutedUse:
		return "use " + p.Database
	case plan.RoutedAt:
		return fmt.Sprintf("at %s: %s", p.Keyspace, p.Text)
	case plan.RoutedInsert:
		return fmt.Sprintf("insert on %v", p.Insert.Shards)
	case plan.RoutedTables:
		return fmt.Sprintf("tables on %v", p.Shards)
	}
	return map[plan.RoutedKind]string{plan.RoutedSet: "set", plan.RoutedShow: "show", plan.RoutedHome: "home", plan.RoutedLocal: "local",
		plan.RoutedCurrent: "current", plan.RoutedInsertQuery: "query"}[p.Kind]
}
