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
func (s *session) stream() error {
	if err := s.forward(); err != nil {
		return err
	}
	s.busy.Store(false) // a server that drains does not wait for the end of a log
	defer s.leaveUnnoticed()()
	gone := make(chan error, 1)
	go func() { gone <- s.passAcks() }()
	err := s.relay(wire.ShapeStream)
	s.front.Halt()
	goneErr := <-gone
	if err := errors.Join(s.front.Resume(), s.back.Resume()); err != nil {
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
func (s *session) passAcks() error {
	for !s.srv.draining.Load() {
		length, _, err := s.front.Await()
		if errors.Is(err, wire.ErrInterrupted) && !s.front.Halted.Load() {
			continue // for a reason that the loop finds, or the reading of the stream
		}
		if err == nil && (length == 0 || length > maxSemiSyncAck) {
			return nil
		}
		if err == nil {
			err = s.front.Need(wire.HeaderSize + length)
		}
		if err != nil {
			s.back.Halt()
			return err
		}
		ack := s.front.Unread()[:wire.HeaderSize+length]
		if ack[wire.HeaderSize] != semiSyncAck {
			return nil
		}
		if _, err := s.back.Write(ack); err != nil {
			return nil // reading from the server tells
		}
		s.front.Skip(len(ack))
	}
	s.back.Halt()
	return errShutdown()
}
