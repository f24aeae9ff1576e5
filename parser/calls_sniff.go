package parser

import "bytes"

// MayCall reports whether FindCalls may find a call in the text: whether one of
// the words nextval, currval, lastval and setval, or VALUE behind NEXT or
// PREVIOUS, stands in it, also in a literal. It allocates nothing, and its time
// is that of a search for one letter.
func MayCall(sql []byte) bool {
	letters := newEitherCase(sql, 'v', 'V')
	for i := letters.next(); i >= 0; i = letters.next() {
		if isCallAt(sql, i) {
			return true
		}
	}
	return false
}

// isCallAt reports whether the letter at i is the V of a word of MayCall's.
func isCallAt(sql []byte, i int) bool {
	end := i + len("val")
	if end > len(sql) || lower(sql[i+1]) != 'a' || lower(sql[i+2]) != 'l' {
		return false
	}
	if end == len(sql) || !isWordByte(sql[end]) {
		return isWordAt(sql, i-4, "nextval") || isWordAt(sql, i-4, "currval") ||
			isWordAt(sql, i-4, "lastval") || isWordAt(sql, i-3, "setval")
	}
	if end += len("ue"); end < len(sql) && isWordByte(sql[end]) || !isWordAt(sql, i, "value") {
		return false // as VALUES
	}
	before := bytes.TrimRight(sql[:i], " \t\r\n\v\f")
	n := len(before)
	return isWordAt(before, n-len("next"), "next") || isWordAt(before, n-len("previous"), "previous") ||
		bytes.HasSuffix(before, []byte("*/")) || bytes.IndexByte(sql[n:i], '\n') >= 0 // a comment may stand between
}
