package driver_test

import (
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// The examples do on a real server what they show.
func TestExamples(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(40))",
			"CREATE TABLE orders (order_id BIGINT PRIMARY KEY, total INT)")
		for name, next := range map[string]int64{"users_seq": 101, "numbers": 7000} {
			if err := sequence.Seed(t.Context(), p.direct, p.database, name, next, 10); err != nil {
				t.Fatal(err)
			}
		}
		shown := dsn
		t.Cleanup(func() { dsn = shown })
		dsn = s.DSN(p.database)
		for _, tt := range []struct {
			name    string
			example func()
			want    string
		}{
			{"Example", Example, "Ada is 101\nthe next id is 103\n"},
			{"NewConnector", ExampleNewConnector, "order 7000\nnumbers was refilled 1 time\n"},
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
