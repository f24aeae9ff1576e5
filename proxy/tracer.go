package proxy

import (
	"context"
	"log/slog"
)

// Tracer is told of statements and of what they have servers do, as spans. It is safe for concurrent use. Spans never
// hold values of SQL, nor texts of errors, which may quote them.
type Tracer interface {
	// Start begins a span below the one in ctx, and returns a context with it. kind is "server" for a client's statement
	// and "client" for a call of a server. end ends it; it is nil when nobody will see the span, nor any below it.
	Start(ctx context.Context, kind, name string, attrs ...slog.Attr) (_ context.Context, end func(err error, attrs ...slog.Attr))
	// Continue returns a context whose next span belongs to the trace that a client names, in the form of the headers of
	// W3C Trace Context; ctx itself when they are none.
	Continue(ctx context.Context, traceparent, tracestate string) context.Context
}

// endSpan ends a span, which may be nil.
type endSpan func(err error, attrs ...slog.Attr)
