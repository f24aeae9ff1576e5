//go:build otel

package app

import (
	"context"
	"log/slog"

	"github.com/seqgate/seqgate/internal/oteltrace"
)

func init() { openExporter = openOTLP }

// openOTLP exports spans by OTLP over HTTP.
func openOTLP(ctx context.Context, ratio float64, log *slog.Logger) (tracer, func(context.Context) error, error) {
	t, end, err := oteltrace.Open(ctx, oteltrace.Config{Ratio: ratio, Version: Version(), Logger: log})
	if t == nil || err != nil {
		return nil, nil, err // and not a nil pointer that is no nil tracer
	}
	return t, end, nil
}
