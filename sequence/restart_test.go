package sequence_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

func TestSkipTo(t *testing.T) {
	store := sequencetest.NewStore(1, 10)
	s := newSequence(t, store, sequence.Config{})
	next := func(want int64) {
		t.Helper()
		if r, err := s.Next(t.Context(), 1); err != nil || r.First != want {
			t.Fatalf("got %v, %v, want %d", r, err, want)
		}
	}
	next(1)
	for id, want := range map[int64]bool{1: false, 2: true, 10: true, 11: false} {
		if got := s.Holds(id); got != want {
			t.Errorf("holds %d: %v", id, got)
		}
	}
	s.SkipTo(6)
	next(6)
	s.SkipTo(3) // never back
	next(7)
	s.SkipTo(50)
	if s.Holds(50) {
		t.Error("holds an id that was not reserved")
	}
	next(50)
}

// A sequence that is forgotten begins with its row, and whoever waits is told.
func TestForget(t *testing.T) {
	name := sequence.Name{Keyspace: "k", Database: "d", Table: "s"}
	store := sequencetest.NewStore(1, 10)
	r := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{Store: store}, nil
	}, sequence.Config{})
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	r.Forget(name) // unknown
	former, err := r.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := former.Next(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r.Forget(name)
	if len(r.Names()) != 0 {
		t.Errorf("names %v", r.Names())
	}
	if _, err := former.Next(t.Context(), 1); !errors.Is(err, sequence.ErrNoTable) {
		t.Errorf("the former sequence gives %v", err)
	}
	s, err := r.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Next(t.Context(), 1); err != nil || got.First != 11 {
		t.Errorf("got %v, %v, want 11", got, err)
	}
}

// What was dropped is remembered, with the ids that were given, until it is made anew.
func TestDrop(t *testing.T) {
	r := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{Store: sequencetest.NewStore(1, 10)}, nil
	}, sequence.Config{})
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	name := func(i int) sequence.Name {
		return sequence.Name{Keyspace: "k", Database: "d", Table: fmt.Sprint("s", i)}
	}
	expect := func(i int, dropped bool, given int64) {
		t.Helper()
		if r.Dropped(name(i)) != dropped || r.Given(name(i)) != given {
			t.Errorf("%s: dropped %v, given %d, want %v, %d", name(i), r.Dropped(name(i)), r.Given(name(i)), dropped, given)
		}
	}
	expect(1, false, 0)
	if _, err := get(t, r, name(1)).Next(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	expect(1, false, 10)
	r.Drop(name(1))
	r.Drop(name(2)) // unused
	expect(1, true, 10)
	expect(2, true, 0)
	expect(3, false, 0)
	r.Forget(name(1))
	expect(1, false, 0)
	if _, err := get(t, r, name(1)).Next(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for i := range 10_001 { // more than are remembered one by one
		r.Drop(name(i))
	}
	expect(10_000, true, 0)
	expect(1, true, 10)
	expect(20_000, true, 10) // as if it were one of them
}
