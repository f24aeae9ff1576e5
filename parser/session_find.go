package parser

import "slices"

// sessionFinder walks through a statement for FindSession.
type sessionFinder struct {
	callFinder // for its judgement of aliases
	found      SessionStmt
	lists      []openList // of SELECTs that are not at their end, the outermost first
	previous   token      // the token before the current one
	word       string     // it, in lower case, when it was a word
}

// openList is the list of a SELECT while it is walked through.
type openList struct {
	listItem
	depth int
}

func (f *sessionFinder) find() {
	for t := f.next(); ; t = f.next() {
		switch t {
		case tokenEOF:
			f.leaveLists(-1)
			return
		case tokenInvalid, tokenVersion:
			f.found.Uses |= Unread
			return
		case '(':
			f.depth++
		case ')':
			f.depth--
			f.leaveLists(f.depth + 1)
		case '@':
			t = f.variable()
		}
		f.step(t)
	}
}

// step notes the current token t, whatever it stands for.
func (f *sessionFinder) step(t token) {
	word := ""
	if t == tokenWord {
		word = string(f.lower())
		f.keyword(t, word)
	}
	f.noteItem(t)
	if t == tokenWord && word == "select" {
		f.lists = append(f.lists, openList{listItem{start: -1}, f.depth})
	}
	if t == tokenWord {
		f.call(word)
	}
	f.previous, f.word = t, word
}

// lower returns the current word in lower case, cut to the length of a keyword; nothing for one outside ASCII, of which no
// keyword is a part.
func (f *sessionFinder) lower() []byte {
	var buf keyword
	word, end := buf.read(f.sql[:f.end], f.start)
	if end < f.end {
		return nil
	}
	return slices.Clone(word)
}

// keyword notes the words that begin or end something.
func (f *sessionFinder) keyword(t token, word string) {
	if f.previous == '.' || f.qualifies() {
		return
	}
	switch word {
	case "from":
		f.leaveList()
		behind := f.callFinder
		if next := behind.next(); !behind.is(next, "dual") {
			f.found.Uses |= ReadsTables
		}
	case "into":
		f.leaveList()
		f.into()
	case "where", "group", "having", "order", "limit", "union", "except", "intersect", "for", "procedure", "window":
		f.leaveList()
	case "table", "join", "update", "insert", "replace", "delete", "values":
		behind := f.scanner
		if behind.next() != '(' { // else a function
			f.found.Uses |= ReadsTables
		}
	}
}

// into notes the variables behind INTO.
func (f *sessionFinder) into() {
	in := *f
	in.found, in.lists, in.previous = SessionStmt{}, nil, ','
	for t := in.next(); t == '@'; t = in.next() {
		if t = in.variable(); t == tokenInvalid {
			return
		}
		f.assign(in.found.Variables...)
		in.found.Variables = nil
		if t = in.next(); t != ',' {
			return
		}
	}
}

func (f *sessionFinder) assign(names ...string) {
	f.found.Uses |= SetsVariables
	for _, name := range names {
		if !slices.Contains(f.found.Assigned, name) {
			f.found.Assigned = append(f.found.Assigned, name)
		}
	}
}

// variable notes the user or system variable whose @ is the current token, and moves
// to its end. It returns the token that it counts as.
func (f *sessionFinder) variable() token {
	start := f.start
	if f.previous == tokenString || f.previous == tokenName || f.previous == tokenWord && !f.beforeOperand() {
		return '@' // an account, name@host
	}
	if f.end < len(f.sql) && f.sql[f.end] == '@' {
		return f.systemVariable(start)
	}
	name, ok := readVariable(&f.scanner)
	if !ok {
		f.found.Uses |= Unread
		return '@'
	}
	f.found.Uses |= ReadsVariables
	if !slices.Contains(f.found.Variables, name) {
		f.found.Variables = append(f.found.Variables, name)
	}
	behind := f.scanner
	if behind.next() == ':' && behind.next() == '=' {
		f.assign(name)
	}
	f.start = start
	return tokenName
}

// beforeOperand reports whether the word before the current token is none that an
// operand ends with.
func (f *sessionFinder) beforeOperand() bool {
	switch f.word {
	case "select", "set", "into", "and", "or", "xor", "not", "in", "like", "by", "when", "then", "else", "case", "distinct", "all",
		"where", "on", "having", "limit", "offset", "between", "is", "div", "mod", "regexp", "rlike", "as", "using", "do", "return",
		"values", "value", "interval", "binary", "from", "session", "local", "global", "execute", "prepare", "immediate", "call":
		return true
	}
	return false
}

// readVariable reads the name of a user variable behind its @: in lower case, unquoted,
// in ASCII.
func readVariable(s *scanner) (name string, ok bool) {
	begin := s.end
	if begin < len(s.sql) && (s.sql[begin] == '\'' || s.sql[begin] == '"' || s.sql[begin] == '`') {
		t := s.next()
		if t != tokenString && t != tokenName {
			return "", false
		}
		text := s.sql[begin+1 : s.end-1]
		if !isASCII(text) || slices.ContainsFunc(text, func(c byte) bool { return c == '\\' || c == '\'' || c == '"' || c == '`' }) {
			return "", false
		}
		return string(lowerASCII(text)), len(text) > 0
	}
	end := begin
	for end < len(s.sql) && (isWordByte(s.sql[end]) || s.sql[end] == '.') {
		end++
	}
	s.start, s.end = begin, end
	return string(lowerASCII(s.sql[begin:end])), end > begin && isASCII(s.sql[begin:end]) && (end == len(s.sql) || s.sql[end] < 0x80)
}

func lowerASCII(text []byte) []byte {
	lower := slices.Clone(text)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	return lower
}

// systemVariable reads @@[scope.]name.
func (f *sessionFinder) systemVariable(start int) token {
	f.next() // the second @
	t := f.next()
	word := string(f.lower())
	for t == tokenWord && f.end < len(f.sql) && f.sql[f.end] == '.' {
		f.next()
		t = f.next()
		word = string(f.lower())
	}
	if use := sessionVariables[word]; use != 0 {
		f.found.Uses |= use
		f.addCall(use, start, f.end)
	}
	f.start = start
	return tokenName
}

// call notes a function of the session, whose name is the current word.
func (f *sessionFinder) call(word string) {
	use := sessionFunctions[word]
	if use == 0 || f.previous == '.' {
		return
	}
	behind := f.scanner
	if behind.next() != '(' {
		return
	}
	empty := behind.next() == ')'
	switch {
	case use == TakesLocks:
	case word == "last_insert_id" && !empty:
		use = SetsLastID
	case !empty:
		return
	}
	f.found.Uses |= use
	if empty && use != TakesLocks {
		f.addCall(use, f.start, behind.end)
	}
}

// addCall notes the place of a value of the session.
func (f *sessionFinder) addCall(use SessionUse, start, end int) {
	behind := f.scanner
	behind.end = end
	f.found.Calls = append(f.found.Calls, SessionCall{Use: use, Start: start, End: end, Plain: f.standsAlone(behind), Column: len(f.lists) > 0})
	for i := range f.lists {
		f.lists[i].calls = true
	}
}

// standsAlone reports whether the value behind the previous token is not part of
// arithmetic, by that token and the one behind.
func (f *sessionFinder) standsAlone(behind scanner) bool {
	switch f.previous {
	case ',', '(', '=', '<', '>', tokenEOF:
	case tokenWord:
		if f.word == "div" || f.word == "mod" {
			return false
		}
	default:
		return false
	}
	switch t := behind.next(); t {
	case ',', ')', ';', '=', '<', '>', '!', tokenEOF, tokenName, tokenString:
		return true
	case tokenWord:
		return !behind.is(t, "div") && !behind.is(t, "mod")
	}
	return false
}

// noteItem notes the token t for the lists that it is in.
func (f *sessionFinder) noteItem(t token) {
	if len(f.lists) == 0 {
		return
	}
	l := &f.lists[len(f.lists)-1]
	switch {
	case f.depth == l.depth && (t == ',' || t == ';'):
		f.endListItem(l)
		return
	case l.start < 0 && t == tokenWord && f.isSelectOption():
		return
	case l.start < 0:
		l.start = f.start
	}
	l.end = f.end
	if f.depth == l.depth {
		l.beforeLast, l.last = l.last, f.ending(t)
	}
}

func (f *sessionFinder) endListItem(l *openList) {
	if l.start >= 0 && l.calls && !l.hasAlias() {
		f.found.items = append(f.found.items, span{l.start, l.end})
		slices.SortFunc(f.found.items, func(a, b span) int { return a.end - b.end })
	}
	l.listItem = listItem{start: -1}
}

// leaveList ends the innermost list, if the current word stands in no parentheses
// within it.
func (f *sessionFinder) leaveList() {
	if n := len(f.lists); n > 0 && f.lists[n-1].depth == f.depth {
		f.endListItem(&f.lists[n-1])
		f.lists = f.lists[:n-1]
	}
}

// leaveLists ends the lists from a depth of parentheses on; all with -1.
func (f *sessionFinder) leaveLists(depth int) {
	for n := len(f.lists); n > 0 && f.lists[n-1].depth >= depth; n = len(f.lists) {
		f.endListItem(&f.lists[n-1])
		f.lists = f.lists[:n-1]
	}
}
