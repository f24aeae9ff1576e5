package parser

// MayPrepare reports whether the text may be SQL's PREPARE, MariaDB's EXECUTE
// IMMEDIATE or a compound statement with one of them, whichever version comments
// the server executes.
func MayPrepare(sql []byte) bool {
	if !ContainsWord(sql, "prepare") && !ContainsWord(sql, "immediate") {
		return false
	}
	var room [4]int
	begins, ok := ways(room[:0], sql, 0)
	for _, i := range begins {
		switch Sniff(sql[i:]) {
		case Prepare:
			return true
		case DynamicSQL:
			if !explains(sql[i:]) {
				return true
			}
		}
	}
	return !ok
}

// PreparesInSet reports whether the text may be MariaDB's SET STATEMENT .. FOR
// PREPARE or EXECUTE IMMEDIATE, whichever version comments the server executes.
func PreparesInSet(sql []byte) bool {
	if !ContainsWord(sql, "prepare") && !ContainsWord(sql, "immediate") {
		return false
	}
	var room [4]int
	begins, ok := ways(room[:0], sql, 0)
	for _, i := range begins {
		var buf keyword
		if word, _ := buf.read(sql, max(skipBlank(sql, i), 0)); string(word) == "set" {
			return true
		}
	}
	return !ok
}

// explains reports whether the text begins with a keyword that carries no
// statement of SQL's PREPARE.
func explains(sql []byte) bool {
	var buf keyword
	word, _ := buf.read(sql, max(skipBlank(sql, 0), 0))
	switch string(word) {
	case "explain", "describe", "desc", "analyze":
		return true
	}
	return false
}

// Literals returns the character strings of a text, joined without their escapes:
// what SQL's PREPARE and EXECUTE IMMEDIATE take for the statement, as far as it is
// not in variables. It reports false when one is not written plainly, as X'..'.
func Literals(sql []byte, m Mode) (joined []byte, ok bool) {
	s := newScanner(sql, m)
	for {
		switch t := s.next(); t {
		case tokenEOF:
			return joined, true
		case tokenInvalid, tokenVersion:
			return nil, false
		case tokenString:
			joined = s.appendString(joined)
		case tokenWord:
			if s.beginsLiteral() {
				return nil, false
			}
		}
	}
}

// beginsLiteral reports whether the current word is a hexadecimal or binary
// literal or the begin of one, or names a character set that is not like ASCII.
func (s *scanner) beginsLiteral() bool {
	word := s.text()
	if len(word) > 1 && word[0] == '0' && (word[1]|0x20 == 'x' || word[1]|0x20 == 'b') {
		return true
	}
	next := *s
	if next.next() != tokenString {
		return false
	}
	if len(word) == 1 && next.start == s.end {
		return lower(word[0]) == 'x' || lower(word[0]) == 'b'
	}
	return word[0] == '_' && !isPlainIntroducer(word)
}
