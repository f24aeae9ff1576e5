package redis_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	seqredis "github.com/seqgate/seqgate/sequence/redis"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// clock is a clock that tests set.
type clock struct{ at atomic.Pointer[time.Time] }

func (c *clock) now() time.Time { return *c.at.Load() }

func (c *clock) set(t *testing.T, text string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	c.at.Store(&at)
}

// newDated returns a store of ids with the day and so many digits, in blocks of 10, at noon of 22 November 2226: sequences end a
// period's ids by the clock of the machine, for which it must not have ended yet.
func newDated(t *testing.T, server *servertest.Server, layout string, digits int) (seqredis.Store, *redis.Client, *clock) {
	t.Helper()
	s, client := newStore(t, server, 1)
	c := &clock{}
	c.set(t, "2226-11-22T12:00:00Z")
	s.Prefix = seqredis.Prefix{Layout: layout, Digits: digits, Now: c.now}
	return s, client, c
}

// wantBlock reserves, and wants the block from first to last.
func wantBlock(t *testing.T, s seqredis.Store, q sequence.Request, first, last int64) {
	t.Helper()
	if got := reserve(t, s, q); got.First != first || got.Last() != last {
		t.Errorf("%+v: got ids %d to %d, want %d to %d", q, got.First, got.Last(), first, last)
	}
}

// Each period counts from 1, in a key of its own that expires, and a block is of one period alone.
func TestPeriods(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, c := newDated(t, server, seqredis.Day, 5)
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112200001, 2226112200010)
		wantBlock(t, s, sequence.Request{Need: 15, Cache: 10}, 2226112200011, 2226112200030)
		wantBlock(t, s, sequence.Request{Need: 3, Exact: true}, 2226112200031, 2226112200033)
		wantBlock(t, s, sequence.Request{Need: 1, Step: 1_000_000}, 2226112200034, 2226112201033) // no more than a part of the day's
		if n, err := client.IncrBy(t.Context(), "k:22261122", 7).Result(); n != 1040 || err != nil {
			t.Errorf("another program counts to %d, %v; want 1040", n, err)
		}
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112201041, 2226112201050)
		c.set(t, "2226-11-23T01:59:59+02:00")
		got := reserve(t, s, sequence.Request{Need: 1})
		if want := time.Date(2226, 11, 23, 0, 0, 0, 0, time.UTC); got.First != 2226112201051 || !got.Until.Equal(want) {
			t.Errorf("a second before midnight: got id %d until %v, want 2226112201051 until %v", got.First, got.Until, want)
		}
		c.set(t, "2226-11-23T02:00:00+02:00")
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112300001, 2226112300010)
		for _, key := range []string{"k:22261122", "k:22261123"} {
			if left, err := client.TTL(t.Context(), key).Result(); err != nil || left <= 48*time.Hour || left > 72*time.Hour {
				t.Errorf("%s expires in %v, %v; want 3 days", key, left, err)
			}
		}
	})
}

func TestHours(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, _, c := newDated(t, server, seqredis.Hour, 3)
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112212001, 2226112212010)
		c.set(t, "2226-11-22T23:59:59.999Z")
		got := reserve(t, s, sequence.Request{Need: 1})
		if want := time.Date(2226, 11, 23, 0, 0, 0, 0, time.UTC); got.First != 2226112223001 || !got.Until.Equal(want) {
			t.Errorf("got id %d until %v, want 2226112223001 until %v", got.First, got.Until, want)
		}
	})
}

// A Redis that lost what it had gives no id twice, and none of another day.
func TestDatedSetBack(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, _ := newDated(t, server, seqredis.Day, 4)
		last := int64(0)
		for _, tt := range []struct {
			name    string
			setBack func() error
		}{
			{"emptied", func() error { return client.FlushAll(t.Context()).Err() }},
			{"an old snapshot", func() error { return client.Set(t.Context(), "k:22261122", 5, 0).Err() }},
			{"minus", func() error { return client.Set(t.Context(), "k:22261122", -3, 0).Err() }},
			{"far below", func() error { return client.Set(t.Context(), "k:22261122", math.MinInt64, 0).Err() }},
		} {
			before := reserve(t, s, sequence.Request{Need: 20})
			if err := tt.setBack(); err != nil {
				t.Fatal(err)
			}
			got := reserve(t, s, sequence.Request{Need: 1}) // as a process that was given nothing before
			if got.First <= before.Last() || got.First <= last || got.Last()/10_000 != 22261122 {
				t.Errorf("%s: ids %d to %d were given after %d", tt.name, got.First, got.Last(), before.Last())
			}
			if n, err := client.Get(t.Context(), "k:22261122").Int64(); err != nil || n != got.Last()-222611220000 {
				t.Errorf("%s: the counter is at %d, %v; want %d", tt.name, n, err, got.Last()-222611220000)
			}
			last = got.Last()
		}
	})
}

// A period that is used up refuses until the next one begins; nothing is carried into that.
func TestPeriodIsFull(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, c := newDated(t, server, seqredis.Day, 2)
		wantFull := func(need int64) {
			t.Helper()
			_, err := s.Reserve(t.Context(), sequence.Request{Need: need})
			if !errors.Is(err, sequence.ErrExhausted) || !strings.Contains(err.Error(), "redis:k:22261122 has no ") || !strings.Contains(err.Error(), "come at 2226-11-23T00:00:00Z") {
				t.Errorf("need %d: %v, want %v until the next day", need, err, sequence.ErrExhausted)
			}
		}
		if _, err := s.Reserve(t.Context(), sequence.Request{Need: 100}); !errors.Is(err, sequence.ErrExhausted) || !strings.Contains(err.Error(), "its counts have 2 digits") {
			t.Errorf("100 at once: %v", err)
		}
		wantBlock(t, s, sequence.Request{Need: 85}, 2226112201, 2226112285)
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112286, 2226112295)
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112296, 2226112299) // what is left
		for range 3 {
			wantFull(1)
		}
		// The guard alone knows it.
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			wantFull(1)
		}
		c.set(t, "2226-11-23T00:00:00Z")
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112301, 2226112310)
		wantBlock(t, s, sequence.Request{Need: 70}, 2226112311, 2226112380)
		// The counter is lost with fewer ids left than a block.
		wantBlock(t, s, sequence.Request{Need: 13, Exact: true}, 2226112381, 2226112393)
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		wantBlock(t, s, sequence.Request{Need: 4}, 2226112394, 2226112399)
	})
}

// Where the clock is behind what was given, the later period is gone on with, by all processes; also when the counters
// of both are lost, or that of the earlier one is used up.
func TestClockSetBack(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, c := newDated(t, server, seqredis.Day, 3)
		wantBlock(t, s, sequence.Request{Need: 1}, 22261122001, 22261122010)
		c.set(t, "2226-11-24T00:00:01Z")
		wantBlock(t, s, sequence.Request{Need: 1}, 22261124001, 22261124010)
		c.set(t, "2226-11-22T23:59:59Z")
		wantBlock(t, s, sequence.Request{Need: 1, After: 22261124010}, 22261124011, 22261124020)
		wantBlock(t, s, sequence.Request{Need: 1}, 22261124021, 22261124030)
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if got := reserve(t, s, sequence.Request{Need: 1}); got.First <= 22261124030 || got.Last()/1000 != 22261124 {
			t.Errorf("without the counters: ids %d to %d", got.First, got.Last())
		}
		if err := client.Set(t.Context(), "k:22261122", 999, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := reserve(t, s, sequence.Request{Need: 1}); got.First/1000 != 22261124 {
			t.Errorf("with the earlier counter used up: id %d", got.First)
		}
		c.set(t, "2226-11-25T00:00:00Z")
		wantBlock(t, s, sequence.Request{Need: 1}, 22261125001, 22261125010)
	})
}

// A guard that another server serves from now on skips ids first; also where the block has no room for them.
func TestGuardFailsOver(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		for name, prefix := range map[string]seqredis.Prefix{"count": {}, "date": {Layout: seqredis.Day, Digits: 4}} {
			s, _ := newStore(t, server, 1)
			s.Prefix = prefix
			s.Guard = sequence.Failover(s.Guard.(sequence.RowStore), 500)
			got := reserve(t, s, sequence.Request{Need: 1})
			if got.First%10_000 <= 500 || got.N != 10 {
				t.Errorf("%s: got ids %d to %d, want 10 behind the 500 that are skipped", name, got.First, got.Last())
			}
			wantBlock(t, s, sequence.Request{Need: 1}, got.Last()+1, got.Last()+10)
		}
	})
}

// A guard that was put above ids of another kind, and a last id allowed that is too low.
func TestDatedRefusals(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		client := redis.NewClient(&redis.Options{Addr: servertest.StartRedis(t)})
		t.Cleanup(func() { _ = client.Close() })
		s := newStoreOn(t, server, client, 1<<60)
		s.Prefix = seqredis.Prefix{Layout: seqredis.Day, Digits: 5}
		if _, err := s.Reserve(t.Context(), sequence.Request{Need: 1}); !errors.Is(err, sequence.ErrBadRow) || !strings.Contains(err.Error(), "above all with this prefix") {
			t.Errorf("a guard at 2^60: %v, want %v", err, sequence.ErrBadRow)
		}
		if _, err := s.Reserve(t.Context(), sequence.Request{Need: 1, Max: math.MaxInt32}); !errors.Is(err, sequence.ErrExhausted) {
			t.Errorf("ids of an INT: %v, want %v", err, sequence.ErrExhausted)
		}
		if err := client.Set(t.Context(), "k:"+time.Now().UTC().Format(seqredis.Day), "text", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reserve(t.Context(), sequence.Request{Need: 1}); !errors.Is(err, sequence.ErrBadRow) || !strings.Contains(err.Error(), "holds no number") {
			t.Errorf("a key of text: %v, want %v", err, sequence.ErrBadRow)
		}
	})
}

// Explicit ids that are of no date, or of one to come, change nothing; others are gone on above.
func TestExplicitIDs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		for _, tt := range []struct {
			name        string
			first, last int64
			want        int64
		}{
			{"a snowflake", 1 << 60, 1 << 60, 2226112200002},
			{"a date to come", 29991231_99999, 29991231_99999, 2226112200002},
			{"no date", 22261399_00001, 22261399_00001, 2226112200002},
			{"tomorrow", 22261123_00001, 22261123_00001, 2226112200002},
			{"today", 22261122_00005, 22261122_00005, 2226112200006},
			{"today beyond the block", 22261122_00040, 22261122_00040, 2226112200041},
			{"today and a snowflake", 22261122_00003, 1 << 60, 2226112200004},
			{"a small one", 7, 7, 2226112200002},
		} {
			s, _, _ := newDated(t, server, seqredis.Day, 5)
			reg := sequencetest.Registry(s, sequence.Config{MaxStep: 20, Timeout: 5 * time.Second})
			seq, err := reg.Get(sequence.Name{Keyspace: "main", Table: "counter"})
			if err != nil {
				t.Fatal(err)
			}
			if id, err := seq.Next(t.Context(), 1); id.First != 2226112200001 || err != nil {
				t.Fatalf("got %v, %v", id, err)
			}
			seq.Observe(tt.first, tt.last)
			if id, err := seq.Next(t.Context(), 1); id.First != tt.want || err != nil {
				t.Errorf("after %s: got id %d, %v; want %d", tt.name, id.First, err, tt.want)
			}
			if err := reg.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// Processes whose clocks pass midnight at different times, and a Redis that loses what it had.
func TestDatedProcesses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, _ := newDated(t, server, seqredis.Day, 6)
		var ids sequencetest.IDs
		var all sync.WaitGroup
		for process := range 4 {
			own := s
			c := &clock{}
			c.set(t, "2226-11-22T23:59:59Z")
			own.Prefix.Now = c.now
			all.Go(func() {
				given := int64(0)
				for n := range 60 {
					if n == 15*process {
						c.set(t, "2226-11-23T00:00:00Z")
					}
					if n == 30 && process == 0 {
						c.set(t, "2226-11-22T12:00:00Z")
					}
					if n%20 == 7+process {
						if err := client.FlushAll(t.Context()).Err(); err != nil {
							t.Error(err)
						}
					}
					err := ids.Take(func() (sequence.Range, error) {
						res, err := take(t.Context(), own, given)
						given = max(given, res.Last())
						return res, err
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		ids.NoDuplicates(t)
	})
}

// take reserves a block above given, as a sequence does.
func take(ctx context.Context, s seqredis.Store, given int64) (sequence.Range, error) {
	for {
		res, err := s.Reserve(ctx, sequence.Request{Need: 3, After: given})
		switch day := res.First / 1_000_000; {
		case err != nil && sequence.IsTemporary(err) && ctx.Err() == nil: // others were faster
			continue
		case err == nil && (res.First <= given || day != res.Last()/1_000_000 || day != 22261122 && day != 22261123):
			return res.Range, fmt.Errorf("ids %d to %d after %d", res.First, res.Last(), given)
		default:
			return res.Range, err
		}
	}
}
