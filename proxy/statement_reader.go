package proxy

import (
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// statementReader finds what a statement may write to and what it needs of its session: tables with a sequence, variables,
// what the statement before has left. What would write rows past seqgate it refuses.
type statementReader struct {
	*serverConn

	planner plan.Planner // its Stmt and Slots are of the INSERT under way
	asked   map[catalog.TableName]askedTable
	sources map[sourceKey]catalog.Source // that were asked for, for the statement that is being planned
	scratch []byte                       // the command to the server, reused
}

// packetBuffer returns the buffer for a command to the server, with room for a header.
func (f *statementReader) packetBuffer() []byte { return append(f.scratch[:0], 0, 0, 0, 0) }

// followSingle reads an answer of one packet. Reports of progress that come before
// it are passed on.
func (f *statementReader) followSingle() (payload []byte, size int, err error) {
	f.StartAnswer(wire.ShapeSingle)
	for {
		payload, size, err = f.Follow()
		if err != nil {
			return nil, 0, &backend.LostError{Err: err}
		}
		if f.Answer.Done() {
			return payload, size, nil
		}
		if err := f.owner.reply(payload); err != nil {
			return nil, 0, err
		}
		f.Wire.Skip(size)
	}
}

// sendPart sends one statement of several as it is.
func (f *statementReader) sendPart(attributes, sql []byte) error {
	if isLong(sql) {
		return f.SendLong(attributes, sql)
	}
	f.scratch = append(append(f.packetBuffer(), attributes...), sql...)
	return f.SendPacket(f.scratch)
}

// before prepares the backend session for a statement with this effect.
func (f *statementReader) before(e plan.Effect) error {
	f.owner.noteKnown()
	switch {
	case e&plan.MayLook == 0 || !f.State.Restore:
		return nil
	case e&plan.ReadsRowCount != 0: // prepared; in a text withLeft has put it in its place
		row, err := f.QueryRow("SELECT "+bytesOf("ROW_COUNT()")+" LIMIT 1", 1)
		if err != nil {
			return err
		}
		if row[0] == "-1" {
			return f.RestoreBy("SELECT")
		}
	}
	return f.RestoreLastID()
}
