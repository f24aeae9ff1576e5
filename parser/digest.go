package parser

import "bytes"

// maxDigest is how long a digest is at most.
const maxDigest = 1024

// AppendDigest appends to dst what a statement is without its values, for logs: one ? stands for each number and string,
// and for a list of them; comments are left out. The text may be read in each of the modes; where they differ, or it
// is cut or cannot be read, only as much of it is told as is certain to hold no value.
func AppendDigest(dst, sql []byte, modes []Mode) []byte {
	begin := len(dst)
	for i, m := range modes {
		d := digest{literalScanner: literalScanner{scanner: newScanner(sql, m)}}
		if !d.read() || i > 0 && !bytes.Equal(d.text, dst[begin:]) {
			dst = dst[:begin]
			break
		}
		dst = append(dst[:begin], d.text...)
	}
	if len(dst) > begin {
		return dst
	}
	return append(dst, certain(sql)...)
}

// certain gives what stands before the first byte that some mode may take for a part of a value, without its numbers.
func certain(sql []byte) []byte {
	end := bytes.IndexFunc(sql, func(c rune) bool { return c >= 0x80 || bytes.ContainsRune([]byte("'\"`[\\"), c) })
	if end < 0 {
		end = len(sql)
	}
	for end > 0 && isWordByte(sql[end-1]) {
		end-- // it may go on behind
	}
	d := digest{literalScanner: literalScanner{scanner: newScanner(sql[:end], Mode{})}}
	d.read()
	d.add("...")
	return d.text
}

// digest is a text under way.
type digest struct {
	literalScanner
	text   []byte
	tokens []int // where the latest ones begin in text
}

// read makes the digest of the text. It reports false for one that ends where it cannot be read.
func (d *digest) read() bool {
	for t := d.next(tokenEOF); ; t = d.next(t) {
		switch {
		case t == tokenEOF:
			return true
		case t == tokenInvalid, t == tokenVersion:
			return false
		case len(d.text) > maxDigest:
			d.add("...")
			return true
		case t == tokenLiteral, t == tokenParam, t == tokenString, t == tokenWord && isDigit(d.sql[d.start]):
			d.add("?")
			d.fold("?", ",", "?")
		case t == ')':
			d.add(")")
			d.fold("(", "?", ")", ",", "(", "?", ")")
		default:
			d.add(string(d.scanner.text()))
		}
	}
}

// add adds a token, with a space where two words would become one.
func (d *digest) add(token string) {
	if n := len(d.text); n > 0 && !bytes.ContainsRune([]byte("(.@"), rune(d.text[n-1])) && (token == "..." || !bytes.ContainsRune([]byte(",).;"), rune(token[0]))) && (token != "(" || d.text[n-1] == ',') {
		d.text = append(d.text, ' ')
	}
	d.tokens = append(d.tokens, len(d.text))
	d.text = append(d.text, token...)
}

// fold leaves but the first part of a list when the latest tokens are these: its first part, a comma, and its second.
func (d *digest) fold(list ...string) {
	from := len(d.tokens) - len(list)
	if from < 0 {
		return
	}
	for i, want := range list {
		end := len(d.text)
		if from+i+1 < len(d.tokens) {
			end = d.tokens[from+i+1]
		}
		if string(bytes.TrimRight(d.text[d.tokens[from+i]:end], " ")) != want {
			return
		}
	}
	keep := from + len(list)/2
	d.text = bytes.TrimRight(d.text[:d.tokens[keep]], " ")
	d.tokens = d.tokens[:keep]
}
