//go:build !otel

package app

import (
	"testing"

	"github.com/seqgate/seqgate/internal/config"
)

// A seqgate that was built without tracing does not start as if it traced.
func TestOpenTracingWithoutExporter(t *testing.T) {
	if _, _, err := openTracing(t.Context(), config.Tracing{Ratio: 0.01}, nil); err == nil {
		t.Error("what there is not was opened")
	}
}
