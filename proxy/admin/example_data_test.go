package admin

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/shapes"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/vschema"
)

// shop is a made-up seqgate in front of a shop, with an hour behind it, that tells of more each time it is asked.
type shop struct {
	mu    sync.Mutex
	now   time.Time
	hour  float64 // that has passed, 0 to 1 before the pages are shown
	total meter.Snapshot
	ids   [3]int64
}

const shopVSchema = `{"keyspaces": {
	"main": {
		"generators": {"event_id": {"type": "snowflake", "params": {"layout": "twitter"}}},
		"tables": {
			"users": {"auto_increment": {"column": "id", "sequence": "users_seq"}}, "settings": {},
			"events": {"auto_increment": {"column": "id", "generator": "event_id"}},
			"users_seq": {"type": "sequence"}, "orders_seq": {"type": "sequence"}, "invoices_seq": {"type": "sequence"}, "messages_seq": {"type": "sequence"}
		}},
	"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}, "text": {"type": "xxhash"}}, "tables": {
		"orders": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.orders_seq"}},
		"invoices": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.invoices_seq"}},
		"messages": {"column_vindexes": [{"column": "user_id", "name": "hash"}], "auto_increment": {"column": "number", "sequence": "main.messages_seq", "key": "user_id"}},
		"tags": {"column_vindexes": [{"column": "tag", "name": "text"}]},
		"countries": {"type": "reference"}
	}}
}}`

// pass lets ten seconds pass. The load has its waves.
func (s *shop) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(historyStep)
	s.hour += 1.0 / historyPoints
	load := 1 + 0.5*math.Sin(9*s.hour) + 0.2*math.Sin(71*s.hour)
	q := &s.total.Queries[meter.Select]
	q.Took.Counts[3] += int64(18_000 * load)
	q.Took.Sum += time.Duration(18_000 * load * (0.8 + 0.3*math.Sin(20*s.hour)*math.Sin(20*s.hour)) * 1e6)
	if s.hour > 0.55 && s.hour < 0.58 {
		q.Failed += int64(2500 * load)
		s.total.Errors[meter.DuplicateKey] += int64(2500 * load)
	}
	for i, rate := range []float64{1200, 4100, 30} {
		s.ids[i] += int64(rate * load)
	}
	s.total.Sessions = int(140 * load)
}

func (s *shop) traffic() meter.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.total
	t.Queries[meter.Select].Took.Counts[3]++ // this question counts too
	s.total.Queries[meter.Select].Took.Counts[3]++
	t.Started, t.Limit, t.Pinned, t.Ready = time.Now().Add(-3*day-4*time.Hour), 1000, 9, true
	t.Backends = []meter.BackendSnapshot{
		{Keyspace: "customer", Shard: "-80", Busy: 61, Idle: 12, Queries: 3_204_551, In: 4 << 30, Out: 900 << 20},
		{Keyspace: "customer", Shard: "80-", Busy: 58, Idle: 15, Queries: 3_190_002, In: 4 << 30, Out: 880 << 20},
		{Keyspace: "main", Shard: "-", Busy: 22, Idle: 3, Queries: 800_120, In: 700 << 20, Out: 90 << 20},
	}
	return t
}

func (s *shop) sequences() []sequence.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := func(i int, table string, step, rate int64) sequence.Status {
		given := s.ids[i] + 1_000_000
		left := step - given%step
		return sequence.Status{
			Name: sequence.Name{Keyspace: "main", Database: "main", Table: table}, Strategy: sequence.StrategyForUpdate, Values: s.ids[i],
			Current: sequence.Range{First: given, N: left}, Next: sequence.Range{First: given + left, N: step}, Given: given + left + step,
			Last: math.MaxInt64, Cache: 1000, Step: step, Rate: float64(rate), Runway: time.Duration((left+step)/rate) * time.Second, Refills: s.ids[i] / step,
		}
	}
	users, orders, invoices := one(0, "users_seq", 128_000, 120), one(1, "orders_seq", 512_000, 410), one(2, "invoices_seq", 1000, 3)
	orders.Strategy, orders.Server = sequence.StrategyIncrement, "2f9d6c1e"
	invoices.Next.N, invoices.Failures, invoices.LastError = 0, 4, errors.New("Error 1205 (HY000): Lock wait timeout exceeded; try restarting transaction")
	invoices.LastErrorAt, invoices.Runway = time.Now().Add(-2*time.Minute), 84*time.Second
	return []sequence.Status{invoices, orders, users}
}

// config gives what the pages show of it.
func (s *shop) config(tb testing.TB) Config {
	tb.Helper()
	v, err := vschema.Load("vschema.json", []byte(shopVSchema))
	if err != nil {
		tb.Fatal(err)
	}
	s.now = time.Now().Add(-(historyPoints - 40) * historyStep)
	history := NewHistory(s.traffic, s.sequences)
	history.latest.at = s.now
	for range historyPoints - 40 {
		s.pass()
		history.sample(s.now)
	}
	ends := time.Date(2080, 7, 10, 17, 30, 30, 0, time.UTC)
	return Config{
		Version: "v1.4.0", Traffic: s.traffic, Sequences: s.sequences, History: history,
		ColumnMax: func() map[sequence.Name]int64 {
			return map[sequence.Name]int64{{Keyspace: "main", Database: "main", Table: "invoices_seq"}: math.MaxInt32,
				{Keyspace: "main", Database: "main", Table: "users_seq"}: math.MaxUint32}
		},
		Generators: func() []GeneratorStatus {
			return []GeneratorStatus{{Keyspace: "main", Name: "event_id", Layout: "twitter", From: "table main.seqgate_workers", Held: true, Worker: 17, Leased: true,
				LeaseLeft: 24 * time.Second, ClockKnown: true, ClockOffset: -3 * time.Millisecond, Ends: ends, IDs: 8_120_445, Waits: 12}}
		},
		Keyed: func() []keyed.Status {
			return []keyed.Status{{Name: sequence.Name{Keyspace: "main", Database: "main", Table: "messages_seq"}, Sections: 64, Held: 33, Keys: 41_822, Opened: 35, Lost: 2, Forwards: 90_211}}
		},
		Sessions: func(context.Context, int) ([]Session, int, error) {
			return []Session{
				{ID: 4, User: "app", Host: "10.0.0.21:51312", Keyspace: "customer", Database: "customer", Command: "Query", Time: "0", State: "Sending data"},
				{ID: 9, User: "app", Host: "10.0.0.22:40110", Keyspace: "main", Database: "main", Command: "Sleep", Time: "3", Pinned: true},
				{ID: 12, User: "report", Host: "localhost", Keyspace: "main", Database: "main", Command: "Sleep", Time: "61"},
			}, 3, nil
		},
		Statements: shopStatements,
		VSchema:    func() *vschema.VSchema { return v },
		Health: func() []health.Status {
			up := func(keyspace, shard string, latency time.Duration) health.Status {
				return health.Status{Keyspace: keyspace, Shard: shard, State: health.Up, Since: s.now.Add(-26 * time.Hour), Latency: latency, Version: "8.4.6"}
			}
			return []health.Status{up("main", "-", 420*time.Microsecond), up("customer", "-80", 510*time.Microsecond), up("customer", "80-", 470*time.Microsecond)}
		},
		Servers: []Server{{"main", "-", "10.0.1.5:3306", "main"}, {"customer", "-80", "10.0.1.6:3306", "customer"}, {"customer", "80-", "10.0.1.7:3306", "customer"}},
	}
}

// shopStatements are the shop's statements by their shape, and its slow ones.
func shopStatements() (all []shapes.Count, others shapes.Count, slow []shapes.Slow) {
	table := shapes.New(4)
	count := func(user, keyspace, text string, calls int, took time.Duration, rows uint64) {
		shape := table.Find(user, keyspace, []byte(text))
		for i := range calls {
			shape.Count(took+took*time.Duration(i%7)/5, i%83 == 82, rows)
		}
	}
	count("report", "customer", "SELECT user_id, SUM(amount) FROM orders WHERE created BETWEEN ? AND ? GROUP BY user_id ORDER BY ? DESC LIMIT ?", 90, 4*time.Second, 1000)
	count("app", "customer", "SELECT id, amount, created FROM orders WHERE user_id = ? ORDER BY id DESC LIMIT ?", 8000, 800*time.Microsecond, 20)
	count("app", "customer", "INSERT INTO orders(user_id, amount) VALUES(?)", 4100, 1500*time.Microsecond, 0)
	count("app", "main", "SELECT name FROM users WHERE id = ?", 9000, 400*time.Microsecond, 1)
	count("app", "main", "SELECT ?", 300, 100*time.Microsecond, 1)
	all, others = table.Snapshot()
	at := time.Date(2026, 11, 28, 9, 30, 12, 0, time.UTC)
	return all, others, []shapes.Slow{
		{Ended: at, User: "report", Keyspace: "customer", Shards: "customer:-80,customer:80-", Took: 6734 * time.Millisecond, Rows: 1000, Text: all[0].Text},
		{Ended: at.Add(-time.Hour), User: "app", Keyspace: "main", Shards: "", Took: 1020 * time.Millisecond, Failed: true, Text: "UPDATE users SET name = ? WHERE id = ?"},
	}
}
