package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Shape says what kind of answer a command has.
type Shape uint8

const (
	ShapeNone      Shape = iota // no answer at all
	ShapeSingle                 // one packet
	ShapeResults                // OK, ERR, LOCAL INFILE or result sets
	ShapeCursor                 // the same, or the definitions of a cursor that is open now
	ShapeRows                   // rows of an open cursor (COM_STMT_FETCH)
	ShapePrepare                // COM_STMT_PREPARE_OK and its definitions
	ShapeFieldList              // column definitions up to EOF
	ShapeStream                 // events of the binary log, up to EOF or ERR
)

// Phase is where in an answer the next packet stands.
type Phase uint8

const (
	PhaseFirst     Phase = iota // the first packet of a result
	PhaseColumns                // definitions, counted down
	PhaseColumnEOF              // the EOF after them, without DEPRECATE_EOF
	PhaseRows
	phaseFieldList
	phaseStream
	PhasePrepare
	phaseDefinitions // PREPARE's blocks, counted down
	PhaseSingle
	phaseDone
)

// Answer follows an answer packet by packet, only as far as to know where it
// ends: "Command Response" pages of the MySQL manual's protocol part. It is fed
// bytes as they come; packets that decide nothing are passed over by length.
type Answer struct {
	capabilities uint64 // of the session
	Phase        Phase
	left         uint64 // definitions still to come
	Skip         int    // payload bytes of the current packet still to pass
	continued    bool   // the next packet continues a payload of 2^24-1 bytes
	cursor       bool   // a cursor was asked for
	InFile       bool   // the server waits for a local file
	outParams    bool   // the result is the OUT parameters of a procedure: more follow
	Status       uint16 // of the latest OK or EOF
	Failed       bool   // an ERR packet ended it
	Code         uint16 // the number in it
	Fails        int    // error packets of the answers that were passed on to the command under way
	Malformed    bool   // the next packet is none that may come there: nothing more is read
	Sequence     byte   // of the latest packet
	Rows         uint64 // that came
	InsertID     uint64 // of the latest OK
}

// Capabilities that go-mysql does not name, in 64 bits: MariaDB's extended ones
// are the upper half ("Connection" page of its documentation).
const (
	ClientProgress         = 1 << 32 // reports of progress may come before an answer
	ClientBulkOperations   = 1 << 34 // COM_STMT_BULK_EXECUTE
	ClientExtendedMetadata = 1 << 35 // definitions tell of further type names
	ClientCacheMetadata    = 1 << 36 // definitions that the client knows are left out
)

// CountsTell are the capabilities with which a byte behind the number of columns
// says whether their definitions follow.
const CountsTell = uint64(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA) | ClientCacheMetadata

// DefinitionsFollow is that byte's value; 0 says that they are left out.
const DefinitionsFollow = 1

func (p *Answer) has(capability uint64) bool { return p.capabilities&capability != 0 }

func (p *Answer) deprecateEOF() bool { return p.has(uint64(mysql.CLIENT_DEPRECATE_EOF)) }

// maxColumns bounds the columns of a result. A table has 4096 at most, a SELECT as many as fit in its text.
const maxColumns = 1<<32 - 1

// statusOutParams is SERVER_PS_OUT_PARAMS, which go-mysql names otherwise.
const statusOutParams = 0x1000

// prefix is how much of a deciding packet must be seen: type, two
// length-encoded numbers, status and warnings.
const prefix = 24

// Start begins to follow the answer to a command, on a session with these capabilities.
func (p *Answer) Start(s Shape, capabilities uint64) {
	*p = Answer{capabilities: capabilities, Status: p.Status, Rows: p.Rows, Fails: p.Fails}
	switch s {
	case ShapeNone:
		p.Phase = phaseDone
	case ShapeSingle:
		p.Phase = PhaseSingle
	case ShapeRows:
		p.Phase = PhaseRows
	case ShapePrepare:
		p.Phase = PhasePrepare
	case ShapeFieldList:
		p.Phase = phaseFieldList
	case ShapeStream:
		p.Phase = phaseStream
	default:
		p.Phase, p.cursor = PhaseFirst, s == ShapeCursor
	}
}

// Done reports that the answer is complete.
func (p *Answer) Done() bool { return p.Phase == phaseDone && p.Skip == 0 && !p.continued }

// Scan goes over b and gives how many of its bytes belong to the answer and
// may be passed on. It stops at the end of the answer, at a request for a local
// file, before a packet whose beginning is not there yet, and before a malformed one.
func (p *Answer) Scan(b []byte) int {
	n := 0
	for {
		if p.Skip > 0 {
			m := min(p.Skip, len(b)-n)
			n += m
			if p.Skip -= m; p.Skip > 0 {
				return n
			}
		}
		if p.Done() || p.InFile || p.Malformed || len(b)-n < HeaderSize {
			return n
		}
		h := b[n:]
		length := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		if !p.continued && !p.judge(h[HeaderSize:], length) {
			return n
		}
		p.Sequence = h[3]
		p.continued = length == MaxPayload
		p.Skip = length
		n += HeaderSize
	}
}

// judge moves on by one packet of the given length, of whose payload b is what
// has come so far. It reports false when too little has come, or what may not come.
func (p *Answer) judge(b []byte, length int) bool {
	switch p.Phase {
	case PhaseColumns:
		if p.left--; p.left == 0 {
			p.endOfColumns()
		}
		return true
	case phaseDefinitions:
		if p.left--; p.left == 0 {
			p.Phase = phaseDone
		}
		return true
	case PhaseRows:
		return p.judgeRow(b, length)
	case phaseStream:
		return p.judgeEvent(b, length)
	}
	if len(b) < min(length, prefix) {
		return false
	}
	b = b[:min(length, len(b))]
	switch {
	case First(b) != mysql.ERR_HEADER:
		p.Malformed = !p.judgeControl(b)
	case !p.reportsProgress(b):
		p.fail(b)
	}
	return !p.Malformed
}

// judgeControl checks a packet that is neither a definition nor a row nor an
// error. It reports false when it may not come here.
func (p *Answer) judgeControl(b []byte) bool {
	switch p.Phase {
	case PhaseFirst:
		return p.judgeFirst(b)
	case PhaseColumnEOF:
		return p.judgeColumnEOF(b)
	case PhasePrepare:
		return p.judgePrepare(b)
	case phaseFieldList:
		if First(b) == mysql.EOF_HEADER {
			p.Phase = phaseDone
		}
	case PhaseSingle:
		if First(b) == mysql.OK_HEADER && !p.okStatus(b) {
			return false
		}
		p.Phase = phaseDone
	}
	return true
}

// fail ends the answer with the ERR packet that begins with b.
func (p *Answer) fail(b []byte) {
	p.Phase, p.Failed, p.Code = phaseDone, true, 0
	p.Fails++
	if len(b) >= 3 {
		p.Code = binary.LittleEndian.Uint16(b[1:])
	}
}

// reportsProgress tells a report of progress from an error: it has the number
// 65535 too, but no SQLSTATE. The answer goes on behind it.
func (p *Answer) reportsProgress(b []byte) bool {
	return p.has(ClientProgress) && len(b) > 3 && b[1] == 0xff && b[2] == 0xff && b[3] != '#'
}

// judgeRow tells a row from what ends the rows. A row may begin with 0xfe too,
// when its first column has 2^24 bytes or more: the packet's own length decides.
func (p *Answer) judgeRow(b []byte, length int) bool {
	if length > 0 && len(b) == 0 {
		return false
	}
	switch c := First(b); {
	case length == 0 || c != mysql.EOF_HEADER && c != mysql.ERR_HEADER:
		p.Rows++
		return true
	case len(b) < min(length, prefix):
		return false
	case c == mysql.ERR_HEADER:
		if b = b[:min(length, len(b))]; !p.reportsProgress(b) {
			p.fail(b)
		}
		return true
	case p.deprecateEOF() && length < MaxPayload:
		p.Malformed = !p.okStatus(b[:min(length, len(b))])
	case !p.deprecateEOF() && length < 9:
		p.Malformed = !p.eofStatus(b[:min(length, len(b))])
	default:
		return true
	}
	if !p.Malformed {
		p.endOfResult()
	}
	return !p.Malformed
}

func (p *Answer) judgeFirst(b []byte) bool {
	switch First(b) {
	case mysql.OK_HEADER:
		if !p.okStatus(b) {
			return false
		}
		p.endOfResult()
		return true
	case mysql.LocalInFile_HEADER:
		p.InFile = true
		return true
	}
	count, _, size := LengthEncoded(b)
	if size == 0 || count == 0 || count > maxColumns {
		return false
	}
	p.left, p.Phase = count, PhaseColumns
	if p.has(CountsTell) {
		if len(b) == size {
			return false
		}
		if b[size] != DefinitionsFollow {
			p.endOfColumns()
		}
	}
	return true
}

// judgeEvent tells an event, which begins with 0, from what ends a stream.
func (p *Answer) judgeEvent(b []byte, length int) bool {
	if length > 0 && len(b) == 0 {
		return false
	}
	if c := First(b); length > 0 && (c == mysql.EOF_HEADER || c == mysql.ERR_HEADER) {
		p.Phase, p.Failed = phaseDone, c == mysql.ERR_HEADER
	}
	return true
}

// endOfColumns goes on behind the definitions, or where they would stand: the EOF
// comes also when they are left out.
func (p *Answer) endOfColumns() {
	p.left, p.Phase = 0, PhaseRows
	if !p.deprecateEOF() {
		p.Phase = PhaseColumnEOF
	}
}

func (p *Answer) judgeColumnEOF(b []byte) bool {
	if First(b) == mysql.OK_HEADER {
		// So MySQL ends an execution without a cursor of a statement whose cursor is
		// open still.
		if !p.okStatus(b) {
			return false
		}
		p.endOfResult()
		return true
	}
	if First(b) != mysql.EOF_HEADER || !p.eofStatus(b) {
		return false
	}
	p.Phase = PhaseRows
	// MySQL tells here, and not in the EOF of the rows, that an OK follows.
	p.outParams = p.Status&statusOutParams != 0 && p.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0
	// MariaDB tells of the cursors within a procedure too, which nobody fetches from.
	if p.cursor && p.Status&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 {
		p.Phase = phaseDone
	}
	return true
}

// judgePrepare counts what follows a COM_STMT_PREPARE_OK. Its last byte says, with
// OPTIONAL_RESULTSET_METADATA, whether that is definitions; an EOF comes in any case.
func (p *Answer) judgePrepare(b []byte) bool {
	const metadataFollows = 12
	if First(b) != mysql.OK_HEADER || len(b) < 9 {
		return false
	}
	definitions := true
	if p.has(uint64(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA)) {
		if len(b) <= metadataFollows {
			return false
		}
		definitions = b[metadataFollows] == DefinitionsFollow
	}
	columns := binary.LittleEndian.Uint16(b[5:])
	params := binary.LittleEndian.Uint16(b[7:])
	for _, n := range [2]uint16{columns, params} {
		if definitions {
			p.left += uint64(n)
		}
		if n > 0 && !p.deprecateEOF() {
			p.left++
		}
	}
	p.Phase = phaseDone
	if p.left > 0 {
		p.Phase = phaseDefinitions
	}
	return true
}

func (p *Answer) endOfResult() {
	p.Phase = phaseDone
	if p.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 || p.outParams {
		p.Phase = PhaseFirst
	}
	p.outParams = false
}

// okStatus reads the status of an OK packet, also of one that stands for EOF.
func (p *Answer) okStatus(b []byte) bool {
	ok, valid := ParseOK(b)
	if valid {
		p.Status, p.InsertID = ok.Status, ok.InsertID
	}
	return valid
}

func (p *Answer) eofStatus(b []byte) bool {
	if len(b) < 5 {
		return false
	}
	p.Status = binary.LittleEndian.Uint16(b[3:])
	return true
}

// First returns the first byte of a payload, or one that begins no deciding packet.
func First(b []byte) byte {
	if len(b) == 0 {
		return 0x01 // no packet that decides anything begins with it
	}
	return b[0]
}
