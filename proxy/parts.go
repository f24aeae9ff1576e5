package proxy

import (
	"encoding/binary"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// relayPart passes on the answer to one statement of several that were sent one
// by one: sequence numbers run through all the answers, and the end of each but
// the last says that more follow.
func (s *session) relayPart() error {
	s.answer.start(shapeResults, s.deprecateEOF())
	var out []byte
	for !s.answer.done() {
		payload, size, _, err := s.back.packet(maxStatement)
		if err != nil {
			return s.answerCut(err)
		}
		at := s.answer.phase
		s.answer.scan(s.back.unread()[:size])
		if s.answer.infile {
			s.back.skip(size)
			if err := s.refuseFile(); err != nil {
				return err
			}
			return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
				"seqgate does not support LOAD DATA LOCAL beside other statements in one text; send it alone")
		}
		ends := s.answer.done() && !s.answer.failed
		if ends && s.out.more {
			setMoreResults(payload, at, s.deprecateEOF())
		}
		out, s.out.sequence = appendPacket(out, s.out.sequence, payload)
		s.back.skip(size)
		if len(out) >= smallBuffer || s.answer.done() {
			if err := s.writeFront(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	return nil
}

// refuseFile answers the server's request for a local file with an empty one.
func (s *session) refuseFile() error {
	s.answer.infile = false
	if err := s.writeBack([]byte{0, 0, 0, s.answer.sequence + 1}); err != nil {
		return err
	}
	err := s.dropRest()
	var refused *serverError
	if errors.As(err, &refused) {
		return nil // the error that is told is another
	}
	return err
}

// setMoreResults sets the flag in the packet that ends a result, which came in
// the given phase.
func setMoreResults(payload []byte, at phase, deprecateEOF bool) {
	status := 3 // of an EOF packet
	if at == phaseFirst || deprecateEOF {
		status = 1
		for range 2 {
			_, _, size := lengthEncoded(payload[min(status, len(payload)):])
			status += size
		}
	}
	if status+2 > len(payload) {
		return
	}
	flags := binary.LittleEndian.Uint16(payload[status:]) | mysql.SERVER_MORE_RESULTS_EXISTS
	binary.LittleEndian.PutUint16(payload[status:], flags)
}
