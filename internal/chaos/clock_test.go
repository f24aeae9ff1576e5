package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/testgate"
)

// clockVariable names the file that says how far a seqgate's clock is ahead.
const clockVariable = "SEQGATE_CHAOS_CLOCK"

// ahead is what is added to a package for buildWithClock.
const ahead = `package %s

import (
	"os"
	"time"
)

func chaosAhead() time.Duration {
	text, err := os.ReadFile(os.Getenv("` + clockVariable + `"))
	if err != nil {
		panic(err)
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	return d
}
`

// The two clocks of seqgate: of generators, and of the leases of their worker ids.
var clocks = []struct{ file, pkg, read, changed string }{
	{"sequence/snowflake/clock.go", "snowflake", "return now, now.Sub(c.start)", "return now.Add(chaosAhead()), now.Sub(c.start)"},
	{"sequence/worker/clocks.go", "worker", "return now.Round(0), now.Sub(c.start)", "return now.Round(0).Add(chaosAhead()), now.Sub(c.start)"},
}

// hastened is how long recovery leaves a transaction that is prepared to its own seqgate: less than faults last, so that the two
// meet, and so that a round need not wait for it.
var hastened = struct{ file, grace, changed string }{
	"proxy/xa_recover.go", "recoveryGrace = 2 * decisionTimeout", "recoveryGrace = 1500 * time.Millisecond",
}

// buildWithClock builds a seqgate whose time of day can be set by a file, and whose recovery is hastened. Programs in Go take the time from the kernel
// without a library that could be put in between, and a clock of the machine is everybody's; so the compiler is given other
// sources for the places where the clock is read, and nothing of it is in seqgate itself.
func buildWithClock(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replaced := map[string]string{}
	replace := func(source, old, changed string) (original string) {
		original, err := filepath.Abs("../../" + source)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(original)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), old) != 1 {
			t.Fatalf("%s does not have %q once any more", source, old)
		}
		replaced[original] = filepath.Join(dir, strings.ReplaceAll(source, "/", "_"))
		write(t, replaced[original], strings.Replace(string(text), old, changed, 1))
		return original
	}
	replace(hastened.file, hastened.grace, hastened.changed)
	for _, c := range clocks {
		original := replace(c.file, c.read, c.changed)
		added := filepath.Join(filepath.Dir(original), "chaos_ahead.go")
		replaced[added] = filepath.Join(dir, c.pkg+"_ahead.go")
		write(t, replaced[added], strings.Replace(ahead, "%s", c.pkg, 1))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	write(t, file, string(overlay))
	return testgate.Build(t, "-overlay", file)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// setClock sets how far the clock of the gate's process is ahead: at once, as it may be reading.
func (g *gate) setClock(ahead time.Duration) error {
	next := g.clock + ".next"
	if err := os.WriteFile(next, []byte(ahead.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, g.clock)
}
