package proxy

import (
	"errors"

	"github.com/seqgate/seqgate/proxy/wire"
)

// semiSyncAck begins a replica's acknowledgement of an event ("Semisynchronous
// Replication" in the servers' manuals): a position and the name of a log file.
// No command begins so.
const (
	semiSyncAck    = 0xef
	maxSemiSyncAck = 1 + 8 + 512
)

// stream is COM_BINLOG_DUMP or COM_BINLOG_DUMP_GTID: a replica reads the server's
// binary log, often without end. It is followed event by event, so that a command
// behind its end is looked at as any other.
func (x *relayer) stream() error {
	if err := x.forward(); err != nil {
		return err
	}
	x.busy.Store(false) // a server that drains does not wait for the end of a log
	defer x.LeaveUnnoticed()()
	gone := make(chan error, 1)
	go func() { gone <- x.passAcks() }()
	err := x.relay(wire.ShapeStream)
	x.front.Halt()
	goneErr := <-gone
	if err := errors.Join(x.front.Resume(), x.Wire.Resume()); err != nil {
		return &frontError{err}
	}
	if errors.Is(err, wire.ErrInterrupted) {
		return &frontError{goneErr}
	}
	return err
}

// passAcks passes on what a replica says during a stream. It ends before the
// client's next command, which has to wait for the end of the stream, and with
// the client, which ends the stream.
func (x *relayer) passAcks() error {
	for !x.srv.draining.Load() {
		length, _, err := x.front.Await()
		if errors.Is(err, wire.ErrInterrupted) && !x.front.Halted.Load() {
			continue // for a reason that the loop finds, or the reading of the stream
		}
		if err == nil && (length == 0 || length > maxSemiSyncAck) {
			return nil
		}
		if err == nil {
			err = x.front.Need(wire.HeaderSize + length)
		}
		if err != nil {
			x.Wire.Halt()
			return err
		}
		ack := x.front.Unread()[:wire.HeaderSize+length]
		if ack[wire.HeaderSize] != semiSyncAck {
			return nil
		}
		if _, err := x.Wire.Write(ack); err != nil {
			return nil // reading from the server tells
		}
		x.front.Skip(len(ack))
	}
	x.Wire.Halt()
	return errShutdown()
}
