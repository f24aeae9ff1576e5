package parser

// value is the text of one value: the tokens of an expression, from the first
// to the last.
type value struct {
	start, end int
	first      token
	tokens     int
	params     int // placeholders before it
}

// row reads the rest of a parenthesised list, after its opening parenthesis. It
// returns ')' with values set and the closing parenthesis as the current token,
// or the token that such a list cannot have.
func (s *scanner) row() token {
	s.values = 0
	depth, empty := 0, true
	for {
		t := s.next()
		switch t {
		case tokenWord, tokenName:
			if !isDigit(s.sql[s.start]) {
				s.note(t)
			}
		case ',':
			if depth == 0 {
				s.values++
			}
		case '(':
			depth++
		case ')':
			if depth == 0 {
				if !empty {
					s.values++
				}
				return t
			}
			depth--
		case tokenEOF, tokenInvalid, tokenVersion, ';':
			return t
		}
		empty = false
	}
}

// value reads the value of which t is the first token. It returns the token
// after the value, which is one that ends it or none that it can have.
func (s *scanner) value(t token) (value, token) {
	v := value{start: s.start, end: s.start, first: t, params: s.params}
	if t == tokenParam {
		v.params--
	}
	last := tokenEOF
	for depth := 0; ; last, t = t, s.next() {
		switch t {
		case tokenEOF, tokenInvalid, tokenVersion, ';':
			return v, s.close(depth, t)
		case tokenWord, tokenName:
			// After an @ or a dot there are no keywords.
			if depth == 0 && last != '@' && last != '.' && s.endsValue(t) {
				return v, t
			}
			if !isDigit(s.sql[s.start]) {
				s.note(t)
			}
		case ',':
			if depth == 0 {
				return v, t
			}
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return v, t
			}
			depth--
		}
		v.end = s.end
		v.tokens++
	}
}

// close returns t, or tokenInvalid when t ends a value within parentheses.
func (s *scanner) close(depth int, t token) token {
	if depth > 0 {
		return tokenInvalid
	}
	return t
}

// endsValue reports whether the current token t is a keyword that begins the
// clause after a value.
func (s *scanner) endsValue(t token) bool {
	switch s.end - s.start {
	case 2:
		return s.is(t, "as") || s.is(t, "on")
	case 9:
		return s.mode.MariaDB && s.is(t, "returning")
	}
	return false
}

// note remembers what the word or name t, seen in a value and no number, says of
// the whole statement.
func (s *scanner) note(t token) {
	text := s.text()
	if t == tokenName {
		text = text[1 : len(text)-1]
	}
	switch len(text) {
	case 4:
		if equalFold(text, "null") || equalFold(text, "true") {
			return
		}
	case 5:
		if equalFold(text, "false") {
			return
		}
	case 7:
		if equalFold(text, "default") {
			return
		}
	case 8:
		s.lastInsertID = s.lastInsertID || equalFold(text, "identity")
	case 14:
		s.lastInsertID = s.lastInsertID || equalFold(text, "last_insert_id")
	}
	s.names = true
}

// isQuery reports whether the current token t begins a query in parentheses.
func (s *scanner) isQuery(t token) bool {
	return t == '(' || s.is(t, "select") || s.is(t, "with") || s.is(t, "table") || s.is(t, "values")
}
