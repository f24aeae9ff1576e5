package proxy_test

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// Load balancers' checks that connect and close, or reset, at once or when they were greeted, or are there at a shutdown, leave nothing in the log.
func TestBareConnectionsAreNotLogged(t *testing.T) {
	s := servertest.First(t)
	local := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, o := range map[string]gateOptions{
		"users":          {},
		"pass-through":   {passThrough: true},
		"PROXY protocol": {configure: func(c *proxy.Config) { c.ProxyFrom = local }},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, s, o)
			for _, reset := range []bool{false, true} {
				for _, greeted := range []bool{false, true} {
					c, err := net.Dial("tcp", g.addr)
					if err != nil {
						t.Fatal(err)
					}
					if greeted && name != "PROXY protocol" {
						if _, err := io.ReadAtLeast(c, make([]byte, 1024), 40); err != nil {
							t.Fatal(err)
						}
					}
					if reset {
						_ = c.(*net.TCPConn).SetLinger(0) // then it closes with a reset
					}
					_ = c.Close() // either way it is over
				}
			}
			eventually(t, func() bool { s := g.proxy.Traffic(); return s.Accepted == 4 && s.LoggingIn == 0 }, "the ends of four connections")
			still, err := net.Dial("tcp", g.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer still.Close()
			eventually(t, func() bool { return g.proxy.Traffic().Accepted == 5 }, "one more, which Shutdown closes")
			if err := g.proxy.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if text := g.logText(); strings.Contains(text, "ended") {
				t.Errorf("the log has\n%s", text)
			}
		})
	}
}
