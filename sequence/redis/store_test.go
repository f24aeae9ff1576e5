package redis_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	seqredis "github.com/seqgate/seqgate/sequence/redis"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// newStore returns a store of a counter k, guarded by a sequence that begins at next, and Redis itself.
func newStore(t *testing.T, s *servertest.Server, next int64) (seqredis.Store, *redis.Client) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: servertest.StartRedis(t)})
	t.Cleanup(func() { _ = client.Close() })
	return newStoreOn(t, s, client, next), client
}

func newStoreOn(t *testing.T, s *servertest.Server, client *redis.Client, next int64) seqredis.Store {
	t.Helper()
	database := s.NewDatabase(t)
	pool, err := sequence.OpenPool(s.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if err := sequence.Seed(t.Context(), s.Open(t, database), database, "guard", next, 10); err != nil {
		t.Fatal(err)
	}
	return seqredis.Store{Client: client, Key: "k", Step: 10, Guard: sequence.ForUpdate{DB: pool},
		GuardName: sequence.Name{Keyspace: "main", Database: database, Table: "guard"}}
}

func reserve(t *testing.T, s seqredis.Store, q sequence.Request) sequence.Reservation {
	t.Helper()
	res, err := s.Reserve(t.Context(), q)
	if err != nil {
		t.Fatalf("reserve %+v: %v", q, err)
	}
	return res
}

func TestReserve(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client := newStore(t, server, 1)
		for _, tt := range []struct {
			req  sequence.Request
			want sequence.Range
		}{
			{sequence.Request{Need: 1}, sequence.Range{First: 1, N: 10}},
			{sequence.Request{Need: 25, Cache: 10}, sequence.Range{First: 11, N: 30}},
			{sequence.Request{Need: 1, Step: 95, Cache: 10}, sequence.Range{First: 41, N: 100}},
			{sequence.Request{Need: 3, Exact: true}, sequence.Range{First: 141, N: 3}},
		} {
			if got := reserve(t, s, tt.req); got.Range != tt.want || got.Raised {
				t.Errorf("%+v: got %+v, want %+v", tt.req, got, tt.want)
			}
		}
		// Another program counts on.
		if n, err := client.Incr(t.Context(), "k").Result(); n != 144 || err != nil {
			t.Errorf("INCR gives %d, %v; want 144", n, err)
		}
		if got := reserve(t, s, sequence.Request{Need: 1, After: 143}); got.First != 145 {
			t.Errorf("behind the other program: got %+v, want ids from 145", got)
		}
	})
}

// A counter that has come back with less than it had gives no id twice.
func TestCounterSetBack(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client := newStore(t, server, 1)
		for name, setBack := range map[string]func() error{
			"lower":   func() error { return client.DecrBy(t.Context(), "k", 15).Err() },
			"emptied": func() error { return client.FlushAll(t.Context()).Err() },
			"minus":   func() error { return client.Set(t.Context(), "k", math.MinInt64, 0).Err() },
		} {
			before := reserve(t, s, sequence.Request{Need: 20})
			if err := setBack(); err != nil {
				t.Fatal(err)
			}
			// A process that has taken nothing before.
			got := reserve(t, s, sequence.Request{Need: 1})
			if got.First <= before.Last() {
				t.Errorf("%s: ids %d to %d were given after %d", name, got.First, got.Last(), before.Last())
			}
			if n, err := client.Get(t.Context(), "k").Int64(); err != nil || n != got.Last() {
				t.Errorf("%s: the counter is at %d, %v; want %d", name, n, err, got.Last())
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client := newStore(t, server, 1)
		for _, tt := range []struct {
			set  string
			kind error
			text string
		}{{"text", sequence.ErrBadRow, "holds no number"}, {"9223372036854775807", sequence.ErrExhausted, "cannot count any further"}} {
			if err := client.Set(t.Context(), "k", tt.set, 0).Err(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Reserve(t.Context(), sequence.Request{Need: 1}); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("at %s: %v, want %v with %q", tt.set, err, tt.kind, tt.text)
			}
		}
		s.GuardName.Table = "missing"
		if err := client.Set(t.Context(), "k", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reserve(t.Context(), sequence.Request{Need: 1}); !errors.Is(err, sequence.ErrNoTable) {
			t.Errorf("without a guard: %v, want %v", err, sequence.ErrNoTable)
		}
	})
}

// Processes, other programs, and a Redis that loses what it had again and again.
func TestProcesses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client := newStore(t, server, 1)
		var ids sequencetest.IDs
		var all sync.WaitGroup
		stop, cancel := context.WithCancel(t.Context())
		defer cancel()
		losing := make(chan struct{})
		go func() {
			defer close(losing)
			for stop.Err() == nil {
				_ = client.DecrBy(stop, "k", 35).Err() // fails at the end
				select {
				case <-stop.Done():
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
		for range 3 {
			reg := sequencetest.Registry(s, sequence.Config{MaxStep: 20, Timeout: time.Minute})
			defer reg.Close(t.Context())
			seq, err := reg.Get(sequence.Name{Keyspace: "main", Table: "counter"})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				all.Go(func() {
					for n := range int64(150) {
						if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1+n%15) }); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
		}
		all.Wait()
		cancel()
		<-losing
		ids.NoDuplicates(t)
	})
}
