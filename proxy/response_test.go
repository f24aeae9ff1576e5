package proxy

import (
	"bytes"
	"testing"
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
)

func TestResponseEnds(t *testing.T) {
	tests := []struct {
		name         string
		shape        shape
		deprecateEOF bool
		payloads     []string
		failed       bool
	}{
		{"ok", shapeResults, true, []string{okEnd}, false},
		{"error", shapeResults, true, []string{errPacket}, true},
		{"two oks", shapeResults, true, []string{okMore, okEnd}, false},
		{"ok then error", shapeResults, true, []string{okMore, errPacket}, true},
		{"rows", shapeResults, true, []string{"\x01", definition, row, nullRow, okAsEOF}, false},
		{"rows, old EOF", shapeResults, false, []string{"\x01", definition, eof, row, nullRow, eof}, false},
		{"two results", shapeResults, true, []string{"\x01", definition, row, okAsEOFMor, "\x01", definition, okAsEOF}, false},
		{"two results, old EOF", shapeResults, false, []string{"\x01", definition, eof, eofMore, okEnd}, false},
		{"error in rows", shapeResults, true, []string{"\x01", definition, row, errPacket}, true},
		{"cursor, old EOF", shapeResults, false, []string{"\x02", definition, definition, eofCursor}, false},
		{"OUT parameters, old EOF", shapeResults, false, []string{"\x01", definition, eofOut, row, eof, okEnd}, false},
		{"an empty first column", shapeResults, true, []string{"\x01", definition, "\x00", okAsEOF}, false},
		{"fetch", shapeRows, true, []string{row, row, okAsEOF}, false},
		{"fetch, old EOF", shapeRows, false, []string{row, eof}, false},
		{"prepare", shapePrepare, true, []string{prepareOK, "a", "b", "c", "d", "e"}, false},
		{"prepare, old EOF", shapePrepare, false, []string{prepareOK, "a", "b", "c", eof, "d", "e", eof}, false},
		{"prepare without anything", shapePrepare, false, []string{prepareNo}, false},
		{"prepare refused", shapePrepare, true, []string{errPacket}, true},
		{"field list", shapeFieldList, false, []string{definition, definition, eof}, false},
		{"statistics", shapeSingle, true, []string{"Uptime: 1"}, false},
		{"ping", shapeSingle, true, []string{okEnd}, false},
		{"nothing", shapeNone, true, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := packets(tt.payloads...)
			next := packets(okEnd) // belongs to the next command
			for size := 1; size <= len(answer)+1; size++ {
				var p response
				p.start(tt.shape, tt.deprecateEOF)
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
	answer := packets("\x01", definition)
	answer, _ = appendPacket(answer, 3, long)
	answer = append(answer, packets(row, okAsEOF)...)
	var p response
	p.start(shapeResults, true)
	if got := feed(t, &p, answer, 1<<20); got != len(answer) {
		t.Errorf("answer ends after %d bytes, want %d", got, len(answer))
	}
}

func TestResponseLocalFile(t *testing.T) {
	answer := packets("\xfb/tmp/file")
	var p response
	p.start(shapeResults, true)
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

func FuzzResponse(f *testing.F) {
	f.Add(packets("\x01", definition, row, okAsEOF), uint8(shapeResults), true, uint8(7))
	f.Add(packets(prepareOK, "a", eof), uint8(shapePrepare), false, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, s uint8, deprecateEOF bool, chunk uint8) {
		var p response
		p.start(shape(s%6), deprecateEOF)
		taken, read := 0, 0
		for !p.done() && read < len(b) {
			read = min(read+1+int(chunk), len(b))
			n := p.scan(b[taken:read])
			if n < 0 || taken+n > read {
				t.Fatalf("took %d bytes of %d", n, read-taken)
			}
			taken += n
			p.infile = false
		}
	})
}
