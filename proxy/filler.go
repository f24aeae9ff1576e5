package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// filler reads an INSERT for its table, takes the ids that it leaves out, and sends it
// with them to a server. It answers nobody.
type filler struct {
	*serverConn

	insert  parser.InsertStmt // reused from statement to statement
	slots   []parser.Slot     // of a text, what its rows say of the id; empty when they leave it out
	scratch []byte            // the command to the server, reused
	idsAt   []int             // where in scratch the ids of a statement are, or among its parameters
}

// packetBuffer gives the buffer for a command to the server, with room for a header.
func (f *filler) packetBuffer() []byte { return append(f.scratch[:0], 0, 0, 0, 0) }

// followSingle reads an answer of one packet. Reports of progress that come before
// it are passed on.
func (f *filler) followSingle() (payload []byte, size int, err error) {
	f.startAnswer(wire.ShapeSingle)
	for {
		payload, size, err = f.follow()
		if err != nil {
			return nil, 0, &backendError{err}
		}
		if f.answer.Done() {
			return payload, size, nil
		}
		if err := f.owner.reply(payload); err != nil {
			return nil, 0, err
		}
		f.back.Skip(size)
	}
}
