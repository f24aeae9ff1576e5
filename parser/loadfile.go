package parser

import (
	"bytes"
	"fmt"
	"strconv"
)

// NoByte stands for a byte that a LoadFormat does not have.
const NoByte = -1

// LoadFormat says how LOAD DATA tells the rows and fields of its file apart
// ("LOAD DATA Statement", "Field and Line Handling" in the MySQL manual).
type LoadFormat struct {
	FieldTerm, LineTerm, LineStart []byte
	Enclosed, Escape               int    // a byte, or NoByte
	Skip                           uint64 // lines at the file's begin

	fields int // in a row of the file
}

// defaultLoadFormat is that of a statement without FIELDS and LINES.
func defaultLoadFormat(m Mode) LoadFormat {
	f := LoadFormat{FieldTerm: []byte("\t"), LineTerm: []byte("\n"), Enclosed: NoByte, Escape: '\\'}
	if m.NoBackslashEscapes {
		f.Escape = NoByte
	}
	return f
}

// unfit names the form of a file into which no ids can be put with certainty; ""
// when they can.
func (f *LoadFormat) unfit() string {
	switch {
	case len(f.FieldTerm) == 0 && f.Enclosed == NoByte:
		return "LOAD DATA of rows of fixed size (FIELDS TERMINATED BY '' ENCLOSED BY '')"
	case len(f.FieldTerm) == 0:
		return "LOAD DATA with FIELDS TERMINATED BY ''"
	case len(f.LineTerm) > len(f.FieldTerm) && bytes.HasPrefix(f.LineTerm, f.FieldTerm):
		return "LOAD DATA with LINES TERMINATED BY what begins with the fields' terminator" // an id's may become one
	case f.Skip > 0 && len(f.LineTerm) == 0:
		return "LOAD DATA with IGNORE n LINES and LINES TERMINATED BY ''"
	case int(f.FieldTerm[0]) == f.Escape, !bytes.Equal(f.FieldTerm, f.LineTerm) && len(f.LineTerm) > 0 && bytes.HasPrefix(f.FieldTerm, f.LineTerm):
		return "LOAD DATA with a field terminator that is never found"
	}
	for _, c := range [...]int{int(f.FieldTerm[0]), f.Enclosed, f.Escape, firstByte(f.LineTerm)} {
		if c >= '0' && c <= '9' {
			return "LOAD DATA with digits between fields or lines"
		}
	}
	return ""
}

func firstByte(text []byte) int {
	if len(text) == 0 {
		return NoByte
	}
	return int(text[0])
}

// LoadRow is what a row of a file says of its id: the bytes From to To of the
// text that Split was given hold it. Where the file has no ids, From and To are
// the row's begin. Slot is Open or Explicit.
type LoadRow struct {
	From, To int
	Slot     Slot
}

// A FileError says that a row of a file, counted from 1 without the lines that
// are ignored, cannot be given its id.
type FileError struct {
	Row    int64
	Reason string
}

func (e *FileError) Error() string { return fmt.Sprintf("row %d %s", e.Row, e.Reason) }

// loadState is where in a file a LoadSplitter is.
type loadState uint8

const (
	loadSkip     loadState = iota // in a line that is ignored
	loadStart                     // before LineStart
	loadRow                       // at a row's begin, if the file does not end here
	loadField                     // at a field's begin
	loadPlain                     // in a field that is not enclosed
	loadEnclosed                  // in one that is
	loadRest                      // behind a row's last field
)

// A LoadSplitter finds the places of the ids in a file, as the server finds its
// rows and fields. The file comes in pieces of any size; what is kept of it
// between them is less than a terminator and an id take.
type LoadSplitter struct {
	f     LoadFormat
	id    int // of the fields; -1: none
	wide  bool
	mode  Mode
	state loadState
	field int
	skip  uint64
	rows  int64

	plain, enclosed, rest [256]bool // the bytes that matter in those states
}

func newLoadSplitter(f LoadFormat, id int, wide bool, m Mode) *LoadSplitter {
	if bytes.Equal(f.FieldTerm, f.LineTerm) {
		f.LineTerm, f.Skip = nil, 0 // then the server knows no lines
	}
	s := &LoadSplitter{f: f, id: id, wide: wide, mode: m, skip: f.Skip}
	if s.skip == 0 {
		s.state = loadStart
	}
	for _, t := range [...]*[256]bool{&s.plain, &s.enclosed, &s.rest} {
		if f.Escape != NoByte {
			t[f.Escape] = true
		}
	}
	s.plain[f.FieldTerm[0]] = true
	if len(f.LineTerm) > 0 {
		s.plain[f.LineTerm[0]], s.rest[f.LineTerm[0]] = true, true
	}
	if f.Enclosed != NoByte {
		s.enclosed[f.Enclosed] = true
	}
	for c := 0xc2; wide && c < 256; c++ {
		s.rest[c] = true
	}
	return s
}

// Split goes over text, the next piece of the file, and appends the rows whose
// ids stand in text[:n] to dst. The next piece begins with text[n:]. final says
// that nothing follows this one. A *FileError says that a row cannot be given its
// id.
func (s *LoadSplitter) Split(dst []LoadRow, text []byte, final bool) (rows []LoadRow, n int, err error) {
	for {
		var e loadEnding
		switch s.state {
		case loadSkip:
			if n, e = s.restOfLine(text, n, final); e == endLine {
				s.skipped()
			}
		case loadStart:
			n, e = s.lineStart(text, n)
		case loadRow:
			if n < len(text) {
				dst, e = s.beginRow(dst, n), endField
			}
		case loadField:
			dst, n, e, err = s.beginField(dst, text, n, final)
		case loadPlain:
			_, n, e = s.plainField(text, n, final)
			err = s.endField(e)
		case loadEnclosed:
			_, n, e = s.enclosedField(text, n, final)
			err = s.endField(e)
		case loadRest:
			if n, e = s.restOfLine(text, n, final); e == endLine {
				s.state = loadStart
			}
		}
		switch {
		case e == broken:
			return dst, n, &FileError{s.rows, "holds or is followed by a broken character, of which servers differ in how they read it"}
		case err == nil && e != needMore && e != endFile:
			continue
		case final:
			n = len(text)
		}
		return dst, n, err
	}
}

// loadEnding says how a part of the file ends.
type loadEnding uint8

const (
	needMore loadEnding = iota // the text ends before it
	endField                   // the file goes on with what follows in the row
	endLine                    // ... with the next line
	endFile
	broken // it holds a broken character
)

// skipped ends a line that is ignored.
func (s *LoadSplitter) skipped() {
	if s.skip--; s.skip == 0 {
		s.state = loadStart
	}
}

// lineStart goes behind LineStart, which may stand anywhere in what follows.
func (s *LoadSplitter) lineStart(text []byte, n int) (int, loadEnding) {
	i := bytes.Index(text[n:], s.f.LineStart)
	if i < 0 {
		return max(n, len(text)-len(s.f.LineStart)+1), needMore
	}
	s.state = loadRow
	return n + i + len(s.f.LineStart), endField
}

func (s *LoadSplitter) beginRow(dst []LoadRow, n int) []LoadRow {
	s.rows++
	s.state, s.field = loadField, 0
	if s.id < 0 {
		dst = append(dst, LoadRow{From: n, To: n})
	}
	return dst
}

// beginField goes into a field, or over it when it is the id's.
func (s *LoadSplitter) beginField(dst []LoadRow, text []byte, n int, final bool) ([]LoadRow, int, loadEnding, error) {
	switch {
	case n == len(text) && final:
		return dst, n, endFile, s.endRow()
	case n == len(text):
		return dst, n, needMore, nil
	case s.field == s.id:
		return s.idField(dst, text, n, final)
	case int(text[n]) == s.f.Enclosed:
		s.state = loadEnclosed
		return dst, n + 1, endField, nil
	}
	s.state = loadPlain
	return dst, n, endField, nil
}

// endField moves on behind a field that ended so.
func (s *LoadSplitter) endField(e loadEnding) error {
	if e == needMore || e == broken {
		return nil
	}
	s.field++
	switch {
	case e != endField:
		return s.endRow()
	case s.field == s.f.fields:
		s.state = loadRest
	default:
		s.state = loadField
	}
	return nil
}

// endRow ends a row that ends with its line or with the file.
func (s *LoadSplitter) endRow() error {
	s.state = loadStart
	if s.id >= s.field {
		return &FileError{s.rows, "ends before its id"}
	}
	return nil
}

// plainField goes over a field that is not enclosed, of which text[n:] is left.
// at is where its text ends, next where the file goes on, or the next piece begins.
func (s *LoadSplitter) plainField(text []byte, n int, final bool) (at, next int, e loadEnding) {
	for {
		for n < len(text) && !s.plain[text[n]] {
			n++
		}
		if n == len(text) {
			return n, n, atEnd(final)
		}
		skip, e := s.escaped(text, n, final)
		switch {
		case e != endField:
			return len(text), n, e
		case skip:
			n += 2
			continue
		}
		if next, e := s.terminator(text, n, final); e != endFile {
			return n, next, e
		}
		n++
	}
}

// enclosedField is plainField for a field whose opening enclosure was passed. at
// is where its closing one stands.
func (s *LoadSplitter) enclosedField(text []byte, n int, final bool) (at, next int, e loadEnding) {
	for {
		for n < len(text) && !s.enclosed[text[n]] {
			n++
		}
		if n == len(text) {
			return n, n, atEnd(final)
		}
		skip, e := s.escaped(text, n, final)
		switch {
		case e != endField:
			return len(text), n, e
		case skip:
			n += 2
			continue
		case int(text[n]) != s.f.Enclosed:
		case n+1 == len(text):
			return n, n, atEnd(final)
		case int(text[n+1]) == s.f.Enclosed:
			n += 2
			continue
		default:
			if next, e := s.terminator(text, n+1, final); e == needMore {
				return n, n, e
			} else if e != endFile {
				return n, next, e
			}
		}
		n++
	}
}

func atEnd(final bool) loadEnding {
	if final {
		return endFile
	}
	return needMore
}

// escaped reports whether text[n] escapes the byte behind it. An escape that also
// encloses escapes but itself.
func (s *LoadSplitter) escaped(text []byte, n int, final bool) (skip bool, e loadEnding) {
	switch {
	case int(text[n]) != s.f.Escape:
		return false, endField
	case n+1 == len(text):
		return false, atEnd(final)
	case s.f.Escape == s.f.Enclosed:
		return text[n+1] == text[n], endField
	case s.wide && text[n+1] >= 0xc2:
		_, e = s.character(text, n+1, final)
		return true, e
	}
	return true, endField
}

// terminator tells whether the field ends with a terminator at text[n:], and where
// the file goes on behind it. endFile says that there is none.
func (s *LoadSplitter) terminator(text []byte, n int, final bool) (next int, e loadEnding) {
	for _, t := range [...]struct {
		text []byte
		loadEnding
	}{{s.f.LineTerm, endLine}, {s.f.FieldTerm, endField}} {
		switch found, more := match(text[n:], t.text, final); {
		case more:
			return n, needMore
		case found:
			return n + len(t.text), t.loadEnding
		}
	}
	return n, endFile
}

// match reports whether the text begins with a terminator, or may do so once more
// of it is there.
func match(text, terminator []byte, final bool) (found, more bool) {
	if len(terminator) == 0 {
		return false, false
	}
	if len(text) < len(terminator) {
		return false, !final && bytes.HasPrefix(terminator, text)
	}
	return bytes.HasPrefix(text, terminator), false
}

// restOfLine goes over what the server reads of a line but for its end. Where it
// knows no lines, the next one begins at once.
func (s *LoadSplitter) restOfLine(text []byte, n int, final bool) (next int, e loadEnding) {
	for len(s.f.LineTerm) > 0 {
		for n < len(text) && !s.rest[text[n]] {
			n++
		}
		if n == len(text) {
			return n, atEnd(final)
		}
		c := text[n]
		found, more := match(text[n:], s.f.LineTerm, final)
		switch {
		case s.wide && c >= 0xc2:
			if n, e = s.character(text, n, final); e != endField {
				return n, e
			}
		case int(c) == s.f.Escape && n+1 == len(text):
			return n, atEnd(final)
		case int(c) == s.f.Escape:
			n += 2
		case more:
			return n, needMore
		case found:
			return n + len(s.f.LineTerm), endLine
		default:
			n++
		}
	}
	return n, endLine
}

// character goes over a character of UTF-8 outside ASCII. Where it is broken,
// servers differ in how much they take for it.
func (s *LoadSplitter) character(text []byte, n int, final bool) (next int, e loadEnding) {
	width := 2
	if text[n] >= 0xe0 {
		width++
	}
	if text[n] >= 0xf0 {
		width++
	}
	for i := 1; i < width; i++ {
		switch {
		case n+i == len(text):
			return n, atEnd(final)
		case text[n+i] < 0x80:
			return n, broken
		}
	}
	return n + width, endField
}

// maxIDField is how long the text of an id in a file may be.
const maxIDField = 64

// idField goes over the field with the id, once all of it is there.
func (s *LoadSplitter) idField(dst []LoadRow, text []byte, n int, final bool) ([]LoadRow, int, loadEnding, error) {
	var end, next int
	var e loadEnding
	enclosed := int(text[n]) == s.f.Enclosed
	if enclosed {
		end, next, e = s.enclosedField(text, n+1, final)
	} else {
		end, next, e = s.plainField(text, n, final)
	}
	switch {
	case e == needMore && len(text)-n <= maxIDField:
		return dst, n, needMore, nil
	case e == broken:
		return dst, n, e, nil
	case e == needMore || end-n > maxIDField:
		end, e = n+maxIDField, needMore
	}
	slot, ok := s.slot(text[n:end], enclosed)
	if !ok || e == needMore || enclosed && end == len(text) {
		return dst, n, e, &FileError{s.rows, fmt.Sprintf("has the id %q, which is neither NULL nor an integer", text[n:end])}
	}
	if enclosed {
		end++
	}
	return append(dst, LoadRow{From: n, To: end, Slot: slot}), next, e, s.endField(e)
}

// slot checks the text of an id, with its opening enclosure. What the server
// would have to warn of is refused.
func (s *LoadSplitter) slot(text []byte, enclosed bool) (Slot, bool) {
	switch {
	case !enclosed && s.f.Enclosed != NoByte && string(text) == "NULL":
		return Slot{}, true
	case enclosed:
		text = text[1:]
	}
	if s.f.Escape != NoByte && s.f.Escape != s.f.Enclosed && len(text) == 2 && int(text[0]) == s.f.Escape && text[1] == 'N' {
		return Slot{}, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return Slot{}, false
	}
	l := literals{mode: s.mode}
	return l.integer(n), true
}

// AppendRows appends a piece of the file to dst, with ids in the open rows of it,
// which id gives in turn.
func (s *LoadSplitter) AppendRows(dst, text []byte, rows []LoadRow, id func() int64) []byte {
	at := 0
	for _, r := range rows {
		if r.Slot.State != Open {
			continue
		}
		dst = append(dst, text[at:r.From]...)
		dst = strconv.AppendInt(dst, id(), 10)
		if s.id < 0 {
			dst = append(dst, s.f.FieldTerm...)
		}
		at = r.To
	}
	return append(dst, text[at:]...)
}
