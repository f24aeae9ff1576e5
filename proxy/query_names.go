package proxy

import (
	"crypto/rand"
	"encoding/hex"
)

// newQueryNames returns what the names of all begin with that is put round the query
// of an INSERT ... SELECT: no statement names it by accident, as ON DUPLICATE KEY
// UPDATE might. It is one per process, as servers keep statistics of statements by
// the names in them.
func newQueryNames() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return "seqgate_" + hex.EncodeToString(b)
}
