package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seqgate/seqgate/internal/mutation"
)

// tester tries mutations, one after the other. Its files are in dir.
type tester struct {
	dir   string
	limit time.Duration
	built map[string]string // the test binaries without a mutation, by package
	clean map[string]error  // what came of each test without a mutation; see passes
}

// try returns nil when m's test passes without m and fails with it.
func (t *tester) try(ctx context.Context, m mutation.Mutation) error {
	if err := t.passes(ctx, m); err != nil {
		return err
	}
	overlay, err := t.overlay(m)
	if err != nil {
		return err
	}
	binary := filepath.Join(t.dir, "mutated.test")
	if err := build(ctx, m, binary, "-overlay", overlay); err != nil {
		return fmt.Errorf("NOT TRIED: %w", err)
	}
	out, err := t.run(ctx, m, binary)
	switch {
	case err == nil:
		return fmt.Errorf("SURVIVED %s", m.Test)
	case bytes.Contains(out, []byte("panic: test timed out")):
		return fmt.Errorf("NOT TRIED: %s did not end within %v", m.Test, t.limit)
	case !bytes.Contains(out, []byte("--- FAIL: "+m.Function())) && !bytes.Contains(out, []byte("panic: ")):
		return fmt.Errorf("NOT TRIED: %w: %s", err, lastLines(out))
	}
	return nil
}

// passes reports whether the test passes without a mutation, which is found out once. One that was skipped does not.
func (t *tester) passes(ctx context.Context, m mutation.Mutation) error {
	key := m.Package() + " " + m.Test
	if err, known := t.clean[key]; known {
		return err
	}
	t.clean[key] = t.passesNow(ctx, m)
	return t.clean[key]
}

func (t *tester) passesNow(ctx context.Context, m mutation.Mutation) error {
	binary, known := t.built[m.Package()]
	if !known {
		binary = filepath.Join(t.dir, fmt.Sprintf("clean-%d.test", len(t.built)))
		if err := build(ctx, m, binary); err != nil {
			return fmt.Errorf("NOT TRIED: without the mutation: %w", err)
		}
		t.built[m.Package()] = binary
	}
	out, err := t.run(ctx, m, binary)
	switch {
	case err != nil:
		return fmt.Errorf("NOT TRIED: %s fails without the mutation: %s", m.Test, lastLines(out))
	case !bytes.Contains(out, []byte("--- PASS: "+m.Test+" ")):
		return fmt.Errorf("NOT TRIED: %s does not run: %s", m.Test, lastLines(out))
	}
	return nil
}

// overlay writes the mutated file, and the file that tells the compiler to take it in the place of the real one.
func (t *tester) overlay(m mutation.Mutation) (string, error) {
	source, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	if source, err = m.Apply(source); err != nil {
		return "", err
	}
	original, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(t.dir, "mutated.go")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(t.dir, "overlay.json")
	return overlay, errors.Join(os.WriteFile(mutated, source, 0o600), os.WriteFile(overlay, text, 0o600))
}

// build makes the test binary of m's package. It is no `go test`, so that code which does not compile is told from a test
// that fails.
func build(ctx context.Context, m mutation.Mutation, binary string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...)
	out, err := exec.CommandContext(ctx, "go", append(args, "./"+m.Package())...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out))
	}
	return nil
}

func (t *tester) run(ctx context.Context, m mutation.Mutation, binary string) ([]byte, error) {
	exactly := "^" + strings.ReplaceAll(m.Test, "/", "$/^") + "$" // the names of subtests are matched one by one
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.failfast", "-test.run", exactly, "-test.timeout", t.limit.String())
	cmd.Dir = m.Package()
	return cmd.CombinedOutput()
}

// lastLines returns the end of what a command said, short enough for a line of the table.
func lastLines(out []byte) []byte {
	const most = 300
	out = bytes.ReplaceAll(bytes.TrimSpace(out), []byte("\n"), []byte(" | "))
	return out[max(0, len(out)-most):]
}
