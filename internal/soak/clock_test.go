package soak

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/testgate"
)

// clockVariable names the file that says how far a seqgate's clock is ahead.
const clockVariable = "SEQGATE_CHAOS_CLOCK"

// aheadSource is what is added to a package for buildWithClock.
const aheadSource = `package %s

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

// changes are what the build of buildWithClock has in other words, wherever that lies: the two clocks of seqgate, of generators and
// of the leases of their worker ids, and how long recovery leaves a transaction that is prepared to its own seqgate: less than faults
// last, so that the two meet, and so that a round need not wait for it.
var changes = []struct{ below, pkg, read, changed string }{
	{"sequence/snowflake", "snowflake", "return now, now.Sub(c.start)", "return now.Add(chaosAhead()), now.Sub(c.start)"},
	{"sequence/worker", "worker", "return now.Round(0), now.Sub(c.start)", "return now.Round(0).Add(chaosAhead()), now.Sub(c.start)"},
	{"proxy/xa", "", "defaultGrace = 2 * timeout", "defaultGrace = 1500 * time.Millisecond"},
}

// buildWithClock builds a seqgate whose time of day can be set by a file, and whose recovery is hastened. Programs in Go take the
// time from the kernel without a library that could be put in between, and a clock of the machine is everybody's; so the compiler is
// given other sources for the places where the clock is read, and nothing of it is in seqgate itself.
func buildWithClock(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replaced := map[string]string{}
	for i, c := range changes {
		original, text := find(t, "../../"+c.below, c.read)
		replaced[original] = filepath.Join(dir, fmt.Sprintf("changed%d.go", i))
		write(t, replaced[original], strings.Replace(text, c.read, c.changed, 1))
		if c.pkg != "" {
			added := filepath.Join(filepath.Dir(original), "chaos_ahead.go")
			replaced[added] = filepath.Join(dir, c.pkg+"_ahead.go")
			write(t, replaced[added], fmt.Sprintf(aheadSource, c.pkg))
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	write(t, file, string(overlay))
	return testgate.Build(t, "-overlay", file)
}

// find returns the one file below a folder that has a text once, and what it has.
func find(t *testing.T, below, text string) (path, source string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(below, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		found, err := os.ReadFile(name)
		if times := strings.Count(string(found), text); times > 0 && err == nil {
			n, source = n+times, string(found)
			path, err = filepath.Abs(name)
		}
		return err
	})
	if n != 1 || err != nil {
		t.Fatalf("below %s there is %q %d times, want once (%v)", below, text, n, err)
	}
	return path, source
}

// setClock sets how far the clock of the gate's process is ahead: at once, as it may be reading.
func (g *gate) setClock(ahead time.Duration) error {
	next := g.clock + ".next"
	if err := os.WriteFile(next, []byte(ahead.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, g.clock)
}
