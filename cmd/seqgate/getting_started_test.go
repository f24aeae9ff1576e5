package main

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// docs/getting-started.md is done from its first block to its last. What it says that commands print is compared.
func TestGettingStarted(t *testing.T) {
	s := servertest.First(t)
	one := newGuideOf(t, s, "getting-started.md", "One server", "10.0.0.1/shop")
	one.do(1)
	wantClean(t, one.do(1))
	one.do(1)
	one.do(2)
	one.do(2)
	one.stop()
	one.end()

	two := newGuideOf(t, s, "getting-started.md", "Two shards", "10.0.0.1/shop", "10.0.0.2/customer", "10.0.0.3/customer")
	two.do(3)
	wantClean(t, two.do(1))
	two.do(1)
	two.do(2)
	two.do(2)
	two.stop()
	two.end()
}
