package steady

import "testing"

func TestBlocks(t *testing.T) {
	var b Blocks
	b.Add(100, 10)
	b.Add(1, 1)
	b.Add(5, 95)
	if err := b.Twice(); err != nil || b.Len() != 106 || b.Max() != 109 {
		t.Errorf("%v, %d ids, largest %d", err, b.Len(), b.Max())
	}
	for id, want := range map[int64]bool{0: false, 1: true, 2: false, 5: true, 99: true, 100: true, 109: true, 110: false} {
		if b.Has(id) != want {
			t.Errorf("has %d: %v", id, !want)
		}
	}
	b.Add(109, 1)
	if b.Twice() == nil {
		t.Error("does not see that 109 came twice")
	}
	var zero Blocks
	zero.Add(0, 1)
	if zero.Twice() == nil {
		t.Error("takes the id 0")
	}
}
