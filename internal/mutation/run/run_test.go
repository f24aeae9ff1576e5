package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/mutation"
)

var module = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.25\n",
	"m/m.go": `package m

func Add(a, b int) int { return a + b }

func Count(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum++
	}
	return sum
}
`,
	"m/m_test.go": `package m

import "testing"

func TestAdd(t *testing.T) {
	t.Run("two", func(t *testing.T) {
		if Add(1, 2) != 3 {
			t.Error("no")
		}
	})
}

func TestCount(t *testing.T) {
	if Count(3) != 3 {
		t.Error("no")
	}
}

func TestSkipped(t *testing.T) { t.Skip("no server") }

func TestBroken(t *testing.T) { t.Error("always") }
`,
}

// Only a test that passes without the mutation and fails with it has caught it.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	for name, text := range module {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	try := tester{dir: t.TempDir(), limit: 20 * time.Second, built: map[string]string{}, clean: map[string]error{}}
	for _, tt := range []struct{ old, new, test, want string }{
		{"a + b", "a - b", "TestAdd", ""},
		{"a + b", "a - b", "TestAdd/two", ""},
		{"a + b", "[]int{}[a]", "TestAdd", ""}, // a panic is a failure
		{"a + b", "b + a", "TestAdd", "SURVIVED TestAdd"},
		{"a + b", "a - b", "TestCount", "SURVIVED TestCount"},
		{"a + b", "a + c", "TestAdd", "undefined: c"},
		{"i++ {", "sum++ {", "TestCount", "did not end"},
		{"a + b", "a - b", "TestSkipped", "does not run"},
		{"a + b", "a - b", "TestAdd/three", "does not run"},
		{"a + b", "a - b", "TestBroken", "fails without the mutation"},
		{"int", "int64", "TestAdd", "not once"},
	} {
		err := try.try(t.Context(), mutation.Mutation{Name: "one", File: "m/m.go", Old: tt.old, New: tt.new, Test: tt.test})
		if got := errorText(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s for %s, %s: got %q, want %q", tt.new, tt.old, tt.test, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
