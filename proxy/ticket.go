package proxy

import (
	"bytes"
	"strconv"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A ticket table (Flickr's) has one row, which is replaced to get an id:
//
//	REPLACE INTO Tickets64 (stub) VALUES ('a'); SELECT LAST_INSERT_ID()
//
// Where the vschema declares it with "type": "ticket", both are answered from
// memory. The server's table stays as it is.

// answerTicket returns an id as the server's OK packet does: a REPLACE of the row that
// is always there counts as 2.
func (x *insertRunner) answerTicket(p *plan.Fill) error {
	id, err := x.next(p.Binding, 1)
	if err != nil {
		return err
	}
	x.State.LastID, x.State.LastIDKnown, x.State.Restore = uint64(id), true, true
	ok := wire.OK{AffectedRows: 1, InsertID: uint64(id), Status: x.Status()}
	if p.Replace {
		ok.AffectedRows = 2
	}
	return x.replyOK(ok)
}

// executeTicket executes a prepared INSERT or REPLACE, whatever its parameters are.
func (x *insertRunner) executeTicket(st *statement, payload []byte, size int) error {
	p, bulk := *st.fill, payload[0] == comStmtBulkExecute
	x.front.Skip(size)
	if bulk {
		return catalog.Unsupported("bulk execution", p.Binding.Table, "execute it for one row at a time")
	}
	if err := x.dropLong(st); err != nil {
		return err
	}
	return x.answerTicket(&p)
}

// lastIDQuery is the other half of the pair.
var lastIDQuery = []byte("SELECT LAST_INSERT_ID()")

// asksLastID reports whether a text is just SELECT LAST_INSERT_ID(), and the answer
// known here and not to the backend.
func (f *insertPlanner) asksLastID(sql []byte) bool {
	if !f.State.Restore || !f.State.LastIDKnown {
		return false
	}
	sql = bytes.TrimRight(parser.TrimEnd(sql), "; \n")
	return bytes.EqualFold(bytes.TrimLeft(sql, " \n"), lastIDQuery)
}

// planLastID answers SELECT LAST_INSERT_ID() as the server does.
func (x *insertRunner) planLastID(p textPlan, sql []byte) textPlan {
	name := string(bytes.TrimLeft(bytes.TrimRight(parser.TrimEnd(sql), "; \n"), " \n")[len("SELECT "):])
	p.command("SELECT LAST_INSERT_ID()")
	p.effect = 0
	p.run = func([]byte) error { return x.answerLastID(name) }
	return p
}

func (x *insertRunner) answerLastID(name string) error {
	column := wire.IntegerColumn(name)
	column.Unsigned, column.Length = true, 21
	return x.replyRows([]wire.Column{column}, [][]string{{strconv.FormatUint(x.State.LastID, 10)}})
}
