package parser

import "strings"

// set judges SET, which was read. Only settings of the session and user variables are allowed.
func (r *rights) set(sql []byte, s scanner, m Mode) {
	ahead := s
	switch t := ahead.next(); {
	case ahead.is(t, "statement"):
		r.setStatement(ahead)
		return
	case ahead.is(t, "role"):
		// MariaDB takes assignments behind the role, such as of a password.
		if t = ahead.next(); !isName(t) && t != tokenString || !ahead.onlySemicolons() {
			r.need(RightAdmin)
		}
		return
	}
	stmt, ok := ParseSet(sql, m)
	if !ok || stmt.Server || stmt.Form == SetMalformed || stmt.Form == SetAccount {
		r.need(RightAdmin)
		return
	}
	for _, a := range stmt.Assignments {
		if a.Scope != SetUserVariable && a.Scope != SetCharsets && !settable(a.Name) {
			r.need(RightAdmin)
			return
		}
	}
}

// settable reports whether a name is that of a setting which concerns the session alone. The others are those that keep
// changes from replicas or pretend to be one of them, and what is no variable. Names with a dot are of components and key
// caches.
func settable(name string) bool {
	switch name {
	case "password", "default", "role", "resource", "statement", "authorization", "transaction", "global", "persist", "persist_only",
		"sql_log_bin", "sql_log_off", "skip_replication", "server_id", "default_table_encryption", "default_storage_engine":
		return false
	}
	for _, prefix := range [...]string{"gtid_", "pseudo_", "binlog_", "debug", "wsrep_"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return !strings.Contains(name, ".")
}

// setStatement judges MariaDB's SET STATEMENT .. FOR, of which both words were read, where its values are plain: numbers,
// words and strings. A FOR in an expression would not be told from the one that the statement follows.
func (r *rights) setStatement(s scanner) {
	for !r.judged() && !r.scoped {
		t := s.next()
		if t != tokenWord || !settable(string(lowerASCII(s.text()))) || mayChangeMode(append([]byte("SET "), s.text()...)) || s.next() != '=' {
			break
		}
		t, ok := s.plainValue()
		switch {
		case ok && t == ',':
			continue
		case ok && s.is(t, "for"):
			r.scoped = true
			r.verb(s.sql[s.end:], s.mode)
			r.scoped = false
			return
		}
		break
	}
	r.need(RightAdmin)
}

// plainValue passes over a number, a word or a string, and returns the token behind.
func (s *scanner) plainValue() (t token, ok bool) {
	t = s.next()
	if t == '-' || t == '+' {
		t = s.next()
	}
	switch {
	case t == tokenString:
		return s.next(), true
	case t != tokenWord || s.is(t, "for"):
		return t, false
	case !isDigit(s.sql[s.start]):
		return s.next(), true
	case !isDigits(s.text()):
		return t, false
	}
	if t = s.next(); t != '.' {
		return t, true
	}
	if t = s.next(); t != tokenWord || !isDigits(s.text()) {
		return t, false
	}
	return s.next(), true
}
