package packagetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seqgate/seqgate/internal/servertest"
)

// root is the repository's top.
const root = "../.."

func TestMain(m *testing.M) { servertest.Main(m) }

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readStrictly decodes a file of one YAML document; keys that v does not have are errors.
func readStrictly(t *testing.T, name string, v any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(readFile(t, name)))
	d.KnownFields(true)
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// program gives the path of one that scripts/test-deps installs; without it the test is skipped.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: scripts/test-deps installs it", err)
		}
		t.Skip(err)
	}
	return path
}

// seqgate builds the program once for all tests.
var seqgate = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("seqgate-package-test-%d", os.Getpid()))
	servertest.AtEnd(func() { _ = os.Remove(path) }) // 100 MB
	cmd := servertest.GoCommand("build", "-tags", "slim", "-ldflags", "-X main.release=v0.1.0", "-o", path, "./cmd/seqgate")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build seqgate: %w\n%s", err, out)
	}
	return path, nil
})

// checkConfig has seqgate check read a configuration, with an environment. That servers cannot be reached is no error.
func checkConfig(t *testing.T, file string, env ...string) {
	t.Helper()
	path, err := seqgate()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "check", "--config", file)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("seqgate check: %v\n%s", err, out)
	}
}
