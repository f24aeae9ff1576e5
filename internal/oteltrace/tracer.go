// Package oteltrace gives the spans of seqgate to OpenTelemetry. Only a seqgate that is built with the tag otel has it.
package oteltrace

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes spans of OpenTelemetry. It is the Tracer of packages proxy and sequence.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer whose spans go where the provider's do.
func New(provider trace.TracerProvider, version string) *Tracer {
	return &Tracer{provider.Tracer("github.com/seqgate/seqgate", trace.WithInstrumentationVersion(version))}
}

// kinds are the options of the kinds of spans.
var kinds = map[string][]trace.SpanStartOption{
	"server": {trace.WithSpanKind(trace.SpanKindServer)}, "client": {trace.WithSpanKind(trace.SpanKindClient)}, "internal": {},
}

// linkKey is that of what the next span in a context is linked to, a trace.SpanContext.
type linkKey struct{}

// Start begins a span below the one in ctx. end is nil for one that the sampler leaves out.
func (t *Tracer) Start(ctx context.Context, kind, name string, attrs ...slog.Attr) (context.Context, func(error, ...slog.Attr)) {
	options := kinds[kind]
	if link, ok := ctx.Value(linkKey{}).(trace.SpanContext); ok && !trace.SpanContextFromContext(ctx).IsValid() {
		options = append(slices.Clip(options), trace.WithLinks(trace.Link{SpanContext: link}))
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	if !span.IsRecording() {
		return ctx, nil
	}
	span.SetAttributes(keyValues(attrs)...)
	return ctx, func(err error, attrs ...slog.Attr) {
		span.SetAttributes(keyValues(attrs)...)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// Continue returns a context of the trace that a client names by the headers of W3C Trace Context.
func (t *Tracer) Continue(ctx context.Context, traceparent, tracestate string) context.Context {
	carrier := propagation.MapCarrier{"traceparent": traceparent, "tracestate": tracestate}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}

// Detach returns a context whose next span begins a trace of its own, linked to the span in ctx.
func (t *Tracer) Detach(ctx context.Context) context.Context {
	link := trace.SpanContextFromContext(ctx)
	if !link.IsValid() {
		link, _ = ctx.Value(linkKey{}).(trace.SpanContext)
	}
	if !link.IsValid() {
		return context.Background()
	}
	return context.WithValue(context.Background(), linkKey{}, link)
}

func keyValues(attrs []slog.Attr) []attribute.KeyValue {
	all := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		all[i] = keyValue(a)
	}
	return all
}

func keyValue(a slog.Attr) attribute.KeyValue {
	switch a.Value.Kind() {
	case slog.KindInt64:
		return attribute.Int64(a.Key, a.Value.Int64())
	case slog.KindUint64:
		return attribute.Int64(a.Key, int64(min(a.Value.Uint64(), 1<<63-1)))
	case slog.KindBool:
		return attribute.Bool(a.Key, a.Value.Bool())
	case slog.KindFloat64:
		return attribute.Float64(a.Key, a.Value.Float64())
	}
	return attribute.String(a.Key, a.Value.String())
}
