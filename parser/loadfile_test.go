package parser

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lineReader reads a file as the server does, byte by byte, and says where rows
// and their fields are: what a LoadSplitter is held to.
type lineReader struct {
	f    LoadFormat
	text []byte
	at   int
	line bool // the line has ended
}

func (r *lineReader) eof() bool { return r.at >= len(r.text) }

// has takes a terminator, if one comes.
func (r *lineReader) has(t []byte) bool {
	if len(t) == 0 || !bytes.HasPrefix(r.text[min(r.at, len(r.text)):], t) {
		return false
	}
	r.at += len(t)
	return true
}

// field reads a field and gives its end; false when there is none in the line.
func (r *lineReader) field() (end int, ok bool) {
	if r.line || r.eof() {
		r.line = true
		return r.at, false
	}
	open := int(r.text[r.at]) == r.f.Enclosed
	if open {
		r.at++
	}
	for !r.eof() {
		c := int(r.text[r.at])
		if c == r.f.Escape && (r.at+1 == len(r.text) || r.f.Escape != r.f.Enclosed || int(r.text[r.at+1]) == c) {
			r.at += 2
			continue
		}
		if open && c == r.f.Enclosed {
			end = r.at + 1
			if end < len(r.text) && int(r.text[end]) == c {
				r.at += 2
				continue
			}
			r.at++
			if r.line = r.eof() || r.has(r.f.LineTerm); r.line || r.has(r.f.FieldTerm) {
				return end, true
			}
			continue
		}
		end = r.at
		if r.line = !open && r.has(r.f.LineTerm); r.line || !open && r.has(r.f.FieldTerm) {
			return end, true
		}
		r.at++
	}
	r.line = true
	return len(r.text), true
}

// nextLine goes to the next line.
func (r *lineReader) nextLine() {
	if r.line || len(r.f.LineTerm) == 0 {
		r.line = false
		return
	}
	for !r.eof() {
		switch {
		case int(r.text[r.at]) == r.f.Escape:
			r.at += 2
		case r.has(r.f.LineTerm):
			return
		default:
			r.at++
		}
	}
}

// rows gives where the rows begin, and where the field id of each begins and ends.
func (r *lineReader) rows(id int) (rows [][2]int, short bool) {
	if bytes.Equal(r.f.FieldTerm, r.f.LineTerm) {
		r.f.LineTerm, r.f.Skip = nil, 0
	}
	for range r.f.Skip {
		r.nextLine()
	}
	for {
		if i := bytes.Index(r.text[min(r.at, len(r.text)):], r.f.LineStart); i < 0 {
			return rows, short
		} else {
			r.at += i + len(r.f.LineStart)
		}
		if r.eof() {
			return rows, short
		}
		row := [2]int{r.at, r.at}
		found := id < 0
		for i := range r.f.fields {
			begin := r.at
			end, ok := r.field()
			if !ok {
				break
			}
			if i == id {
				row, found = [2]int{begin, end}, true
			}
		}
		if !found {
			return rows, true
		}
		rows = append(rows, row)
		r.nextLine()
	}
}

// split has a LoadSplitter go over a file in pieces of the given size.
func split(f LoadFormat, id int, wide bool, text []byte, piece int) (rows [][2]int, err error) {
	s := newLoadSplitter(f, id, wide, Mode{})
	passed := 0
	var kept []byte
	var found []LoadRow
	for {
		n := min(piece, len(text)-passed-len(kept))
		kept = append(kept, text[passed+len(kept):passed+len(kept)+n]...)
		final := passed+len(kept) == len(text)
		found, n, err = s.Split(found[:0], kept, final)
		for _, r := range found {
			rows = append(rows, [2]int{passed + r.From, passed + r.To})
		}
		if err != nil || final {
			if err == nil && n != len(kept) {
				return rows, fmt.Errorf("%d bytes are left over", len(kept)-n)
			}
			return rows, err
		}
		if left := len(kept) - n; left > maxIDField+max(len(f.FieldTerm), len(f.LineTerm), len(f.LineStart), 4)+1+piece {
			return rows, fmt.Errorf("%d bytes are kept", left)
		}
		passed += n
		kept = kept[n:]
	}
}

// FuzzLoadSplitter holds the splitter to lineReader, whatever pieces the file
// comes in.
func FuzzLoadSplitter(f *testing.F) {
	for _, seed := range []struct {
		text, fields, lines, start string
		enclosed, escape           int
		skip, columns              uint8
		id                         int8
	}{
		{"a,b\nc\n\n,d,e\n", ",", "\n", "", NoByte, '\\', 0, 2, -1},
		{"1,\"b\n\",x\n\\N,c\n0", ",", "\n", "", '"', '\\', 0, 2, 0},
		{"a<|>b<||>c<|", "<|>", "<||>", "", NoByte, NoByte, 1, 2, -1},
		{"xa,xb,1\nx", ",", "\n", "x", '"', '"', 0, 3, 2},
		{"a,b,c,d", ",", "", "", NoByte, '\\', 0, 2, -1},
		{"a,b,c,d", ",", ",", "", '"', '\\', 1, 3, -1},
		{"\"a\"\"b\",\"c\"\n\"\"", ",", "\n", "", '"', '"', 0, 2, 1},
	} {
		f.Add([]byte(seed.text), seed.fields, seed.lines, seed.start, seed.enclosed, seed.escape, seed.skip, seed.columns, seed.id)
	}
	f.Fuzz(func(t *testing.T, text []byte, fields, lines, start string, enclosed, escape int, skip, columns uint8, id int8) {
		format := LoadFormat{FieldTerm: []byte(fields), LineTerm: []byte(lines), LineStart: []byte(start),
			Enclosed: min(max(enclosed, NoByte), 127), Escape: min(max(escape, NoByte), 127), Skip: uint64(skip), fields: int(columns%8) + 1}
		place := min(max(int(id), -1), format.fields-1)
		if format.unfit() != "" || !isASCII(fields+lines+start) {
			t.Skip()
		}
		r := lineReader{f: format, text: text}
		want, short := r.rows(place)
		for _, piece := range []int{len(text) + 1, 1, 2, 3, 7} {
			got, err := split(format, place, false, text, piece)
			var fault *FileError
			if err != nil && (!errors.As(err, &fault) || place < 0) {
				t.Fatal(err)
			}
			if err == nil && short {
				t.Fatalf("pieces of %d: a row without its id is no error", piece)
			}
			if err == nil && !slices.Equal(got, want) || err != nil && (len(got) > len(want) || !slices.Equal(got, want[:len(got)])) {
				t.Fatalf("pieces of %d: rows at %v, want %v (error %v)", piece, got, want, err)
			}
		}
	})
}

func TestLoadIDs(t *testing.T) {
	const quote = '"'
	for _, tt := range []struct {
		field    string
		enclosed int
		mode     Mode
		want     Slot
		refused  bool
	}{
		{field: `\N`, want: Slot{}},
		{field: "0", want: Slot{}},
		{field: "-0", want: Slot{}},
		{field: "0", mode: Mode{NoAutoValueOnZero: true}, want: Slot{State: Explicit, HasValue: true}},
		{field: "12", want: Slot{State: Explicit, HasValue: true, Value: 12}},
		{field: "+007", want: Slot{State: Explicit, HasValue: true, Value: 7}},
		{field: "-5", want: Slot{State: Explicit, HasValue: true, Value: -5}},
		{field: "9223372036854775807", want: Slot{State: Explicit, HasValue: true, Value: 1<<63 - 1}},
		{field: "9223372036854775808", refused: true},
		{field: "NULL", refused: true},
		{field: "NULL", enclosed: quote, want: Slot{}},
		{field: `"NULL"`, enclosed: quote, refused: true},
		{field: `"\N"`, enclosed: quote, want: Slot{}},
		{field: `"12"`, enclosed: quote, want: Slot{State: Explicit, HasValue: true, Value: 12}},
		{field: `"12`, enclosed: quote, refused: true},
		{field: `"12"x`, enclosed: quote, refused: true},
		{field: "", refused: true},
		{field: "1.5", refused: true},
		{field: "1e3", refused: true},
		{field: " 1", refused: true},
		{field: `\1`, refused: true},
		{field: "x", refused: true},
		{field: strings.Repeat("0", 100), refused: true},
	} {
		f := defaultLoadFormat(Mode{})
		f.fields = 2
		if tt.enclosed != 0 {
			f.Enclosed = tt.enclosed
		}
		s := newLoadSplitter(f, 1, true, tt.mode)
		rows, _, err := s.Split(nil, []byte("a\t"+tt.field+"\n"), true)
		var fault *FileError
		switch {
		case tt.refused && (!errors.As(err, &fault) || fault.Row != 1):
			t.Errorf("%q: got %v, %v, want it to be refused", tt.field, rows, err)
		case !tt.refused && (err != nil || len(rows) != 1 || rows[0].Slot != tt.want):
			t.Errorf("%q: got %v, %v, want %v", tt.field, rows, err, tt.want)
		}
	}
}

// Where servers differ in how they read a broken character, none is read.
func TestLoadBrokenCharacters(t *testing.T) {
	for text, broken := range map[string]bool{
		"ä\tb\n":                   false,
		"\xc3\tb\n":                false, // servers agree that the tab is one
		"a\tb\tä\n":                false,
		"a\tb\t\xc3\nc":            true,
		"a\tb\t\xe2\x82\nc":        true,
		"a\tb\t\xe2\x82\xac\n":     false,
		"a\tb\t\xf0\x9f\x98\x80\n": false,
		"a\tb\t\x80\n":             false,
		"\\\xc3\xa4\tb\n":          false,
		"\\\xc3\\nb\n":             true,
	} {
		f := defaultLoadFormat(Mode{})
		f.fields = 2
		for _, piece := range []int{100, 1} {
			_, err := split(f, -1, true, []byte(text), piece)
			var fault *FileError
			if errors.As(err, &fault) != broken {
				t.Errorf("%q in pieces of %d: got %v, want it to be refused: %v", text, piece, err, broken)
			}
		}
	}
}

func TestAppendRows(t *testing.T) {
	f := defaultLoadFormat(Mode{})
	f.fields = 2
	id := int64(0)
	next := func() int64 { id++; return id }
	for place, want := range map[int]string{-1: "1\t\\N\ta\n2\t7\tb\n", 0: "3\ta\n7\tb\n"} {
		s := newLoadSplitter(f, place, false, Mode{})
		text := []byte("\\N\ta\n7\tb\n")
		rows, n, err := s.Split(nil, text, true)
		if err != nil || n != len(text) {
			t.Fatal(n, err)
		}
		if place == 0 {
			id = 2
		} else {
			id = 0
		}
		if got := string(s.AppendRows(nil, text, rows, next)); got != want {
			t.Errorf("id in field %d: got %q, want %q", place, got, want)
		}
	}
}

func BenchmarkLoadSplitter(b *testing.B) {
	f := defaultLoadFormat(Mode{})
	f.fields = 3
	s := newLoadSplitter(f, -1, true, Mode{})
	text := bytes.Repeat([]byte("some name\t2026-01-02 03:04:05\t12345.67\n"), 1600)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var rows []LoadRow
	var out []byte
	for b.Loop() {
		var n int
		var err error
		if rows, n, err = s.Split(rows[:0], text, false); err != nil {
			b.Fatal(err)
		}
		id := int64(1 << 40)
		out = s.AppendRows(out[:0], text[:n], rows, func() int64 { id++; return id })
	}
}
