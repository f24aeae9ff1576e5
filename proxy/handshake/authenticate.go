package handshake

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// PacketConn is a connection on which an authentication goes on.
type PacketConn interface {
	Receive() (Packet, error)
	Send(...Packet) error
}

// Refused is a server's ERR packet in a login.
type Refused struct{ Packet []byte }

func (r *Refused) Error() string { return r.MySQL().Error() }

// MySQL returns the error that the packet tells of. Before a client has told what
// it understands, the packet has no SQLSTATE.
func (r *Refused) MySQL() *mysql.MyError {
	if len(r.Packet) < 3 {
		return mysql.NewError(mysql.ER_UNKNOWN_ERROR, "the server refused without a reason")
	}
	e := mysql.NewError(binary.LittleEndian.Uint16(r.Packet[1:]), string(r.Packet[3:]))
	if text := e.Message; strings.HasPrefix(text, "#") && len(text) >= 6 {
		e.State, e.Message = text[1:6], text[6:]
	}
	return e
}

// maxRounds bounds the packets of one authentication; the longest known one, with
// three factors, has about 12.
const maxRounds = 64

var errRounds = errors.New("an authentication without an end")

// Authenticate proves a password to a server, on a connection whose handshake
// response with the first proof has been sent, and gives the OK packet. Errors:
// *Refused, and those of the connection.
func Authenticate(c PacketConn, plugin string, salt []byte, password string, over Channel) (ok []byte, err error) {
	for range maxRounds {
		p, err := c.Receive()
		if err != nil {
			return nil, err
		}
		var answer []byte
		switch kind := first(p.Payload); {
		case kind == OK:
			return p.Payload, nil
		case kind == Err:
			return nil, &Refused{p.Payload}
		case kind == Switch:
			if plugin, salt, err = ParseSwitch(p.Payload); err == nil {
				answer, err = Prove(plugin, salt, password, over)
			}
		case kind != More:
			err = ErrMalformed
		case fastDone(plugin, p.Payload):
			continue
		case wantsPassword(plugin, p.Payload) && over >= Encrypted:
			answer = append([]byte(password), 0)
		case wantsPassword(plugin, p.Payload):
			answer = KeyRequest(plugin)
		case sendsKey(plugin): // the public key
			answer, err = Encrypt(password, salt, p.Payload[1:])
		default:
			err = ErrMalformed
		}
		if err != nil {
			return nil, err
		}
		if err := c.Send(Packet{p.Sequence + 1, answer}); err != nil {
			return nil, err
		}
	}
	return nil, errRounds
}

// OKStatus returns the status flags of a login's OK packet, without the one that says
// that news of the session follow in that packet.
func OKStatus(ok []byte) uint16 {
	const atStatus = 3 // behind two numbers that are 0
	if len(ok) < atStatus+2 {
		return 0
	}
	return binary.LittleEndian.Uint16(ok[atStatus:]) &^ mysql.SERVER_SESSION_STATE_CHANGED
}

// fastDone reports whether a packet tells that the proof was enough, and OK
// follows.
func fastDone(plugin string, b []byte) bool {
	return plugin == mysql.AUTH_CACHING_SHA2_PASSWORD && len(b) == 2 && b[0] == More && b[1] == FastDone
}

// sendsKey reports whether a plugin has a public key, with which the password is encrypted. From servers of others what
// looks like one is none.
func sendsKey(plugin string) bool {
	return plugin == mysql.AUTH_CACHING_SHA2_PASSWORD || plugin == mysql.AUTH_SHA256_PASSWORD
}

// wantsPassword reports whether a packet asks for the password itself.
func wantsPassword(plugin string, b []byte) bool {
	return plugin == mysql.AUTH_CACHING_SHA2_PASSWORD && len(b) == 2 && b[0] == More && b[1] == FullNeeded
}

func first(b []byte) byte {
	if len(b) == 0 {
		return 0xfd // no packet of an authentication begins with it
	}
	return b[0]
}
