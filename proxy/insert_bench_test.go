package proxy

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// insertSession is a session that has all it needs to plan and fill an INSERT into
// d.orders: no server is asked.
func insertSession(tb testing.TB) *session {
	seqs := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{Store: sequencetest.NewStore(1<<40, 1<<30)}, nil
	}, sequence.Config{})
	tb.Cleanup(func() { _ = seqs.Close(context.Background()) })
	k := &catalog.Keyspace{Name: "main", Database: "d"}
	asked := time.Now()
	c := catalog.NewCache(catalog.CacheConfig{Keyspaces: map[string]*catalog.Keyspace{"main": k}, Now: func() time.Time { return asked }})
	orders := catalog.Table{Exists: true, Name: "orders", Kind: "BASE TABLE", Engine: "InnoDB", Columns: []catalog.Column{{Name: "id", Type: "bigint(20)", Key: "PRI"},
		{Name: "customer"}, {Name: "name"}, {Name: "email"}, {Name: "price"}, {Name: "at"}}}
	counter := catalog.Table{Exists: true, Name: "orders_seq", Columns: []catalog.Column{{Name: "id"}, {Name: "next_id"}, {Name: "cache"}}}
	if err := c.Learn(context.Background(), k, orders, counter); err != nil {
		tb.Fatal(err)
	}
	srv := new(Server)
	srv.catalog, srv.cfg = c, Config{Sequences: seqs}
	return newSession(&clientConn{srv: srv, ctx: context.Background()}, &serverConn{serverState: serverState{srv: srv, ctx: context.Background(), keyspace: k,
		Session: backend.Session{State: backend.State{EnvironmentKnown: true, Database: "d", DatabaseKnown: true, LastIDKnown: true, IDs: backend.IDSettings{Increment: 1}}}}})
}

// BenchmarkPlanInsert is what an INSERT costs in seqgate beside the sockets: it is
// planned, ids are taken and its text is filled.
func BenchmarkPlanInsert(b *testing.B) {
	rows := func(n int, columns, id string) []byte {
		text := []byte("insert into orders(" + columns + ") values ")
		for i := range n {
			text = fmt.Appendf(text, "(%s%d,'customer %d','someone@example.com',%d.95,'2024-05-06 07:08:09'),", id, i+1, i, i%100)
		}
		return bytes.TrimSuffix(text, []byte(","))
	}
	const absent = "customer, name, email, price, at"
	for _, test := range []struct {
		name  string
		sql   []byte
		asked bool // the session's settings are known
	}{
		{"rows=1", rows(1, absent, ""), true},
		{"rows=1/unasked", rows(1, absent, ""), false},
		{"rows=1/null", rows(1, "id, "+absent, "NULL,"), true},
		{"rows=1000", rows(1000, absent, ""), true},
		{"rows=1000/null", rows(1000, "id, "+absent, "NULL,"), true},
	} {
		b.Run(test.name, func(b *testing.B) {
			s := insertSession(b)
			s.State.EnvironmentKnown = test.asked
			b.SetBytes(int64(len(test.sql)))
			b.ReportAllocs()
			for b.Loop() {
				p, err := s.plan(test.sql)
				if err == nil {
					err = s.compose(&p, nil, test.sql)
				}
				if err != nil || p.kind != plan.Filled {
					b.Fatal(p.kind, err)
				}
			}
		})
	}
}
