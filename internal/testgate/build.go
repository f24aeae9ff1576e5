package testgate

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Build builds seqgate without the demo's engine and with further flags of go build, with the race detector when this test
// has it, and returns the path of the program.
func Build(tb testing.TB, flags ...string) string {
	tb.Helper()
	if HasRaceDetector() {
		flags = append(flags, "-race")
		flags = append(flags, strings.Fields(os.Getenv("SEQGATE_TEST_RACE"))...) // of scripts/test
	}
	return BuildReleased(tb, flags...)
}

// BuildReleased is Build without the race detector.
func BuildReleased(tb testing.TB, flags ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "seqgate")
	args := append([]string{"build", "-tags", "slim", "-o", path}, flags...)
	build := exec.CommandContext(tb.Context(), "go", append(args, "github.com/seqgate/seqgate/cmd/seqgate")...)
	if !slices.Contains(flags, "-race") {
		build.Env = servertest.GoCommand().Env
	}
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build seqgate: %v\n%s", err, out)
	}
	return path
}

// HasRaceDetector reports whether this test was built with -race.
func HasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
