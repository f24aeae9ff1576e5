// Package tracetest records the spans of a program under test.
package tracetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Recorder is a Tracer of packages proxy and sequence that keeps all spans.
type Recorder struct {
	mu    sync.Mutex
	spans []*Span
	steps int // begins and ends so far
	ended chan struct{}
}

// Span is one that was begun.
type Span struct {
	Kind, Name string
	Parent     *Span  // nil: it begins a trace, or continues Remote
	Link       *Span  // to what was its occasion
	Remote     string // traceparent and tracestate of the client that it belongs to
	Ended      bool
	Err        error
	Attrs      map[string]string

	begin, end int // of the Recorder's steps; the end is 0 before it
}

// The keys of what a context says of the next span.
type (
	spanKey   struct{}
	linkKey   struct{}
	remoteKey struct{}
)

// New returns a Recorder without spans.
func New() *Recorder { return &Recorder{ended: make(chan struct{}, 1)} }

// Start begins a span.
func (r *Recorder) Start(ctx context.Context, kind, name string, attrs ...slog.Attr) (context.Context, func(error, ...slog.Attr)) {
	s := &Span{Kind: kind, Name: name, Attrs: make(map[string]string)}
	s.Parent, _ = ctx.Value(spanKey{}).(*Span)
	s.Link, _ = ctx.Value(linkKey{}).(*Span)
	if s.Parent == nil {
		s.Remote, _ = ctx.Value(remoteKey{}).(string)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.add(attrs)
	r.steps++
	s.begin = r.steps
	r.spans = append(r.spans, s)
	return context.WithValue(context.WithValue(ctx, spanKey{}, s), linkKey{}, nil), func(err error, attrs ...slog.Attr) { r.end(s, err, attrs) }
}

func (r *Recorder) end(s *Span, err error, attrs []slog.Attr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Ended {
		err = errors.New("ended twice")
	}
	s.Ended, s.Err = true, err
	r.steps++
	s.end = r.steps
	s.add(attrs)
	select {
	case r.ended <- struct{}{}:
	default: // whoever waits looks at all spans
	}
}

func (s *Span) add(attrs []slog.Attr) {
	for _, a := range attrs {
		s.Attrs[a.Key] = a.Value.String()
	}
}

// Continue returns a context of a client's trace.
func (r *Recorder) Continue(ctx context.Context, traceparent, tracestate string) context.Context {
	return context.WithValue(ctx, remoteKey{}, strings.TrimSpace(traceparent+" "+tracestate))
}

// Detach returns a context whose next span has but a link.
func (r *Recorder) Detach(ctx context.Context) context.Context {
	link := ctx.Value(linkKey{})
	if s, ok := ctx.Value(spanKey{}).(*Span); ok && s != nil {
		link = s
	}
	return context.WithValue(context.Background(), linkKey{}, link)
}

// Reset forgets all spans.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = nil
}

// Wait waits until a span of that kind has ended, and returns all that have, also when ctx ends first.
func (r *Recorder) Wait(ctx context.Context, kind string) []Span {
	for {
		all := r.Ended()
		if slices.ContainsFunc(all, func(s Span) bool { return s.Kind == kind }) {
			return all
		}
		select {
		case <-r.ended:
		case <-ctx.Done():
			return all
		}
	}
}

// Ended returns the spans that have ended, in the order in which they began.
func (r *Recorder) Ended() (all []Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.Ended {
			all = append(all, *s)
		}
	}
	return all
}

// Tree writes the spans as text, one a line, what is below another indented, with the named attributes. Spans come in the
// order in which they began; of neighbours that were open at the same time, as two goroutines had them, internal ones first.
func (r *Recorder) Tree(attrs ...string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	r.write(&b, nil, "", attrs)
	return b.String()
}

func (r *Recorder) write(b *strings.Builder, parent *Span, indent string, attrs []string) {
	for _, s := range r.below(parent) {
		fmt.Fprintf(b, "%s%s %s", indent, s.Kind, s.Name)
		for key, value := range sorted(s.Attrs) {
			if slices.Contains(attrs, key) {
				fmt.Fprintf(b, " %s=%s", key, value)
			}
		}
		if s.Remote != "" {
			fmt.Fprintf(b, " of %s", s.Remote)
		}
		if s.Link != nil {
			fmt.Fprintf(b, " linked to %s", s.Link.Name)
		}
		if s.Err != nil {
			fmt.Fprintf(b, ": %v", s.Err)
		}
		if !s.Ended {
			b.WriteString(" (not ended)")
		}
		b.WriteByte('\n')
		r.write(b, s, indent+"  ", attrs)
	}
}

// below returns the spans of a parent as [Recorder.Tree] orders them.
func (r *Recorder) below(parent *Span) (all []*Span) {
	for _, s := range r.spans {
		if s.Parent != parent {
			continue
		}
		all = append(all, s)
		for i := len(all) - 1; i > 0 && s.Kind == "internal" && all[i-1].Kind != "internal" && all[i-1].isOpenAt(s.begin); i-- {
			all[i-1], all[i] = all[i], all[i-1]
		}
	}
	return all
}

func (s *Span) isOpenAt(step int) bool { return s.end == 0 || s.end > step }

func sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
