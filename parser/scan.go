package parser

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// token is the kind of a token. A punctuation character is its own kind.
type token uint8

const (
	tokenEOF     token = iota
	tokenWord          // keyword, unquoted identifier or number without sign, dot and exponent sign
	tokenString        // '..', or ".." without ANSI_QUOTES
	tokenName          // `..`, or ".." with ANSI_QUOTES
	tokenParam         // ?
	tokenVersion       // a whole /*! .. */ or /*M! .. */ comment, which servers may execute
	tokenInvalid       // the rest cannot be read with certainty
)

// quickQuoted is how many bytes of a quoted text are looked at, eight at a time,
// before the search that has a dearer start but runs faster is used.
const quickQuoted = 48

// A scanner splits SQL text into tokens. It is one pass, allocates nothing and
// stops at the first text the server may read in more than one way.
type scanner struct {
	sql    []byte
	start  int // first byte of the current token
	end    int // one past its last byte; the next token begins from here on
	params int // placeholders up to and including the current token
	layout layout
	mode   Mode

	openings bool // tokenVersion is the begin of a version comment only
	hint     bool // a /*+ comment was passed
	open     bool // the text ended within a comment that runs to the end of the line

	values       int  // how many the last row had
	watch        int  // the index of the value in a row of which at is noted
	at           int  // behind the comma or parenthesis before that value
	names        bool // an identifier was seen in a value
	lastInsertID bool // one of them was last_insert_id or identity
}

func newScanner(sql []byte, m Mode) scanner {
	return scanner{sql: sql, layout: m.Charset.layout(), mode: m}
}

// text returns the current token as it stands in the SQL.
func (s *scanner) text() []byte { return s.sql[s.start:s.end] }

// is reports whether the current token t is the keyword word (in lower case).
func (s *scanner) is(t token, word string) bool {
	return t == tokenWord && s.end-s.start == len(word) && equalFold(s.sql[s.start:s.end], word) && !s.qualifies()
}

// qualifies reports whether a dot and a name follow the current word without
// space: the server then takes even a keyword for a name, as in INSERT into.t,
// which inserts into the table t of the database into.
func (s *scanner) qualifies() bool {
	return s.end+1 < len(s.sql) && s.sql[s.end] == '.' && isNameByte(s.sql[s.end+1])
}

// next moves to the next token and returns its kind. After tokenEOF and
// tokenInvalid it stays where it is.
func (s *scanner) next() token {
	sql := s.sql
	i := s.end
	for i < len(sql) {
		switch classes[sql[i]] {
		case classSpace:
			i++
			continue
		case classWord:
			if s.layout == layoutSafe {
				j := i + 1
				for j < len(sql) && nameBytes[sql[j]] {
					j++
				}
				return s.token(tokenWord, i, j)
			}
			return s.word(i)
		case classHigh:
			return s.word(i)
		case classQuote:
			return s.token(tokenString, i, s.quoted(i, !s.mode.NoBackslashEscapes))
		case classDouble:
			if s.mode.ANSIQuotes {
				return s.token(tokenName, i, s.quoted(i, false))
			}
			return s.token(tokenString, i, s.quoted(i, !s.mode.NoBackslashEscapes))
		case classBacktick:
			return s.token(tokenName, i, s.quoted(i, false))
		case classParam:
			s.params++
			return s.token(tokenParam, i, i+1)
		case classForbidden:
			return s.invalid(i)
		case classDash, classHash, classSlash:
			j, t := s.comment(i)
			if t != tokenEOF {
				return s.token(t, i, j)
			}
			i = j
			continue
		default:
			if sql[i] == '[' && s.mode.Brackets {
				return s.invalid(i)
			}
			return s.token(token(sql[i]), i, i+1)
		}
	}
	s.start, s.end = i, i
	return tokenEOF
}

// token makes sql[i:j] the current token. A negative j is a token without end.
func (s *scanner) token(t token, i, j int) token {
	if j < 0 {
		return s.invalid(i)
	}
	s.start, s.end = i, j
	return t
}

func (s *scanner) invalid(i int) token {
	s.start, s.end = i, i
	return tokenInvalid
}

// word reads the word at i in character sets that are not layoutSafe, and words
// that begin outside ASCII in all of them.
func (s *scanner) word(i int) token {
	j := i
	for j < len(s.sql) && isNameByte(s.sql[j]) {
		switch {
		case s.sql[j] < 0x80:
			j++
		case s.layout == layoutSingle && (s.sql[j] == 0xa0 || s.sql[j] == 0xff):
			return s.invalid(i) // a no-break space, in some of these sets white space
		case s.layout == layoutUnknown:
			return s.invalid(i)
		case s.layout.multiByte():
			j += s.layout.width(s.sql, j)
		default:
			j++
		}
	}
	return s.token(tokenWord, i, j)
}

// quoted returns where the text quoted by sql[i] ends, behind its closing
// quote, or -1.
func (s *scanner) quoted(i int, escapes bool) int {
	if s.layout > layoutSingle {
		return s.quotedWide(i, escapes)
	}
	sql, quote := s.sql, s.sql[i]
	escape := quote
	if escapes {
		escape = '\\'
	}
	limit := min(i+quickQuoted, len(sql)-8)
	for i++; i < limit; {
		n := indexEither8(binary.LittleEndian.Uint64(sql[i:]), quote, escape)
		i += n
		switch {
		case n == 8:
		case sql[i] == quote && sql[i+1] != quote:
			return i + 1
		default:
			i += 2
		}
	}
	return quotedLong(sql, i, quote, escapes)
}

// indexEither8 returns the index of the first a or b among the 8 bytes of text,
// the lowest first, or 8.
func indexEither8(text uint64, a, b byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	x, y := text^(ones*uint64(a)), text^(ones*uint64(b))
	zeros := ((x - ones) &^ x) | ((y - ones) &^ y) // the lowest top bit is right
	return bits.TrailingZeros64(zeros&tops) >> 3
}

// quotedLong is quoted from within the text on. It looks for the quote and the
// backslash separately and never twice over the same bytes.
func quotedLong(sql []byte, i int, quote byte, escapes bool) int {
	quoteAt, escapeAt := -1, -1
	for i < len(sql) {
		if quoteAt < i {
			n := bytes.IndexByte(sql[i:], quote)
			if n < 0 {
				return -1
			}
			quoteAt = i + n
		}
		if escapes && escapeAt < i {
			escapeAt = quoteAt
			if n := bytes.IndexByte(sql[i:quoteAt], '\\'); n >= 0 {
				escapeAt = i + n
			}
		}
		switch {
		case escapes && escapeAt < quoteAt:
			i = escapeAt + 2
		case quoteAt+1 < len(sql) && sql[quoteAt+1] == quote:
			i = quoteAt + 2
		default:
			return quoteAt + 1
		}
	}
	return -1
}

// quotedWide is quoted for character sets in which the second byte of a
// character may be a backslash or a backtick.
func (s *scanner) quotedWide(i int, escapes bool) int {
	sql, quote := s.sql, s.sql[i]
	for i++; i < len(sql); {
		switch c := sql[i]; {
		case c >= 0x80 && s.layout == layoutUnknown:
			return -1
		case c >= 0x80:
			i += s.layout.width(sql, i)
		case c == '\\' && escapes:
			i += 2
		case c != quote:
			i++
		case i+1 < len(sql) && sql[i+1] == quote:
			i += 2
		default:
			return i + 1
		}
	}
	return -1
}

// comment reads the token at i, which begins with a dash, a hash or a slash.
// With tokenEOF it was a comment, which ends before j; else the token is sql[i:j].
func (s *scanner) comment(i int) (j int, t token) {
	c := s.sql[i]
	switch {
	case c == '#':
		return s.lineComment(i + 1), tokenEOF
	case c == '-' && i+1 < len(s.sql) && s.sql[i+1] == '-':
		return s.dashes(i)
	case c == '/' && i+1 < len(s.sql) && s.sql[i+1] == '*':
		return s.blockComment(i)
	}
	return i + 1, token(c)
}

// dashes reads the two dashes at i: a comment when white space, a control
// character or the end follows (MySQL manual, "Comments").
func (s *scanner) dashes(i int) (j int, t token) {
	if i+2 >= len(s.sql) {
		return s.lineComment(i + 2), tokenEOF
	}
	switch c := s.sql[i+2]; {
	case c <= ' ':
		return s.lineComment(i + 2), tokenEOF
	case c >= 0x7f && s.layout != layoutSafe:
		return -1, tokenInvalid // a control character in some character sets
	case c == 0x7f:
		return s.lineComment(i + 2), tokenEOF
	}
	return i + 1, '-'
}

// lineComment returns where the line that i is in ends.
func (s *scanner) lineComment(i int) int {
	n := bytes.IndexByte(s.sql[i:], '\n')
	if n < 0 {
		s.open = true
		return len(s.sql)
	}
	return i + n + 1
}

// blockComment reads the comment at i, which begins with a slash and a star.
// Such comments do not nest.
func (s *scanner) blockComment(i int) (j int, t token) {
	body := i + 2
	if s.openings && s.beginsVersion(body) {
		return body, tokenVersion
	}
	n := bytes.Index(s.sql[body:], []byte("*/"))
	if n < 0 {
		return -1, tokenInvalid
	}
	end := body + n
	text := s.sql[body:end]
	switch {
	case bytes.HasPrefix(text, []byte("!")):
		body++
	case s.mode.MariaDB && bytes.HasPrefix(text, []byte("M!")):
		body += 2
	default:
		s.hint = s.hint || bytes.HasPrefix(text, []byte("+"))
		return end + 2, tokenEOF
	}
	if !s.sameEitherWay(body, end) {
		return -1, tokenInvalid
	}
	return end + 2, tokenVersion
}

// beginsVersion reports whether the comment with the body sql[i:] is a version
// comment for this kind of server.
func (s *scanner) beginsVersion(i int) bool {
	text := s.sql[i:]
	return bytes.HasPrefix(text, []byte("!")) || s.mode.MariaDB && bytes.HasPrefix(text, []byte("M!"))
}

// sameEitherWay reports whether the version comment with the body sql[i:end]
// ends there both for a server that executes the body and for one that skips
// it, and holds no more than a part of one statement. It never meets itself: the
// body has no end of a comment, so that one which begins there does not end.
func (s *scanner) sameEitherWay(i, end int) bool {
	in := *s
	in.sql, in.end, in.open = s.sql[:end], i, false
	for {
		switch in.next() {
		case tokenEOF:
			return !in.open
		case tokenInvalid, tokenVersion, ';':
			return false
		}
	}
}
