package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/sequence"
)

// Tracing is what is told of statements and refills as spans of OpenTelemetry. Where they go, the variables OTEL_* say.
type Tracing struct {
	Ratio float64 // share of the statements; 0: nothing is traced
}

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

// openTracing gives what spans are told to; nil for nobody.
func openTracing(ctx context.Context, cfg Tracing, log *slog.Logger) (t tracer, end func(), err error) {
	if cfg.Ratio == 0 {
		return nil, func() {}, nil
	}
	if openExporter == nil {
		return nil, nil, errors.New(withoutTracing)
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

const withoutTracing = "this seqgate was built without tracing: build it with go build -tags otel ./cmd/seqgate, or leave tracing.ratio out"

// ratio reads a share.
func (r *configReader) ratio(v value) float64 {
	n, err := strconv.ParseFloat(v.node.Value, 64)
	if err != nil || !(n >= 0 && n <= 1) { // not NaN
		r.fail(v, "%q is no share: write a number from 0 to 1, such as 0.01", v.node.Value)
	} else if n > 0 && openExporter == nil {
		r.fail(v, withoutTracing)
	}
	return n
}
