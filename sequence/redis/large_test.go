package redis_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	seqredis "github.com/seqgate/seqgate/sequence/redis"
)

// wantExhausted asks for more ids than there are, and wants that to be all that happens.
func wantExhausted(t *testing.T, s seqredis.Store, q sequence.Request) {
	t.Helper()
	if res, err := s.Reserve(t.Context(), q); !errors.Is(err, sequence.ErrExhausted) {
		t.Errorf("%+v: got %+v, %v; want %v", q, res.Range, err, sequence.ErrExhausted)
	}
}

// insist reserves as a sequence does, which tries again what failed for a moment, and returns how often that was.
func insist(t *testing.T, s seqredis.Store, q sequence.Request) (res sequence.Reservation, failures int64, err error) {
	for ; failures < 20; failures++ {
		if res, err = s.Reserve(t.Context(), q); err == nil || !sequence.IsTemporary(err) {
			break
		}
	}
	return res, failures, err
}

// A request for more ids than a day has left takes none from the others, in Redis or in the guard.
func TestTooManyOfADay(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, _ := newDated(t, server, seqredis.Day, 5)
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112200001, 2226112200010)
		wantExhausted(t, s, sequence.Request{Need: 99_995})
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112200011, 2226112200020)
		wantExhausted(t, s, sequence.Request{Need: 99_980})
		wantBlock(t, s, sequence.Request{Need: 99_970}, 2226112200021, 2226112299990)
		// Fewer are left than a block has.
		wantExhausted(t, s, sequence.Request{Need: 10})
		wantBlock(t, s, sequence.Request{Need: 9}, 2226112299991, 2226112299999)
		wantExhausted(t, s, sequence.Request{Need: 1})
		if n, err := client.Get(t.Context(), "k:22261122").Int64(); err != nil || n != 99_999 && n != 100_000 {
			t.Errorf("the counter is at %d, %v; want it at the end of the day's", n, err)
		}
	})
}

// The guard alone knows what is left, as Redis was emptied.
func TestTooManyOfALostDay(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client, _ := newDated(t, server, seqredis.Day, 5)
		wantBlock(t, s, sequence.Request{Need: 50_000}, 2226112200001, 2226112250000)
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		wantExhausted(t, s, sequence.Request{Need: 90_000})
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112250001, 2226112250010)
	})
}

func TestTooManyUpToTheLast(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, client := newStore(t, server, 1)
		const most = 100_000
		wantBlock(t, s, sequence.Request{Need: 1, Max: most}, 1, 10)
		wantExhausted(t, s, sequence.Request{Need: 99_995, Max: most})
		wantBlock(t, s, sequence.Request{Need: 1, Max: most}, 11, 20)
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		wantExhausted(t, s, sequence.Request{Need: 99_990, Max: most})
		wantBlock(t, s, sequence.Request{Need: 99_975, Max: most}, 21, 100_000)
		wantExhausted(t, s, sequence.Request{Need: 1, Max: most})
	})
}

// Callers that want too many beside others that want few: those get all that there are.
func TestTooManyBeside(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		s, _, _ := newDated(t, server, seqredis.Day, 5)
		wantBlock(t, s, sequence.Request{Need: 1}, 2226112200001, 2226112200010)
		var large sync.WaitGroup
		for range 3 {
			large.Go(func() {
				for range 20 {
					if _, _, err := insist(t, s, sequence.Request{Need: 99_995}); !errors.Is(err, sequence.ErrExhausted) {
						t.Errorf("99,995 at once: %v", err)
					}
				}
			})
		}
		last, lost := int64(0), int64(0)
		for range 50 {
			res, failures, err := insist(t, s, sequence.Request{Need: 1})
			if err != nil {
				t.Error(err)
			}
			last, lost = max(last, res.Last()), lost+failures
		}
		large.Wait()
		if last > 2226112200510+10*lost {
			t.Errorf("50 blocks of 10, and %d that failed, end at %d", lost, last)
		}
	})
}

// While the guard refuses, the counter stands still.
func TestGuardRefuses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, server *servertest.Server) {
		for name, prefix := range map[string]seqredis.Prefix{"count": {}, "date": {Layout: seqredis.Day, Digits: 4}} {
			s, _ := newStore(t, server, 1)
			s.Prefix = prefix
			first := reserve(t, s, sequence.Request{Need: 1})
			guarded := s.GuardName.Table
			s.GuardName.Table = "missing"
			for range 5 {
				if _, err := s.Reserve(t.Context(), sequence.Request{Need: 1}); !errors.Is(err, sequence.ErrNoTable) || strings.Contains(err.Error(), "set the Redis") {
					t.Errorf("%s: without a guard: %v, want %v", name, err, sequence.ErrNoTable)
				}
			}
			s.GuardName.Table = guarded
			wantBlock(t, s, sequence.Request{Need: 1}, first.Last()+1, first.Last()+10)
		}
	})
}
