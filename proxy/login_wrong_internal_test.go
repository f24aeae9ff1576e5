package proxy

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Some wrong passwords are free, further ones wait for longer each, up to a limit; others do not wait; and all is
// forgotten after a minute.
func TestWrongPasswordsWait(t *testing.T) {
	var g guesses
	now := time.Unix(1e9, 0)
	who := guesser{netip.MustParsePrefix("192.0.2.1/32"), "app"}
	try := func(right bool) time.Duration {
		wait := g.enter(who, now)
		g.leave(who, right, wait > 0, now)
		return wait
	}
	for i := range freeWrong {
		if wait := try(false); wait != 0 {
			t.Errorf("wrong password %d waits %v", i+1, wait)
		}
	}
	for i := range 3 * longestStep {
		want := time.Duration(min(i+1, longestStep)) * wrongStep
		if right := try(true); right != want {
			t.Errorf("a right password after %d wrong ones waits %v, want %v", freeWrong+i, right, want)
		}
		if wrong := try(false); wrong != want {
			t.Errorf("wrong password %d waits %v, want %v", freeWrong+i+1, wrong, want)
		}
	}
	for _, other := range []guesser{{who.from, "other"}, {netip.MustParsePrefix("192.0.2.2/32"), "app"}, {}} {
		if wait := g.enter(other, now); wait != 0 {
			t.Errorf("%v waits %v", other, wait)
		}
	}
	if now = now.Add((longestStep + 1) * wrongAge); try(true) != 0 {
		t.Error("a right password waits after a minute")
	}
	for range 100 { // right ones leave nothing
		try(true)
	}
	if wait := try(false); wait != 0 {
		t.Errorf("a wrong password after right ones waits %v", wait)
	}
}

// Guesses under way count: 1,000 at once are not all free.
func TestWrongPasswordsAtOnceWait(t *testing.T) {
	var g guesses
	now := time.Unix(1e9, 0)
	for range freeWrong {
		g.leave(guesser{}, false, g.enter(guesser{}, now) > 0, now)
	}
	for i := range 100 {
		if wait, want := g.enter(guesser{}, now), time.Duration(min(i+1, longestStep))*wrongStep; wait != want {
			t.Fatalf("guess %d at once waits %v, want %v", i+1, wait, want)
		}
	}
}

// What is kept of guessers is bounded.
func TestGuessersAreBounded(t *testing.T) {
	var g guesses
	now := time.Unix(1e9, 0)
	for i := range 3 * mostGuesses {
		if g.leave(guesser{user: fmt.Sprint(i)}, false, false, now); len(g.all) > mostGuesses {
			t.Fatalf("%d are kept", len(g.all))
		}
		now = now.Add(time.Millisecond)
	}
}

// A guesser is an address with a listed user; of IPv6 a network; users that are not listed are one.
func TestGuesserOf(t *testing.T) {
	srv, err := New(Config{Keyspaces: map[string]*catalog.Keyspace{"main": {Name: "main", Backend: &backend.Backend{}}}, Default: "main", Users: knockers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown(t.Context()) })
	tcp := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	for _, tt := range []struct {
		user string
		from net.Addr
		want guesser
	}{
		{"app", tcp("192.0.2.1", 5), guesser{netip.MustParsePrefix("192.0.2.1/32"), "app"}},
		{"app", tcp("::ffff:192.0.2.1", 6), guesser{netip.MustParsePrefix("192.0.2.1/32"), "app"}},
		{"nobody", tcp("192.0.2.1", 5), guesser{netip.MustParsePrefix("192.0.2.1/32"), ""}},
		{"old", tcp("2001:db8:1:2:3:4:5:6", 5), guesser{netip.MustParsePrefix("2001:db8:1:2::/64"), "old"}},
		{"app", &net.UnixAddr{Name: "@", Net: "unix"}, guesser{user: "app"}},
	} {
		if got := srv.guesserOf(tt.user, tt.from); got != tt.want {
			t.Errorf("%s from %v: %v, want %v", tt.user, tt.from, got, tt.want)
		}
	}
}

// A client that waits for its wrong passwords loses its place where others need it.
func TestPlaceOfGuesser(t *testing.T) {
	l := &login{srv: &Server{}, ctx: t.Context()}
	ended := make(chan error, 1)
	go func() { ended <- l.pause(time.Hour) }()
	for l.srv.HalfOpen() == 0 {
		time.Sleep(time.Millisecond)
	}
	l.srv.halfOpen.end(0)
	if err := <-ended; clientError(err).Code != mysql.ER_CON_COUNT_ERROR {
		t.Errorf("it is told %v, want error 1040", err)
	}
}
