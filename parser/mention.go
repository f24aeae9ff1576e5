package parser

import (
	"bytes"
	"strings"
)

// ContainsWord reports whether the identifier word occurs in the text, in any case
// of its ASCII letters, as a whole word. It knows no quotes and no comments, so
// it may find the word in a literal, but it misses none that is written plainly
// or in quotes. It is quick and allocates nothing for a word in lower case.
func ContainsWord(sql []byte, word string) bool {
	if word == "" {
		return false
	}
	n := newNeedle(word)
	return n.in(sql)
}

var needleLastInsertID, needleIdentity = newNeedle("last_insert_id"), newNeedle("identity")

// MentionsLastInsertID reports whether the text names last_insert_id (the
// function or the variable) or identity, the variable's other name. As ContainsWord,
// it may find them in a literal.
func MentionsLastInsertID(sql []byte) bool {
	return needleLastInsertID.in(sql) || needleIdentity.in(sql)
}

// A needle is a word to be found by its byte that is rarest in SQL text.
type needle struct {
	word      string // in lower case
	rare      int    // the index of that byte
	rareLower byte
	rareUpper byte
}

func newNeedle(word string) needle {
	word = strings.ToLower(word)
	rare := rarest(word)
	return needle{word, rare, word[rare], upper(word[rare])}
}

func (n *needle) in(sql []byte) bool {
	if len(sql) < n.rare {
		return false
	}
	rare := newEitherCase(sql[n.rare:], n.rareLower, n.rareUpper)
	for i := rare.next(); i >= 0; i = rare.next() {
		if isWordAt(sql, i, n.word) {
			return true
		}
	}
	return false
}

// isWordAt reports whether word, in lower case, stands at sql[i:] as a whole
// word.
func isWordAt(sql []byte, i int, word string) bool {
	end := i + len(word)
	if i < 0 || end > len(sql) || !equalFold(sql[i:end], word) {
		return false
	}
	return (i == 0 || !isWordByte(sql[i-1]) || endsVersion(sql[:i])) && (end == len(sql) || !isWordByte(sql[end]))
}

// endsVersion reports whether the text ends with the begin of a version comment
// and its number: a word may follow those without a space.
func endsVersion(sql []byte) bool {
	n := len(sql)
	for n > 0 && isDigit(sql[n-1]) {
		n--
	}
	return n < len(sql) && (bytes.HasSuffix(sql[:n], []byte("/*!")) || bytes.HasSuffix(sql[:n], []byte("/*M!")))
}

// rarest returns the index of the byte of word that is rarest in SQL text.
func rarest(word string) int {
	const common = "etaoinsrldcumpfghbyvwk" // from frequent to rare; other bytes are rarer
	best, bestRank := 0, -1
	for i := range len(word) {
		rank := strings.IndexByte(common, word[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > bestRank {
			best, bestRank = i, rank
		}
	}
	return best
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c &^ 0x20
	}
	return c
}

// eitherCase finds a letter in both of its cases, in one pass over the text.
type eitherCase struct {
	text         []byte
	lower, upper byte
	low, up      int // where each comes next; len(text) for nowhere
}

// newEitherCase begins a search for two bytes, which may be the same.
func newEitherCase(text []byte, lower, upper byte) eitherCase {
	e := eitherCase{text: text, lower: lower, upper: upper, low: indexFrom(text, 0, lower), up: len(text)}
	if upper != lower {
		e.up = indexFrom(text, 0, upper)
	}
	return e
}

// next returns the index of the next of the bytes, or -1.
func (e *eitherCase) next() (i int) {
	switch {
	case e.low < e.up:
		i = e.low
		e.low = indexFrom(e.text, i+1, e.lower)
	case e.up < len(e.text):
		i = e.up
		e.up = indexFrom(e.text, i+1, e.upper)
	default:
		return -1
	}
	return i
}

// indexFrom returns the index of the first c from i on, or the text's length.
func indexFrom(text []byte, i int, c byte) int {
	if n := bytes.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}
