package sequencetest

import (
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// testLostHolder checks that a process which is cut off in the middle of an attempt, without a word to the server, keeps no
// other one from the row for long: the server ends its session.
func testLostHolder(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	proxy := NewProxy(t, h.Addr)
	lost := h.sequence(t, h.registry(t, proxy.Addr(), sequence.Config{Timeout: time.Minute}), "s")
	rival := h.sequence(t, h.registry(t, h.Addr, sequence.Config{Timeout: time.Minute}), "s")
	proxy.CutNext(CutSilent, "UPDATE")
	go func() { _, _ = lost.Next(t.Context(), 1) }() // it gets them from another attempt, or the test ends first
	await(t, func() bool { return proxy.Cuts() == 1 })
	began := time.Now()
	if _, err := rival.Next(t.Context(), 1); err != nil {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
