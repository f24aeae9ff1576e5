package proxy

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// shape says what kind of answer a command has.
type shape uint8

const (
	shapeNone      shape = iota // no answer at all
	shapeSingle                 // one packet
	shapeResults                // OK, ERR, LOCAL INFILE or result sets
	shapeCursor                 // the same, or the definitions of a cursor that is open now
	shapeRows                   // rows of an open cursor (COM_STMT_FETCH)
	shapePrepare                // COM_STMT_PREPARE_OK and its definitions
	shapeFieldList              // column definitions up to EOF
	shapeStream                 // events of the binary log, up to EOF or ERR
)

// phase is where in an answer the next packet stands.
type phase uint8

const (
	phaseFirst     phase = iota // the first packet of a result
	phaseColumns                // definitions, counted down
	phaseColumnEOF              // the EOF after them, without DEPRECATE_EOF
	phaseRows
	phaseFieldList
	phaseStream
	phasePrepare
	phaseDefinitions // PREPARE's blocks, counted down
	phaseSingle
	phaseDone
)

// response follows an answer packet by packet, only as far as to know where it
// ends: "Command Response" pages of the MySQL manual's protocol part. It is fed
// bytes as they come; packets that decide nothing are passed over by length.
type response struct {
	capabilities uint64 // of the session
	phase        phase
	left         uint64 // definitions still to come
	skip         int    // payload bytes of the current packet still to pass
	continued    bool   // the next packet continues a payload of 2^24-1 bytes
	cursor       bool   // a cursor was asked for
	infile       bool   // the server waits for a local file
	outParams    bool   // the result is the OUT parameters of a procedure: more follow
	status       uint16 // of the latest OK or EOF
	failed       bool   // an ERR packet ended it
	code         uint16 // the number in it
	fails        int    // error packets of the answers that were passed on to the command under way
	malformed    bool   // the next packet is none that may come there: nothing more is read
	sequence     byte   // of the latest packet
	rows         uint64 // that came
	insertID     uint64 // of the latest OK
}

// Capabilities that go-mysql does not name, in 64 bits: MariaDB's extended ones
// are the upper half ("Connection" page of its documentation).
const (
	clientProgress         = 1 << 32 // reports of progress may come before an answer
	clientBulkOperations   = 1 << 34 // COM_STMT_BULK_EXECUTE
	clientExtendedMetadata = 1 << 35 // definitions tell of further type names
	clientCacheMetadata    = 1 << 36 // definitions that the client knows are left out
)

// countsTell are the capabilities with which a byte behind the number of columns
// says whether their definitions follow.
const countsTell = uint64(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA) | clientCacheMetadata

// definitionsFollow is that byte's value; 0 says that they are left out.
const definitionsFollow = 1

func (p *response) has(capability uint64) bool { return p.capabilities&capability != 0 }

func (p *response) deprecateEOF() bool { return p.has(uint64(mysql.CLIENT_DEPRECATE_EOF)) }

// maxColumns bounds the columns of a result. A table has 4096 at most, a SELECT as many as fit in its text.
const maxColumns = 1<<32 - 1

// statusOutParams is SERVER_PS_OUT_PARAMS, which go-mysql names otherwise.
const statusOutParams = 0x1000

// prefix is how much of a deciding packet must be seen: type, two
// length-encoded numbers, status and warnings.
const prefix = 24

func (p *response) start(s shape, capabilities uint64) {
	*p = response{capabilities: capabilities, status: p.status, rows: p.rows, fails: p.fails}
	switch s {
	case shapeNone:
		p.phase = phaseDone
	case shapeSingle:
		p.phase = phaseSingle
	case shapeRows:
		p.phase = phaseRows
	case shapePrepare:
		p.phase = phasePrepare
	case shapeFieldList:
		p.phase = phaseFieldList
	case shapeStream:
		p.phase = phaseStream
	default:
		p.phase, p.cursor = phaseFirst, s == shapeCursor
	}
}

// done reports that the answer is complete.
func (p *response) done() bool { return p.phase == phaseDone && p.skip == 0 && !p.continued }

// scan goes over b and gives how many of its bytes belong to the answer and
// may be passed on. It stops at the end of the answer, at a request for a local
// file, before a packet whose beginning is not there yet, and before a malformed one.
func (p *response) scan(b []byte) int {
	n := 0
	for {
		if p.skip > 0 {
			m := min(p.skip, len(b)-n)
			n += m
			if p.skip -= m; p.skip > 0 {
				return n
			}
		}
		if p.done() || p.infile || p.malformed || len(b)-n < headerSize {
			return n
		}
		h := b[n:]
		length := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		if !p.continued && !p.judge(h[headerSize:], length) {
			return n
		}
		p.sequence = h[3]
		p.continued = length == maxPayload
		p.skip = length
		n += headerSize
	}
}

// judge moves on by one packet of the given length, of whose payload b is what
// has come so far. It reports false when too little has come, or what may not come.
func (p *response) judge(b []byte, length int) bool {
	switch p.phase {
	case phaseColumns:
		if p.left--; p.left == 0 {
			p.endOfColumns()
		}
		return true
	case phaseDefinitions:
		if p.left--; p.left == 0 {
			p.phase = phaseDone
		}
		return true
	case phaseRows:
		return p.judgeRow(b, length)
	case phaseStream:
		return p.judgeEvent(b, length)
	}
	if len(b) < min(length, prefix) {
		return false
	}
	b = b[:min(length, len(b))]
	switch {
	case first(b) != mysql.ERR_HEADER:
		p.malformed = !p.judgeControl(b)
	case !p.reportsProgress(b):
		p.fail(b)
	}
	return !p.malformed
}

// judgeControl judges a packet that is neither a definition nor a row nor an
// error. It reports false when it may not come here.
func (p *response) judgeControl(b []byte) bool {
	switch p.phase {
	case phaseFirst:
		return p.judgeFirst(b)
	case phaseColumnEOF:
		return p.judgeColumnEOF(b)
	case phasePrepare:
		return p.judgePrepare(b)
	case phaseFieldList:
		if first(b) == mysql.EOF_HEADER {
			p.phase = phaseDone
		}
	case phaseSingle:
		if first(b) == mysql.OK_HEADER && !p.okStatus(b) {
			return false
		}
		p.phase = phaseDone
	}
	return true
}

// fail ends the answer with the ERR packet that begins with b.
func (p *response) fail(b []byte) {
	p.phase, p.failed, p.code = phaseDone, true, 0
	p.fails++
	if len(b) >= 3 {
		p.code = binary.LittleEndian.Uint16(b[1:])
	}
}

// reportsProgress tells a report of progress from an error: it has the number
// 65535 too, but no SQLSTATE. The answer goes on behind it.
func (p *response) reportsProgress(b []byte) bool {
	return p.has(clientProgress) && len(b) > 3 && b[1] == 0xff && b[2] == 0xff && b[3] != '#'
}

// judgeRow tells a row from what ends the rows. A row may begin with 0xfe too,
// when its first column has 2^24 bytes or more: the packet's own length decides.
func (p *response) judgeRow(b []byte, length int) bool {
	if length > 0 && len(b) == 0 {
		return false
	}
	switch c := first(b); {
	case length == 0 || c != mysql.EOF_HEADER && c != mysql.ERR_HEADER:
		p.rows++
		return true
	case len(b) < min(length, prefix):
		return false
	case c == mysql.ERR_HEADER:
		if b = b[:min(length, len(b))]; !p.reportsProgress(b) {
			p.fail(b)
		}
		return true
	case p.deprecateEOF() && length < maxPayload:
		p.malformed = !p.okStatus(b[:min(length, len(b))])
	case !p.deprecateEOF() && length < 9:
		p.malformed = !p.eofStatus(b[:min(length, len(b))])
	default:
		return true
	}
	if !p.malformed {
		p.endOfResult()
	}
	return !p.malformed
}

func (p *response) judgeFirst(b []byte) bool {
	switch first(b) {
	case mysql.OK_HEADER:
		if !p.okStatus(b) {
			return false
		}
		p.endOfResult()
		return true
	case mysql.LocalInFile_HEADER:
		p.infile = true
		return true
	}
	count, _, size := lengthEncoded(b)
	if size == 0 || count == 0 || count > maxColumns {
		return false
	}
	p.left, p.phase = count, phaseColumns
	if p.has(countsTell) {
		if len(b) == size {
			return false
		}
		if b[size] != definitionsFollow {
			p.endOfColumns()
		}
	}
	return true
}

// judgeEvent tells an event, which begins with 0, from what ends a stream.
func (p *response) judgeEvent(b []byte, length int) bool {
	if length > 0 && len(b) == 0 {
		return false
	}
	if c := first(b); length > 0 && (c == mysql.EOF_HEADER || c == mysql.ERR_HEADER) {
		p.phase, p.failed = phaseDone, c == mysql.ERR_HEADER
	}
	return true
}

// endOfColumns goes on behind the definitions, or where they would stand: the EOF
// comes also when they are left out.
func (p *response) endOfColumns() {
	p.left, p.phase = 0, phaseRows
	if !p.deprecateEOF() {
		p.phase = phaseColumnEOF
	}
}

func (p *response) judgeColumnEOF(b []byte) bool {
	if first(b) == mysql.OK_HEADER {
		// So MySQL ends an execution without a cursor of a statement whose cursor is
		// open still.
		if !p.okStatus(b) {
			return false
		}
		p.endOfResult()
		return true
	}
	if first(b) != mysql.EOF_HEADER || !p.eofStatus(b) {
		return false
	}
	p.phase = phaseRows
	// MySQL tells here, and not in the EOF of the rows, that an OK follows.
	p.outParams = p.status&statusOutParams != 0 && p.status&mysql.SERVER_MORE_RESULTS_EXISTS != 0
	// MariaDB tells of the cursors within a procedure too, which nobody fetches from.
	if p.cursor && p.status&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 {
		p.phase = phaseDone
	}
	return true
}

// judgePrepare counts what follows a COM_STMT_PREPARE_OK. Its last byte says, with
// OPTIONAL_RESULTSET_METADATA, whether that is definitions; an EOF comes in any case.
func (p *response) judgePrepare(b []byte) bool {
	const metadataFollows = 12
	if first(b) != mysql.OK_HEADER || len(b) < 9 {
		return false
	}
	definitions := true
	if p.has(uint64(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA)) {
		if len(b) <= metadataFollows {
			return false
		}
		definitions = b[metadataFollows] == definitionsFollow
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
	p.phase = phaseDone
	if p.left > 0 {
		p.phase = phaseDefinitions
	}
	return true
}

func (p *response) endOfResult() {
	p.phase = phaseDone
	if p.status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 || p.outParams {
		p.phase = phaseFirst
	}
	p.outParams = false
}

// okStatus reads the status of an OK packet, also of one that stands for EOF.
func (p *response) okStatus(b []byte) bool {
	ok, valid := parseOK(b)
	if valid {
		p.status, p.insertID = ok.status, ok.insertID
	}
	return valid
}

func (p *response) eofStatus(b []byte) bool {
	if len(b) < 5 {
		return false
	}
	p.status = binary.LittleEndian.Uint16(b[3:])
	return true
}

func first(b []byte) byte {
	if len(b) == 0 {
		return 0x01 // no packet that decides anything begins with it
	}
	return b[0]
}

// okPacket is the fixed part of an OK packet.
type okPacket struct {
	affectedRows, insertID uint64
	status, warnings       uint16
	rest                   []byte // info and session state, as they came
}

// parseOK reads the payload of an OK packet.
func parseOK(b []byte) (ok okPacket, valid bool) {
	if len(b) < 1 {
		return ok, false
	}
	b = b[1:]
	var size int
	if ok.affectedRows, _, size = lengthEncoded(b); size == 0 {
		return ok, false
	}
	b = b[size:]
	if ok.insertID, _, size = lengthEncoded(b); size == 0 || len(b) < size+4 {
		return ok, false
	}
	b = b[size:]
	ok.status = binary.LittleEndian.Uint16(b)
	ok.warnings = binary.LittleEndian.Uint16(b[2:])
	ok.rest = b[4:]
	return ok, true
}

// append appends the packet's payload to dst.
func (ok okPacket) append(dst []byte) []byte {
	dst = append(dst, mysql.OK_HEADER)
	dst = mysql.AppendLengthEncodedInteger(dst, ok.affectedRows)
	dst = mysql.AppendLengthEncodedInteger(dst, ok.insertID)
	dst = binary.LittleEndian.AppendUint16(dst, ok.status)
	dst = binary.LittleEndian.AppendUint16(dst, ok.warnings)
	return append(dst, ok.rest...)
}

// lengthEncoded reads a length-encoded number; size is 0 when b is too short, or does
// not begin with one.
func lengthEncoded(b []byte) (n uint64, null bool, size int) {
	if len(b) == 0 {
		return 0, false, 0
	}
	width := 1
	switch b[0] {
	case 0xfc:
		width = 3
	case 0xfd:
		width = 4
	case 0xfe:
		width = 9
	case 0xff:
		return 0, false, 0
	}
	if width > len(b) {
		return 0, false, 0
	}
	return mysql.LengthEncodedInt(b)
}
