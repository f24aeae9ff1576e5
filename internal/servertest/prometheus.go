package servertest

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Promtool returns the path of promtool, Prometheus's tool that checks configurations and rules. It skips the test where
// it is not installed, and fails it there with CI=true.
func Promtool(tb testing.TB) string {
	tb.Helper()
	return prometheusProgram(tb, "promtool")
}

// StartPrometheus starts a Prometheus of the test's own with this configuration file, and returns its address when it is
// ready. It skips the test where none is installed, and fails it there with CI=true.
func StartPrometheus(tb testing.TB, config string) string {
	tb.Helper()
	path := prometheusProgram(tb, "prometheus")
	addr := FreeAddr(tb)
	server := exec.Command(path, "--config.file="+config, "--storage.tsdb.path="+tb.TempDir(), "--web.listen-address="+addr, "--log.level=warn")
	server.Stderr = tb.Output()
	if err := server.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // tells that it was killed
	})
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for !isReady(ctx, "http://"+addr+"/-/ready") {
		select {
		case <-ctx.Done():
			tb.Fatalf("prometheus is not ready after %v", patience)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return addr
}

func isReady(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func prometheusProgram(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	const advice = " is not installed: scripts/test-deps installs it from Debian's package prometheus"
	if os.Getenv("CI") == "true" {
		tb.Fatal(name + advice)
	}
	tb.Skip(name + advice)
	return ""
}
