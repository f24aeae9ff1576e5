package proxy

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// authRequest is what a client says of who it is, for seqgate to verify by its list of
// users.
type authRequest struct {
	user, plugin string
	proof, salt  []byte
	switches     bool                      // the client can be asked for another plugin's proof
	sequence     byte                      // of its latest packet
	fast         bool                      // it is due to be told that its proof was enough
	pause        func(time.Duration) error // before the proof is looked at
}

// verify checks a client's proof of its password, by the user's plugin.
func (s *logins) verify(front handshake.PacketConn, c *authRequest, from net.Addr) error {
	u := s.user(c.user)
	if c.plugin != u.Plugin {
		if !c.switches {
			return mysql.NewDefaultError(mysql.ER_NOT_SUPPORTED_AUTH_MODE)
		}
		if err := c.switchTo(front, u.Plugin); err != nil {
			return err
		}
	}
	right, err := s.guess(c, from, func() bool { return handshake.Verify(u.Plugin, c.salt, c.proof, u.Password) })
	switch {
	case err != nil:
		return err
	case !right:
		return accessDenied(c.user, from, len(c.proof) > 1) // one byte is an empty password's
	}
	c.fast = u.Plugin == mysql.AUTH_CACHING_SHA2_PASSWORD && u.Password != ""
	return nil
}

// sendOK tells the client that it is let in, with the payload of an OK packet.
func (c *authRequest) sendOK(front handshake.PacketConn, ok []byte) error {
	var packets []handshake.Packet
	next := c.sequence + 1
	if c.fast { // caching_sha2_password says first that the proof was enough
		packets = append(packets, handshake.Packet{Sequence: next, Payload: []byte{handshake.More, handshake.FastDone}})
		next++
	}
	return front.Send(append(packets, handshake.Packet{Sequence: next, Payload: ok})...)
}

// switchTo asks the client for another plugin's proof, and reads it.
func (c *authRequest) switchTo(front handshake.PacketConn, plugin string) error {
	err := front.Send(handshake.Packet{Sequence: c.sequence + 1, Payload: handshake.SwitchRequest(plugin, c.salt)})
	if err != nil {
		return &frontError{err}
	}
	p, err := front.Receive()
	if err != nil {
		return &frontError{err}
	}
	c.plugin, c.proof, c.sequence = plugin, p.Payload, p.Sequence
	return nil
}

// user returns the user of a name. One that does not exist has a password that
// nobody knows and the plugin of one that does, always the same, so that it is
// refused as a wrong password is.
func (s *logins) user(name string) User {
	for _, u := range s.settings().Users {
		if u.Name == name {
			if u.Plugin == "" {
				u.Plugin = mysql.AUTH_CACHING_SHA2_PASSWORD
			}
			return u
		}
	}
	unknown := User{Name: name, Password: unguessable(), Plugin: mysql.AUTH_CACHING_SHA2_PASSWORD}
	if n := uint64(len(s.settings().Users)); n > 0 {
		unknown.Plugin = cmp.Or(s.settings().Users[maphash.String(unknownUsers, name)%n].Plugin, unknown.Plugin)
	}
	return unknown
}

var unknownUsers = maphash.MakeSeed()

func unguessable() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, by its documentation
	return hex.EncodeToString(b)
}

// usualPlugin is the one that the greeting names: that of most users saves them a
// round trip.
func (s *logins) usualPlugin() string {
	native := 0
	for _, u := range s.settings().Users {
		if u.Plugin == mysql.AUTH_NATIVE_PASSWORD {
			native++
		}
	}
	if native*2 > len(s.settings().Users) {
		return mysql.AUTH_NATIVE_PASSWORD
	}
	return mysql.AUTH_CACHING_SHA2_PASSWORD
}

// accessDenied is MySQL's error 1045.
func accessDenied(user string, from net.Addr, password bool) error {
	host, _, err := net.SplitHostPort(from.String())
	if err != nil {
		host = "localhost" // a Unix socket
	}
	using := "NO"
	if password {
		using = "YES"
	}
	return mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, fmt.Sprintf("Access denied for user '%s'@'%s' (using password: %s)", user, host, using))
}
