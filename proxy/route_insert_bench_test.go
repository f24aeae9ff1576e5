package proxy

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// BenchmarkPlanShardedInsert is BenchmarkPlanInsert for a table on two shards: the
// statement is placed too, and divided.
func BenchmarkPlanShardedInsert(b *testing.B) {
	for _, rows := range []int{1, 1000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			r, _ := shardedSession(b)
			sql := []byte("insert into orders(customer, name, email, price, at) values ")
			for i := range rows {
				if i > 0 {
					sql = append(sql, ',')
				}
				sql = fmt.Appendf(sql, "(%d,'customer %d','someone@example.com',%d.95,'2024-05-06 07:08:09')", i+1, i, i%100)
			}
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			var scratch []byte
			for b.Loop() {
				p, err := r.planInsert(sql, parser.Mode{})
				if err != nil {
					b.Fatal(err)
				}
				in := shardedInsert{ShardedInsert: p.Insert, r: &r.textRouter}
				err = in.takeIDs()
				if err == nil {
					err = in.PlaceByIDs()
				}
				if err != nil {
					b.Fatal(err)
				}
				if len(in.Targets) == 1 {
					scratch = in.appendText(scratch[:0], nil)
					continue
				}
				parts := in.divide(make([]*executor, len(in.Targets)))
				for i := range parts {
					scratch = in.appendText(scratch[:0], &parts[i])
				}
			}
		})
	}
}

// shardedSession is insertSession in front of two shards.
func shardedSession(tb testing.TB) (*router, *catalog.Keyspace) {
	s := insertSession(tb)
	v, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"main": {"tables": {"orders_seq": {"type": "sequence"}}},
		"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {"orders": {
			"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "orders_seq"}}}}}}`))
	if err != nil {
		tb.Fatal(err)
	}
	layout, err := vschema.NewShards([]string{"-80", "80-"})
	if err != nil {
		tb.Fatal(err)
	}
	var shards []*catalog.Keyspace
	for i := range layout.Len() {
		shards = append(shards, &catalog.Keyspace{Name: "customer", Shard: layout.Name(i), Database: fmt.Sprintf("customer_%d", i)})
	}
	k := catalog.Sharded(layout, shards)
	s.srv.cfg.Keyspaces = map[string]*catalog.Keyspace{"main": s.keyspace, "customer": k}
	asked := time.Now()
	s.srv.catalog = catalog.NewCache(catalog.CacheConfig{Keyspaces: s.srv.cfg.Keyspaces, VSchema: v, Now: func() time.Time { return asked }})
	orders := catalog.Table{Exists: true, Name: "orders", Kind: "BASE TABLE", Engine: "InnoDB", Columns: []catalog.Column{{Name: "id", Type: "bigint(20)", Key: "PRI"},
		{Name: "customer"}, {Name: "name"}, {Name: "email"}, {Name: "price"}, {Name: "at"}}}
	if err := s.srv.catalog.Learn(context.Background(), shards[0], orders, catalog.Table{}); err != nil {
		tb.Fatal(err)
	}
	s.keyspace = shards[0]
	r := newRouter(s, k, "")
	if err := r.settings.Hold(catalog.IncrementVariable, catalog.IncrementVariable+" = 1"); err != nil { // no server is asked
		tb.Fatal(err)
	}
	s.router = r
	return r, k
}
