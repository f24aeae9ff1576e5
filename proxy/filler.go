package proxy

import "github.com/seqgate/seqgate/parser"

// filler reads an INSERT for its table, takes the ids that it leaves out, and sends it
// with them to a server. It answers nobody.
type filler struct {
	*serverConn

	insert  parser.InsertStmt // reused from statement to statement
	slots   []parser.Slot     // of a text, what its rows say of the id; empty when they leave it out
	scratch []byte            // the command to the server, reused
	idsAt   []int             // where in scratch the ids of a statement are, or among its parameters
}
