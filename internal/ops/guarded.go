package ops

import (
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/sequence"
)

// Guarded is store with the guard against failovers that is configured.
func Guarded(o config.SequenceOverride, store sequence.RowStore) sequence.RowStore {
	if o.FailoverSkip == 0 {
		return store
	}
	return sequence.Failover(store, o.FailoverSkip)
}
