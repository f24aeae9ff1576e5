package proxy

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ExplicitPolicy is what becomes of an id that a client wrote itself into a
// column that a sequence fills.
type ExplicitPolicy string

// The policies. A native AUTO_INCREMENT column goes on above such an id, as
// ExplicitAdvance does; Vitess's sequences do not learn of it, as with
// ExplicitIgnore.
const (
	ExplicitIgnore  ExplicitPolicy = "ignore"
	ExplicitWarn    ExplicitPolicy = "warn" // an id above the sequence is logged
	ExplicitAdvance ExplicitPolicy = "advance"
)

// tellExplicit tells a table's sequence of the ids that a statement brought along
// and wrote, or may have written: outcome is how it ended. It comes before the
// client's answer, so that no id is taken that the client knows to be used. Keyed
// sequences do not learn of such values.
func (s *session) tellExplicit(p *fillPlan, outcome error) {
	var refused *serverError
	if !p.tells() || errors.As(outcome, &refused) {
		return
	}
	seq, err := s.srv.cfg.Sequences.Get(p.binding.Sequence)
	switch {
	case err != nil: // the registry was closed: this process gives no more ids
	case p.binding.OnExplicit == ExplicitAdvance:
		seq.Observe(p.lowest, p.highest)
	case seq.Above(p.highest):
		s.srv.explicit.warn(p.binding, p.highest)
	}
}

// movesAhead reports whether the sequence may learn of the statement's own ids
// before it is executed. An id that its column cannot hold fails, or is stored as
// another.
func (p *fillPlan) movesAhead() bool {
	return p.tells() && p.binding.OnExplicit == ExplicitAdvance && p.highest <= p.binding.Max
}

// clashes reports whether a block of ids that was taken may hold one of the
// statement's own. As only the least and the largest of those are known, it may
// say so where none does.
func (p *fillPlan) clashes() bool {
	return p.highest > 0 && p.lowest < p.first+p.open && p.highest >= p.first
}

// explicitWarnings logs ids above a table's sequence, once a minute per table.
type explicitWarnings struct {
	log  *slog.Logger
	mu   sync.Mutex
	last map[string]time.Time // by sequence and table
}

const explicitWarningPause = time.Minute

func (w *explicitWarnings) warn(b *Binding, id int64) {
	if !w.due(b.Sequence.String()+" "+b.Table, time.Now()) {
		return
	}
	w.log.Warn("an INSERT brought an id above its table's sequence, which will give the same id later: raise the sequence (seqgate init), or set on_explicit_id: advance",
		"table", b.Table, "id", id, "sequence", b.Sequence.String())
}

func (w *explicitWarnings) due(table string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last, ok := w.last[table]; ok && now.Sub(last) < explicitWarningPause {
		return false
	}
	if w.last == nil {
		w.last = make(map[string]time.Time)
	}
	w.last[table] = now
	return true
}
