package adaptive

import (
	"testing"
	"time"
)

func TestLimit(t *testing.T) {
	const has = 8 * time.Second
	l := NewLimit(8)
	wants := func(what string, n int) {
		t.Helper()
		if got := l.N(); got != n {
			t.Errorf("%s: %d may be under way, want %d", what, got, n)
		}
	}
	answers := func(n int, took time.Duration) {
		for range n {
			l.Answered(took, has)
		}
	}
	wants("at first", 8)
	answers(100, 0)
	wants("after many answers", 8)
	together := l.Lowered()
	for range 8 {
		l.Unanswered(together)
	}
	wants("after a fault of all that were under way", 4)
	for range 9 {
		l.Unanswered(l.Lowered())
	}
	wants("after faults one by one", 1)
	answers(1, time.Second)
	wants("after an answer in an eighth of the time", 2)
	answers(1, time.Second)
	wants("within a round of answers", 2)
	answers(2, time.Second)
	wants("after two rounds", 3)
	answers(40, 2*time.Second)
	wants("after many slow answers", 3)
	answers(20, 2*time.Second)
	wants("after more of them", 4)
	l.Unanswered(together)
	wants("after a late fault of long ago", 4)
	l.Restore()
	wants("when nobody waits", 8)
}
