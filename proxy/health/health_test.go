package health

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// A server that freezes or dies is down, and up again once it answers; each change is one line of the log.
func TestStates(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		t.Parallel()
		db := s.Open(t, "")
		log := new(lines)
		c := New([]Server{{Keyspace: "main", Shard: "-", Addr: s.Addr, DB: db}}, slog.New(slog.NewTextHandler(log, nil)))
		c.interval, c.again = 100*time.Millisecond, 100*time.Millisecond
		if st := c.Statuses()[0]; st.State != Unknown {
			t.Errorf("before the first answer: %+v, want one that is unknown", st)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.Run(ctx) })
		defer running.Wait()
		defer cancel()
		wait := func(want State) Status {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
				if st := c.Statuses()[0]; st.State == want {
					return st
				} else if time.Now().After(deadline) {
					t.Fatalf("state %s (%v), want %s", st.State, st.Err, want)
				}
			}
		}
		if st := wait(Up); st.Version != s.Version || st.Latency <= 0 || st.Err != nil {
			t.Errorf("an answering server: %+v", st)
		}
		if _, err := db.ExecContext(t.Context(), "SET GLOBAL read_only = 1"); err != nil {
			t.Fatal(err)
		}
		wait(ReadOnly)
		s.Freeze(t)
		if st := wait(Down); st.Err == nil {
			t.Error("down without an error")
		}
		s.Thaw(t)
		wait(ReadOnly)
		for _, want := range []string{"server is up", "server is read-only", "server is down"} {
			if n := strings.Count(log.String(), want); n == 0 || n > 2 { // read-only before and after it was down
				t.Errorf("%q stands %d times in the log:\n%s", want, n, log)
			}
		}
	})
}

// A server that is away from the start, or refuses the password, says why.
func TestReasons(t *testing.T) {
	t.Parallel()
	s := servertest.First(t)
	for name, dsn := range map[string]string{"nobody listens": "app:app@tcp(127.0.0.1:1)/", "Access denied": "app:wrong@tcp(" + s.Addr + ")/"} {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c := New([]Server{{Keyspace: "main", Shard: "-", Addr: cfg.Addr, DB: db}}, slog.New(slog.DiscardHandler))
		c.note(0, c.ask(t.Context(), 0))
		st := c.Statuses()[0]
		if st.State != Down || st.Err == nil || name == "Access denied" && !strings.Contains(st.Err.Error(), name) {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
