package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/wire"
)

// errLoginFailed ends a session whose client did not prove who it is.
var errLoginFailed = errors.New("COM_CHANGE_USER was refused")

// relayChange passes the command on, and the authentication that follows.
func (x *commandRunner) relayChange(command handshake.Packet, change handshake.ChangeUser, malformed error) error {
	front, back := wirePackets{x.front}, wirePackets{x.Wire}
	if handshake.SendsPassword(change.Plugin) && x.frontSecure && !x.secure {
		return handshake.ErrInsecureServer
	}
	if err := back.Send(command); err != nil {
		return &backend.LostError{Err: err}
	}
	r := handshake.Relay{Front: front, Back: back, FrontSecure: x.frontSecure, BackSecure: x.secure,
		Plugin: change.Plugin, Salt: x.salt, Key: x.srv.cfg.RSA, PublicKey: x.srv.publicKey}
	ok, err := r.Run()
	switch {
	case err != nil:
		return relayFailure(err)
	case malformed != nil:
		return malformed // nothing is known of whose session it is
	}
	x.salt = r.Salt
	if packet, valid := wire.ParseOK(ok.Payload); valid {
		x.Answer.Status = packet.Status
	}
	if err := x.becomes(change.User); err != nil {
		x.out.sequence = ok.Sequence
		return err
	}
	if err := front.Send(ok); err != nil {
		return &frontError{err}
	}
	return nil
}

// relayFailure tells whose connection failed in a relayed authentication.
func relayFailure(err error) error {
	var refused *handshake.Refused
	var own *mysql.MyError
	var front *handshake.FrontError
	switch {
	case errors.As(err, &refused), errors.As(err, &own):
		return err
	case errors.As(err, &front):
		return &frontError{front.Err}
	}
	return &backend.LostError{Err: err}
}

// verifyChange verifies the client by the list of users, and gives it another
// connection to the backend, so that nothing of the former user's is left.
func (x *commandRunner) verifyChange(change handshake.ChangeUser, sequence byte, keyspace *catalog.Keyspace, database string) error {
	c := authRequest{user: change.User, plugin: change.Plugin, proof: change.Proof, salt: x.salt, switches: x.Has(mysql.CLIENT_PLUGIN_AUTH), sequence: sequence,
		pause: func(d time.Duration) error { return pauseFor(x.ctx, d) }}
	if !c.switches {
		c.plugin = mysql.AUTH_NATIVE_PASSWORD
	}
	err := x.srv.verify(wirePackets{x.front}, &c, x.front.RemoteAddr())
	if err != nil && c.plugin == mysql.AUTH_CACHING_SHA2_PASSWORD {
		err = x.refuseInFull(&c, err)
	}
	x.out.sequence = c.sequence + 1
	if err == nil && !x.srv.user(change.User).admits(encryptionOf(x.front.Conn)) {
		err = accessDenied(change.User, x.front.RemoteAddr(), len(c.proof) > 0)
	}
	if err == nil {
		err = x.becomes(change.User)
	}
	if err != nil {
		return err
	}
	login, err := x.loginAt(keyspace, change.User, database)
	if err != nil {
		return err
	}
	login.Charset, login.Attributes = change.Charset, passedOn(change.Attributes)
	ctx, cancel := context.WithTimeout(x.ctx, x.srv.settings().HandshakeTimeout)
	defer cancel()
	back, err := x.srv.connect(ctx, keyspace, login)
	if err != nil {
		return err
	}
	former, lost := x.Conn, x.Lost
	x.adopt(back, login)
	if !lost {
		_ = former.Quit() // it is not needed any more
	}
	if err := c.sendOK(wirePackets{x.front}, back.OK); err != nil {
		return &frontError{err}
	}
	return nil
}

// wirePackets is a session's connection, packet by packet, for an authentication.
type wirePackets struct{ *wire.Conn }

// maxLoginPacket bounds a packet of an authentication.
const maxLoginPacket = handshake.MaxPayload

func (w wirePackets) Receive() (handshake.Packet, error) {
	payload, size, sequence, err := w.Packet(maxLoginPacket)
	if err != nil {
		return handshake.Packet{}, err
	}
	p := handshake.Packet{Sequence: sequence, Payload: append([]byte(nil), payload...)}
	w.Skip(size)
	return p, nil
}

func (w wirePackets) Send(packets ...handshake.Packet) error {
	var b []byte
	for _, p := range packets {
		b, _ = wire.AppendPacket(b, p.Sequence, p.Payload)
	}
	_, err := w.Write(b)
	return err
}
