package parser

// Span is a part of a text: text[Start:End].
type Span struct{ Start, End int }

// Split appends to dst the statements of a text of several, as spans without
// the semicolons between them. White space and comments round a statement are
// part of its span. As both servers do, it leaves out white space and semicolons
// at the end of the text, and takes a comment behind the last semicolon for a
// statement. Anywhere else an empty statement makes both servers refuse the rest
// of the text, without executing it: the last span is then that rest, from the
// empty statement on.
//
// With an error, dst has the statements before the one that cannot be split off,
// and the rest of the text as its last span: ErrCompound for stored programs and
// compound statements, ErrModeChange for what follows a SET of sql_mode or of
// character sets (the last span begins after it, and is to be split in the new
// mode), a *SyntaxError for text that cannot be read with certainty.
//
// A sql_mode that a prepared statement or a procedure changes on the way is not
// noticed.
func Split(dst []Span, sql []byte, m Mode) ([]Span, error) {
	sql = TrimEnd(sql)
	s := newScanner(sql, m)
	noEnd := false // is in the rest of the text
	for {
		begin := s.end
		t := s.next()
		switch {
		case t == tokenEOF && begin == len(sql):
			return dst, nil
		case t == tokenEOF, t == ';':
			return append(dst, Span{begin, len(sql)}), nil
		case t != tokenInvalid && s.beginsCompound(t, &noEnd):
			return append(dst, Span{begin, len(sql)}), ErrCompound
		}
		last := t
		for t != ';' && t != tokenEOF && t != tokenInvalid {
			last, t = t, s.next()
		}
		if last == '-' && t == ';' {
			// Refused, but "--" before no semicolon would be a comment.
			return append(dst, Span{begin, len(sql)}), nil
		}
		if t == tokenInvalid {
			return append(dst, Span{begin, len(sql)}), s.syntaxError()
		}
		dst = append(dst, Span{begin, s.start})
		if t == tokenEOF {
			return dst, nil
		}
		if mayChangeMode(sql[begin:s.start]) && !s.atEnd() {
			return append(dst, Span{s.end, len(sql)}), ErrModeChange
		}
	}
}

// TrimEnd cuts off the white space and semicolons at the end of a text, as the
// servers do before they read it.
func TrimEnd(sql []byte) []byte {
	n := len(sql)
	for n > 0 && (sql[n-1] == ';' || isSpace(sql[n-1])) {
		n--
	}
	return sql[:n]
}

// onlySemicolons reports whether nothing but semicolons follows.
func (s scanner) onlySemicolons() bool {
	t := s.next()
	for t == ';' {
		t = s.next()
	}
	return t == tokenEOF
}

// atEnd reports whether no token follows.
func (s scanner) atEnd() bool { return s.next() == tokenEOF }

// beginsCompound reports whether the statement that begins with the current
// token t may have semicolons of its own. It notes that the text has no END from
// there on, which it looks for only once.
func (s scanner) beginsCompound(t token, noEnd *bool) bool {
	switch kind := Sniff(s.sql[s.start:]); {
	case t == tokenVersion:
		return s.versionKind() == DDL && !s.isVersionOfTable()
	case kind == DynamicSQL && s.is(t, "set"): // SET STATEMENT .. FOR
		*noEnd = *noEnd || !ContainsWord(s.sql[s.start:], "end")
		return !*noEnd
	case kind == DynamicSQL:
		return !s.is(t, "execute") && !s.is(t, "explain") && !s.is(t, "describe") &&
			!s.is(t, "desc") && !s.is(t, "analyze")
	case s.is(t, "create"), s.is(t, "alter"):
		return s.createsProgram()
	}
	return false
}

// versionKind returns the kind of the statement within the version comment that
// is the current token.
func (s scanner) versionKind() Kind {
	text := s.text()
	i := 3
	for i < len(text) && (text[i] == '!' || isDigit(text[i])) {
		i++
	}
	return Sniff(text[i : len(text)-2])
}

// isVersionOfTable reports whether the version comment that is the current token is
// all of a statement, and that an ALTER TABLE, as dumps have it, or the like.
func (s scanner) isVersionOfTable() bool {
	inner := newScanner(s.text(), s.mode)
	inner.sql = inner.sql[:len(inner.sql)-2]
	inner.end = versionBody(inner.sql, 0)
	inner.next() // the verb
	object, behind := inner.next(), s.next()
	return inner.isOne(object, "table", "database", "schema") && (behind == ';' || behind == tokenEOF)
}

// createsProgram reports whether the CREATE or ALTER, which is the current
// token, is of a stored program, after its DEFINER and the like.
func (s scanner) createsProgram() bool {
	for {
		switch t := s.next(); {
		case t == '=', t == '@', t == '(', t == ')', t == tokenString, t == tokenName:
		case t == tokenVersion:
			return true
		case t != tokenWord:
			return false
		case s.is(t, "procedure"), s.is(t, "function"), s.is(t, "trigger"), s.is(t, "event"), s.is(t, "package"):
			return true
		case s.is(t, "table"), s.is(t, "view"), s.is(t, "index"), s.is(t, "database"), s.is(t, "schema"),
			s.is(t, "user"), s.is(t, "role"), s.is(t, "sequence"), s.is(t, "server"), s.is(t, "tablespace"),
			s.is(t, "temporary"), s.is(t, "unique"), s.is(t, "algorithm"):
			return false
		}
	}
}

// mayChangeMode reports whether the statement may change how the text after it
// reads.
func mayChangeMode(statement []byte) bool {
	switch Sniff(statement) {
	case Set, DynamicSQL:
		for _, word := range [...]string{"sql_mode", "names", "character_set_client", "character", "charset"} {
			if ContainsWord(statement, word) {
				return true
			}
		}
	}
	return false
}
