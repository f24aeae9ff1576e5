package catalog

import (
	"testing"
	"time"
)

// That a table has no sequence is believed for a minute at most while its server does not answer seqgate; that it has one for
// as long as that lasts, since its INSERTs get ids then.
func TestUnaskedDescriptions(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		binding *Binding
		age     time.Duration
		want    bool
	}{
		{nil, unaskedHolds - time.Second, true}, {nil, unaskedHolds, false}, {nil, time.Hour, false}, {&Binding{}, time.Hour, true},
	} {
		e := &Entry{Binding: tt.binding, asked: now.Add(-tt.age)}
		if got := e.holds(now); got != tt.want {
			t.Errorf("bound: %v, asked %v ago: holds %v, want %v", tt.binding != nil, tt.age, got, tt.want)
		}
	}
}
