package parser

// SetScope is what an assignment of SET changes.
type SetScope uint8

const (
	// SetUserVariable: @name.
	SetUserVariable SetScope = iota
	// SetSessionVariable: a system variable of the session.
	SetSessionVariable
	// SetNextTransaction: @@transaction_isolation and the like without a scope, which
	// are of the next transaction (MySQL manual, "SET TRANSACTION Statement").
	SetNextTransaction
	// SetServer: what is of the server: GLOBAL, PERSIST, PERSIST_ONLY.
	SetServer
	// SetCharsets: NAMES, CHARACTER SET.
	SetCharsets
)

// Assignment is one of those that a SET makes.
type Assignment struct {
	Scope SetScope
	// Name is that of the variable, in lower case, unquoted; of SetCharsets it is empty.
	Name string
	// Default: the value is the word DEFAULT.
	Default bool
	// Value is where in the text the value stands, of a variable.
	Value Span
}

// SetForm is what kind of SET a text is.
type SetForm uint8

const (
	// SetVariables assigns variables.
	SetVariables SetForm = iota
	// SetTransaction is SET TRANSACTION, of the next one.
	SetTransaction
	// SetSessionTransaction is SET SESSION TRANSACTION.
	SetSessionTransaction
	// SetMalformed is SET [SESSION|GLOBAL] TRANSACTION with what no server takes.
	SetMalformed
	// SetAccount is of accounts: PASSWORD, ROLE, DEFAULT ROLE, RESOURCE GROUP.
	SetAccount
)

// SetStmt is a SET.
type SetStmt struct {
	Form        SetForm
	Assignments []Assignment // of SetVariables
	Server      bool         // it is of the server, not of the session: SET GLOBAL TRANSACTION too
}

// ParseSet reads a SET ("SET Syntax for Variable Assignment" in the MySQL manual). It
// reports false for a text that it cannot read with certainty.
func ParseSet(sql []byte, m Mode) (stmt SetStmt, ok bool) {
	s := newScanner(sql, m)
	if t := s.next(); !s.is(t, "set") {
		return stmt, false
	}
	if form, server, special := setForm(s); special {
		return SetStmt{Form: form, Server: server}, true
	}
	for {
		a, t, ok := readAssignment(&s)
		if !ok {
			return stmt, false
		}
		stmt.Assignments = append(stmt.Assignments, a)
		stmt.Server = stmt.Server || a.Scope == SetServer
		switch {
		case t == ',':
		case t == tokenEOF, t == ';' && s.onlySemicolons():
			return stmt, true
		default:
			return stmt, false
		}
	}
}

// setForm tells the forms of SET that assign no variables, by the words behind SET.
func setForm(s scanner) (form SetForm, server, special bool) {
	t := s.next()
	global := s.is(t, "global")
	session := s.is(t, "session") || s.is(t, "local")
	if global || session {
		t = s.next()
	}
	switch {
	case s.is(t, "transaction") && session:
		form = SetSessionTransaction
	case s.is(t, "transaction"):
		form = SetTransaction
	case !global && !session && (s.is(t, "password") || s.is(t, "role")):
		form = SetAccount
	case !global && !session && (s.is(t, "default") || s.is(t, "resource")):
		form = SetAccount
	default:
		return form, false, false
	}
	if form != SetAccount && !isCharacteristics(s) {
		form = SetMalformed
	}
	return form, global, true
}

// isCharacteristics reports whether what follows is ISOLATION LEVEL and READ WRITE or
// READ ONLY, or one of them.
func isCharacteristics(s scanner) bool {
	p := commandParser{scanner: s}
	p.advance()
	level, access := false, false
	for {
		switch {
		case !level && p.words("isolation", "level"):
			level = true
			if !p.isolationLevel() {
				return false
			}
		case !access && p.word("read"):
			access = true
			if !p.word("only") && !p.word("write") {
				return false
			}
		default:
			return false
		}
		if p.t != ',' {
			return p.t == tokenEOF || p.t == ';' && p.onlySemicolons()
		}
		p.advance()
	}
}

// isolationLevel passes the name of one.
func (p *commandParser) isolationLevel() bool {
	switch {
	case p.word("serializable"):
		return true
	case p.word("repeatable"):
		return p.word("read")
	case p.word("read"):
		return p.word("committed") || p.word("uncommitted")
	}
	return false
}

// readAssignment reads one assignment, up to the token behind it.
func readAssignment(s *scanner) (a Assignment, t token, ok bool) {
	t = s.next()
	switch {
	case t == '@' && s.end < len(s.sql) && s.sql[s.end] == '@':
		s.next()
		a.Scope = SetNextTransaction // of those few
		a.Name, ok = s.scopedName(&a)
	case t == '@':
		a.Name, ok = readVariable(s)
	case s.is(t, "names"), s.is(t, "charset"), s.is(t, "character"):
		if behind := *s; behind.next() != '=' {
			a.Scope = SetCharsets
			return a, s.assigned(&a), true
		}
		a.Scope, a.Name, ok = SetSessionVariable, string(lowerASCII(s.text())), true
	default:
		a.Scope = SetSessionVariable
		a.Name, ok = s.variableName(t, &a)
	}
	if !ok {
		return a, t, false
	}
	if a.Scope == SetNextTransaction && !ofTransactions(a.Name) {
		a.Scope = SetSessionVariable
	}
	if t = s.next(); t == ':' {
		t = s.next()
	}
	if t != '=' {
		return a, t, false
	}
	return a, s.assigned(&a), true
}

func ofTransactions(name string) bool {
	switch name {
	case "transaction_isolation", "tx_isolation", "transaction_read_only", "tx_read_only":
		return true
	}
	return false
}

// scopedName reads [scope.]name behind @@.
func (s *scanner) scopedName(a *Assignment) (name string, ok bool) {
	t := s.next()
	if behind := *s; behind.next() == '.' && a.scope(s, t) {
		s.next()
		t = s.next()
	}
	return s.wholeName(t)
}

// variableName reads [scope] name, of which t is the first token.
func (s *scanner) variableName(t token, a *Assignment) (name string, ok bool) {
	if behind := *s; isName(behind.next()) && a.scope(s, t) {
		t = s.next()
	}
	return s.wholeName(t)
}

// scope notes the scope that the current word is, if it is one.
func (a *Assignment) scope(s *scanner, t token) bool {
	switch {
	case t != tokenWord:
		return false
	case s.isOneOf("global", "persist", "persist_only"):
		a.Scope = SetServer
	case s.isOneOf("session", "local"):
		a.Scope = SetSessionVariable
	default:
		return false
	}
	return true
}

// wholeName reads a system variable's name, of which t is the first token.
func (s *scanner) wholeName(t token) (name string, ok bool) {
	for {
		if !isName(t) || !isASCII(s.text()) {
			return "", false
		}
		part := string(lowerASCII(s.text()))
		if t == tokenName {
			part = part[1 : len(part)-1]
		}
		name += part
		if behind := *s; behind.next() != '.' {
			return name, name != ""
		}
		s.next()
		t = s.next()
		name += "."
	}
}

// assigned passes over a value, and returns the token behind it.
func (s *scanner) assigned(a *Assignment) token {
	depth, count := 0, 0
	for t := s.next(); ; t = s.next() {
		switch {
		case t == tokenEOF, t == tokenInvalid, t == tokenVersion, t == ';', t == ',' && depth == 0:
			return t
		case t == '(':
			depth++
		case t == ')':
			depth--
		}
		if count++; count == 1 {
			a.Value.Start = s.start
		}
		a.Value.End = s.end
		a.Default = count == 1 && s.is(t, "default")
	}
}
