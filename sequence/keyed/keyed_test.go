package keyed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
)

func closeAll(t *testing.T, all ...process) {
	t.Helper()
	for _, p := range all {
		if err := p.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestKeysCountByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(4, 100).start("p", Config{})
		defer closeAll(t, p)
		for i := range 3 {
			for _, key := range []string{"user-1", "user-2", "user-3"} {
				p.wantNext(t, key, int64(i+1))
			}
		}
		p.wantNext(t, "USER-1 ", 4)
		r, err := p.Next(t.Context(), []byte("user-2"), 1000)
		if err != nil || r != (sequence.Range{First: 4, N: 1000}) {
			t.Errorf("Next(1000): got %v, %v, want 1000 from 4", r, err)
		}
		p.wantNext(t, "user-2", 1004)
		got, err := p.NextEach(t.Context(), [][]byte{[]byte("user-3"), []byte("user-2"), []byte("User-3"), []byte("user-4")})
		if diff := cmp.Diff([]int64{4, 1005, 5, 1}, got); diff != "" || err != nil {
			t.Errorf("NextEach (-want +got), %v:\n%s", err, diff)
		}
	})
}

func TestCleanRestartLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{})
		for range 7 {
			p.next(t, "a")
		}
		p.next(t, "b")
		closeAll(t, p)
		if got := c.rows.get(0); got.next != 8 || got.owner != "" {
			t.Errorf("after Close: got next_id %d and owner %q, want 8 and none", got.next, got.owner)
		}
		if _, err := p.Next(t.Context(), []byte("a"), 1); !errors.Is(err, sequence.ErrClosed) {
			t.Errorf("after Close: got %v, want ErrClosed", err)
		}
		q := c.start("q", Config{})
		defer closeAll(t, q)
		began := time.Now()
		q.wantNext(t, "a", 8)
		q.wantNext(t, "b", 8)
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v for a released lease", waited)
		}
	})
}

func TestTakeoverAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{})
		p.wantNext(t, "a", 1)
		time.Sleep(time.Minute) // it renews
		p.wantNext(t, "a", 2)
		p.crash()
		q := c.start("q", Config{})
		defer closeAll(t, q)
		began := time.Now()
		q.wantNext(t, "a", 102)
		q.wantNext(t, "b", 102)
		if waited := time.Since(began); waited > DefaultLease+200*time.Millisecond {
			t.Errorf("the takeover took %v, want a lease at most", waited)
		}
	})
}

// A process that goes on after its lease has ended gives nothing, and raises nothing.
func TestFrozenHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{})
		defer closeAll(t, p)
		p.wantNext(t, "a", 1)
		p.store.set(func(ctx context.Context, _ string) error { // a process that is frozen renews nothing
			<-ctx.Done()
			return ctx.Err()
		}, nil)
		time.Sleep(DefaultLease + time.Second)
		q := c.start("q", Config{})
		defer closeAll(t, q)
		q.wantNext(t, "a", 102)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r, err := p.Next(ctx, []byte("a"), 1); !errors.Is(err, sequence.ErrUnavailable) {
			t.Errorf("after its lease: got %v, %v, want ErrUnavailable", r, err)
		}
		if ok, err := (&fakeStore{rows: c.rows, owner: "p", calls: map[string]int{}}).raise(t.Context(), 0, 1, 9999); ok || err != nil {
			t.Errorf("a raise with the old fence: got %v, %v, want false", ok, err)
		}
		p.store.set(nil, nil)
		time.Sleep(DefaultLease + time.Second)
		if p.Status().Lost != 1 {
			t.Errorf("got %d sections lost, want 1", p.Status().Lost)
		}
	})
}

// While the database is away values go on until the lease ends, and when it is back they go on without a jump.
func TestDatabaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		p := newCluster(1, 1000).start("p", Config{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		defer closeAll(t, p)
		p.wantNext(t, "a", 1)
		p.store.set(failing, nil)
		began := time.Now()
		last := int64(1)
		var failed error
		for ; failed == nil; time.Sleep(10 * time.Millisecond) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			r, err := p.Next(ctx, []byte("a"), 1)
			cancel()
			if failed = err; err == nil {
				last = r.First
			}
		}
		if ran := time.Since(began); ran < DefaultLease/2 || ran > DefaultLease+time.Second {
			t.Errorf("values went on for %v, want about the lease", ran)
		}
		for _, text := range []string{"db.msg_seq", "connection cut", "has not served it since"} {
			if !strings.Contains(failed.Error(), text) {
				t.Errorf("got the error %q, want it to contain %q", failed, text)
			}
		}
		time.AfterFunc(2*time.Second, func() { p.store.set(nil, nil) })
		p.wantNext(t, "a", last+1)
		if st := p.Status(); !st.AwaySince.IsZero() || st.Opened != 1 || st.Held != 1 {
			t.Errorf("got the status %+v, want one section held since the beginning", st)
		}
		for _, text := range []string{"does not serve it", "answers again"} {
			if strings.Count(logged.String(), text) != 1 {
				t.Errorf("got the log %q, want %q once", &logged, text)
			}
		}
	})
}

// The row is raised before values reach it, and those who need more at once wait.
func TestRaisedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(1, 100).start("p", Config{})
		defer closeAll(t, p)
		p.store.set(func(_ context.Context, op string) error {
			if op == "raise" {
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		}, nil)
		p.wantNext(t, "a", 1) // the first one must wait
		began := time.Now()
		for i := range int64(1000) {
			p.wantNext(t, "a", i+2)
			time.Sleep(time.Millisecond)
		}
		if waited := time.Since(began); waited > 1001*time.Millisecond {
			t.Errorf("1000 values at 1 a millisecond took %v: somebody waited for a raise", waited)
		}
		if n := p.store.count("raise"); n > 12 {
			t.Errorf("got %d raises for 1000 values, want one per 100", n)
		}
	})
}

// The answers of statements that were run get lost: no value comes twice, and it goes on.
func TestLostAnswers(t *testing.T) {
	for _, op := range []string{"load", "claim", "raise"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(1, 10)
				p := c.start("p", Config{})
				defer closeAll(t, p)
				lost := 0
				p.store.set(nil, func(_ context.Context, o string) error {
					if o == op && lost < 3 {
						lost++
						return errCut
					}
					return nil
				})
				for i := range int64(100) {
					p.wantNext(t, "a", i+1)
				}
				if lost != 3 {
					t.Errorf("lost %d answers, want 3", lost)
				}
				if next := c.rows.get(0).next; next > 150 {
					t.Errorf("got next_id %d after 100 values, want no more than some caches above", next)
				}
			})
		})
	}
}

func TestReleaseWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 10)
		p := c.start("p", Config{})
		p.wantNext(t, "a", 1)
		p.store.set(nil, failing)
		if err := p.Close(t.Context()); !errors.Is(err, errCut) {
			t.Errorf("Close: got %v, want the lost answer", err)
		}
		q := c.start("q", Config{})
		defer closeAll(t, q)
		q.wantNext(t, "a", 2)
	})
}

// Rows that were set back are raised above what was given, by the holder and by one that gets the section again.
func TestRowSetBack(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*row)
	}{
		{"next_id", func(r *row) { r.next = 1 }},
		{"all", func(r *row) { r.next, r.owner, r.fence = 1, "", 0 }},
		{"all, with another holder", func(r *row) { r.next, r.owner, r.fence = 1, "gone", 7 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(1, 10)
				p := c.start("p", Config{})
				defer closeAll(t, p)
				for i := range int64(95) {
					p.wantNext(t, "a", i+1)
				}
				synctest.Wait() // for raises
				c.rows.edit(0, test.edit)
				time.Sleep(DefaultLease)
				if next := c.rows.get(0).next; next <= 95 && p.Status().Held == 1 {
					t.Errorf("got next_id %d after the renewal, want above 95", next)
				}
				last := p.next(t, "a")
				if last <= 95 {
					t.Errorf("got %d again", last)
				}
				synctest.Wait() // ids are given before the claim that made it possible is counted
				if got := p.Status().Behind; got != 1 {
					t.Errorf("got %d rows behind, want 1", got)
				}
			})
		})
	}
}

// min_value, which Seed raises, counts for a section in use from its renewal on.
func TestSeededWhileInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 1000)
		p := c.start("p", Config{})
		p.wantNext(t, "a", 1)
		c.rows.edit(0, func(r *row) { r.least = 500 })
		time.Sleep(DefaultLease)
		p.wantNext(t, "a", 500)
		p.wantNext(t, "b", 500)
		c.rows.edit(0, func(r *row) { r.least = 700 })
		closeAll(t, p)
		if got := c.rows.get(0).next; got != 700 {
			t.Errorf("after Close: got next_id %d, want 700", got)
		}
	})
}

func TestEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(1, 1000).start("p", Config{MaxKeys: 10})
		defer closeAll(t, p)
		last := map[int]int64{}
		for i := range 1000 {
			key := i * 7 % 50
			got := p.next(t, fmt.Sprint("user-", key))
			if got <= last[key] {
				t.Fatalf("key %d: got %d after %d", key, got, last[key])
			}
			last[key] = got
		}
		if got := p.Status().Keys; got != 10 {
			t.Errorf("got %d keys in memory, want 10", got)
		}
	})
}

func TestExhaustion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 1000)
		c.rows.edit(0, func(r *row) { r.next = math.MaxInt64 - 3 })
		p := c.start("p", Config{})
		defer closeAll(t, p)
		for i := range int64(3) {
			p.wantNext(t, "a", math.MaxInt64-3+i)
		}
		for _, n := range []int64{1, sequence.MaxN} {
			if r, err := p.Next(t.Context(), []byte("a"), n); !errors.Is(err, sequence.ErrExhausted) {
				t.Errorf("Next(%d) past the end: got %v, %v, want ErrExhausted", n, r, err)
			}
		}
		p.wantNext(t, "b", math.MaxInt64-3)
	})
}

func TestInvalidCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(1, 1000).start("p", Config{})
		defer closeAll(t, p)
		for _, n := range []int64{-1, 0, sequence.MaxN + 1} {
			if _, err := p.Next(t.Context(), []byte("a"), n); !errors.Is(err, sequence.ErrInvalidCount) {
				t.Errorf("Next(%d): got %v, want ErrInvalidCount", n, err)
			}
		}
	})
}

// A table that needs somebody's help fails the callers at once, and heals.
func TestUnusableTable(t *testing.T) {
	for _, op := range []string{"load", "claim", "raise"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newCluster(1, 10).start("p", Config{Declared: true})
				defer closeAll(t, p)
				p.store.set(func(_ context.Context, o string) error {
					if o == op {
						return problem(p.name, sequence.ErrNoTable, nil, "does not exist")
					}
					return nil
				}, nil)
				began := time.Now()
				if _, err := p.Next(t.Context(), []byte("a"), 1); !errors.Is(err, sequence.ErrNoTable) {
					t.Errorf("got %v, want ErrNoTable", err)
				}
				if waited := time.Since(began); waited > time.Second {
					t.Errorf("waited %v for an error that does not go away", waited)
				}
				p.store.set(nil, nil)
				p.wantNext(t, "a", 1)
			})
		})
	}
}

// What a server refuses for good is no outage, for those who cannot wait for the next attempt either.
func TestRefusedByServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(1, 10).start("p", Config{})
		defer closeAll(t, p)
		denied := &mysql.MySQLError{Number: 1142, Message: "UPDATE command denied"}
		p.store.set(func(_ context.Context, op string) error {
			if op == "claim" {
				return table{name: p.name}.failure("claim sections", denied)
			}
			return nil
		}, nil)
		for _, timeout := range []time.Duration{time.Second, time.Microsecond} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			_, err := p.Next(ctx, []byte("a"), 1)
			cancel()
			if number, _, _ := sequence.ServerError(err); number != denied.Number || errors.Is(err, sequence.ErrUnavailable) {
				t.Errorf("with %v to wait: got %v, want error 1142 and no ErrUnavailable", timeout, err)
			}
		}
		p.store.set(nil, nil)
		p.wantNext(t, "a", 1)
	})
}

func TestCloseEndsWaiting(t *testing.T) {
	for _, op := range []string{"load", "claim", "raise"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newCluster(1, 10).start("p", Config{})
				p.store.set(func(ctx context.Context, o string) error {
					if o != op {
						return nil
					}
					<-ctx.Done()
					return ctx.Err()
				}, nil)
				failed := make(chan error, 1)
				go func() {
					_, err := p.Next(t.Context(), []byte("a"), 1)
					failed <- err
				}()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				_ = p.Close(ctx) // what it could not release does not matter here
				if err := <-failed; !errors.Is(err, sequence.ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
			})
		})
	}
}

func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(1, 10).start("p", Config{})
		defer p.crash()
		p.store.set(failing, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := p.Next(ctx, []byte("a"), 1); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

// All leases of a process come to be renewed by one statement.
func TestRenewalsAreBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCluster(100, 10).start("p", Config{})
		defer closeAll(t, p)
		for i := range 1000 {
			p.next(t, fmt.Sprint(i))
			time.Sleep(3 * time.Millisecond)
		}
		before := p.store.count("claim")
		time.Sleep(time.Minute)
		if got, most := p.store.count("claim")-before, 75; got > most {
			t.Errorf("got %d claims in a minute for 100 leases of 5 s, want at most %d", got, most)
		}
		if got := p.Status().Held; got != 100 {
			t.Errorf("got %d sections held, want 100", got)
		}
	})
}
