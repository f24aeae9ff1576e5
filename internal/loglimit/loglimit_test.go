package loglimit

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// output is what was logged since it was taken last.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	return strings.Split(strings.TrimSuffix(o.text.String(), "\n"), "\n")
}

func TestRepeatedLinesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		withoutTime := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		h := New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutTime}), "login ended", "header refused")
		log := slog.New(h).With("run", 1)
		wants := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, out.lines()); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
		}
		failed := func(server string, n int) {
			for i := range n {
				log.Warn("login ended", "keyspace", "main", "server", server, "client", i)
			}
		}

		failed("a", 1000)
		failed("b", 2)
		log.Info("login ended", "client", "an info")
		for _, proxy := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.1"} {
			log.Warn("header refused", "proxy", proxy)
		}
		log.Warn("another", "client", 1)
		log.Warn("another", "client", 2)
		wants(
			`level=WARN msg="login ended" run=1 keyspace=main server=a client=0`,
			`level=WARN msg="login ended" run=1 keyspace=main server=b client=0`,
			`level=INFO msg="login ended" run=1 client="an info"`,
			`level=WARN msg="header refused" run=1 proxy=10.0.0.1`, `level=WARN msg="header refused" run=1 proxy=10.0.0.2`,
			`level=WARN msg=another run=1 client=1`, `level=WARN msg=another run=1 client=2`)
		time.Sleep(every - time.Second)
		failed("a", 1)
		wants("")
		time.Sleep(time.Second)
		synctest.Wait()
		got := out.lines()
		if len(got) != 3 || !strings.Contains(strings.Join(got, "\n"), `proxy=10.0.0.1 repeated="and 1 more in the last minute"`) || !strings.Contains(strings.Join(got, "\n"), `server=a client=0 repeated="and 1000 more in the last minute"`) ||
			!strings.Contains(strings.Join(got, "\n"), `server=b client=1 repeated="and 1 more in the last minute"`) {
			t.Errorf("after a minute: %q", got)
		}
		failed("a", 3)
		time.Sleep(every)
		wants(`level=WARN msg="login ended" run=1 keyspace=main server=a client=2 repeated="and 3 more in the last minute"`)
		time.Sleep(every) // a quiet one
		synctest.Wait()
		failed("a", 1)
		wants(`level=WARN msg="login ended" run=1 keyspace=main server=a client=0`)

		failed("a", 5)
		h.Close()
		wants(`level=WARN msg="login ended" run=1 keyspace=main server=a client=4 repeated="and 5 more in the last minute"`)
		failed("a", 2)
		wants(`level=WARN msg="login ended" run=1 keyspace=main server=a client=0`, `level=WARN msg="login ended" run=1 keyspace=main server=a client=1`)
		time.Sleep(time.Hour)
		wants("")
	})
}
