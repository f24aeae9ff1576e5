package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// refuseInFull goes through the steps that MySQL has between a proof that is not known
// to it and its refusal: it asks for the password itself. A client that awaits them, as
// PHP's, reads an error in their place without its SQLSTATE. refusal is given back.
func (x *commandRunner) refuseInFull(c *authRequest, refusal error) error {
	var refused *mysql.MyError
	if !errors.As(refusal, &refused) || len(c.proof) <= 1 || !x.frontSecure && x.srv.publicKey == nil {
		return refusal
	}
	front := wirePackets{x.front}
	asked := []byte{handshake.More, mysql.CACHE_SHA2_FULL_AUTH}
	for {
		if err := front.Send(handshake.Packet{Sequence: c.sequence + 1, Payload: asked}); err != nil {
			return &frontError{err}
		}
		p, err := front.Receive()
		if err != nil {
			return &frontError{err}
		}
		c.sequence = p.Sequence
		if x.frontSecure || len(asked) > 2 || !handshake.RequestsKey(c.plugin, p.Payload) {
			return refusal
		}
		asked = append([]byte{handshake.More}, x.srv.publicKey...)
	}
}
