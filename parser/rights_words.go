package parser

// wordScanner is a scanner that finds each word which the server may take for a keyword: also one that a number without
// space goes before, as FOR in 1.0FOR, 1e1FOR and MariaDB's \NFOR.
type wordScanner struct {
	scanner
	begin int // of the whole word, as it is when it is a name
}

// next moves to the next token. Of a word that begins with a digit, it is what stands behind the last digit.
func (w *wordScanner) next() token {
	t := w.scanner.next()
	w.begin = w.start
	switch {
	case t == '\\' && w.end < len(w.sql) && w.sql[w.end] == 'N':
		w.end++
	case t == tokenWord && isDigit(w.sql[w.start]):
		i := w.end
		for !isDigit(w.sql[i-1]) {
			i--
		}
		if i < w.end {
			w.start = i
		}
	}
	return t
}

// longestWord is the length of the longest keyword that rights are judged by.
const longestWord = len("straight_join")

// keyword gives the word that is the current token t in lower case, empty for all that is no keyword of interest. A dot
// behind it does not make a name of it here: that would allow more.
func (s *scanner) keyword(t token, room *[longestWord]byte) []byte {
	if t != tokenWord || s.end-s.start > longestWord {
		return nil
	}
	word := room[:s.end-s.start]
	for i, c := range s.text() {
		word[i] = lower(c)
	}
	return word
}

// words judges a statement by words that mean the same wherever they stand: locks, files, calls of sequences. Where they
// may be names they count as keywords.
func (r *rights) words(sql []byte, m Mode) {
	w := wordScanner{scanner: newScanner(sql, m)}
	var rooms [2][longestWord]byte // of the word before, and of this one
	var before []byte
	for n := 0; !r.judged(); n++ {
		t := w.next()
		word := w.keyword(t, &rooms[n&1])
		if t == tokenName && w.end-w.start-2 <= longestWord {
			inner := w // a name in quotes may be that of a function
			inner.start, inner.end = inner.start+1, inner.end-1
			r.call(inner.keyword(tokenWord, &rooms[n&1]))
		}
		r.call(word)
		r.pair(string(before), string(word), t)
		if t == tokenInvalid || t == tokenVersion {
			r.need(RightAdmin)
		}
		if t == tokenEOF {
			return
		}
		before = word
	}
}

// call notes what the call of a function needs.
func (r *rights) call(name []byte) {
	switch string(name) {
	case "setval":
		r.need(RightAdmin)
	case "nextval":
		r.need(RightWrite)
	}
}

// pair notes what a word and the token behind it need.
func (r *rights) pair(before, word string, t token) {
	writes := false
	switch before {
	case "into":
		writes = t != '@' // a file
	case "for":
		writes = word == "update" || word == "share"
	case "lock":
		writes = word == "in" // SHARE MODE
	case "next":
		writes = word == "value" || word == "values"
	}
	if writes {
		r.need(RightWrite)
	}
}
