package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// A short run loads every table, finds all of its rows, and leaves nothing behind.
func TestRun(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var out strings.Builder
		err := run(t.Context(), []string{"-server", s.DSN(""), "-rows", "400", "-statement", "20", "-single", "30", "-writers", "3"}, &out, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys() {
			if !strings.Contains(out.String(), "\n| "+k.name+" | ") {
				t.Errorf("no row of %s in\n%s", k.name, out.String())
			}
		}
		if !strings.Contains(out.String(), "\n"+s.Version+", buffer pool ") {
			t.Errorf("no version %s in\n%s", s.Version, out.String())
		}
		if strings.Contains(out.String(), "| 0.00 |") || strings.Contains(out.String(), "NaN") {
			t.Errorf("something was not measured:\n%s", out.String())
		}
		var left int
		if err := s.Open(t, "").QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'keys\\_%'").Scan(&left); err != nil || left > 0 {
			t.Errorf("%d databases are left, error %v", left, err)
		}
	})
}

// The buffer pool and the redo log get their sizes, and get back those they had.
func TestPool(t *testing.T) {
	servertest.Private(t, func(t *testing.T, real *servertest.Server) {
		conn, err := real.Open(t, "").Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		s := &server{Conn: conn, version: real.Version}
		sizes := func() (all [2]int64) {
			for i, name := range []string{poolVariable, s.logVariable()} {
				if all[i], err = s.variable(t.Context(), name); err != nil {
					t.Fatal(err)
				}
			}
			return all
		}
		before := sizes()
		restore, err := s.setPool(t.Context(), 256<<20)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sizes(), [2]int64{256 << 20, redoLog}; got != want || s.poolSize != want[0] {
			t.Errorf("got %v and a pool of %d, want %v", got, s.poolSize, want)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if err := s.awaitPool(t.Context(), before[0]); err != nil { // it is resized in the background
			t.Fatal(err)
		}
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // the log likewise
			got := sizes()
			if got == before {
				break
			}
			if time.Since(begun) > 5*time.Minute { // MySQL withdraws pages as its load lets it
				t.Fatalf("restored: got %v, want %v", got, before)
			}
		}
	})
}

// Whatever the kind, no key comes twice, whoever takes it.
func TestKeys(t *testing.T) {
	for _, k := range keys() {
		t.Run(k.table, func(t *testing.T) {
			sources, err := k.open(3)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, n := range []int{1, 1000, 7, 1} {
				for _, s := range sources {
					before := len(all)
					if all, err = s.keys(t.Context(), all, n); err != nil || len(all) != before+n {
						t.Fatalf("got %d keys, error %v, want %d", len(all)-before, err, n)
					}
				}
			}
			slices.Sort(all)
			if distinct := len(slices.Compact(slices.Clone(all))); distinct != len(all) {
				t.Errorf("%d of %d keys are different", distinct, len(all))
			}
		})
	}
}

// A writer's block lasts for as many ids as it has.
func TestBlocks(t *testing.T) {
	sources, err := blocks(2, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, take := range []struct{ writer, n int }{{0, 3}, {1, 2}, {0, 7}, {0, 1}, {1, 12}} {
		ids, err := sources[take.writer].keys(t.Context(), nil, take.n)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(ids[0], "-", ids[len(ids)-1]))
	}
	if diff := cmp.Diff([]string{"1-3", "11-12", "4-10", "21-21", "31-42"}, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// Ratios are taken within a slice; pages are over all.
func TestReport(t *testing.T) {
	parts := func(seconds ...int) (all []slice) {
		for _, s := range seconds {
			all = append(all, slice{rows: 6000, elapsed: time.Duration(s) * time.Second, pages: pages{read: 3, written: int64(s)}})
		}
		return all
	}
	base := &table{key: key{name: "a"}, load: parts(1, 2, 3), single: parts(1), size: size{3 << 20, 1 << 20, 5 << 20}}
	other := &table{key: key{name: "b"}, load: parts(2, 3, 12), single: parts(4), size: size{6 << 20, 2 << 20, 9 << 20}}
	s := &server{version: "10.11", poolSize: 128 << 20}
	got := s.report([]*table{base, other})
	for _, want := range []string{
		"\n10.11, buffer pool 128 MiB:\n",
		"| a | 6000 | 2000 | 3000 | 1.00 | 1.00 | 0.5 | 0.3 | 3.00 | 1.00 | 5.00 | 1.00 |\n",
		"| b | 3000 | 500 | 1059 | 0.50 | 0.25 | 0.5 | 0.9 | 6.00 | 2.00 | 9.00 | 2.00 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestParseFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string // in the error
	}{
		{"-rows 100", "must be a multiple of 10000"},
		{"-rows 0", "must be a multiple of 10000"},
		{"-single 5", "must be a multiple of 10"},
		{"-statement 5000", "must be 1 to 4096"},
		{"-writers 0", "must be 1 to 32"},
		{"-buffer-pool 1T", `"1T" is no size`},
		{"-buffer-pool M", `"M" is no size`},
		{"more", "unexpected argument"},
	} {
		if _, err := parseFlags(strings.Fields(tt.args), io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.args, err, tt.want)
		}
	}
	for _, tt := range []struct {
		args string
		want []int64
	}{
		{"", []int64{128 << 20, 4 << 30}},
		{"-server u@tcp(h)/", []int64{0}},
		{"-server u@tcp(h)/ -buffer-pool 5242880,1G", []int64{5 << 20, 1 << 30}},
	} {
		cfg, err := parseFlags(strings.Fields(tt.args), io.Discard)
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.want, cfg.pools); diff != "" {
			t.Errorf("%s: pools (-want +got):\n%s", tt.args, diff)
		}
	}
}
