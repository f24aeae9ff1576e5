package parser

import (
	"bytes"
	"strings"
)

// Writes appends to dst the tables that the text may insert into: every name
// that follows INSERT, REPLACE or INTO and their modifiers, anywhere in the
// text, also in literals, in comments and in version comments. It reads no
// structure, so it names more tables than the statement writes to rather than
// fewer. It is for texts that nothing else can read, to refuse them when one of
// the tables has a sequence. It cannot see what a statement builds at run time.
// With ok false, there are more readings than it follows.
func Writes(dst []Table, sql []byte, m Mode) (tables []Table, ok bool) {
	w := writes{mode: m, tables: dst}
	for i := 0; i < len(sql); {
		if !isWordByte(sql[i]) {
			i += escapeWidth(sql[i:])
			continue
		}
		for isDigit(sql[i]) && i+1 < len(sql) && isWordByte(sql[i+1]) && endsVersion(sql[:i+1]) {
			i++
		}
		var word keyword
		text, end := word.read(sql, i)
		switch string(text) {
		case "insert", "replace", "into":
			w.steps = 0
			w.targets(sql[end:])
		}
		i = end
	}
	return w.tables, w.steps <= maxSteps && !w.tooMany
}

// maxSteps is how many ways through the version comments before a table's name
// are followed.
const maxSteps = 100

// writes collects the tables that a text may insert into.
type writes struct {
	mode    Mode
	tables  []Table
	steps   int
	tooMany bool
}

// targets adds the tables that may be named at the begin of the text, behind the
// keywords that may stand before them.
func (w *writes) targets(text []byte) {
	var room [4]int
	for _, i := range w.ways(room[:0], text, 0) {
		var word keyword
		first, end := word.read(text, i)
		switch string(first) {
		case "low_priority", "high_priority", "delayed", "ignore", "into", "table":
			w.targets(text[end:])
		default:
			w.target(text, i)
		}
	}
}

// target adds the table [schema .] table at text[i:].
func (w *writes) target(text []byte, i int) {
	name, i, ok := rawName(text, i, w.mode)
	if !ok {
		if i < len(text) && text[i] == '.' { // MariaDB's ".table"
			w.qualified("", text, i+1)
		}
		return
	}
	var room [4]int
	for _, i := range w.ways(room[:0], text, i) {
		if i < len(text) && text[i] == '.' {
			w.qualified(name, text, i+1)
		} else {
			w.tables = append(w.tables, Table{Name: name})
		}
	}
}

// qualified adds the table at text[i:], which follows the name of its schema and
// a dot.
func (w *writes) qualified(schema string, text []byte, i int) {
	var room [4]int
	for _, i := range w.ways(room[:0], text, i) {
		if name, _, ok := rawName(text, i, w.mode); ok {
			w.tables = append(w.tables, Table{Schema: schema, Name: name})
		} else if schema != "" {
			w.tables = append(w.tables, Table{Name: schema})
		}
	}
}

// ways is the function of that name. It counts its steps.
func (w *writes) ways(dst []int, text []byte, i int) []int {
	if w.steps++; w.steps > maxSteps {
		w.tooMany = true
		return dst
	}
	dst, ok := ways(dst, text, i)
	w.tooMany = w.tooMany || !ok
	return dst
}

// rawName reads the identifier at text[i:], unquoted, in backticks, in double
// quotes or in MariaDB's brackets. With ok false, none begins there.
func rawName(text []byte, i int, m Mode) (name string, end int, ok bool) {
	if i < len(text) && text[i] == '[' {
		n := bytes.IndexByte(text[i:], ']')
		return string(text[i+1 : i+max(n, 1)]), i + n + 1, n > 1
	}
	s := newScanner(text[i:], Mode{ANSIQuotes: true, Charset: m.Charset})
	if t := s.next(); isName(t) && s.start == 0 {
		raw, ok := s.appendName(nil, t, m.Charset)
		if !ok {
			raw = s.text()
		}
		return strings.TrimRight(string(raw), `\`), i + s.end, true
	}
	for end = i; end < len(text) && isWordByte(text[end]); end++ {
	}
	return string(text[i:end]), end, end > i
}

// escapeWidth returns 2 for an escape of white space as literals have it, else 1.
func escapeWidth(text []byte) int {
	if len(text) > 1 && text[0] == '\\' && (text[1] == 'n' || text[1] == 'r' || text[1] == 't') {
		return 2
	}
	return 1
}
