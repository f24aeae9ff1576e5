package proxy

import (
	"encoding/binary"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// relay passes the backend's answer on as it comes.
func (x *relayer) relay(as wire.Shape) error {
	x.Sent = true
	if x.owner.inTransactionWithout() {
		return x.relayNumbered(as)
	}
	x.StartAnswer(as)
	return x.relayRest()
}

// relayRest passes on what is left of an answer.
func (x *relayer) relayRest() error {
	passed := 0
	for !x.Answer.Done() {
		n := x.Answer.Scan(x.Wire.Unread())
		if n > 0 {
			chunk := x.Wire.Unread()[:n]
			passed += n
			x.Wire.Bulk = passed > wire.SmallBuffer/2 // as this answer, so the next
			if err := x.writeFront(chunk); err != nil {
				return err
			}
			x.Wire.Skip(n)
			x.out.sequence = x.Answer.Sequence + 1
		}
		switch {
		case x.Answer.Malformed:
			return x.AnswerCut(backend.ErrMalformedAnswer)
		case x.Answer.InFile && x.Answer.Skip == 0:
			x.Answer.InFile = false
			if err := x.forwardFile(); err != nil {
				return err
			}
		case !x.Answer.Done():
			if err := x.Wire.Fill(); err != nil {
				return x.AnswerCut(err)
			}
		}
	}
	if x.Call.End != nil {
		x.EndAnswer()
	}
	return nil
}

// relayComposed passes on the answer to a command that seqgate made. Where that took
// another number of packets than the client's, the answer's numbers are not those
// that the client awaits.
func (x *relayer) relayComposed(as wire.Shape) error {
	x.Sent = !x.out.more
	if err := x.Wire.Need(wire.HeaderSize); err == nil && x.Wire.Unread()[wire.HeaderSize-1] != x.out.sequence {
		return x.relayNumbered(as)
	}
	if x.out.parts {
		return x.relayPart()
	}
	return x.relay(as)
}

// relayResult passes on the answer to a text, or to a part of one.
func (x *relayer) relayResult() error {
	switch {
	case x.out.parts:
		return x.relayPart()
	case x.out.composed:
		return x.relayComposed(wire.ShapeResults)
	}
	return x.relay(wire.ShapeResults)
}

// pass relays a command and its answer unseen.
func (x *relayer) pass(as wire.Shape) error {
	if err := x.forward(); err != nil {
		return err
	}
	return x.relay(as)
}

// letGo drops memory that a large statement took, at its end.
func (x *relayer) letGo() {
	if cap(x.scratch) > maxScratch {
		x.scratch = nil
	}
	if cap(x.packet) > maxScratch {
		x.packet = nil
	}
	if cap(x.planner.Slots) > maxSlots {
		x.planner.Slots = nil
	}
	if cap(x.idsAt) > maxSlots {
		x.idsAt = nil
	}
	x.planner.Stmt.LetGo()
}

// leavesProtocol is a command of a server's plugin. Where it is refused, as on
// nearly every server, that is the answer. A server that accepts it goes on in
// a protocol of the plugin's own, in which seqgate would be blind.
func (x *relayer) leavesProtocol() error {
	if err := x.forward(); err != nil {
		return err
	}
	if err := x.Drop(wire.ShapeSingle); err != nil {
		return err
	}
	text := "seqgate does not relay the protocols of cloning and group replication; connect to the server itself for them"
	err := x.reply(wire.AppendError(nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, text)))
	return errors.Join(&frontError{errors.New(text)}, err)
}

// setOption is COM_SET_OPTION, which turns multiple statements in one text on
// and off.
func (x *relayer) setOption() error {
	body, err := x.takeCommand()
	if err != nil {
		return err
	}
	if err := x.Send(append([]byte{mysql.COM_SET_OPTION}, body...)); err != nil {
		return err
	}
	if err := x.relay(wire.ShapeSingle); err != nil || x.Answer.Failed || len(body) < 2 {
		return err
	}
	const on, off = 0, 1
	switch binary.LittleEndian.Uint16(body) {
	case on:
		x.Capabilities |= uint64(mysql.CLIENT_MULTI_STATEMENTS)
	case off:
		x.Capabilities &^= uint64(mysql.CLIENT_MULTI_STATEMENTS)
	}
	return nil
}

// frontPacket reads a statement whole, without taking it. One of 16 MiB or more is
// bounded by what its server takes, and is taken: its size is 0.
func (x *relayer) frontPacket() (payload []byte, size int, err error) {
	length, _, err := x.front.Header()
	if err != nil {
		return nil, 0, &frontError{err}
	}
	if length < wire.MaxPayload {
		return x.packetUpTo(wire.MaxPayload)
	}
	payload, sequence, err := x.front.TakeLong(x.srv.statementLimit(x.ctx, x.keyspace))
	if err != nil {
		return nil, 0, frontFailure(err)
	}
	x.out.sequence = sequence + 1
	return payload, 0, nil
}

// refuseSilent takes such a command, which MySQL answers with an error and MariaDB does
// not. Passed on, that answer would be taken for the next command's.
func (x *relayer) refuseSilent() error {
	if _, err := x.takeCommand(); err != nil {
		return err
	}
	if x.MariaDB {
		x.out.silent = true
		return nil
	}
	return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet.")
}
