package backend

import (
	"context"
	"errors"
	"net"
	"testing"
)

// However many logins fail while one has the server's count cleared, it is done after two logins, and nobody's error is
// left out.
func TestClearErrorsEnds(t *testing.T) {
	type loser struct{}
	b := &Backend{Network: "tcp", Addr: "127.0.0.1:1"}
	var own, others int
	b.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		if ctx.Value(loser{}) != nil {
			others++
			return nil, errors.New("nobody there")
		}
		if own++; own > 10 {
			t.Fatal("it goes on for as long as logins fail")
		}
		b.ClearErrors(context.WithValue(ctx, loser{}, true)) // another login fails meanwhile
		return nil, errors.New("nobody there")
	}
	b.ClearErrors(t.Context())
	if own != 2 || others != 1 || b.errors != 0 {
		t.Errorf("%d logins for the first and those meanwhile, %d for the one behind, %d errors left; want 2, 1, 0", own, others, b.errors)
	}
}
