package sequence_test

import (
	"testing"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// What is in memory, and which ids have been passed, is told as ids are given and skipped.
func TestMemory(t *testing.T) {
	seq := newSequence(t, sequencetest.NewStore(1, 10), sequence.Config{})
	if ids, ok := seq.Memory(); ok {
		t.Errorf("at first %v are in memory", ids)
	}
	if _, err := seq.Next(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		skip        int64
		first, last int64
	}{{1, 2, 10}, {5, 5, 10}, {10, 10, 10}, {11, 0, 0}} {
		seq.SkipTo(step.skip)
		ids, ok := seq.Memory()
		if ok != (step.first > 0) || ok && (ids.First != step.first || ids.Last() != step.last) {
			t.Errorf("after SkipTo(%d): %v, %v in memory, want %d to %d", step.skip, ids, ok, step.first, step.last)
		}
		for _, id := range []int64{0, step.skip - 1} {
			if !seq.Passed(id) {
				t.Errorf("after SkipTo(%d): %d was not passed", step.skip, id)
			}
		}
		if ok && seq.Passed(step.first) {
			t.Errorf("after SkipTo(%d): %d was passed", step.skip, step.first)
		}
	}
}
