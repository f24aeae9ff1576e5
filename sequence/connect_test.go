package sequence_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A host that vanished, and is replaced by another: connections that were being made to it never get an answer nor an end.
// They are not waited for. More sequences wait than there are connections, so that database/sql makes some by itself, for
// which no caller's time counts.
func TestServerThatNeverGreets(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const sequences = 30
		database := s.NewDatabase(t)
		admin := s.Open(t, database)
		for i := range sequences {
			if err := sequence.Seed(t.Context(), admin, database, fmt.Sprintf("s%d", i), 1, 10); err != nil {
				t.Fatal(err)
			}
		}
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close() // the kernel takes connections, nobody speaks on them
		var dialed atomic.Int64
		var replaced atomic.Bool
		cfg, err := mysql.ParseDSN(s.DSN(database))
		if err != nil {
			t.Fatal(err)
		}
		cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialed.Add(1)
			if !replaced.Load() {
				network, addr = "tcp", silent.Addr().String()
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
		db, err := sequence.NewPool(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		reg := sequencetest.Registry(sequence.Increment{DB: db}, sequence.Config{Timeout: 2 * time.Minute})
		done := make(chan error, sequences)
		for i := range sequences {
			seq := get(t, reg, sequence.Name{Keyspace: "main", Database: database, Table: fmt.Sprintf("s%d", i)})
			go func() {
				_, err := seq.Next(t.Context(), 1)
				done <- err
			}()
		}
		await(t, func() bool { return dialed.Load() > 8 }) // more than callers dial at first
		replaced.Store(true)
		patience := time.After(time.Minute)
		for i := range sequences {
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-patience:
				t.Fatalf("%d of %d sequences have no ids although the server has been there for a minute", sequences-i, sequences)
			}
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
