package keyed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

func TestForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(8, 100)
		p := c.start("p", Config{Address: "p:1", Forward: c.forward})
		q := c.start("q", Config{Address: "q:1", Forward: c.forward})
		defer closeAll(t, p, q)
		var keys [][]byte
		for i := range 50 {
			key := fmt.Sprint("user-", i)
			keys = append(keys, []byte(key))
			if i%2 == 0 {
				p.wantNext(t, key, 1)
			} else {
				q.wantNext(t, key, 1)
			}
		}
		for round := range int64(3) {
			for _, asked := range []process{p, q} {
				want := 2 + round*2
				if asked.store == q.store {
					want++
				}
				got, err := asked.NextEach(t.Context(), keys)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range got {
					if v != want {
						t.Errorf("%s of %s: got %d, want %d", keys[i], asked.owner, v, want)
					}
				}
			}
		}
		if p.Status().Forwards == 0 || q.Status().Forwards == 0 {
			t.Error("nothing was forwarded")
		}
		if held := p.Status().Held + q.Status().Held; held != 8 {
			t.Errorf("got %d sections held by both, want 8", held)
		}
	})
}

// The holder dies: who asks it goes on when the lease has ended, without an error.
func TestForwardToDeadHolder(t *testing.T) {
	for _, test := range []struct {
		name string
		ask  Forward
	}{
		{"gone", func(context.Context, string, sequence.Name, []Want) ([]sequence.Range, error) { return nil, errCut }},
		{"frozen", func(ctx context.Context, _ string, _ sequence.Name, _ []Want) ([]sequence.Range, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		{"replaced", func(context.Context, string, sequence.Name, []Want) ([]sequence.Range, error) { return nil, ErrMoved }},
		{"nonsense", func(_ context.Context, _ string, _ sequence.Name, wants []Want) ([]sequence.Range, error) {
			return make([]sequence.Range, len(wants)), nil
		}},
		{"short", func(context.Context, string, sequence.Name, []Want) ([]sequence.Range, error) { return nil, nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(1, 100)
				p := c.start("p", Config{Address: "p:1"})
				p.wantNext(t, "a", 1)
				p.crash()
				asked := 0
				q := c.start("q", Config{Address: "q:1", Forward: func(ctx context.Context, address string, name sequence.Name, wants []Want) ([]sequence.Range, error) {
					asked++
					return test.ask(ctx, address, name, wants)
				}})
				defer closeAll(t, q)
				began := time.Now()
				q.wantNext(t, "a", 102)
				if waited := time.Since(began); waited > DefaultLease+forwardTimeout+time.Second {
					t.Errorf("waited %v, want about the rest of the lease", waited)
				}
				if asked < 1 || asked > 100 {
					t.Errorf("asked the holder %d times", asked)
				}
			})
		})
	}
}

// A statement with many keys: a healthy holder is given time for all of them, nothing that came is asked for again, and
// sections that became known at different times are asked for together.
func TestForwardMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys, perKey = 5000, time.Millisecond
		c := newCluster(64, 100)
		p := c.start("p", Config{Address: "p:1"})
		given, calls := int64(0), 0
		q := c.start("q", Config{Address: "q:1", Timeout: time.Minute, Forward: func(ctx context.Context, address string, name sequence.Name, wants []Want) ([]sequence.Range, error) {
			calls++
			given += int64(len(wants))
			select {
			case <-time.After(time.Duration(len(wants)) * perKey):
				return c.forward(ctx, address, name, wants)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
		defer closeAll(t, p, q)
		all := make([][]byte, keys)
		for i := range all {
			all[i] = fmt.Append(nil, i)
		}
		if _, err := p.NextEach(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		for _, key := range all[:20] { // q learns of these sections' holder one by one
			q.wantNext(t, string(key), 2)
			time.Sleep(time.Millisecond)
		}
		given, calls = 0, 0
		got, err := q.NextEach(t.Context(), all[20:])
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != 2 {
				t.Errorf("key %d: got %d, want 2", i+20, v)
			}
		}
		if given != keys-20 || calls > 15 {
			t.Errorf("the holder was asked for %d values in %d calls, want %d in some 10", given, calls, keys-20)
		}
	})
}

// A holder that fails amid many keys is asked again for those alone that are missing.
func TestForwardFailsAmidMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 10_000)
		p := c.start("p", Config{Address: "p:1"})
		calls := 0
		q := c.start("q", Config{Address: "q:1", Forward: func(ctx context.Context, address string, name sequence.Name, wants []Want) ([]sequence.Range, error) {
			if calls++; calls == 2 {
				return nil, errCut
			}
			return c.forward(ctx, address, name, wants)
		}})
		defer closeAll(t, p, q)
		p.wantNext(t, "a", 1)
		keys := make([][]byte, 3*forwardChunk)
		for i := range keys {
			keys[i] = fmt.Append(nil, "user-", i)
		}
		for round := range int64(2) {
			got, err := q.NextEach(t.Context(), keys)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != 1+round {
					t.Errorf("round %d: %s: got %d, want %d", round, keys[i], v, 1+round)
				}
			}
		}
		// One more each time that news of the holder come while it is looked who is to be asked for which key.
		if st := q.Status(); st.ForwardErrors != 1 || st.Forwards < 7 || st.Forwards > 9 {
			t.Errorf("got %d calls and %d errors, want 7, or 9 at most, and 1", st.Forwards, st.ForwardErrors)
		}
	})
}

// Whoever waited in vain is told where the holder is that did not answer.
func TestHolderDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{Address: "10.0.0.1:3307"})
		q := c.start("q", Config{Forward: func(ctx context.Context, _ string, _ sequence.Name, _ []Want) ([]sequence.Range, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		defer closeAll(t, p, q)
		p.wantNext(t, "a", 1)
		for _, timeout := range []time.Duration{forwardTimeout / 2, forwardTimeout + time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			_, err := q.Next(ctx, []byte("a"), 1)
			cancel()
			if !errors.Is(err, sequence.ErrUnavailable) || !strings.Contains(err.Error(), `process p at "10.0.0.1:3307"`) {
				t.Errorf("got %v, want ErrUnavailable with the holder's address", err)
			}
		}
	})
}

// A process that is asked for what it does not hold says so at once: no request goes in circles.
func TestLocalMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{Address: "p:1", Forward: c.forward})
		q := c.start("q", Config{Address: "q:1", Forward: c.forward})
		defer closeAll(t, p, q)
		p.wantNext(t, "a", 1)
		began := time.Now()
		for range 2 { // before and after it knows the holder
			if _, err := q.Local(t.Context(), []Want{{[]byte("a"), 1}}); !errors.Is(err, ErrMoved) {
				t.Errorf("Local of another's key: got %v, want ErrMoved", err)
			}
			time.Sleep(time.Second)
		}
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("waited %v", waited-2*time.Second)
		}
		got, err := p.Local(t.Context(), []Want{{[]byte("a"), 3}})
		if err != nil || got[0] != (sequence.Range{First: 2, N: 3}) {
			t.Errorf("Local of the holder: got %v, %v, want 3 from 2", got, err)
		}
	})
}

func TestExhaustionElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{Address: "p:1"})
		q := c.start("q", Config{Forward: func(context.Context, string, sequence.Name, []Want) ([]sequence.Range, error) {
			return nil, problem(p.name, sequence.ErrExhausted, nil, "is exhausted")
		}})
		defer closeAll(t, p, q)
		p.wantNext(t, "a", 1)
		began := time.Now()
		if _, err := q.Next(t.Context(), []byte("a"), 1); !errors.Is(err, sequence.ErrExhausted) || time.Since(began) > time.Second {
			t.Errorf("got %v after %v, want ErrExhausted at once", err, time.Since(began))
		}
	})
}

// Without a way to the holder a caller waits, and is told who has the section and for how long.
func TestNoForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(1, 100)
		p := c.start("p", Config{Address: "10.0.0.1:3307"})
		q := c.start("q", Config{})
		defer closeAll(t, q)
		p.wantNext(t, "a", 1)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := q.Next(ctx, []byte("a"), 1)
		if !errors.Is(err, sequence.ErrUnavailable) {
			t.Fatalf("got %v, want ErrUnavailable", err)
		}
		for _, text := range []string{"process p", `"10.0.0.1:3307"`, "section 0", "its lease ends, in "} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("got the error %q, want it to contain %q", err, text)
			}
		}
		time.AfterFunc(time.Second, func() { closeAll(t, p) })
		began := time.Now()
		q.wantNext(t, "a", 2)
		if waited := time.Since(began); waited > 1200*time.Millisecond {
			t.Errorf("waited %v for a lease that was released after 1 s", waited)
		}
	})
}
