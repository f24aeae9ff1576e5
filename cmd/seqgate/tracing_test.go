//go:build !otel

package main

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/app"
)

// A seqgate that cannot trace says so, by the file and at the start.
func TestTracingIsABuildChoice(t *testing.T) {
	path := writeFile(t, "seqgate.yaml", "keyspaces: {main: {shards: {\"-\": \"app:app@tcp(127.0.0.1:3306)/main\"}}}\ntracing: {ratio: 0.01}\n")
	_, err := app.Loader(env(nil)).Load(path)
	if err == nil || !strings.Contains(err.Error(), "seqgate.yaml:2:18: tracing.ratio: this seqgate was built without tracing: build it with go build -tags otel") {
		t.Errorf("got %v, want an error that says how to build it", err)
	}
}
