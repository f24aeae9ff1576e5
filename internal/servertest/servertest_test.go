package servertest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if os.Getenv(envHelper) != "" {
		holdServers()
	}
	Main(m)
}

func TestEachSharesOneServer(t *testing.T) {
	seen := map[string]string{}
	for range 2 {
		Each(t, func(t *testing.T, s *Server) {
			if before, ok := seen[s.Name]; ok && before != s.Addr {
				t.Errorf("second Each: address %s, want the first one's %s", s.Addr, before)
			}
			seen[s.Name] = s.Addr
		})
	}
}

func TestServerFacts(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		if got, want := s.IsMariaDB(), s.Name == nameMariaDB; got != want && s.Name != nameDSN {
			t.Errorf("IsMariaDB()=%v, want %v (version %q)", got, want, s.Version)
		}
		if s.Name == nameMySQL97 && !strings.HasPrefix(s.Version, "9.7") {
			t.Errorf("Version=%q, want 9.7", s.Version)
		}
		if got, want := s.DSN("x"), "/x"; !strings.Contains(got, want) || !strings.Contains(got, s.Addr) {
			t.Errorf("DSN(x)=%q, want address %s and database x in it", got, s.Addr)
		}
	})
}

func TestNewDatabaseIsDropped(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		var name string
		t.Run("create", func(t *testing.T) {
			name = s.NewDatabase(t)
			if _, err := s.Open(t, name).Exec("CREATE TABLE t (id INT)"); err != nil {
				t.Fatal(err)
			}
		})
		var n int
		err := s.Open(t, "").QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("databases %s after the test: %d, error %v, want none", name, n, err)
		}
	})
}

// Big packets and rows are what the relay's tests need of these servers.
func TestLargeRow(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		db := s.Open(t, s.NewDatabase(t))
		const size = 40 << 20
		if _, err := db.Exec("CREATE TABLE t (b LONGBLOB)"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("INSERT INTO t VALUES (REPEAT('x', ?))", size); err != nil {
			t.Fatal(err)
		}
		var got []byte
		if err := db.QueryRow("SELECT b FROM t").Scan(&got); err != nil || len(got) != size {
			t.Errorf("read back %d bytes, error %v, want %d bytes", len(got), err, size)
		}
	})
}

func TestPrivate(t *testing.T) {
	var pids []int
	Private(t, func(t *testing.T, s *Server) {
		var increment int
		err := s.Open(t, "").QueryRow("SELECT @@auto_increment_increment").Scan(&increment)
		if err != nil || increment != 7 {
			t.Errorf("auto_increment_increment=%d, error %v, want 7, as its options say", increment, err)
		}
		db := tableOfOne(t, s)

		s.Kill(t)
		wantNoAnswer(t, db)
		s.Start(t)
		wantOneRow(t, db)

		s.Stop(t)
		wantNoAnswer(t, db)
		s.Start(t)
		wantOneRow(t, db)

		s.Freeze(t)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := db.QueryRowContext(ctx, "SELECT 1").Scan(new(int)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("query of a frozen server: error %v, want %v", err, context.DeadlineExceeded)
		}
		s.Thaw(t)
		wantOneRow(t, db)

		pids = append(pids, processOf(t, s))
		s.Freeze(t) // one that is frozen is dropped all the same
	}, "--auto-increment-increment=7")
	wantGone(t, pids)
}

func TestSharedServersAreNotDisturbed(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		for name, err := range map[string]error{
			"kill": s.private().kill(), "stop": s.private().stop(), "start": s.private().start(),
			"freeze": signal(s.private(), syscall.SIGSTOP),
		} {
			if !errors.Is(err, errShared) {
				t.Errorf("%s of a shared server: error %v, want %v", name, err, errShared)
			}
		}
	})
}

func TestParseServers(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        map[string]string
		wantErr     string
	}{
		{name: "empty", want: map[string]string{}},
		{
			name: "two", value: "mariadb=a:b@tcp(h:1)/?x=y,mysql97=c@unix(/s)/",
			want: map[string]string{"mariadb": "a:b@tcp(h:1)/?x=y", "mysql97": "c@unix(/s)/"},
		},
		{name: "trailing comma", value: "dsn=x@/,", want: map[string]string{"dsn": "x@/"}},
		{name: "unknown name", value: "oracle=x@/", wantErr: `"oracle=x@/"`},
		{name: "no name", value: "x", wantErr: `"x"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseServers(test.value)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want one with %s", err, test.wantErr)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v, DSNs (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestMissingServerIsNamed(t *testing.T) {
	t.Setenv(envMySQL97, "")
	_, err := launch(nameMySQL97)
	var missing missingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), envMySQL97) {
		t.Errorf("error %v, want a missingError that names %s", err, envMySQL97)
	}
}

func TestFailedStartShowsTheLog(t *testing.T) {
	_, err := launch(nameMariaDB, "--no-such-option=1")
	var missing missingError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err == nil || !strings.Contains(err.Error(), "no-such-option") {
		t.Errorf("error %v, want the server's own words about no-such-option", err)
	}
}

func tableOfOne(t *testing.T, s *Server) *sql.DB {
	t.Helper()
	db := s.Open(t, s.NewDatabase(t))
	for _, query := range []string{"CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func wantNoAnswer(t *testing.T, db *sql.DB) {
	t.Helper()
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("ping of a server that does not run: no error, want one")
	}
}

func wantOneRow(t *testing.T, db *sql.DB) {
	t.Helper()
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != 1 {
		t.Errorf("rows: %d, error %v, want 1 row", n, err)
	}
}

func processOf(t *testing.T, s *Server) int {
	t.Helper()
	pid, err := s.engine.pid()
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// wantGone waits until none of the processes is there any more.
func wantGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		for end := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("process %d runs still", pid)
				break
			}
		}
	}
}
