package sequence_test

import (
	"errors"
	"testing"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

func TestSetNext(t *testing.T) {
	store := &rowStore{nextID: 1, cache: 10}
	reg := sequencetest.Registry(store, sequence.Config{})
	s := get(t, reg, userSeq)
	for i, step := range []struct {
		set, wantNext, wantRow int64
		wantMoved              bool
	}{
		{1, 1, 11, false},  // nothing in memory, and the row is there
		{5, 5, 11, true},   // within what is in memory
		{6, 6, 11, true},   // the next one anyway
		{3, 7, 11, false},  // backwards
		{0, 8, 11, false},  // no id
		{50, 50, 60, true}, // beyond the row
		{20, 51, 60, false},
	} {
		moved, err := s.SetNext(t.Context(), step.set)
		if err != nil || moved != step.wantMoved {
			t.Fatalf("step %d: SetNext(%d) = %v, %v, want %v", i, step.set, moved, err, step.wantMoved)
		}
		r, err := s.Next(t.Context(), 1)
		if err != nil || r.First != step.wantNext || store.nextID != step.wantRow {
			t.Fatalf("step %d: after SetNext(%d) the next id is %d, %v, row at %d; want %d, row at %d",
				i, step.set, r.First, err, store.nextID, step.wantNext, step.wantRow)
		}
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetNext(t.Context(), 1000); !errors.Is(err, sequence.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

// Before SetNext has returned the row is at the new value: another process starts there.
func TestSetNextIsInTheRow(t *testing.T) {
	store := &rowStore{nextID: 1, cache: 10}
	one, other := sequencetest.Registry(store, sequence.Config{}), sequencetest.Registry(store, sequence.Config{})
	if moved, err := get(t, one, userSeq).SetNext(t.Context(), 1000); err != nil || !moved {
		t.Fatal(moved, err)
	}
	if r, err := get(t, other, userSeq).Next(t.Context(), 1); err != nil || r.First != 1000 {
		t.Errorf("another process got %v, %v, want 1000", r, err)
	}
	if r, err := get(t, one, userSeq).Next(t.Context(), 1); err != nil || r.First != 1010 {
		t.Errorf("this process got %v, %v, want 1010", r, err)
	}
	for _, reg := range []*sequence.Registry{one, other} {
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
