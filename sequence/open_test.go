package sequence_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// The examples do on a real server what they show.
func TestExamples(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		oldDSN, oldDatabase := dsn, database
		t.Cleanup(func() { dsn, database = oldDSN, oldDatabase })
		database = s.NewDatabase(t)
		dsn = s.DSN(database)
		for _, tt := range []struct {
			name    string
			example func()
			want    string
		}{
			{"Example", Example, "1\n2 to 101\n"},
			{"Registry", ExampleRegistry, "user_seq 500\nmessage_seq 500\nuser_seq 501\nmessage_seq has 99 left in memory\nuser_seq has 98 left in memory\n"},
			{"ordered", ExampleSettings_ordered, "1\n2\n3\n"},
			{"errors", ExampleSequence_Next_errors, "there is no such sequence\n"},
		} {
			if diff := cmp.Diff(tt.want, printed(t, tt.example)); diff != "" {
				t.Errorf("%s prints (-want +got)\n%s", tt.name, diff)
			}
		}
	})
}

// printed gives what f writes to the standard output.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	func() {
		defer func() { os.Stdout = stdout }()
		f()
	}()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A sequence without a registry hands its unused ids back.
func TestOpenClose(t *testing.T) {
	store := sequencetest.NewStore(1, 10)
	seq := sequence.Open(sequence.Name{Database: "d", Table: "t"}, sequence.Settings{Store: store}, sequence.Config{})
	if ids, err := seq.Next(t.Context(), 3); err != nil || ids.First != 1 {
		t.Fatalf("got %v, %v", ids, err)
	}
	if err := seq.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := store.Row().NextID; got != 4 {
		t.Errorf("next_id is %d after Close, want 4", got)
	}
	if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
