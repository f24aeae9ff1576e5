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
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// packets joins payloads into packets numbered from 1.
func packets(payloads ...string) []byte {
	var b []byte
	sequence := byte(1)
	for _, p := range payloads {
		b, sequence = wire.AppendPacket(b, sequence, []byte(p))
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
	cached    = wire.ClientCacheMetadata
	progress  = wire.ClientProgress
	everyFlag = newEOF | optional | cached | progress
)

// responseEnds are whole answers.
var responseEnds = []struct {
	name         string
	shape        wire.Shape
	capabilities uint64
	payloads     []string
	failed       bool
}{
	{"ok", wire.ShapeResults, newEOF, []string{okEnd}, false},
	{"error", wire.ShapeResults, newEOF, []string{errPacket}, true},
	{"two oks", wire.ShapeResults, newEOF, []string{okMore, okEnd}, false},
	{"ok then error", wire.ShapeResults, newEOF, []string{okMore, errPacket}, true},
	{"rows", wire.ShapeResults, newEOF, []string{"\x01", definition, row, nullRow, okAsEOF}, false},
	{"rows, old EOF", wire.ShapeResults, noFlags, []string{"\x01", definition, eof, row, nullRow, eof}, false},
	{"two results", wire.ShapeResults, newEOF, []string{"\x01", definition, row, okAsEOFMor, "\x01", definition, okAsEOF}, false},
	{"two results, old EOF", wire.ShapeResults, noFlags, []string{"\x01", definition, eof, eofMore, okEnd}, false},
	{"error in rows", wire.ShapeResults, newEOF, []string{"\x01", definition, row, errPacket}, true},
	{"cursor, old EOF", wire.ShapeCursor, noFlags, []string{"\x02", definition, definition, eofCursor}, false},
	{"a procedure's own cursor", wire.ShapeResults, noFlags, []string{"\x01", definition, eofCursor, row, eof}, false},
	{"OUT parameters, old EOF", wire.ShapeResults, noFlags, []string{"\x01", definition, eofOut, row, eof, okEnd}, false},
	{"an empty first column", wire.ShapeResults, newEOF, []string{"\x01", definition, "\x00", okAsEOF}, false},
	{"fetch", wire.ShapeRows, newEOF, []string{row, row, okAsEOF}, false},
	{"fetch, old EOF", wire.ShapeRows, noFlags, []string{row, eof}, false},
	{"prepare", wire.ShapePrepare, newEOF, []string{prepareOK, "a", "b", "c", "d", "e"}, false},
	{"prepare, old EOF", wire.ShapePrepare, noFlags, []string{prepareOK, "a", "b", "c", eof, "d", "e", eof}, false},
	{"prepare without anything", wire.ShapePrepare, noFlags, []string{prepareNo}, false},
	{"prepare refused", wire.ShapePrepare, newEOF, []string{errPacket}, true},
	{"field list", wire.ShapeFieldList, noFlags, []string{definition, definition, eof}, false},
	{"statistics", wire.ShapeSingle, newEOF, []string{"Uptime: 1"}, false},
	{"ping", wire.ShapeSingle, newEOF, []string{okEnd}, false},
	{"nothing", wire.ShapeNone, newEOF, nil, false},
	{"session state", wire.ShapeResults, newEOF, []string{okTrack}, false},
	{"OUT parameters", wire.ShapeResults, newEOF, []string{"\x01", definition, row, okOut, okEnd}, false},
	{"cursor", wire.ShapeResults, newEOF, []string{"\x01", definition, okCursor}, false},
	{"opening a cursor failed, old EOF", wire.ShapeResults, noFlags, []string{"\x01", definition, errPacket}, true},
	{"execution over an open cursor, old EOF", wire.ShapeResults, noFlags, []string{"\x01", definition, okEnd}, false},
	{"the last of a cursor, old EOF", wire.ShapeRows, noFlags, []string{row, eofDone}, false},
	{"fetch failed", wire.ShapeRows, noFlags, []string{row, errPacket}, true},
	{"field list failed", wire.ShapeFieldList, newEOF, []string{errPacket}, true},
	{"definitions, optional", wire.ShapeResults, newEOF | optional, []string{"\x01\x01", definition, row, okAsEOF}, false},
	{"no definitions", wire.ShapeResults, newEOF | optional, []string{"\x02\x00", row, okAsEOF}, false},
	{"no definitions, old EOF", wire.ShapeResults, optional, []string{"\x02\x00", eof, row, eof}, false},
	{"no definitions, 300 columns", wire.ShapeResults, newEOF | optional, []string{"\xfc\x2c\x01\x00", row, okAsEOF}, false},
	{"no definitions, two results", wire.ShapeResults, optional, []string{"\x02\x00", eofMore, row, eofMore, okMore, "\x01\x00", eof, eof}, false},
	{"no definitions, cursor, old EOF", wire.ShapeCursor, optional, []string{"\x02\x00", eofCursor}, false},
	{"no definitions, OUT parameters, old EOF", wire.ShapeResults, optional, []string{"\x01\x00", eofOut, row, eof, okEnd}, false},
	{"known definitions", wire.ShapeResults, newEOF | cached, []string{"\x02\x00", row, okAsEOF}, false},
	{"known definitions, old EOF", wire.ShapeResults, cached, []string{"\x02\x00", eof, row, eof}, false},
	{"definitions, cached", wire.ShapeResults, cached, []string{"\x01\x01", definition, eof, row, eof}, false},
	{"prepare, optional", wire.ShapePrepare, newEOF | optional, []string{prepareOK + "\x01", "a", "b", "c", "d", "e"}, false},
	{"prepare without definitions", wire.ShapePrepare, newEOF | optional, []string{prepareOK + "\x00"}, false},
	{"prepare without definitions, old EOF", wire.ShapePrepare, optional, []string{prepareOK + "\x00", eof, eof}, false},
	{"prepare, cached", wire.ShapePrepare, newEOF | cached, []string{prepareOK, "a", "b", "c", "d", "e"}, false},
	{"progress", wire.ShapeResults, newEOF | progress, []string{report, report, okEnd}, false},
	{"progress, then an error", wire.ShapeResults, progress, []string{report, errPacket}, true},
	{"progress between rows", wire.ShapeResults, newEOF | progress, []string{"\x01", definition, row, report, row, report, okAsEOF}, false},
	{"progress between rows, old EOF", wire.ShapeResults, progress, []string{"\x01", definition, report, eof, row, report, eof}, false},
	{"progress before one packet", wire.ShapeSingle, newEOF | progress, []string{report, okEnd}, false},
	{"error 65535", wire.ShapeResults, progress, []string{err65535}, true},
	{"error 65535 in rows", wire.ShapeResults, newEOF | progress, []string{"\x01", definition, row, err65535}, true},
	{"error 65535, progress not agreed on", wire.ShapeResults, newEOF, []string{report}, true},
}

func TestResponseEnds(t *testing.T) {
	for _, tt := range responseEnds {
		t.Run(tt.name, func(t *testing.T) {
			answer := packets(tt.payloads...)
			next := packets(okEnd) // belongs to the next command
			for size := 1; size <= len(answer)+1; size++ {
				var p wire.Answer
				p.Start(tt.shape, tt.capabilities)
				got := feed(t, &p, append(bytes.Clone(answer), next...), size)
				if got != len(answer) {
					t.Fatalf("in chunks of %d: answer ends after %d bytes, want %d", size, got, len(answer))
				}
				if p.Failed != tt.failed {
					t.Errorf("failed = %v, want %v", p.Failed, tt.failed)
				}
			}
		})
	}
}

// feed gives b to p in chunks, as they would be read, and counts what p takes
// until it is done.
func feed(t *testing.T, p *wire.Answer, b []byte, size int) int {
	t.Helper()
	taken, read := 0, 0
	for !p.Done() && taken < len(b) {
		if read == len(b) {
			t.Fatalf("nothing left to read after %d bytes, and the answer is not complete", taken)
		}
		read = min(read+size, len(b))
		taken += p.Scan(b[taken:read])
	}
	return taken
}

// A row whose first column has 2^24 bytes or more begins with 0xfe and must not
// be taken for the end of the rows; nor may the packet that continues it.
func TestResponseLongRow(t *testing.T) {
	long := append([]byte{0xfe}, make([]byte, 1<<24+100)...)
	long[wire.MaxPayload] = mysql.EOF_HEADER // begins the packet that continues it
	answer := packets("\x01", definition)
	answer, _ = wire.AppendPacket(answer, 3, long)
	answer = append(answer, packets(row, okAsEOF)...)
	var p wire.Answer
	p.Start(wire.ShapeResults, newEOF)
	if got := feed(t, &p, answer, 1<<20); got != len(answer) {
		t.Errorf("answer ends after %d bytes, want %d", got, len(answer))
	}
}

func TestResponseLocalFile(t *testing.T) {
	answer := packets("\xfb/tmp/file")
	var p wire.Answer
	p.Start(wire.ShapeResults, newEOF)
	n := p.Scan(answer)
	n += p.Scan(answer[n:])
	if !p.InFile || n != len(answer) {
		t.Fatalf("infile = %v after %d bytes, want true after %d", p.InFile, n, len(answer))
	}
	p.InFile = false
	if got := feed(t, &p, packets(okEnd), 100); got != wire.HeaderSize+len(okEnd) {
		t.Errorf("the answer after the file ends after %d bytes", got)
	}
}

func TestOKPacketRoundTrip(t *testing.T) {
	want := wire.OK{AffectedRows: 3, InsertID: 1 << 40, Status: 0x4002, Warnings: 7, Rest: []byte("\x00\x03abc")}
	got, valid := wire.ParseOK(want.Append(nil))
	if !valid || got.AffectedRows != want.AffectedRows || got.InsertID != want.InsertID ||
		got.Status != want.Status || got.Warnings != want.Warnings || !bytes.Equal(got.Rest, want.Rest) {
		t.Errorf("got %+v (%v), want %+v", got, valid, want)
	}
}

// What the protocol does not allow is passed on no further: nobody knows where
// such an answer ends.
func TestResponseMalformed(t *testing.T) {
	tests := []struct {
		name         string
		shape        wire.Shape
		capabilities uint64
		good         []string
		bad          string
	}{
		{"empty packet", wire.ShapeResults, newEOF, nil, ""},
		{"OK cut", wire.ShapeResults, newEOF, []string{okMore}, "\x00\x01\x02\x02"},
		{"no columns", wire.ShapeResults, newEOF, nil, "\xfc\x00\x00"},
		{"too many columns", wire.ShapeResults, newEOF, nil, "\xfe\x00\x00\x00\x00\x01\x00\x00\x00"},
		{"columns cut", wire.ShapeResults, newEOF, nil, "\xfc\x01"},
		{"no word of definitions", wire.ShapeResults, newEOF | optional, nil, "\x01"},
		{"no EOF behind definitions", wire.ShapeResults, noFlags, []string{"\x01", definition}, row},
		{"EOF cut", wire.ShapeResults, noFlags, []string{"\x01", definition, eof, row}, "\xfe\x00\x00"},
		{"OK that stands for EOF cut", wire.ShapeResults, newEOF, []string{"\x01", definition, row}, "\xfe\x00\x00"},
		{"prepared cut", wire.ShapePrepare, newEOF, nil, prepareOK[:8]},
		{"prepared without a word of definitions", wire.ShapePrepare, newEOF | optional, nil, prepareOK},
		{"prepared with rows", wire.ShapePrepare, newEOF, nil, "\x01"},
		{"one packet, cut", wire.ShapeSingle, newEOF, nil, "\x00\x01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := packets(tt.good...)
			answer, _ := wire.AppendPacket(bytes.Clone(good), byte(len(tt.good)+1), []byte(tt.bad))
			answer = append(answer, packets(okEnd)...)
			var p wire.Answer
			p.Start(tt.shape, tt.capabilities)
			if got := p.Scan(answer); got != len(good) || !p.Malformed || p.Done() {
				t.Errorf("passed on %d bytes, malformed = %v, done = %v; want %d, true, false", got, p.Malformed, p.Done(), len(good))
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
	main := &catalog.Keyspace{Name: "main"}
	srv := new(Server)
	srv.cfg.Users, srv.pools = []User{}, map[*catalog.Keyspace]*backend.Pool{main: {}}
	s = newSession(&clientConn{srv: srv, front: wire.NewConn(front), out: sender{sequence: 1}},
		&serverConn{serverState: serverState{srv: srv, keyspace: main,
			Session: backend.Session{Wire: wire.NewConn(back), Capabilities: capabilities}}})
	return s, func() []byte {
		_, _ = s.front.Close(), s.Wire.Close()
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
		{"first packet", packets(""), packets("\xff\x2b\x07#08S01" + backend.ErrMalformedAnswer.Message)},
		{"in the rows", packets("\x01", definition, row, "\xfe\x00"), packets("\x01", definition, row)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, received := between(t, newEOF, tt.answer)
			err := s.relay(wire.ShapeResults)
			if !errors.Is(err, backend.ErrMalformedAnswer) {
				t.Fatalf("relay: %v, want %v", err, backend.ErrMalformedAnswer)
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
	if err != nil || ok.InsertID != 2 {
		t.Fatalf("OK with insert id %d (%v), want 2", ok.InsertID, err)
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
	f.Add(packets(prepareOK, "a", eof), uint8(wire.ShapePrepare), uint8(0), uint8(1))
	f.Add(packets(prepareOK+"\x00", eof, eof), uint8(wire.ShapePrepare), uint8(2), uint8(1))
	f.Add(packets(report, "\x02\x00", row, okOut, okEnd), uint8(wire.ShapeResults), uint8(13), uint8(3))
	f.Add(packets("\x01\x01", definition, eofOut, row, eof, errPacket), uint8(wire.ShapeResults), uint8(6), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, s, flags, chunk uint8) {
		capabilities := uint64(0)
		for i, flag := range bits {
			if flags>>i&1 == 1 {
				capabilities |= flag
			}
		}
		as := wire.Shape(s) % (wire.ShapeStream + 1)
		whole, wholeTaken := scanAll(t, b, as, capabilities, len(b))
		parts, partsTaken := scanAll(t, b, as, capabilities, 1+int(chunk))
		if whole != parts || wholeTaken != partsTaken {
			t.Errorf("whole: %+v after %d bytes; in chunks: %+v after %d", whole, wholeTaken, parts, partsTaken)
		}
		_, _ = scanAll(t, b, as, everyFlag, 3)
	})
}

// scanAll feeds b to a response in chunks, as relayRest does.
func scanAll(t *testing.T, b []byte, as wire.Shape, capabilities uint64, size int) (p wire.Answer, taken int) {
	t.Helper()
	p.Start(as, capabilities)
	for read := 0; ; {
		n := p.Scan(b[taken:read])
		if n < 0 || taken+n > read || p.Malformed && p.Done() {
			t.Fatalf("took %d bytes of %d", n, read-taken)
		}
		taken += n
		switch {
		case p.InFile && p.Skip == 0:
			p.InFile = false
		case p.Done(), p.Malformed, read == len(b):
			return p, taken
		default:
			read = min(read+size, len(b))
		}
	}
}
