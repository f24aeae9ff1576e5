package parser

// Behind returns what stands behind the stored program that a text begins with: the
// text after the first semicolon that may end it, empty when there is none. A
// semicolon is within the program only where that is certain, so what is given
// may begin too early, within a body that is not in BEGIN and END, but never too
// late. It reports false for a text that cannot be read with certainty.
func Behind(sql []byte, m Mode) (rest []byte, ok bool) {
	r := routine{scanner: newScanner(TrimEnd(sql), m)}
	for {
		switch t := r.next(); {
		case t == tokenEOF:
			return nil, true
		case t == tokenInvalid:
			return nil, false
		case t == ';' && r.depth == 0:
			return r.sql[r.end:], true
		default:
			r.follow(t)
		}
	}
}

// routine is how far the text of a stored program has been read.
type routine struct {
	scanner
	depth    int  // of BEGIN .. END and CASE .. END
	kind     byte // p: procedure, function or package; t: trigger; e: event; 0: not known yet
	body     bool // what comes next begins the program's body
	begun    bool // the body has begun
	declares bool // the statement is a DECLARE
	opens    bool // a statement may begin here
}

// follow goes on by the token t.
func (r *routine) follow(t token) {
	opens := r.opens
	r.opens = t == ';' || t == ':' || r.isOne(t, "then", "else", "loop", "do", "repeat", "begin") ||
		r.declares && (t == tokenString || r.isOne(t, "found", "sqlexception", "sqlwarning"))
	switch {
	case t == ';':
		r.declares = false
	case r.is(t, "begin"):
		if (opens || r.body) && r.beginsStatement() {
			r.depth++
		}
		r.body, r.begun = false, true
	case r.is(t, "case"):
		r.depth++
	case r.is(t, "end"):
		r.leave()
	case r.is(t, "declare"):
		r.declares = true
	case !r.begun:
		r.header(t)
	}
}

// leave handles an END, and what it ends.
func (r *routine) leave() {
	ahead := r.scanner
	t := ahead.next()
	if ahead.isOne(t, "if", "loop", "repeat", "while", "case") {
		r.scanner = ahead
	}
	if !ahead.isOne(t, "if", "loop", "repeat", "while") {
		r.depth = max(0, r.depth-1)
	}
}

// header looks for the begin of the body.
func (r *routine) header(t token) {
	switch {
	case r.kind == 0 && r.isOne(t, "procedure", "function", "package"):
		r.kind, r.body = 'p', true
	case r.kind == 0 && r.is(t, "trigger"):
		r.kind = 't'
	case r.kind == 0 && r.is(t, "event"):
		r.kind = 'e'
	case r.kind == 't' && r.is(t, "row"), r.kind == 'e' && r.is(t, "do"):
		r.body = true
	case r.kind == 'p' && statementWord(r.scanner, t), r.kind != 'p' && r.body && statementWord(r.scanner, t):
		r.body, r.begun = false, true
	}
}

// beginsStatement reports whether the token after this one begins a statement: a
// BEGIN that is a name is followed by something else.
func (r *routine) beginsStatement() bool {
	ahead := r.scanner
	t := ahead.next()
	return statementWord(ahead, t) || ahead.isOne(t, "begin", "not", "declare")
}

// statementWord reports whether a token begins a statement in a program's body.
func statementWord(s scanner, t token) bool {
	return s.isOne(t, "select", "insert", "update", "delete", "replace", "set", "call", "with", "return", "if", "case", "loop", "while",
		"repeat", "open", "fetch", "close", "leave", "iterate", "signal", "resignal", "get", "prepare", "execute", "truncate", "load",
		"start", "commit", "rollback", "savepoint", "create", "drop", "alter", "show", "flush", "analyze", "optimize", "lock", "unlock")
}

// isOne reports whether the token is one of these keywords.
func (s scanner) isOne(t token, words ...string) bool {
	for _, word := range words {
		if s.is(t, word) {
			return true
		}
	}
	return false
}
