package worker_test

import (
	"testing"

	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

// What a holder adds to its generator, whose rate the layout caps too: a layout with many sequences.
func BenchmarkHolderNext(b *testing.B) {
	layout := sequencetest.HolderLayout()
	layout.Fields[1].Bits, layout.Fields[2].Bits = 1, 21 // worker, sequence: no cap
	h, err := worker.Open(sequencetest.NewLeases("test", 0).Leaser(), "test", layout, 0, worker.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close(b.Context()) // in memory
	if err := h.Ready(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Next(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
}
