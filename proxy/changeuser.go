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

// changeUser is COM_CHANGE_USER: another login on the same connection. As at the
// login, the server judges it, or with a list of users seqgate does.
func (s *session) changeUser() error {
	payload, size, err := s.shortPacket()
	if err != nil {
		return err
	}
	sequence := s.front.Unread()[wire.HeaderSize-1]
	command := append([]byte(nil), payload...)
	s.front.Skip(size)
	change, malformed := handshake.ParseChangeUser(command, s.Capabilities)
	keyspace, whole, database, err := s.srv.placeFor(change.Database)
	switch {
	case err != nil:
		s.out.sequence = sequence + 1
		return errors.Join(errLoginFailed, err, s.report(err))
	case s.pool() != nil: // another connection is taken, of whichever server
	case change.Database == "":
		keyspace, database = s.keyspace, "" // as with the server itself
	case malformed == nil && keyspace.Backend.Addr != s.keyspace.Backend.Addr:
		s.out.sequence = sequence + 1
		return elsewhere(s.keyspace.Name, change.Database)
	}
	switch {
	case s.pool() == nil:
		err = s.relayChange(handshake.Packet{Sequence: sequence, Payload: change.Rewrite(command, database)}, change, malformed)
	case malformed != nil:
		err = mysql.NewDefaultError(mysql.ER_UNKNOWN_COM_ERROR) // as MySQL says it
	default:
		err = s.verifyChange(change, sequence, keyspace, database)
	}
	var refused *handshake.Refused
	if errors.As(err, &refused) {
		// The client was told. MySQL ends the connection now, MariaDB goes on with the
		// former user in a session that has begun anew.
		s.beginAnew(backend.State{Database: s.State.Database, DatabaseKnown: s.State.DatabaseKnown})
		return nil
	}
	if err != nil {
		return errors.Join(errLoginFailed, err, s.report(err))
	}
	s.peer, s.provenPeer = peerOf(change.Attributes, keyspace)
	s.srv.mu.Lock() // who kills it looks at these
	s.keyspace, s.user = keyspace, change.User
	s.routeTo(whole, database)
	s.srv.mu.Unlock()
	s.beginAnew(backend.State{Database: database, DatabaseKnown: backend.IsPlainName(database), LastIDKnown: true})
	return nil
}

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

// becomes takes one of a user's places in place of the former user's.
func (c *clientConn) becomes(user string) (err error) {
	c.leave()
	c.leave, err = c.srv.admitUser(user)
	return err
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
	c := claim{user: change.User, plugin: change.Plugin, proof: change.Proof, salt: x.salt, switches: x.Has(mysql.CLIENT_PLUGIN_AUTH), sequence: sequence,
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
	if err := c.welcome(wirePackets{x.front}, back.OK); err != nil {
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
