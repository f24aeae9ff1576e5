package parser

import "strconv"

// CallKind is what a call does with its sequence.
type CallKind uint8

const (
	// NextValue takes a value: NEXTVAL(s), NEXT VALUE FOR s, s.NEXTVAL.
	NextValue CallKind = iota
	// LastValue returns the value that the session got last: LASTVAL(s),
	// CURRVAL(s), PREVIOUS VALUE FOR s, s.CURRVAL, and LASTVAL() of any sequence.
	LastValue
	// SetValue moves the sequence: SETVAL(s, n [, used [, round]]).
	SetValue
)

// ValueCall is one use of a sequence in an expression, in the dialect of MariaDB and
// TiDB, PostgreSQL, or Oracle and PolarDB-X.
type ValueCall struct {
	Kind       CallKind
	Start, End int   // in the text
	Sequence   Table // unquoted, in UTF-8; without a name for LASTVAL()
	// Dotted: it is written s.NEXTVAL or s.CURRVAL, as a column is too.
	Dotted bool
	// Fault says why a value in its place would not be what the call gives, in a
	// user's words; "" where the call is evaluated once at most. It says nothing of
	// LastValue, which is the same wherever it stands.
	Fault string
	// Value is, for SetValue, the number as given, and Next the value that comes
	// next then.
	Value, Next int64
	// Params is how many placeholders stand before it.
	Params int

	whole bool // it is a whole value of INSERT or REPLACE
}

// CallStmt is the calls of a statement, as offsets into its text.
type CallStmt struct {
	Calls []ValueCall // in order of appearance
	// Alone: the text is SELECT with this call alone, FROM DUAL or without FROM, and
	// its column has a name in ASCII of up to 250 bytes.
	Alone bool
	// Label is then that name. It shares no memory with the text, as nothing here does:
	// the plan of a statement outlives the text.
	Label string
	// HasCount: Alone, and with WHERE COUNT = n, which asks for Count rows. With
	// CountParam n is a placeholder.
	HasCount, CountParam bool
	Count                int64

	query bool // a SELECT: its columns have names
	items []span
	mode  Mode
}

// FindCalls finds the calls in a text: uses of sequences in a SELECT, INSERT,
// REPLACE, UPDATE, DELETE, SET, DO or CALL, outside literals and comments. Other
// statements have none. Whether the names are those of sequences is the caller's
// to know: what merely looks like a call is the server's. Vitess's SELECT NEXT n
// VALUES is ParseNext's.
func FindCalls(sql []byte, m Mode) CallStmt {
	f := callFinder{scanner: newScanner(sql, m), zones: zonesOf(sql)}
	if f.zones == nil {
		return CallStmt{}
	}
	f.stmt = CallStmt{mode: m, query: f.zones == zonesSelect}
	f.walk()
	if len(f.stmt.Calls) == 1 && f.stmt.query {
		f.stmt.readAlone(sql)
	}
	return f.stmt
}

// AppendReplaced appends the statement to dst with what value appends in the
// place of the calls for which it reports true, and returns dst. It is called once
// for each, in order. typed says that the value should have the type of a call,
// BIGINT, by a CAST. A column of a SELECT keeps its name, by an alias.
func (s *CallStmt) AppendReplaced(dst, sql []byte, value func(dst []byte, call int, typed bool) ([]byte, bool)) []byte {
	e := editor{dst: dst, sql: sql}
	item := 0
	for i := range s.Calls {
		c := &s.Calls[i]
		item = s.nameItems(&e, item, c.Start)
		s.replace(&e, i, value)
	}
	s.nameItems(&e, item, len(sql))
	e.copyTo(len(sql))
	return e.dst
}

// replace writes what is before a call, and what value gives for it.
func (s *CallStmt) replace(e *editor, call int, value func(dst []byte, call int, typed bool) ([]byte, bool)) {
	c := &s.Calls[call]
	e.copyTo(c.Start)
	var ok bool
	if e.dst, ok = value(e.dst, call, s.query || !c.whole); ok {
		e.at = c.End
		e.endWord()
	}
}

// nameItems writes the aliases of the items from index item on that end before
// the given place, and returns the index of the next item.
func (s *CallStmt) nameItems(e *editor, item, before int) int {
	for ; item < len(s.items) && s.items[item].end <= before; item++ {
		text := e.sql[s.items[item].start:s.items[item].end]
		if len(text) > maxAlias || s.mode.Charset.layout() != layoutSafe && !isASCII(text) {
			continue
		}
		e.insert(s.items[item].end, " AS `")
		for _, c := range text {
			if c == '`' {
				e.dst = append(e.dst, c)
			}
			e.dst = append(e.dst, c)
		}
		e.dst = append(e.dst, "` "...)
	}
	return item
}

// maxAlias is the longest alias of a column that both servers take, in bytes as
// in characters (MySQL manual, "Identifier Length Limits").
const maxAlias = 255

// maxLabel is the longest name of Label.
const maxLabel = 250

// readAlone sets Alone and what goes with it.
func (s *CallStmt) readAlone(sql []byte) {
	c := s.Calls[0]
	sc := newScanner(sql, s.mode)
	if sc.next(); sc.next() == tokenEOF || sc.start != c.Start {
		return
	}
	sc.end = c.End
	label, t, ok := sc.alias(sql[c.Start:c.End], sc.next())
	if sc.is(t, "from") {
		t = sc.next()
		ok = ok && sc.is(t, "dual")
		t = sc.next()
	}
	if sc.is(t, "where") && c.Kind == NextValue {
		var counted bool
		t, counted = s.readCount(&sc)
		ok = ok && counted
	}
	for t == ';' {
		t = sc.next()
	}
	s.Alone = ok && t == tokenEOF && len(label) > 0 && len(label) <= maxLabel && isASCII(label)
	s.Label = string(label)
}

// alias reads the alias of which t may be the first token, and returns it or the
// text that stands for it, with the token behind.
func (s *scanner) alias(text []byte, t token) (label []byte, next token, ok bool) {
	as := s.is(t, "as")
	if as {
		t = s.next()
	}
	switch {
	case t == tokenWord && !as && (s.is(t, "from") || s.is(t, "where")):
		return text, t, true
	case t == tokenWord:
		label = s.text()
	case t == tokenName:
		name := s.text()
		label = undouble(append([]byte(nil), name[1:len(name)-1]...), 0, name[0])
	case t == tokenString:
		label = s.appendString(nil)
	default:
		return text, t, !as
	}
	return label, s.next(), true
}

// readCount reads COUNT = n behind WHERE.
func (s *CallStmt) readCount(sc *scanner) (next token, ok bool) {
	if t := sc.next(); !sc.is(t, "count") {
		return t, false
	}
	if t := sc.next(); t != '=' {
		return t, false
	}
	switch t := sc.next(); {
	case t == tokenParam:
		s.CountParam = true
	case t != tokenWord || !isDigit(sc.sql[sc.start]):
		return t, false
	default:
		if s.Count, ok = parseCount(string(sc.text())); !ok {
			return t, false
		}
	}
	s.HasCount = true
	return sc.next(), true
}

// readCall reads the call that may begin with the current token, a word, or end
// with it behind the names of s. or db.s.
func (f *callFinder) readCall() (c ValueCall, ok bool) {
	word := f.text()
	c.Start, c.Params = f.start, f.params
	ahead := f.scanner
	switch {
	case len(f.names) > 0:
		c.Start, c.Dotted = f.names[0].start, true
		ok = f.dotted(&c)
	case equalFold(word, "nextval"), equalFold(word, "currval"), equalFold(word, "lastval"), equalFold(word, "setval"):
		c.Kind = kindOf(word)
		ok = ahead.arguments(&c)
	case equalFold(word, "next"), equalFold(word, "previous"):
		if equalFold(word, "previous") {
			c.Kind = LastValue
		}
		ok = ahead.valueFor(&c)
	}
	if ok {
		f.scanner = ahead
		c.End = ahead.end
	}
	return c, ok
}

func kindOf(word []byte) CallKind {
	switch lower(word[0]) {
	case 'n':
		return NextValue
	case 's':
		return SetValue
	}
	return LastValue
}

// dotted reads s.NEXTVAL, of which the last word is the current token.
func (f *callFinder) dotted(c *ValueCall) bool {
	word := f.text()
	if len(f.names) > 2 || !equalFold(word, "nextval") && !equalFold(word, "currval") {
		return false
	}
	c.Kind = kindOf(word)
	sc := f.scanner
	if t := sc.next(); t == '(' || t == '.' {
		return false // a stored function, or a qualifier of something else
	}
	for _, name := range f.names {
		sc.end = name.start
		part, ok := sc.appendName(nil, sc.next(), sc.mode.Charset)
		if _, number := parseCount(string(part)); !ok || number {
			return false
		}
		c.Sequence = Table{c.Sequence.Name, string(part)}
	}
	return true
}

// valueFor reads VALUE FOR s behind NEXT or PREVIOUS.
func (s *scanner) valueFor(c *ValueCall) (ok bool) {
	if t := s.next(); !s.is(t, "value") {
		return false
	}
	if t := s.next(); !s.is(t, "for") {
		return false
	}
	end := *s
	if c.Sequence, _, ok = s.tableName(s.next(), s.mode.Charset); !ok {
		return false
	}
	names := 1
	if c.Sequence.Schema != "" {
		names = 3 // with the dot
	}
	*s = end
	for range names {
		s.next()
	}
	return true
}

// arguments reads what follows the name of a function, up to the closing
// parenthesis.
func (s *scanner) arguments(c *ValueCall) (ok bool) {
	if s.next() != '(' {
		return false
	}
	t := s.next()
	if t == ')' && c.Kind == LastValue {
		return true
	}
	if t == tokenString {
		c.Sequence, t, ok = s.quotedTable()
	} else {
		c.Sequence, t, ok = s.tableName(t, s.mode.Charset)
	}
	if _, number := parseCount(c.Sequence.Name); !ok || number {
		return false
	}
	if c.Kind == SetValue {
		return t == ',' && s.setArguments(c)
	}
	return t == ')'
}

// quotedTable reads the string that is the current token as [schema .] table.
func (s *scanner) quotedTable() (table Table, next token, ok bool) {
	text, ok := s.mode.Charset.Decode(s.appendString(nil))
	table.Name = text
	for i := range len(text) {
		if text[i] == '.' {
			table = Table{text[:i], text[i+1:]}
			break
		}
	}
	return table, s.next(), ok && table.Name != ""
}

// setArguments reads SETVAL's n [, used [, round]] and the closing parenthesis.
// Arguments that are no literals are a Fault.
func (s *scanner) setArguments(c *ValueCall) bool {
	numbers := [3]int64{0, 1, 0}
	for i := range numbers {
		text, t := s.argument()
		n, ok := integerArgument(text)
		if !ok || i == 2 && n != 0 {
			c.Fault = "SETVAL with other arguments than the sequence, a whole number, and 0 or 1 (round is 0)"
		}
		numbers[i] = n
		switch {
		case t == ')':
			c.setTo(numbers[0], numbers[1] != 0)
			return true
		case t != ',':
			return false
		}
	}
	return false
}

// maxArgument is how many tokens an argument may have: a text of calls within calls
// is not read again for each.
const maxArgument = 64

// argument reads an argument, and gives what ends it: a comma, the closing
// parenthesis, or a token that cannot.
func (s *scanner) argument() (text []byte, end token) {
	t := s.next()
	begin, last, depth := s.start, s.start, 0
	for range maxArgument {
		switch {
		case t == tokenEOF, t == tokenInvalid, t == tokenVersion, t == ';':
			return nil, tokenInvalid
		case depth == 0 && (t == ',' || t == ')'):
			return s.sql[begin:last], t
		}
		depth += nesting(t)
		last = s.end
		t = s.next()
	}
	return nil, tokenInvalid
}

// setTo sets Value and Next.
func (c *ValueCall) setTo(n int64, used bool) {
	c.Value, c.Next = n, n
	if used && n < 1<<63-1 {
		c.Next++
	} else if used && c.Fault == "" {
		c.Fault = "SETVAL to the last number there is"
	}
}

// integerArgument reads a whole number with a sign, TRUE or FALSE.
func integerArgument(text []byte) (int64, bool) {
	switch {
	case equalFold(text, "true"):
		return 1, true
	case equalFold(text, "false"):
		return 0, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}
