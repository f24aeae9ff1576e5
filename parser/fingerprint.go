package parser

// LiteralKind is how a constant is written.
type LiteralKind uint8

// The kinds of literals. A sign is none of theirs.
const (
	LiteralInteger LiteralKind = iota // digits
	LiteralDecimal                    // a number with a point or an exponent
	LiteralString                     // 'x', N'x', _utf8mb4'x'
	LiteralBits                       // 0x1F, x'1F', 0b1, b'1'
)

// A Literal is where a constant stands in a text.
type Literal struct {
	Kind       LiteralKind
	Start, End int
	quote      int  // of strings: where the quoted text begins
	joined     bool // another string stands beside it, 'a' 'b': together they are one value
}

// tokenLiteral is the token of literalScanner for a whole literal. No text has it as a character: the scanner stops there.
const tokenLiteral token = 0x0e

// A literalScanner gives the tokens of a scanner with each literal as one.
type literalScanner struct {
	scanner
	last    token   // before the current one
	literal Literal // the last one
}

// next moves to the next token. A literal has its sign before it, as a token of its own.
func (s *literalScanner) next(current token) token {
	s.last = current
	t := s.scanner.next()
	switch {
	case t == tokenString:
		return s.take(LiteralString, s.start, s.start, s.end)
	case t == '.' && !isName(s.last) && s.end < len(s.sql) && isDigit(s.sql[s.end]):
		return s.number(s.start)
	case t != tokenWord || s.last == '.' || s.last == '@':
		return t
	case isDigit(s.sql[s.start]):
		return s.number(s.start)
	case s.end < len(s.sql) && s.sql[s.end] == '\'' && s.end-s.start == 1:
		return s.prefixed()
	case s.sql[s.start] == '_' && isPlainIntroducer(s.text()):
		return s.introduced()
	}
	return t
}

// take makes sql[start:end] the current literal.
func (s *literalScanner) take(kind LiteralKind, start, quote, end int) token {
	s.literal = Literal{Kind: kind, Start: start, End: end, quote: quote}
	s.start, s.end = start, end
	return tokenLiteral
}

// number reads the number at i. A word such as 1a is a name.
func (s *literalScanner) number(i int) token {
	text := s.sql[i:]
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b') {
		return s.take(LiteralBits, i, i, s.end)
	}
	d, rest, ok := scanDecimal(text)
	if !ok || len(rest) > 0 && isNameByte(rest[0]) {
		return tokenWord
	}
	kind := LiteralInteger
	if d.hasExponent || len(d.whole) != len(text)-len(rest) {
		kind = LiteralDecimal
	}
	return s.take(kind, i, i, len(s.sql)-len(rest))
}

// prefixed reads x'..', b'..' and n'..', of which the letter is the current token.
func (s *literalScanner) prefixed() token {
	start, c := s.start, lower(s.sql[s.start])
	if c != 'x' && c != 'b' && c != 'n' {
		return tokenWord
	}
	switch t := s.scanner.next(); {
	case t != tokenString:
		return t
	case c == 'n':
		return s.take(LiteralString, start, s.start, s.end)
	}
	return s.take(LiteralBits, start, s.start, s.end)
}

// introduced reads _charset'..', of which the first word is the current token. It may be a name.
func (s *literalScanner) introduced() token {
	ahead := s.scanner
	if ahead.next() != tokenString {
		return tokenWord
	}
	start := s.start
	s.scanner = ahead
	return s.take(LiteralString, start, s.start, s.end)
}

// Fingerprint appends the text to dst with a mark for each number and string in place of it, and its literals to
// literals. Two texts of one fingerprint, under one Mode, differ in the values of these only. It reports false for a text
// that may be read in more than one way, or has version comments.
func Fingerprint(dst, sql []byte, m Mode, literals []Literal) (key []byte, list []Literal, ok bool) {
	s := literalScanner{scanner: newScanner(sql, m)}
	copied := 0
	for t := s.next(tokenEOF); ; t = s.next(t) {
		switch t {
		case tokenEOF:
			return append(dst, sql[copied:]...), literals, true
		case tokenInvalid, tokenVersion:
			return dst, literals, false
		case tokenLiteral:
			literals = s.appendLiteral(literals)
			if s.literal.Kind == LiteralBits {
				continue // rare, and not every text of it is valid
			}
			dst = append(dst, sql[copied:s.literal.quote]...)
			dst = append(dst, 0, byte(s.literal.Kind)) // no token has a byte of 0
			copied = s.end
		}
	}
}

// appendLiteral appends the current literal, and notes when it goes on from the one before.
func (s *literalScanner) appendLiteral(literals []Literal) []Literal {
	if n := len(literals); s.last == tokenLiteral && n > 0 {
		literals[n-1].joined, s.literal.joined = true, true
	}
	return append(literals, s.literal)
}
