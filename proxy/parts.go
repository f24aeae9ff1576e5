package proxy

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// relayPart passes on the answer to one statement of several that were sent one
// by one: sequence numbers run through all the answers, and the end of each but
// the last says that more follow.
func (s *session) relayPart() error {
	s.sent = !s.out.more
	return s.relayNumbered(wire.ShapeResults)
}

// relayNumbered passes an answer on with sequence numbers of seqgate's own.
func (s *session) relayNumbered(as wire.Shape) error {
	s.startAnswer(as)
	beside := s.besideTransaction()
	var out []byte
	for !s.answer.Done() {
		at := s.answer.Phase
		payload, size, err := s.follow()
		if err != nil {
			return s.answerCut(err)
		}
		if payload = s.amongParts(payload, at); beside && !s.answer.Failed && (s.answer.Done() || at == wire.PhaseColumnEOF) {
			setStatus(payload, at, s.deprecateEOF(), mysql.SERVER_STATUS_IN_TRANS)
		}
		out, s.out.sequence = wire.AppendPacket(out, s.out.sequence, payload)
		s.back.Skip(size)
		if len(out) >= wire.SmallBuffer || s.answer.InFile || s.answer.Done() {
			if err := s.writeFront(out); err != nil {
				return err
			}
			out = out[:0]
		}
		if s.answer.InFile {
			if err := s.forwardPartFile(); err != nil {
				return err
			}
		}
	}
	return nil
}

// amongParts gives a packet as the server sends it when the statement is one of
// several in a text. at is the phase in which it came.
func (s *session) amongParts(payload []byte, at wire.Phase) []byte {
	switch {
	case s.answer.Failed && s.answer.Done():
		return s.quoteRest(payload)
	case s.out.more && (s.answer.Done() || at == wire.PhaseColumnEOF):
		setStatus(payload, at, s.deprecateEOF(), mysql.SERVER_MORE_RESULTS_EXISTS)
	}
	return payload
}

// forwardPartFile passes a local file to the backend, whose sequence numbers
// begin anew with each statement.
func (s *session) forwardPartFile() error {
	s.answer.InFile = false
	s.out.shift = s.out.sequence - (s.answer.Sequence + 1)
	err := s.forwardFile()
	s.out.shift = 0
	return err
}

// setStatus sets a flag in the packet that ends a result or its column definitions,
// which came in the given phase.
func setStatus(payload []byte, at wire.Phase, deprecateEOF bool, flag uint16) {
	status := 3 // of an EOF packet
	if at == wire.PhaseFirst || deprecateEOF {
		status = 1
		for range 2 {
			_, _, size := wire.LengthEncoded(payload[min(status, len(payload)):])
			status += size
		}
	}
	if status+2 > len(payload) {
		return
	}
	flags := binary.LittleEndian.Uint16(payload[status:]) | flag
	binary.LittleEndian.PutUint16(payload[status:], flags)
}

// maxQuoted is how many bytes of a text both servers quote in error 1064.
const maxQuoted = 80

// quoteRest completes an error 1064, which quotes what is left of the text from
// the error on: the backend has seen but one statement of it.
func (s *session) quoteRest(packet []byte) []byte {
	e := wire.ServerError{Packet: packet}
	begin, end := bytes.IndexByte(packet, '\''), bytes.LastIndexByte(packet, '\'')
	if e.Code() != mysql.ER_PARSE_ERROR || begin == end || len(s.out.rest) == 0 || !utf8.Valid(s.out.rest) {
		return packet
	}
	quoted, part := packet[begin+1:end], parser.TrimEnd(s.out.part)
	if !bytes.HasSuffix(part, quoted) || len(quoted) == 0 && s.runsOther() {
		return packet
	}
	all, lines := s.out.rest, 0
	if len(quoted) > 0 {
		all = append(bytes.Clone(s.out.part[len(part)-len(quoted):]), s.out.rest...)
	} else {
		lines = bytes.Count(s.out.part[len(part):], []byte("\n"))
	}
	whole := append(bytes.Clone(packet[:begin+1]), cutQuoted(all, s.mariaDB)...)
	return append(whole, addLines(packet[end:], lines)...)
}

// addLines adds to the number of the line in the end of an error 1064: the error
// is at the semicolon, which the backend has not seen, nor the lines before it.
func addLines(text []byte, lines int) []byte {
	n := len(text)
	for n > 0 && text[n-1] >= '0' && text[n-1] <= '9' {
		n--
	}
	line, err := strconv.Atoi(string(text[n:]))
	if err != nil {
		return text // another language's text ends with a word
	}
	return strconv.AppendInt(bytes.Clone(text[:n]), int64(line+lines), 10)
}

// runsOther reports whether the statement under way may run or read another one,
// whose errors are not its own.
func (s *session) runsOther() bool {
	switch parser.Sniff(s.out.part) {
	case parser.Call, parser.Prepare, parser.Execute, parser.Carrier:
		return true
	}
	return false
}

// cutQuoted cuts a text to what the server quotes of it. MariaDB marks the cut;
// MySQL may make it within a character, of which rubbish is left then: not here.
func cutQuoted(text []byte, mariaDB bool) []byte {
	if len(text) <= maxQuoted {
		return text
	}
	const mark = "..."
	n := maxQuoted
	if mariaDB {
		n -= len(mark)
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	if mariaDB {
		return append(bytes.Clone(text[:n]), mark...)
	}
	return text[:n]
}
