package proxy

import (
	"errors"
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
	err := s.relay(shapeStream)
	s.front.halt()
	goneErr := <-gone
	if err := errors.Join(s.front.resume(), s.back.resume()); err != nil {
		return &frontError{err}
	}
	if errors.Is(err, errInterrupted) {
		return &frontError{goneErr}
	}
	return err
}

// passAcks passes on what a replica says during a stream. It ends before the
// client's next command, which has to wait for the end of the stream, and with
// the client, which ends the stream.
func (s *session) passAcks() error {
	for !s.srv.draining.Load() {
		length, _, err := s.front.await()
		if errors.Is(err, errInterrupted) && !s.front.halted.Load() {
			continue // for a reason that the loop finds, or the reading of the stream
		}
		if err == nil && (length == 0 || length > maxSemiSyncAck) {
			return nil
		}
		if err == nil {
			err = s.front.need(headerSize + length)
		}
		if err != nil {
			s.back.halt()
			return err
		}
		ack := s.front.unread()[:headerSize+length]
		if ack[headerSize] != semiSyncAck {
			return nil
		}
		if _, err := s.back.Write(ack); err != nil {
			return nil // reading from the server tells
		}
		s.front.skip(len(ack))
	}
	s.back.halt()
	return errShutdown()
}
