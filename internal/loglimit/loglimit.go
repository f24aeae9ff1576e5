// Package loglimit keeps a log readable while the same thing goes wrong again and again, as it does for each client while a
// server is away: the first is logged at once, and once a minute how many more there were.
package loglimit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// every is how long the first of a kind stands for those after it.
const every = time.Minute

// Handler limits warnings and errors of some messages; each has a line at once for each keyspace, server and proxy that its
// attributes name, and a count every minute with the latest of the others. Make one by New; all methods may be called at the same time.
type Handler struct {
	next slog.Handler
	*windows
}

// windows are the kinds of which there was one in the last minute.
type windows struct {
	messages map[string]bool

	mu     sync.Mutex
	open   map[kind]*window
	closed bool
}

// kind is what is taken for the same thing.
type kind struct{ message, keyspace, server, proxy string }

// window counts what is not logged.
type window struct {
	more  int
	last  slog.Record
	next  slog.Handler // of last
	timer *time.Timer
}

// New limits what is logged with these messages to next.
func New(next slog.Handler, messages ...string) *Handler {
	h := &Handler{next: next, windows: &windows{messages: make(map[string]bool), open: make(map[kind]*window)}}
	for _, m := range messages {
		h.messages[m] = true
	}
	return h
}

// Enabled implements [slog.Handler].
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler]. What is limited is limited together.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.next.WithAttrs(attrs), h.windows}
}

// WithGroup implements [slog.Handler].
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.windows}
}

// Handle implements [slog.Handler].
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && h.messages[r.Message] && h.isMore(r) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// isMore counts a record that is not the first of its kind.
func (h *Handler) isMore(r slog.Record) bool {
	k := kindOf(r)
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.open[k]
	switch {
	case h.closed:
		return false
	case w == nil:
		h.open[k] = &window{timer: time.AfterFunc(every, func() { h.tell(k) })}
		return false
	}
	w.more++
	w.last, w.next = r.Clone(), h.next
	return true
}

func kindOf(r slog.Record) kind {
	k := kind{message: r.Message}
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "keyspace":
			k.keyspace = a.Value.String()
		case "server":
			k.server = a.Value.String()
		case "proxy":
			k.proxy = a.Value.String()
		}
		return true
	})
	return k
}

// tell logs the count of a window, and begins its next minute; a quiet one ends.
func (s *windows) tell(k kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.open[k]
	if w == nil || s.closed {
		return
	}
	if w.more == 0 {
		delete(s.open, k)
		return
	}
	w.tell()
	w.timer.Reset(every)
}

// tell logs the latest record with the count. The mutex is held, so that nothing is logged after Close.
func (w *window) tell() {
	w.last.Time = time.Now()
	w.last.Add("repeated", fmt.Sprintf("and %d more in the last minute", w.more))
	_ = w.next.Handle(context.Background(), w.last) // as slog.Logger does: there is nowhere to tell it
	w.more = 0
}

// Close logs what was counted. What comes afterwards is not limited.
func (h *Handler) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for k, w := range h.open {
		w.timer.Stop()
		if w.more > 0 {
			w.tell()
		}
		delete(h.open, k)
	}
}
