package proxy

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"github.com/seqgate/seqgate/proxy/catalog"
)

// explicitWarnings logs ids above a table's sequence, once a minute per table.
type explicitWarnings struct {
	log  *slog.Logger
	mu   sync.Mutex
	last map[string]time.Time // by sequence and table

	pause time.Duration // between two; 0 for explicitWarningPause
}

const explicitWarningPause = time.Minute

func (w *explicitWarnings) warn(b *catalog.Binding, id int64) {
	if !w.due(b.Sequence.String()+" "+b.Table, time.Now()) {
		return
	}
	w.log.Warn("an INSERT brought an id above its table's sequence, which will give the same id later: raise the sequence (seqgate init), or set on_explicit_id: advance",
		"table", b.Table, "id", id, "sequence", b.Sequence.String())
}

func (w *explicitWarnings) due(table string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last, ok := w.last[table]; ok && now.Sub(last) < cmp.Or(w.pause, explicitWarningPause) {
		return false
	}
	if w.last == nil {
		w.last = make(map[string]time.Time)
	}
	w.last[table] = now
	return true
}
