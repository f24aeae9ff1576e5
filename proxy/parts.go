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
func (x *relayer) relayPart() error {
	x.Sent = !x.out.more
	return x.relayNumbered(wire.ShapeResults)
}

// relayNumbered passes an answer on with sequence numbers of seqgate's own.
func (x *relayer) relayNumbered(as wire.Shape) error {
	x.StartAnswer(as)
	beside := x.owner.inTransactionWithout()
	var out []byte
	for !x.Answer.Done() {
		at := x.Answer.Phase
		payload, size, err := x.Follow()
		if err != nil {
			return x.AnswerCut(err)
		}
		if payload = x.amongParts(payload, at); beside && !x.Answer.Failed && (x.Answer.Done() || at == wire.PhaseColumnEOF) {
			setStatus(payload, at, x.DeprecateEOF(), mysql.SERVER_STATUS_IN_TRANS)
		}
		out, x.out.sequence = wire.AppendPacket(out, x.out.sequence, payload)
		x.Wire.Skip(size)
		if len(out) >= wire.SmallBuffer || x.Answer.InFile || x.Answer.Done() {
			if err := x.writeFront(out); err != nil {
				return err
			}
			out = out[:0]
		}
		if x.Answer.InFile {
			if err := x.forwardPartFile(); err != nil {
				return err
			}
		}
	}
	return nil
}

// amongParts returns a packet as the server sends it when the statement is one of
// several in a text. at is the phase in which it came.
func (x *relayer) amongParts(payload []byte, at wire.Phase) []byte {
	switch {
	case x.Answer.Failed && x.Answer.Done():
		return x.quoteRest(payload)
	case x.out.more && (x.Answer.Done() || at == wire.PhaseColumnEOF):
		setStatus(payload, at, x.DeprecateEOF(), mysql.SERVER_MORE_RESULTS_EXISTS)
	}
	return payload
}

// forwardPartFile passes a local file to the backend, whose sequence numbers
// begin anew with each statement.
func (x *relayer) forwardPartFile() error {
	x.Answer.InFile = false
	x.out.shift = x.out.sequence - (x.Answer.Sequence + 1)
	err := x.forwardFile()
	x.out.shift = 0
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
func (x *relayer) quoteRest(packet []byte) []byte {
	e := wire.ServerError{Packet: packet}
	begin, end := bytes.IndexByte(packet, '\''), bytes.LastIndexByte(packet, '\'')
	if e.Code() != mysql.ER_PARSE_ERROR || begin == end || len(x.out.rest) == 0 || !utf8.Valid(x.out.rest) {
		return packet
	}
	quoted, part := packet[begin+1:end], parser.TrimEnd(x.out.part)
	if !bytes.HasSuffix(part, quoted) || len(quoted) == 0 && x.runsOther() {
		return packet
	}
	all, lines := x.out.rest, 0
	if len(quoted) > 0 {
		all = append(bytes.Clone(x.out.part[len(part)-len(quoted):]), x.out.rest...)
	} else {
		lines = bytes.Count(x.out.part[len(part):], []byte("\n"))
	}
	whole := append(bytes.Clone(packet[:begin+1]), cutQuoted(all, x.MariaDB)...)
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
func (x *relayer) runsOther() bool {
	switch parser.Sniff(x.out.part) {
	case parser.Call, parser.Prepare, parser.Execute, parser.DynamicSQL:
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
