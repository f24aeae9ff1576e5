//go:build !otel

package main

import (
	"strings"
	"testing"
)

// A seqgate that cannot trace says so, by the file and at the start.
func TestTracingIsABuildChoice(t *testing.T) {
	path := writeFile(t, "seqgate.yaml", "keyspaces: {main: {shards: {\"-\": \"app:app@tcp(127.0.0.1:3306)/main\"}}}\ntracing: {ratio: 0.01}\n")
	_, err := loader(env(nil)).Load(path)
	if err == nil || !strings.Contains(err.Error(), "seqgate.yaml:2:18: tracing.ratio: this seqgate was built without tracing: build it with go build -tags otel") {
		t.Errorf("got %v, want an error that says how to build it", err)
	}
	if _, _, err := openTracing(t.Context(), Tracing{Ratio: 0.01}, nil); err == nil {
		t.Error("what there is not was opened")
	}
}

func TestTracingRatio(t *testing.T) {
	for _, ratio := range []string{"-0.1", "1.1", "NaN", "often"} {
		path := writeFile(t, "seqgate.yaml", "keyspaces: {main: {shards: {\"-\": \"app:app@tcp(127.0.0.1:3306)/main\"}}}\ntracing: {ratio: "+ratio+"}\n")
		if _, err := loader(env(nil)).Load(path); err == nil || !strings.Contains(err.Error(), "is no share: write a number from 0 to 1") {
			t.Errorf("ratio %s: got %v", ratio, err)
		}
	}
}
