package proxy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Wrong passwords from one address are slowed down, by every plugin and in COM_CHANGE_USER too, and are still told to be wrong.
func TestWrongPasswordsAreSlowedDown(t *testing.T) {
	t.Parallel()
	g := newGate(t, servertest.First(t), gateOptions{})
	db := openDSN(t, fmt.Sprintf("%s:wrong@tcp(%s)/", gateUser, g.addr))
	const free, further, least = 10, 2, 250*time.Millisecond + 500*time.Millisecond
	for range free {
		if err := ping(t, db); errno(err) != 1045 {
			t.Fatalf("%v, want error 1045", err)
		}
	}
	begun := time.Now()
	for range further {
		if err := ping(t, db); errno(err) != 1045 {
			t.Fatalf("%v, want error 1045", err)
		}
	}
	if took := time.Since(begun); took < least/2 { // some are forgotten meanwhile
		t.Errorf("%d further ones took %v, want more than %v", further, took, least/2)
	}
	connect(t, g.open(t, "")) // who has the right one waits, and is let in
}
