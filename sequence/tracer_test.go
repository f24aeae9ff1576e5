package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/tracetest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A wait and the refill that it asks for belong to the caller's trace, later attempts and what is fetched ahead are
// linked to it, and ids from memory are no spans.
func TestSpansOfRefills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		fails := true
		store.Before = func(context.Context, sequence.Request) error {
			time.Sleep(time.Millisecond)
			if fails {
				fails = false
				return errors.New("connection to app:s3cret@10.0.0.1 lost")
			}
			return nil
		}
		tracer := tracetest.New()
		seq := newSequence(t, store, sequence.Config{Tracer: tracer, PrefetchShare: 0.5})
		next := func(name string) {
			t.Helper()
			ctx, end := tracer.Start(t.Context(), "server", name)
			if _, err := seq.Next(ctx, 1); err != nil {
				t.Fatal(err)
			}
			end(nil)
		}
		check := func(want string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, tracer.Tree("seqgate.sequence", "seqgate.refill.ids")); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
			tracer.Reset()
		}
		next("first")
		check("server first\n" +
			"  internal wait for ids seqgate.sequence=main.user_seq\n" +
			"  client refill seqgate.refill.ids=0 seqgate.sequence=main.user_seq: no ids came\n" +
			"client refill seqgate.refill.ids=10 seqgate.sequence=main.user_seq linked to first\n")
		next("from memory")
		check("server from memory\n")

		time.Sleep(time.Minute) // it turns warm: the next segment is fetched ahead
		for len(store.Requests()) < 3 {
			next("ahead")
			synctest.Wait()
			time.Sleep(time.Second)
		}
		synctest.Wait()
		all := tracer.Ended()
		last := all[len(all)-1]
		if last.Name != "refill" || last.Parent != nil || last.Link == nil || last.Link.Name != "ahead" {
			t.Errorf("fetched ahead: got %+v, want a refill in a trace of its own with a link", last)
		}
		for _, span := range all {
			if span.Name == "wait for ids" {
				t.Error("a caller waited although ids are fetched ahead")
			}
		}
	})
}

// Spans tell the kind of an error, or the number of the server's: the text may quote what the row holds.
func TestSpansHoldNoErrorText(t *testing.T) {
	const secret = "secret-4711"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&sequence.Error{Kind: sequence.ErrBadRow, Sequence: secret, Text: "holds " + secret}, "bad sequence row"},
		{&mysql.MySQLError{Number: 1366, Message: "Incorrect value: '" + secret + "'"}, "error 1366"},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := sequencetest.NewStore(1, 10)
			store.Before = func(context.Context, sequence.Request) error { return fmt.Errorf("reserve: %w", tt.err) }
			tracer := tracetest.New()
			seq := newSequence(t, store, sequence.Config{Tracer: tracer, Timeout: time.Second})
			ctx, end := tracer.Start(t.Context(), "server", "INSERT")
			if _, err := seq.Next(ctx, 1); err == nil || !strings.Contains(err.Error(), secret) {
				t.Fatalf("got %v, want an error with the text", err)
			}
			end(nil)
			synctest.Wait()
			want := "server INSERT\n  internal wait for ids: " + tt.want + "\n  client refill: " + tt.want + "\n"
			if diff := cmp.Diff(want, tracer.Tree()); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}
