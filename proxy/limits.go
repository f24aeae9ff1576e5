package proxy

import (
	"cmp"
	"context"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// placeWait is how long a client waits for a place when all are taken. A client
// that closes its connection may be back before its old session has seen the
// end: it must not be refused for its own sake.
const placeWait = time.Second

// limit counts places that are taken, for each key by itself.
type limit struct {
	mu    sync.Mutex
	taken map[string]int
	freed chan struct{} // closed when a place is given back; nil while nobody waits for that
}

// take takes a place for key, of which there are most, and waits a moment when
// none is free. It reports whether it got one; the caller gives it back with free.
func (l *limit) take(ctx context.Context, key string, most int) bool {
	freed, ok := l.try(key, most)
	if ok {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	for {
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
		if freed, ok = l.try(key, most); ok {
			return true
		}
	}
}

// try takes a place, or gives what is closed when one becomes free.
func (l *limit) try(key string, most int) (freed <-chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken[key] < most {
		if l.taken == nil {
			l.taken = make(map[string]int)
		}
		l.taken[key]++
		return nil, true
	}
	if l.freed == nil {
		l.freed = make(chan struct{})
	}
	return l.freed, false
}

func (l *limit) free(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken[key]--; l.taken[key] == 0 {
		delete(l.taken, key) // names of users are not bounded
	}
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}

// admit gives a client one of all the places, before anything is said to it.
// When all are taken, a client whose answer in its login is long awaited gives up its own;
// one that is not awaited for so long yet will be after a wait.
// The error is error 1040. The caller calls release when the session has ended.
func (s *logins) admit() (release func(), err error) {
	most := cmp.Or(s.settings().MaxConnections, math.MaxInt)
	_, ok := s.connections.try("", most)
	for waits := 0; !ok && waits < 2; waits++ {
		s.halfOpen.end(placeWait)
		ok = s.connections.take(s.ctx, "", most)
	}
	if !ok {
		return nil, mysql.NewDefaultError(mysql.ER_CON_COUNT_ERROR)
	}
	return func() { s.connections.free("") }, nil
}

// tooLarge is what a client is told of a packet that is longer than is read.
func tooLarge() *mysql.MyError {
	return mysql.NewError(mysql.ER_NET_PACKET_TOO_LARGE, "Got a packet bigger than 'max_allowed_packet' bytes")
}

// sayInPlaceOfGreeting sends an error to a client that is still to be greeted. It
// has no SQLSTATE: nothing was agreed on yet.
func sayInPlaceOfGreeting(c net.Conn, e *mysql.MyError) error {
	payload := append([]byte{mysql.ERR_HEADER, byte(e.Code), byte(e.Code >> 8)}, e.Message...)
	return (&handshake.Conn{Conn: c}).Send(handshake.Packet{Payload: payload})
}

// admitUser gives a client that has proven to be user one of that user's places.
// The error is error 1226. The caller calls release when the session has ended,
// or goes on as another user.
func (s *logins) admitUser(user string) (release func(), err error) {
	settings := s.settings()
	most := settings.MaxUserConnections
	if i := slices.IndexFunc(settings.Users, func(u User) bool { return u.Name == user }); i >= 0 {
		most = cmp.Or(settings.Users[i].MaxConnections, most)
	}
	if !s.userConnections.take(s.ctx, user, cmp.Or(most, math.MaxInt)) {
		return func() {}, mysql.NewDefaultError(mysql.ER_USER_LIMIT_REACHED, user, "max_user_connections", most)
	}
	return func() { s.userConnections.free(user) }, nil
}

// logins says who may come in: limits, proxies in front, passwords.
type logins struct {
	sessionList

	// publicKey is that of Config.RSA, in PEM.
	publicKey []byte

	connections, userConnections limit
	outdated                     limit // clients that log in one after the other, by the server's address
	halfOpen                     halfOpen
	serverWait                   serverWait
	loginMemory                  loginMemory
	guesses                      guesses
}
