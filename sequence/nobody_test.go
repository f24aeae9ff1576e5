package sequence_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A server that takes connections and serves nobody on them is asked by one attempt at a time, a few times a second: each
// costs a connection. All have ids soon after it serves again.
func TestServerThatServesNobodyIsAskedByOne(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"read-only option", &mysql.MySQLError{Number: 1290, Message: "The MySQL server is running with the --read-only option"}},
		{"read-only transaction", &mysql.MySQLError{Number: 1792, Message: "Cannot execute statement in a READ ONLY transaction."}},
		{"read-only mode", &mysql.MySQLError{Number: 1836, Message: "Running in read-only mode"}},
		{"cut by the server", mysql.ErrInvalidConn},
		{"cut before", driver.ErrBadConn},
		{"reset", &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &slowServer{takes: time.Millisecond, next: map[string]int64{}}
				server.refuses.Store(refusal{tt.err})
				const sequences, away = 150, time.Minute
				regs := processes(t, 1, server, sequence.Config{Timeout: away + time.Minute})
				callers := dry(t, regs, sequences, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
				time.Sleep(away)
				if each := float64(server.asked.Load()) / away.Seconds(); each < 1 || each > 8.5 {
					t.Errorf("it made %.1f connections a second, want 1 to 8", each)
				}
				for _, s := range regs[0].Snapshot() {
					if !errors.Is(s.LastError, tt.err) {
						t.Errorf("sequence %s does not know why it waits: %v", s.Name, s.LastError)
						break
					}
				}
				server.refuses.Store(refusal{})
				began := time.Now()
				callers.Wait()
				if took := time.Since(began); took > 4*time.Second {
					t.Errorf("all had ids %v after it served again", took)
				}
			})
		})
	}
}

// A server that takes connections and cuts them before they are made sees no more of them than one that is away, from
// whichever stores.
func TestCutLoginsAreFew(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"one server", "striped"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			addr, logins := cutsLogins(t)
			pool := openPool(t, "u:p@tcp("+addr+")/d")
			var store sequence.RowStore = sequence.ForUpdate{DB: pool}
			if kind == "striped" {
				var err error
				if store, err = sequence.NewStriped([]sequence.StripeServer{{Name: "a", DB: pool}}, sequence.StrategyCAS, sequence.StripeLayout{}, nil); err != nil {
					t.Fatal(err)
				}
			}
			reg := sequencetest.Registry(store, sequence.Config{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			var callers sync.WaitGroup
			for i := range 200 {
				seq := get(t, reg, sequence.Name{Database: "d", Table: fmt.Sprint("s", i)})
				callers.Go(func() {
					if _, err := seq.Next(ctx, 1); !errors.Is(err, sequence.ErrUnavailable) {
						t.Error(err)
					}
				})
			}
			callers.Wait()
			most := 40 + 20*time.Since(began).Seconds()
			if kind == "one server" {
				most = 20 + 8*time.Since(began).Seconds()
			}
			if got := logins.Load(); got < 2 || float64(got) > most {
				t.Errorf("%d logins in %v, want 2 to %.0f", got, time.Since(began), most)
			}
			if err := reg.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// cutsLogins returns the address of a server that takes connections and cuts them, and how many there were.
func cutsLogins(t *testing.T) (string, *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var logins atomic.Int64
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			logins.Add(1)
			_ = conn.Close() // as a proxy without a server does
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // ends the goroutine
		accepting.Wait()
	})
	return listener.Addr().String(), &logins
}
