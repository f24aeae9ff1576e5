package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// PeerAttribute is the connection attribute by which a seqgate says that it asks
// for a value in another one's name. Its value is PeerProof.
const PeerAttribute = "seqgate_peer"

// PeerProof is what only who knows the password of a keyspace's own account can say: seqgates, and not their clients.
func PeerProof(password string) string {
	h := hmac.New(sha256.New, []byte(password))
	h.Write([]byte(PeerAttribute))
	return hex.EncodeToString(h.Sum(nil))
}

// peerOf reports whether connection attributes are those of another seqgate: by what they say, which anybody can, and by
// a proof. An older seqgate gives none, and without a password there is none.
func peerOf(attributes []byte, k *catalog.Keyspace) (says, proven bool) {
	proof := handshake.ParseAttributes(attributes)[PeerAttribute]
	if proof == "" {
		return false, false
	}
	return true, k.Backend.Password != "" && hmac.Equal([]byte(proof), []byte(PeerProof(k.Backend.Password)))
}

// passedOn returns the attributes that the server is to see: no proof, which the account's other connections could read there.
func passedOn(attributes []byte) []byte {
	if handshake.ParseAttributes(attributes)[PeerAttribute] != "" {
		return nil
	}
	return attributes
}
