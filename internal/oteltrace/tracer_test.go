package oteltrace_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seqgate/seqgate/internal/oteltrace"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/sequence"
)

var (
	_ proxy.Tracer    = (*oteltrace.Tracer)(nil)
	_ sequence.Tracer = (*oteltrace.Tracer)(nil)
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// inMemory returns a Tracer with this sampler and where its spans go.
func inMemory(t *testing.T, sampler sdktrace.Sampler) (*oteltrace.Tracer, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithSampler(sampler))
	t.Cleanup(func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return oteltrace.New(provider, "test"), spans
}

func TestSpans(t *testing.T) {
	tracer, spans := inMemory(t, sdktrace.AlwaysSample())
	ctx := tracer.Continue(t.Context(), traceparent, "vendor=1")
	ctx, endStatement := tracer.Start(ctx, "server", "INSERT main", slog.String("db.system.name", "mysql"))
	_, endRefill := tracer.Start(tracer.Detach(ctx), "client", "refill", slog.Int64("seqgate.refill.step", 7))
	_, endWait := tracer.Start(ctx, "internal", "wait for ids", slog.Bool("b", true), slog.Uint64("u", 1<<63))
	endWait(nil)
	endRefill(errors.New("gone"))
	endStatement(nil, slog.Int64("seqgate.ids", 2))

	got := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range spans.Ended() {
		got[span.Name()] = span
	}
	statement, wait, refill := got["INSERT main"], got["wait for ids"], got["refill"]
	if statement == nil || wait == nil || refill == nil || len(got) != 3 {
		t.Fatalf("got the spans %v, want three", got)
	}
	if p := statement.Parent(); p.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || p.SpanID().String() != "b7ad6b7169203331" || p.TraceState().String() != "vendor=1" {
		t.Errorf("the statement continues %v, want the client's trace", p)
	}
	if wait.Parent().SpanID() != statement.SpanContext().SpanID() {
		t.Errorf("the wait is below %v, want below the statement", wait.Parent())
	}
	if refill.Parent().IsValid() || refill.SpanContext().TraceID() == statement.SpanContext().TraceID() {
		t.Errorf("the refill is below %v, want a trace of its own", refill.Parent())
	}
	if links := refill.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != statement.SpanContext().SpanID() {
		t.Errorf("the refill is linked to %v, want the statement", links)
	}
	if s := refill.Status(); s.Code != codes.Error || s.Description != "gone" {
		t.Errorf("the refill's status is %v, want an error", s)
	}
	for _, test := range []struct {
		name      string
		got, want any
	}{
		{"kind of the statement", statement.SpanKind(), trace.SpanKindServer},
		{"kind of the refill", refill.SpanKind(), trace.SpanKindClient},
		{"kind of the wait", wait.SpanKind(), trace.SpanKindInternal},
		{"a text", attributeOf(statement, "db.system.name"), "mysql"},
		{"told at the end", attributeOf(statement, "seqgate.ids"), int64(2)},
		{"a truth value", attributeOf(wait, "b"), true},
		{"too large", attributeOf(wait, "u"), int64(1<<63 - 1)},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}

func attributeOf(span sdktrace.ReadOnlySpan, key attribute.Key) any {
	for _, a := range span.Attributes() {
		if a.Key == key {
			return a.Value.AsInterface()
		}
	}
	return nil
}

// What is not sampled has no end, and nothing below it is sampled by itself; a client's own choice wins.
func TestSpansThatAreLeftOut(t *testing.T) {
	tracer, spans := inMemory(t, sdktrace.ParentBased(sdktrace.NeverSample()))
	ctx, end := tracer.Start(t.Context(), "server", "left out")
	if end != nil {
		t.Error("a span that is left out has an end")
	}
	if _, end = tracer.Start(ctx, "client", "below"); end != nil {
		t.Error("what is below a span that is left out has an end")
	}
	if _, end = tracer.Start(tracer.Continue(t.Context(), traceparent, ""), "server", "kept"); end == nil {
		t.Fatal("the client keeps its trace, and the statement is left out of it")
	}
	end(nil)
	if _, end = tracer.Start(tracer.Continue(t.Context(), "00-nonsense", ""), "server", "of nothing"); end != nil {
		t.Error("nonsense was taken for a trace")
	}
	if n := len(spans.Ended()); n != 1 {
		t.Errorf("got %d spans, want the one that the client keeps", n)
	}
}
