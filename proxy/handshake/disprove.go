package handshake

import (
	"crypto/rand"
	"errors"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Disprove brings an authentication to its end that the client has given up, by a proof
// of no password: asked is what the server awaits an answer to. A server counts a login
// that breaks off as an error of its host, and a wrong password not. The error is
// *Refused as a rule; it is nil when any password was right.
func Disprove(c PacketConn, asked Packet, plugin string, salt []byte, over Channel) error {
	r := &resumed{PacketConn: c, latest: asked, again: true}
	_, err := Authenticate(r, plugin, salt, rand.Text(), over)
	var refused *Refused
	if err == nil || errors.As(err, &refused) || r.failed {
		return err
	}
	// A plugin that seqgate does not have, or that would have the password itself.
	if err := c.Send(Packet{r.latest.Sequence + 1, []byte(rand.Text()[:saltSize])}); err != nil {
		return err
	}
	p, err := c.Receive()
	switch {
	case err != nil:
		return err
	case first(p.Payload) == Err:
		return &Refused{p.Payload}
	case first(p.Payload) != OK:
		return errRounds
	}
	return nil
}

// resumed is a connection whose latest packet is read once more.
type resumed struct {
	PacketConn
	latest Packet
	again  bool
	failed bool
}

func (r *resumed) Receive() (Packet, error) {
	if r.again {
		r.again = false
		return r.latest, nil
	}
	p, err := r.PacketConn.Receive()
	if err == nil {
		r.latest = p
	}
	r.failed = r.failed || err != nil
	return p, err
}

func (r *resumed) Send(packets ...Packet) error {
	err := r.PacketConn.Send(packets...)
	r.failed = r.failed || err != nil
	return err
}

// fits reports whether a proof has the length that the plugin's have. Servers count one
// of another length as an error of its host.
func fits(plugin string, proof []byte) bool {
	switch strings.ToLower(plugin) {
	case mysql.AUTH_NATIVE_PASSWORD:
		return len(proof) == 0 || len(proof) == nativeProof
	case mysql.AUTH_MARIADB_ED25519:
		return len(proof) == ed25519Proof
	}
	return true
}

const nativeProof, ed25519Proof = 20, 64

// Fits reports whether the response's proof has the length that its plugin's have.
func (r *Response) Fits() bool { return fits(r.Plugin, r.Proof) }
