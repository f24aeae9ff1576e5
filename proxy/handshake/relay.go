package handshake

import (
	"crypto/rsa"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Relay passes an authentication on between a client and a server, packet by
// packet, so that the server alone judges it, whatever its plugin. Where one of
// the two connections is secure and the other is not, a password that is sent
// itself is encrypted or decrypted on the way.
type Relay struct {
	Front, Back             PacketConn
	FrontSecure, BackSecure bool
	Shift                   byte   // what the server's sequence numbers are ahead of the client's
	Plugin                  string // of the proof that was sent
	Salt                    []byte // and what it begins with
	Key                     *rsa.PrivateKey
	PublicKey               []byte // Key's, in PEM

	// Asked is the server's latest packet, with its own number, while the server may await
	// an answer to it: what [Disprove] needs. Nil when it awaits none.
	Asked *Packet
}

// hear reads a packet of the server's.
func (r *Relay) hear() (Packet, error) {
	p, err := r.Back.Receive()
	if err == nil {
		r.Asked = &p
	}
	return p, err
}

// tell answers the server.
func (r *Relay) tell(p Packet) error {
	r.Asked = nil
	return r.Back.Send(p)
}

// FrontError is a failure of the client's connection in a Relay.
type FrontError struct{ Err error }

func (e *FrontError) Error() string { return "client connection: " + e.Err.Error() }
func (e *FrontError) Unwrap() error { return e.Err }

// Run goes on until the server is content, and gives its OK packet, which the
// caller has to send to the client. Errors: *Refused, of which the client was
// told; *FrontError; and those of the server's connection.
func (r *Relay) Run() (Packet, error) {
	r.Plugin = strings.ToLower(r.Plugin) // servers do not mind its case
	for range maxRounds {
		p, err := r.hear()
		if err != nil {
			return Packet{}, err
		}
		p.Sequence -= r.Shift
		switch first(p.Payload) {
		case OK:
			r.Asked = nil
			return p, nil
		case Err:
			r.Asked = nil
		}
		if err := r.note(p.Payload); err != nil {
			return Packet{}, err
		}
		if err := r.Front.Send(p); err != nil {
			return Packet{}, &FrontError{err}
		}
		switch {
		case first(p.Payload) == Err:
			return Packet{}, &Refused{p.Payload}
		case fastDone(r.Plugin, p.Payload):
			continue
		}
		if err := r.answer(p.Payload); err != nil {
			return Packet{}, err
		}
	}
	return Packet{}, errRounds
}

// note keeps what a request for another plugin's proof says.
func (r *Relay) note(b []byte) error {
	if first(b) != Switch || len(b) == 1 {
		return nil
	}
	plugin, salt, err := ParseSwitch(b)
	if err != nil {
		return err
	}
	r.Plugin, r.Salt = strings.ToLower(plugin), salt
	if r.FrontSecure && !r.BackSecure && r.Plugin != mysql.AUTH_SHA256_PASSWORD && SendsPassword(r.Plugin) {
		return ErrInsecureServer
	}
	return nil
}

// answer passes the client's answer to a packet on.
func (r *Relay) answer(asked []byte) error {
	password := wantsPassword(r.Plugin, asked) || first(asked) == Switch && r.Plugin == mysql.AUTH_SHA256_PASSWORD
	p, err := r.Front.Receive()
	if err != nil {
		return &FrontError{err}
	}
	if p.Sequence+r.Shift == 0 {
		return &FrontError{ErrMalformed} // a command, to a server that may await one
	}
	if first(asked) == Switch && !fits(r.Plugin, p.Payload) {
		return &FrontError{mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR)}
	}
	if password && len(p.Payload) > 0 && r.FrontSecure != r.BackSecure {
		if p, err = r.convert(p); err != nil {
			return err
		}
	}
	p.Sequence += r.Shift
	return r.tell(p)
}

// convert returns the client's packet with its password in the form in which the
// server awaits it.
func (r *Relay) convert(p Packet) (Packet, error) {
	switch {
	case len(p.Payload) == 1 && p.Payload[0] == 0:
		return p, nil // an empty password
	case r.FrontSecure:
		return r.encrypt(p)
	}
	return r.decrypt(p)
}

// decrypt is for a client without TLS and a server with it: seqgate's own key is
// the server's to the client.
func (r *Relay) decrypt(p Packet) (Packet, error) {
	if r.Key == nil {
		return p, mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, "seqgate has no RSA key; connect with TLS")
	}
	if RequestsKey(r.Plugin, p.Payload) {
		err := r.Front.Send(Packet{p.Sequence + 1, append([]byte{More}, r.PublicKey...)})
		if err == nil {
			p, err = r.Front.Receive()
		}
		if err != nil {
			return p, &FrontError{err}
		}
		r.Shift -= 2
	}
	password, err := Decrypt(p.Payload, r.Salt, r.Key)
	if err != nil {
		return p, mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, "seqgate could not read the password ("+err.Error()+"); connect with TLS")
	}
	return Packet{p.Sequence, append([]byte(password), 0)}, nil
}

// encrypt is for a client with TLS and a server without: it asks the server for
// its public key.
func (r *Relay) encrypt(p Packet) (Packet, error) {
	if err := r.tell(Packet{p.Sequence + r.Shift, KeyRequest(r.Plugin)}); err != nil {
		return p, err
	}
	key, err := r.hear()
	if err != nil {
		return p, err
	}
	if first(key.Payload) != More {
		return p, fmt.Errorf("the server sent no public key: %w", ErrMalformed)
	}
	r.Shift += 2
	password, err := Encrypt(Clear(p.Payload), r.Salt, key.Payload[1:])
	return Packet{p.Sequence, password}, err
}
