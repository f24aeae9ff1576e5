package parser

import (
	"bytes"
	"slices"
)

// maxWays is how many ways through version comments are followed.
const maxWays = 32

// ways appends to dst the indexes at which the next token from text[i:] on may
// begin, whichever version comments the server executes and whichever it skips.
// With ok false, there are more than it follows.
func ways(dst []int, text []byte, i int) (found []int, ok bool) {
	var room [8]int
	open := append(room[:0], i)
	for n := 0; n < len(open); n++ {
		if n == maxWays {
			return dst, false
		}
		at, version := skipNoise(text, open[n])
		if !version {
			dst = addWay(dst, at)
			continue
		}
		first, nested := versionEnds(text, at)
		open = addWay(addWay(addWay(open, versionBody(text, at)), first), nested)
	}
	return dst, true
}

func addWay(ways []int, i int) []int {
	if slices.Contains(ways, i) {
		return ways
	}
	return append(ways, i)
}

// skipNoise returns the index of the first byte from i on that is not white
// space, an escape, an ordinary comment or the end of a version comment. version
// says that a version comment begins there.
func skipNoise(text []byte, i int) (end int, version bool) {
	for i < len(text) {
		rest := text[i:]
		switch c := text[i]; {
		case isSpace(c), c == '\\', c == 0xa0, c == 0xff:
			i += escapeWidth(rest)
		case c == '#', bytes.HasPrefix(rest, []byte("--")):
			i = endOfLine(text, i)
		case bytes.HasPrefix(rest, []byte("*/")):
			i += 2
		case bytes.HasPrefix(rest, []byte("/*")) && isVersionComment(rest[2:]):
			return i, true
		case bytes.HasPrefix(rest, []byte("/*")):
			if end := commentEnd(text, i+2); bytes.HasSuffix(text[:end], []byte("*/")) {
				i = end
			} else {
				i += 2
			}
		default:
			return i, false
		}
	}
	return i, false
}

// versionBody returns where the text within the version comment at text[i:]
// begins, behind its number.
func versionBody(text []byte, i int) int {
	i += 3
	for i < len(text) && (text[i] == '!' || isDigit(text[i])) {
		i++
	}
	return i
}

// versionEnds returns where the version comment at text[i:] ends for a server
// that skips it: at the first end of a comment, or at the first one that does not
// end a comment within.
func versionEnds(text []byte, i int) (first, nested int) {
	first = commentEnd(text, i+2)
	for nested = i + 2; nested < len(text); nested++ {
		switch {
		case bytes.HasPrefix(text[nested:], []byte("*/")):
			return first, nested + 2
		case bytes.HasPrefix(text[nested:], []byte("/*")):
			nested = commentEnd(text, nested+2) - 1
		}
	}
	return first, len(text)
}

// commentEnd returns the index behind the first end of a comment from i on.
func commentEnd(text []byte, i int) int {
	if i > len(text) {
		return len(text)
	}
	if n := bytes.Index(text[i:], []byte("*/")); n >= 0 {
		return i + n + 2
	}
	return len(text)
}
