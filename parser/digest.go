package parser

import (
	"bytes"
	"sync"
)

// maxDigest is how long a digest is at most.
const maxDigest = 1024

// AppendDigest appends to dst what a statement is without its values, for logs: one ? stands for each number and string,
// and for a list of them; comments are left out. The text may be read in each of the modes; where they differ, or it
// is cut or cannot be read, only as much of it is told as is certain to hold no value.
func AppendDigest(dst, sql []byte, modes []Mode) []byte {
	begin := len(dst)
	d := digests.Get().(*digest)
	defer d.release()
	for i, m := range modes {
		d.begin(sql, m)
		if !d.read() || i > 0 && !bytes.Equal(d.text, dst[begin:]) {
			dst = dst[:begin]
			break
		}
		dst = append(dst[:begin], d.text...)
	}
	if len(dst) > begin {
		return dst
	}
	d.certain(sql)
	return append(dst, d.text...)
}

// certain reads what stands before the first byte that some mode may take for a part of a value, without its numbers.
func (d *digest) certain(sql []byte) {
	end := bytes.IndexFunc(sql, func(c rune) bool { return c >= 0x80 || bytes.ContainsRune([]byte("'\"`[\\"), c) })
	if end < 0 {
		end = len(sql)
	}
	for end > 0 && isWordByte(sql[end-1]) {
		end-- // it may go on behind
	}
	d.begin(sql[:end], Mode{})
	d.read()
	d.add([]byte("..."))
}

// digest is a text under way.
type digest struct {
	literalScanner
	text   []byte
	tokens []int // where the latest ones begin in text
}

// digests keeps the buffers of digests that were made.
var digests = sync.Pool{New: func() any { return new(digest) }}

// begin is the digest of a text that reads in this mode.
func (d *digest) begin(sql []byte, m Mode) {
	d.literalScanner = literalScanner{scanner: newScanner(sql, m)}
	d.text, d.tokens = d.text[:0], d.tokens[:0]
}

func (d *digest) release() {
	d.literalScanner = literalScanner{} // the client's buffer
	digests.Put(d)
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
			d.add([]byte("..."))
			return true
		case t == tokenLiteral, t == tokenParam, t == tokenString, t == tokenWord && isDigit(d.sql[d.start]):
			d.add([]byte("?"))
			d.fold("?,?")
		case t == ')':
			d.add([]byte(")"))
			d.fold("(?),(?)")
		default:
			token := d.scanner.text()
			if len(d.text)+len(token) > maxDigest { // half a name would read as another one
				d.add([]byte("..."))
				return true
			}
			d.add(token)
		}
	}
}

// add adds a token, with a space where two words would become one.
func (d *digest) add(token []byte) {
	if n := len(d.text); n > 0 && !opens(d.text[n-1]) && (len(token) > 1 || !closes(token[0])) && (token[0] != '(' || d.text[n-1] == ',') {
		d.text = append(d.text, ' ')
	}
	d.tokens = append(d.tokens, len(d.text))
	d.text = append(d.text, token...)
}

func opens(c byte) bool  { return c == '(' || c == '.' || c == '@' }
func closes(c byte) bool { return c == ',' || c == ')' || c == '.' || c == ';' }

// fold leaves but the first part of a list when the latest tokens are these, of one byte each: its first part, a comma, and
// its second.
func (d *digest) fold(list string) {
	from := len(d.tokens) - len(list)
	if from < 0 {
		return
	}
	for i, at := range d.tokens[from:] {
		end := len(d.text)
		if from+i+1 < len(d.tokens) {
			end = d.tokens[from+i+1]
		}
		if d.text[at] != list[i] || len(bytes.TrimRight(d.text[at:end], " ")) != 1 {
			return
		}
	}
	keep := from + len(list)/2
	d.text = bytes.TrimRight(d.text[:d.tokens[keep]], " ")
	d.tokens = d.tokens[:keep]
}
