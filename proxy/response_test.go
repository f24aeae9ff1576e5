package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
)

// packets joins payloads into packets numbered from 1.
func packets(payloads ...string) []byte {
	var b []byte
	sequence := byte(1)
	for _, p := range payloads {
		b, sequence = appendPacket(b, sequence, []byte(p))
	}
	return b
}

const (
	okEnd      = "\x00\x01\x02\x02\x00\x00\x00"         // affected 1, insert id 2, autocommit
	okMore     = "\x00\x01\x02\x0a\x00\x00\x00"         // ... and more results
	okAsEOF    = "\xfe\x00\x00\x22\x00\x00\x00"         // ends rows with DEPRECATE_EOF
	okAsEOFMor = "\xfe\x00\x00\x0a\x00\x00\x00"         // ... and more results
	eof        = "\xfe\x00\x00\x02\x00"                 //
	eofMore    = "\xfe\x00\x00\x0a\x00"                 //
	eofCursor  = "\xfe\x00\x00\x42\x00"                 // a cursor is open
	eofOut     = "\xfe\x00\x00\x0a\x10"                 // OUT parameters, and more results
	errPacket  = "\xff\x26\x04#23000Duplicate entry"    // 1062
	definition = "\x03def\x00\x00\x00\x01a\x00\x0c\x3f" // cut short: nothing in it is looked at
	row        = "\x01x"
	nullRow    = "\xfb"
	prepareOK  = "\x00\x01\x00\x00\x00\x02\x00\x03\x00\x00\x00\x00" // 2 columns, 3 parameters
	prepareNo  = "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	eofDone    = "\xfe\x00\x00\x82\x00"                                      // a cursor's last rows were sent
	okCursor   = "\xfe\x00\x00\x42\x00\x00\x00"                              // a cursor is open, with DEPRECATE_EOF
	okOut      = "\xfe\x00\x00\x0a\x10\x00\x00"                              // OUT parameters, with DEPRECATE_EOF
	okTrack    = "\x00\x00\x00\x02\x40\x00\x00\x00\x06\x01\x04\x03\x00\x01a" // session state changed
	report     = "\xff\xff\xff\x01\x02\x02\x00\x00\x00\x0fEnd bulk insert"   // of progress, as MariaDB 10.11 sends it
	err65535   = "\xff\xff\xff#45000own number"                              // SIGNAL may give this number
)

// Capabilities of sessions: what ends results, and what else changes answers.
const (
	noFlags   = 0
	newEOF    = uint64(mysql.CLIENT_DEPRECATE_EOF)
	optional  = uint64(mysql.CLIENT_OPTIONAL_RESULTSET_METADATA)
	cached    = clientCacheMetadata
	progress  = clientProgress
	everyFlag = newEOF | optional | cached | progress
)

// responseEnds are whole answers.
var responseEnds = []struct {
	name         string
	shape        shape
	capabilities uint64
	payloads     []string
	failed       bool
}{
	{"ok", shapeResults, newEOF, []string{okEnd}, false},
	{"error", shapeResults, newEOF, []string{errPacket}, true},
	{"two oks", shapeResults, newEOF, []string{okMore, okEnd}, false},
	{"ok then error", shapeResults, newEOF, []string{okMore, errPacket}, true},
	{"rows", shapeResults, newEOF, []string{"\x01", definition, row, nullRow, okAsEOF}, false},
	{"rows, old EOF", shapeResults, noFlags, []string{"\x01", definition, eof, row, nullRow, eof}, false},
	{"two results", shapeResults, newEOF, []string{"\x01", definition, row, okAsEOFMor, "\x01", definition, okAsEOF}, false},
	{"two results, old EOF", shapeResults, noFlags, []string{"\x01", definition, eof, eofMore, okEnd}, false},
	{"error in rows", shapeResults, newEOF, []string{"\x01", definition, row, errPacket}, true},
	{"cursor, old EOF", shapeCursor, noFlags, []string{"\x02", definition, definition, eofCursor}, false},
	{"a procedure's own cursor", shapeResults, noFlags, []string{"\x01", definition, eofCursor, row, eof}, false},
	{"OUT parameters, old EOF", shapeResults, noFlags, []string{"\x01", definition, eofOut, row, eof, okEnd}, false},
	{"an empty first column", shapeResults, newEOF, []string{"\x01", definition, "\x00", okAsEOF}, false},
	{"fetch", shapeRows, newEOF, []string{row, row, okAsEOF}, false},
	{"fetch, old EOF", shapeRows, noFlags, []string{row, eof}, false},
	{"prepare", shapePrepare, newEOF, []string{prepareOK, "a", "b", "c", "d", "e"}, false},
	{"prepare, old EOF", shapePrepare, noFlags, []string{prepareOK, "a", "b", "c", eof, "d", "e", eof}, false},
	{"prepare without anything", shapePrepare, noFlags, []string{prepareNo}, false},
	{"prepare refused", shapePrepare, newEOF, []string{errPacket}, true},
	{"field list", shapeFieldList, noFlags, []string{definition, definition, eof}, false},
	{"statistics", shapeSingle, newEOF, []string{"Uptime: 1"}, false},
	{"ping", shapeSingle, newEOF, []string{okEnd}, false},
	{"nothing", shapeNone, newEOF, nil, false},
	{"session state", shapeResults, newEOF, []string{okTrack}, false},
	{"OUT parameters", shapeResults, newEOF, []string{"\x01", definition, row, okOut, okEnd}, false},
	{"cursor", shapeResults, newEOF, []string{"\x01", definition, okCursor}, false},
	{"opening a cursor failed, old EOF", shapeResults, noFlags, []string{"\x01", definition, errPacket}, true},
	{"execution over an open cursor, old EOF", shapeResults, noFlags, []string{"\x01", definition, okEnd}, false},
	{"the last of a cursor, old EOF", shapeRows, noFlags, []string{row, eofDone}, false},
	{"fetch failed", shapeRows, noFlags, []string{row, errPacket}, true},
	{"field list failed", shapeFieldList, newEOF, []string{errPacket}, true},
	{"definitions, optional", shapeResults, newEOF | optional, []string{"\x01\x01", definition, row, okAsEOF}, false},
	{"no definitions", shapeResults, newEOF | optional, []string{"\x02\x00", row, okAsEOF}, false},
	{"no definitions, old EOF", shapeResults, optional, []string{"\x02\x00", eof, row, eof}, false},
	{"no definitions, 300 columns", shapeResults, newEOF | optional, []string{"\xfc\x2c\x01\x00", row, okAsEOF}, false},
	{"no definitions, two results", shapeResults, optional, []string{"\x02\x00", eofMore, row, eofMore, okMore, "\x01\x00", eof, eof}, false},
	{"no definitions, cursor, old EOF", shapeCursor, optional, []string{"\x02\x00", eofCursor}, false},
	{"no definitions, OUT parameters, old EOF", shapeResults, optional, []string{"\x01\x00", eofOut, row, eof, okEnd}, false},
	{"known definitions", shapeResults, newEOF | cached, []string{"\x02\x00", row, okAsEOF}, false},
	{"known definitions, old EOF", shapeResults, cached, []string{"\x02\x00", eof, row, eof}, false},
	{"definitions, cached", shapeResults, cached, []string{"\x01\x01", definition, eof, row, eof}, false},
	{"prepare, optional", shapePrepare, newEOF | optional, []string{prepareOK + "\x01", "a", "b", "c", "d", "e"}, false},
	{"prepare without definitions", shapePrepare, newEOF | optional, []string{prepareOK + "\x00"}, false},
	{"prepare without definitions, old EOF", shapePrepare, optional, []string{prepareOK + "\x00", eof, eof}, false},
	{"prepare, cached", shapePrepare, newEOF | cached, []string{prepareOK, "a", "b", "c", "d", "e"}, false},
	{"progress", shapeResults, newEOF | progress, []string{report, report, okEnd}, false},
	{"progress, then an error", shapeResults, progress, []string{report, errPacket}, true},
	{"progress between rows", shapeResults, newEOF | progress, []string{"\x01", definition, row, report, row, report, okAsEOF}, false},
	{"progress between rows, old EOF", shapeResults, progress, []string{"\x01", definition, report, eof, row, report, eof}, false},
	{"progress before one packet", shapeSingle, newEOF | progress, []string{report, okEnd}, false},
	{"error 65535", shapeResults, progress, []string{err65535}, true},
	{"error 65535 in rows", shapeResults, newEOF | progress, []string{"\x01", definition, row, err65535}, true},
	{"error 65535, progress not agreed on", shapeResults, newEOF, []string{report}, true},
}

func TestResponseEnds(t *testing.T) {
	for _, tt := range responseEnds {
		t.Run(tt.name, func(t *testing.T) {
			answer := packets(tt.payloads...)
			next := packets(okEnd) // belongs to the next command
			for size := 1; size <= len(answer)+1; size++ {
				var p response
				p.start(tt.shape, tt.capabilities)
				got := feed(t, &p, append(bytes.Clone(answer), next...), size)
				if got != len(answer) {
					t.Fatalf("in chunks of %d: answer ends after %d bytes, want %d", size, got, len(answer))
				}
				if p.failed != tt.failed {
					t.Errorf("failed = %v, want %v", p.failed, tt.failed)
				}
			}
		})
	}
}

// feed gives b to p in chunks, as they would be read, and counts what p takes
// until it is done.
func feed(t *testing.T, p *response, b []byte, size int) int {
	t.Helper()
	taken, read := 0, 0
	for !p.done() && taken < len(b) {
		if read == len(b) {
			t.Fatalf("nothing left to read after %d bytes, and the answer is not complete", taken)
		}
		read = min(read+size, len(b))
		taken += p.scan(b[taken:read])
	}
	return taken
}

// A row whose first column has 2^24 bytes or more begins with 0xfe and must not
// be taken for the end of the rows; nor may the packet that continues it.
func TestResponseLongRow(t *testing.T) {
	long := append([]byte{0xfe}, make([]byte, 1<<24+100)...)
	long[maxPayload] = mysql.EOF_HEADER // begins the packet that continues it
	answer := packets("\x01", definition)
	answer, _ = appendPacket(answer, 3, long)
	answer = append(answer, packets(row, okAsEOF)...)
	var p response
	p.start(shapeResults, newEOF)
	if got := feed(t, &p, answer, 1<<20); got != len(answer) {
		t.Errorf("answer ends after %d bytes, want %d", got, len(answer))
	}
}

func TestResponseLocalFile(t *testing.T) {
	answer := packets("\xfb/tmp/file")
	var p response
	p.start(shapeResults, newEOF)
	n := p.scan(answer)
	n += p.scan(answer[n:])
	if !p.infile || n != len(answer) {
		t.Fatalf("infile = %v after %d bytes, want true after %d", p.infile, n, len(answer))
	}
	p.infile = false
	if got := feed(t, &p, packets(okEnd), 100); got != headerSize+len(okEnd) {
		t.Errorf("the answer after the file ends after %d bytes", got)
	}
}

func TestOKPacketRoundTrip(t *testing.T) {
	want := okPacket{affectedRows: 3, insertID: 1 << 40, status: 0x4002, warnings: 7, rest: []byte("\x00\x03abc")}
	got, valid := parseOK(want.append(nil))
	if !valid || got.affectedRows != want.affectedRows || got.insertID != want.insertID ||
		got.status != want.status || got.warnings != want.warnings || !bytes.Equal(got.rest, want.rest) {
		t.Errorf("got %+v (%v), want %+v", got, valid, want)
	}
}

// What the protocol does not allow is passed on no further: nobody knows where
// such an answer ends.
func TestResponseMalformed(t *testing.T) {
	tests := []struct {
		name         string
		shape        shape
		capabilities uint64
		good         []string
		bad          string
	}{
		{"empty packet", shapeResults, newEOF, nil, ""},
		{"OK cut", shapeResults, newEOF, []string{okMore}, "\x00\x01\x02\x02"},
		{"no columns", shapeResults, newEOF, nil, "\xfc\x00\x00"},
		{"too many columns", shapeResults, newEOF, nil, "\xfe\x00\x00\x00\x00\x01\x00\x00\x00"},
		{"columns cut", shapeResults, newEOF, nil, "\xfc\x01"},
		{"no word of definitions", shapeResults, newEOF | optional, nil, "\x01"},
		{"no EOF behind definitions", shapeResults, noFlags, []string{"\x01", definition}, row},
		{"EOF cut", shapeResults, noFlags, []string{"\x01", definition, eof, row}, "\xfe\x00\x00"},
		{"OK that stands for EOF cut", shapeResults, newEOF, []string{"\x01", definition, row}, "\xfe\x00\x00"},
		{"prepared cut", shapePrepare, newEOF, nil, prepareOK[:8]},
		{"prepared without a word of definitions", shapePrepare, newEOF | optional, nil, prepareOK},
		{"prepared with rows", shapePrepare, newEOF, nil, "\x01"},
		{"one packet, cut", shapeSingle, newEOF, nil, "\x00\x01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := packets(tt.good...)
			answer, _ := appendPacket(bytes.Clone(good), byte(len(tt.good)+1), []byte(tt.bad))
			answer = append(answer, packets(okEnd)...)
			var p response
			p.start(tt.shape, tt.capabilities)
			if got := p.scan(answer); got != len(good) || !p.malformed || p.done() {
				t.Errorf("passed on %d bytes, malformed = %v, done = %v; want %d, true, false", got, p.malformed, p.done(), len(good))
			}
		})
	}
}

// between gives a session between a client and a server that has sent an answer.
// received closes the session, and gives what the client got.
func between(t *testing.T, capabilities uint64, answer []byte) (s *session, received func() []byte) {
	t.Helper()
	front, client := net.Pipe()
	back, server := net.Pipe()
	var all []byte
	var both sync.WaitGroup
	both.Go(func() { all, _ = io.ReadAll(client) })
	both.Go(func() { _, _ = server.Write(answer) }) // the session may end before all was read
	main := &Keyspace{Name: "main"}
	srv := &Server{cfg: Config{Users: []User{}}, pools: map[*Keyspace]*backend.Pool{main: {}}}
	s = newSession(&clientConn{srv: srv, front: newWire(front), out: sender{sequence: 1}},
		&serverConn{srv: srv, keyspace: main, back: newWire(back), capabilities: capabilities})
	return s, func() []byte {
		_, _ = s.front.Close(), s.back.Close()
		both.Wait()
		return all
	}
}

// A malformed answer is told as such to a listed user where the first packet is
// awaited, and cuts the connection where it is not: an error would be read as a row.
func TestMalformedAnswerEndsTheSession(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer []byte
		want   []byte
	}{
		{"first packet", packets(""), packets("\xff\x2b\x07#08S01" + errMalformedAnswer.Message)},
		{"in the rows", packets("\x01", definition, row, "\xfe\x00"), packets("\x01", definition, row)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, received := between(t, newEOF, tt.answer)
			err := s.relay(shapeResults)
			if !errors.Is(err, errMalformedAnswer) {
				t.Fatalf("relay: %v, want %v", err, errMalformedAnswer)
			}
			if s.report(err) == nil {
				t.Error("the session goes on")
			}
			if got := received(); !bytes.Equal(got, tt.want) {
				t.Errorf("the client got %q, want %q", got, tt.want)
			}
		})
	}
}

// Reports of progress before the OK of an INSERT that seqgate filled go to the
// client, and the OK is the one that is read.
func TestProgressOfAFilledInsert(t *testing.T) {
	s, received := between(t, newEOF|progress, packets(report, report, okEnd))
	ok, err := s.answerOK()
	if err != nil || ok.insertID != 2 {
		t.Fatalf("OK with insert id %d (%v), want 2", ok.insertID, err)
	}
	if err := s.replyOK(ok); err != nil {
		t.Fatal(err)
	}
	if got, want := received(), packets(report, report, okEnd); !bytes.Equal(got, want) {
		t.Errorf("the client got %q, want %q", got, want)
	}
}

// Whatever a server sends, in whatever chunks: what is passed on is what came, and
// the chunks change nothing.
func FuzzResponse(f *testing.F) {
	bits := []uint64{newEOF, optional, cached, progress}
	for i, tt := range responseEnds {
		flags := uint8(0)
		for bit, flag := range bits {
			if tt.capabilities&flag != 0 {
				flags |= 1 << bit
			}
		}
		f.Add(packets(tt.payloads...), uint8(tt.shape), flags, uint8(i))
	}
	f.Add(packets(prepareOK, "a", eof), uint8(shapePrepare), uint8(0), uint8(1))
	f.Add(packets(prepareOK+"\x00", eof, eof), uint8(shapePrepare), uint8(2), uint8(1))
	f.Add(packets(report, "\x02\x00", row, okOut, okEnd), uint8(shapeResults), uint8(13), uint8(3))
	f.Add(packets("\x01\x01", definition, eofOut, row, eof, errPacket), uint8(shapeResults), uint8(6), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, s, flags, chunk uint8) {
		capabilities := uint64(0)
		for i, flag := range bits {
			if flags>>i&1 == 1 {
				capabilities |= flag
			}
		}
		as := shape(s) % (shapeStream + 1)
		whole, wholeTaken := scanAll(t, b, as, capabilities, len(b))
		parts, partsTaken := scanAll(t, b, as, capabilities, 1+int(chunk))
		if whole != parts || wholeTaken != partsTaken {
			t.Errorf("whole: %+v after %d bytes; in chunks: %+v after %d", whole, wholeTaken, parts, partsTaken)
		}
		_, _ = scanAll(t, b, as, everyFlag, 3)
	})
}

// scanAll feeds b to a response in chunks, as relayRest does.
func scanAll(t *testing.T, b []byte, as shape, capabilities uint64, size int) (p response, taken int) {
	t.Helper()
	p.start(as, capabilities)
	for read := 0; ; {
		n := p.scan(b[taken:read])
		if n < 0 || taken+n > read || p.malformed && p.done() {
			t.Fatalf("took %d bytes of %d", n, read-taken)
		}
		taken += n
		switch {
		case p.infile && p.skip == 0:
			p.infile = false
		case p.done(), p.malformed, read == len(b):
			return p, taken
		default:
			read = min(read+size, len(b))
		}
	}
}
