package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/sequence"
)

// tracer takes the spans of clients' statements and of sequences.
type tracer interface {
	proxy.Tracer
	sequence.Tracer
}

// openExporter opens what exports spans: t is nil when the environment turns it off. end exports what is left. It is nil
// in a seqgate that was built without it.
var openExporter func(ctx context.Context, ratio float64, log *slog.Logger) (t tracer, end func(context.Context) error, err error)

// exportTimeout bounds the export of the last spans at the end.
const exportTimeout = 2 * time.Second

// openTracing returns what spans are told to; nil for nobody.
func openTracing(ctx context.Context, cfg config.Tracing, log *slog.Logger) (t tracer, end func(), err error) {
	if cfg.Ratio == 0 {
		return nil, func() {}, nil
	}
	if openExporter == nil {
		return nil, nil, errors.New("this seqgate was built without tracing")
	}
	t, endExport, err := openExporter(ctx, cfg.Ratio, log)
	if err != nil || t == nil {
		return nil, func() {}, err
	}
	return t, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
		defer cancel()
		if err := endExport(ctx); err != nil {
			log.Warn("the last spans not exported", "err", err)
		}
	}, nil
}
