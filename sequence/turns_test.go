package sequence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// processes makes registries that refill from one server each on its own, like seqgates.
func processes(t *testing.T, n int, server *slowServer, cfg sequence.Config) []*sequence.Registry {
	t.Helper()
	all := make([]*sequence.Registry, n)
	for i := range all {
		db := sql.OpenDB(sequence.InTurns(server))
		db.SetMaxOpenConns(8)
		db.SetMaxIdleConns(8)
		all[i] = sequencetest.Registry(sequence.Increment{DB: db}, cfg)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := errors.Join(all[i].Close(ctx), db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	return all
}

// dry has callers wait for an id of n sequences each, and calls got for each that came.
func dry(t *testing.T, regs []*sequence.Registry, n int, got func(error)) *sync.WaitGroup {
	var callers sync.WaitGroup
	for _, reg := range regs {
		for i := range n {
			callers.Go(func() {
				seq := get(t, reg, sequence.Name{Keyspace: "main", Database: "d", Table: fmt.Sprintf("s%d", i)})
				_, err := seq.Next(t.Context(), 1)
				got(err)
			})
		}
	}
	return &callers
}

// A server that is away is asked a few times a second, however many sequences wait for it, each of which knows why; and all
// have ids soon after it is back.
func TestServerAwayIsAskedByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slowServer{takes: time.Millisecond, connects: time.Second, next: map[string]int64{}}
		server.away.Store(true)
		const sequences, away = 150, 3 * time.Minute // by then the waits of all have nothing in common
		regs := processes(t, 1, server, sequence.Config{Timeout: away + time.Minute})
		callers := dry(t, regs, sequences, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(away)
		if each := float64(server.asked.Load()) / away.Seconds(); each < 4 || each > 8.1 {
			t.Errorf("it was asked %.1f times a second, want 4 to 8", each)
		}
		unknown := 0
		for _, s := range regs[0].Snapshot() {
			if e := s.LastError; e == nil || !strings.Contains(e.Error(), "connection refused") {
				unknown++
			}
		}
		if unknown > 0 {
			t.Errorf("%d of %d sequences do not know why they wait", unknown, sequences)
		}
		server.away.Store(false)
		began := time.Now()
		callers.Wait()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("all had ids %v after it was back", took)
		}
	})
}

// Many processes whose sequences are all dry ask for more than a server can do, for the first time or when it is back after
// an outage. They leave each other time, and are done soon.
func TestProcessesShareSlowServer(t *testing.T) {
	for _, tt := range []struct {
		name          string
		gates, each   int
		away          time.Duration
		longer, vains float64 // how much more time than the server needs it may take, and attempts in vain, of all
	}{
		{"at first", 30, 30, 0, 1, 0.8},
		{"at first, with few sequences each", 50, 8, 0, 5, 8},
		{"after an outage", 30, 30, 10 * time.Second, 0.25, 0.01},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &slowServer{takes: 40 * time.Millisecond, oneByOne: true, next: map[string]int64{}}
				server.away.Store(true)
				callers := dry(t, processes(t, tt.gates, server, sequence.Config{Timeout: 3 * time.Minute}), tt.each, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
				time.Sleep(tt.away)
				server.away.Store(false)
				began := time.Now()
				callers.Wait()
				all := float64(tt.gates * tt.each)
				needs := all * server.takes.Seconds()
				if took := time.Since(began).Seconds(); took > needs*(1+tt.longer) {
					t.Errorf("it took %.0f s, the server needs %.0f", took, needs)
				}
				if n := server.broken.Load(); float64(n) > all*tt.vains {
					t.Errorf("%d statements of %.0f were given up", n, all)
				}
			})
		})
	}
}

// Rows that are held up, each by somebody's lock, keep none of the others waiting for long.
func TestHeldUpRowsComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rows = 12 // more than may be under way
		var free atomic.Bool
		server := &slowServer{takes: time.Millisecond, next: map[string]int64{}}
		server.heldUp = func(query string) bool {
			var i int
			_, err := fmt.Sscanf(query, "UPDATE `d`.`s%d`", &i)
			return err == nil && i < rows && !free.Load()
		}
		regs := processes(t, 1, server, sequence.Config{Timeout: 20 * time.Minute})
		callers := dry(t, regs, rows, func(err error) {
			if err != nil {
				t.Errorf("of a row that was held up: %v", err)
			}
		})
		time.Sleep(time.Minute)
		for i := range 100 {
			began := time.Now()
			if _, err := get(t, regs[0], sequence.Name{Keyspace: "main", Database: "d", Table: fmt.Sprintf("s%d", rows+i)}).Next(t.Context(), 1); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 6100*time.Millisecond { // the time of two attempts
				t.Errorf("another row waited %v", took)
			}
			time.Sleep(7 * time.Second)
		}
		free.Store(true)
		callers.Wait()
	})
}

// Turns come in the order in which they were asked for, and whoever stops waiting costs nobody a turn.
func TestTurnsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(sequence.InTurns(&slowServer{takes: time.Second, next: map[string]int64{}}))
		defer db.Close()
		began := time.Now()
		var all sync.WaitGroup
		for i := range 24 { // of which eight are under way together, and the next four give up
			ends := time.Second + time.Duration(max(0, i-4)/8)*time.Second
			ctx, cancel := context.WithCancel(t.Context())
			if i >= 8 && i < 12 {
				ends = 100 * time.Millisecond
				time.AfterFunc(ends, cancel)
			}
			all.Go(func() {
				defer cancel()
				_, err := sequence.Increment{DB: db}.Reserve(ctx, sequence.Request{Database: "d", Table: fmt.Sprint("s", i), Need: 1, Cache: 10})
				if took := time.Since(began); took != ends || (err != nil) != (ends < time.Second) {
					t.Errorf("attempt %d ended after %v, want %v: %v", i, took, ends, err)
				}
			})
			synctest.Wait() // it is in line
		}
		all.Wait()
	})
}

// Who has less time than an attempt may take, as stripes that have other servers to ask, does not wait in line.
func TestShortOfTimeWaitsInNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(sequence.InTurns(&slowServer{takes: 2 * time.Second, next: map[string]int64{}}))
		defer db.Close()
		reserve := func(ctx context.Context, table string) error {
			_, err := sequence.Increment{DB: db}.Reserve(ctx, sequence.Request{Database: "d", Table: table, Need: 1, Cache: 10})
			return err
		}
		var all sync.WaitGroup
		for i := range 8 { // all turns that there are
			all.Go(func() {
				if err := reserve(t.Context(), fmt.Sprint("s", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if err := reserve(ctx, "short"); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
}
