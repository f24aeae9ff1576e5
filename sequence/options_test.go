package sequence_test

import (
	"testing"

	"github.com/seqgate/seqgate/sequence"
)

func TestOptions(t *testing.T) {
	for comment, want := range map[string]sequence.Options{
		"vitess_sequence": {},
		"vitess_sequence start=5 minvalue=2 maxvalue=9": {Start: 5, Min: 2, Max: 9},
		"vitess_sequence maxvalue=9":                    {Max: 9},
	} {
		got, ok := sequence.ParseComment(comment)
		if !ok || got != want || got.Comment() != comment {
			t.Errorf("%s: got %+v, %v, written %q", comment, got, ok, got.Comment())
		}
	}
	for _, comment := range []string{"", "start=5", sequence.KeyedComment + " vitess_sequence", "seqgate_stripes vitess_sequence"} {
		if got, ok := sequence.ParseComment(comment); ok {
			t.Errorf("%s: got %+v", comment, got)
		}
	}
	if got, ok := sequence.ParseComment("a vitess_sequence of users start=x"); !ok || got != (sequence.Options{}) {
		t.Errorf("got %+v, %v", got, ok)
	}
}

func TestOptionsIn(t *testing.T) {
	for text, want := range map[string]string{
		"vitess_sequence": "vitess_sequence start=5 maxvalue=9",
		"maxvalue=3 of a vitess_sequence;start start=1 minvalue=2": "of a vitess_sequence;start start=5 maxvalue=9",
	} {
		if got := (sequence.Options{Start: 5, Max: 9}).In(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
