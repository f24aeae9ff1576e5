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
func Writes(dst []Table, sql []byte, m Mode) []Table {
	for i := 0; i < len(sql); {
		if !isWordByte(sql[i]) {
			i += escapeWidth(sql[i:])
			continue
		}
		var word keyword
		text, end := word.read(sql, i)
		switch string(text) {
		case "insert", "replace", "into":
			dst = appendTargets(dst, sql[end:], m)
		}
		i = end
	}
	return dst
}

// appendTargets appends the table named at the begin of the text, behind the
// keywords that may stand before it.
func appendTargets(dst []Table, text []byte, m Mode) []Table {
	for {
		i, _ := skipNoise(text, 0)
		var word keyword
		w, end := word.read(text, i)
		switch string(w) {
		case "low_priority", "high_priority", "delayed", "ignore", "into", "table":
			text = text[end:]
			continue
		}
		return appendTarget(dst, text, i, m)
	}
}

// appendTarget appends the table [schema .] table at text[i:].
func appendTarget(dst []Table, text []byte, i int, m Mode) []Table {
	name, i, ok := rawName(text, i, m)
	if !ok {
		if i < len(text) && text[i] == '.' { // MariaDB's ".table"
			return appendTarget(dst, text, i+1, m)
		}
		return dst
	}
	i, versioned := skipNoise(text, i)
	if i >= len(text) || text[i] != '.' {
		return append(dst, Table{Name: name})
	}
	if versioned { // the second name may be in a comment
		dst = append(dst, Table{Name: name})
	}
	i, _ = skipNoise(text, i+1)
	second, _, ok := rawName(text, i, m)
	if !ok {
		return append(dst, Table{Name: name})
	}
	return append(dst, Table{Schema: name, Name: second})
}

// rawName reads the identifier at text[i:], unquoted or in backticks or double
// quotes. With ok false, none begins there.
func rawName(text []byte, i int, m Mode) (name string, end int, ok bool) {
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

// skipNoise returns the index of the first byte from i on that is not white
// space, an escape, a comment, or the begin or end of a version comment.
// versioned says that one of the last two was passed.
func skipNoise(text []byte, i int) (end int, versioned bool) {
	for i < len(text) {
		rest := text[i:]
		switch c := text[i]; {
		case isSpace(c), c == '\\', c == 0xa0, c == 0xff:
			i += escapeWidth(rest)
		case c == '#', bytes.HasPrefix(rest, []byte("--")):
			i = endOfLine(text, i)
		case bytes.HasPrefix(rest, []byte("*/")):
			i, versioned = i+2, true
		case bytes.HasPrefix(rest, []byte("/*")):
			var version bool
			if i, version = skipComment(text, i); version {
				versioned = true
			}
		default:
			return i, versioned
		}
	}
	return i, versioned
}

// skipComment returns the index behind the comment at text[i:], or behind the
// begin and the version number of a version comment.
func skipComment(text []byte, i int) (end int, version bool) {
	if isVersionComment(text[i+2:]) {
		i += 3
		for i < len(text) && (text[i] == '!' || isDigit(text[i])) {
			i++
		}
		return i, true
	}
	n := bytes.Index(text[i+2:], []byte("*/"))
	if n < 0 {
		return i + 2, false
	}
	return i + n + 4, false
}

// LoadTarget returns the table of a LOAD DATA or LOAD XML. It reports false for
// any other text and one that cannot be read with certainty.
func LoadTarget(sql []byte, m Mode) (Table, bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "load") {
		return Table{}, false
	}
	for {
		switch t := s.next(); {
		case t == tokenEOF, t == tokenInvalid, t == tokenVersion, t == ';':
			return Table{}, false
		case s.is(t, "into"):
			if t = s.next(); !s.is(t, "table") {
				return Table{}, false
			}
			table, next, ok := s.tableName(s.next(), m.Charset)
			return table, ok && next != tokenVersion && next != tokenInvalid
		}
	}
}
