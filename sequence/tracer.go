package sequence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Tracer is told what took how long: that callers waited for ids, and that blocks were reserved. Ids that are in memory
// are given without a word to it. Spans never hold texts of errors, which may quote what rows and addresses hold. It is safe for
// concurrent use.
type Tracer interface {
	// Start begins a span below the one in ctx, and returns a context with it. kind is "internal" or "client", which is a
	// call of a server. end ends it; it is nil when nobody will see the span.
	Start(ctx context.Context, kind, name string, attrs ...slog.Attr) (_ context.Context, end func(err error, attrs ...slog.Attr))
	// Detach returns a context whose next span begins a trace of its own, with a link to the span in ctx.
	Detach(ctx context.Context) context.Context
}

// endSpan ends a span, which may be nil.
type endSpan func(err error, attrs ...slog.Attr)

// traceWait begins the span of a caller that waits for n ids. The Tracer is not nil.
func (s *Sequence) traceWait(ctx context.Context, n int64) endSpan {
	_, end := s.tracer.Start(ctx, "internal", "wait for ids",
		slog.String("seqgate.sequence", s.name.String()), slog.Int64("seqgate.ids", n))
	if end == nil {
		return nil
	}
	return func(err error, attrs ...slog.Attr) { end(spanFailure(err), attrs...) }
}

// traceRefill is reserve, with a span.
func (s *Sequence) traceRefill(ctx context.Context, req Request) (Reservation, error) {
	if s.tracer == nil {
		return s.reserve(req)
	}
	_, end := s.tracer.Start(ctx, "client", "refill", slog.String("seqgate.sequence", s.name.String()),
		slog.String("seqgate.refill.strategy", s.strategy()), slog.Int64("seqgate.refill.step", req.Step),
		slog.Int64("seqgate.refill.need", req.Need))
	res, err := s.reserve(req)
	if end != nil {
		end(spanFailure(err), slog.Int64("seqgate.refill.ids", res.N), slog.Bool("seqgate.refill.raised", res.Raised))
	}
	return res, err
}

// detached is a context for what is done for nobody in particular.
func (s *Sequence) detached(ctx context.Context) context.Context {
	if s.tracer == nil {
		return ctx
	}
	return s.tracer.Detach(ctx)
}

// strategy names how blocks are reserved.
func (s *Sequence) strategy() string {
	if named, ok := s.store.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", s.store)
}

// errNoIDs stands for errors that are neither known nor a server's.
var errNoIDs = errors.New("no ids came")

// spanFailure is an error as spans tell it: its kind, or the number of the server's error.
func spanFailure(err error) error {
	var own *Error
	number, _, answered := ServerError(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnavailable): // whatever its cause is
		return ErrUnavailable
	case errors.Is(err, ErrClosed):
		return ErrClosed
	case errors.As(err, &own):
		return own.Kind
	case answered:
		return fmt.Errorf("error %d", number)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return errNoIDs
}
