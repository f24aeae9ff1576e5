package sequence

import (
	"context"
	"testing"
	"testing/synctest"
)

// A row of another program's table is held up by itself, not with all that have other tags.
func TestHeldUpByTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newTurns(1)
		take := func(tag string) turn {
			own, err := line.take(context.Background(), Request{Database: "d", Table: "leaf_alloc", Tag: tag})
			if err != nil {
				t.Error(err)
			}
			return own
		}
		take("a").unanswered()
		first := take("b")
		order := make(chan string, 2)
		for _, tag := range []string{"a", "c"} {
			go func() {
				own := take(tag)
				order <- tag
				own.answered(nil)
			}()
			synctest.Wait() // it is in line
		}
		first.answered(nil)
		if got := <-order + <-order; got != "ca" {
			t.Errorf("turns came in the order %q, want the tag that is held up last", got)
		}
	})
}
