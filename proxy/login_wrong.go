package proxy

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// How wrong passwords are slowed down: so many are free, each further one waits for longer by
// a step, up to the longest wait. One is forgotten after a while.
const (
	freeWrong   = 10
	wrongStep   = 250 * time.Millisecond
	longestStep = 12 // so that the longest wait is 3 s
	wrongAge    = 5 * time.Second
	mostGuesses = 10_000 // who is known to guess, at once
)

// guesser is who guesses whose password: an address, or a network of IPv6 as one client has
// it, and a listed user, or "" for all that are not listed. So a program with a wrong password does not slow down others behind the
// same proxy that have other users, and a guesser from elsewhere nobody.
type guesser struct {
	from netip.Prefix // of no address for a Unix socket
	user string
}

// guesses are the wrong passwords of late.
type guesses struct {
	mu  sync.Mutex
	all map[guesser]guessed
}

type guessed struct {
	wrong float64
	at    time.Time // when it was so many
}

// left is how many there are after a time in which some are forgotten.
func (g guessed) left(now time.Time) float64 {
	return max(0, g.wrong-float64(now.Sub(g.at))/float64(wrongAge))
}

// enter returns how long a client waits before its password is looked at. Right or wrong, it waits: who leaves before
// has learnt nothing. One that waits counts as wrong until it was right.
func (g *guesses) enter(who guesser, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	wrong := g.all[who].left(now)
	if wrong < freeWrong {
		return 0
	}
	g.set(who, wrong+1, now)
	return time.Duration(min(wrong-freeWrong+1, longestStep) * float64(wrongStep))
}

// leave notes what came of it, for a client that waited or did not.
func (g *guesses) leave(who guesser, right, waited bool, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wrong := g.all[who].left(now)
	switch {
	case right && waited:
		g.set(who, wrong-1, now)
	case !right && !waited:
		g.set(who, wrong+1, now)
	}
}

// set keeps a number, for so many that it takes a minute at most until nothing waits again.
func (g *guesses) set(who guesser, wrong float64, now time.Time) {
	if g.all == nil {
		g.all = make(map[guesser]guessed)
	}
	if _, known := g.all[who]; !known && len(g.all) >= mostGuesses {
		g.forget(now)
	}
	g.all[who] = guessed{max(0, min(wrong, freeWrong+longestStep)), now}
}

// forget makes room: of those that are forgotten by now, else of any.
func (g *guesses) forget(now time.Time) {
	for who, guessed := range g.all {
		if guessed.left(now) == 0 {
			delete(g.all, who)
		}
	}
	for who := range g.all {
		if len(g.all) < mostGuesses {
			break
		}
		delete(g.all, who)
	}
}

// guesserOf says who it is that names this user.
func (s *logins) guesserOf(user string, from net.Addr) guesser {
	who := guesser{}
	if addr, err := netip.ParseAddrPort(from.String()); err == nil {
		ip := addr.Addr().Unmap()
		bits := ip.BitLen()
		if ip.Is6() {
			bits = 64
		}
		who.from = netip.PrefixFrom(ip.WithZone(""), bits).Masked()
	}
	for _, u := range s.settings().Users {
		if u.Name == user {
			who.user = user
		}
	}
	return who
}

// guess looks at a client's proof of its password, which is right or not, when it is its time.
func (s *logins) guess(c *authRequest, from net.Addr, right func() bool) (ok bool, err error) {
	who := s.guesserOf(c.user, from)
	wait := s.guesses.enter(who, time.Now())
	if wait > 0 {
		if err := c.pause(wait); err != nil {
			return false, err
		}
	}
	ok = right()
	s.guesses.leave(who, ok, wait > 0, time.Now())
	return ok, nil
}

// pause has the client wait, who loses its place where others need it.
func (l *login) pause(d time.Duration) error {
	ctx, end := context.WithCancel(l.ctx)
	defer end()
	defer l.srv.halfOpen.enterWith(end)()
	return pauseFor(ctx, d)
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return mysql.NewDefaultError(mysql.ER_CON_COUNT_ERROR)
	}
}
