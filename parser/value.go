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
// returns ')' with values and at set and the closing parenthesis as the current
// token, or the token that such a list cannot have.
func (s *scanner) row() token {
	s.values, s.at = 0, s.end
	depth, empty := 0, !s.literals()
	for {
		t := s.next()
		switch t {
		case tokenWord, tokenName:
			if !isDigit(s.sql[s.start]) {
				s.note(t)
			}
		case ',':
			if depth == 0 {
				s.endValue()
				s.literals()
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

// endValue counts a value of a row, behind the comma after it.
func (s *scanner) endValue() {
	if s.values++; s.values == s.watch {
		s.at = s.end
	}
}

// literals passes over the values of a row that are one literal or placeholder
// each, up to the first that is more or to the closing parenthesis, and reports whether there
// were any. It finds what row itself would, without a token for each: of such
// values the rows of large statements are made.
func (s *scanner) literals() (some bool) {
	for {
		i := s.end
		for i < len(s.sql) && s.sql[i] == ' ' {
			i++
		}
		j := s.literalEnd(i)
		switch {
		case j < 0 || j >= len(s.sql) || s.sql[j] != ',' && s.sql[j] != ')':
			return some
		case s.sql[i] == '?':
			s.params++
		}
		if s.sql[j] == ')' {
			s.end = j
			return true
		}
		s.end = j + 1
		s.endValue()
		some = true
	}
}

// literalEnd returns where the quoted text, plain number, NULL or placeholder that
// begins at i ends, and -1 for all other values.
func (s *scanner) literalEnd(i int) int {
	sql := s.sql
	switch {
	case len(sql)-i < 2:
		return -1
	case sql[i] == '\'':
		return s.quoted(i, !s.mode.NoBackslashEscapes)
	case sql[i] == '?':
		return i + 1
	case sql[i]|0x20 == 'n' && len(sql)-i > 4 && equalFold(sql[i:i+4], "null"):
		return i + 4
	case sql[i] == '-':
		i++
	}
	if !isDigit(sql[i]) {
		return -1
	}
	for i++; i < len(sql) && (isDigit(sql[i]) || sql[i] == '.'); {
		i++
	}
	return i
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
