package parser

// verb judges a statement by its first words. What is not listed needs RightAdmin.
func (r *rights) verb(sql []byte, m Mode) {
	s := newScanner(sql, m)
	t := s.next()
	nested := t == '('
	for t == '(' {
		t = s.next()
	}
	if t == tokenEOF && !nested {
		return // comments
	}
	var room [longestWord]byte
	word := string(s.keyword(t, &room))
	switch {
	case word == "" || s.qualifies():
		r.need(RightAdmin)
	case r.query(word, &s):
	case nested:
		r.need(RightAdmin)
	case r.plain(word, s, Sniff(sql)), r.writing(word, s, Sniff(sql)):
	default:
		r.other(word, s, sql, m)
	}
}

// query judges what begins a query, or WITH, of which the word was read. It reports false for all else.
func (r *rights) query(word string, s *scanner) bool {
	switch word {
	case "select":
		if Sniff(s.sql[s.start:]) == Next {
			r.need(RightWrite)
		}
	case "values", "table":
	case "with":
		r.with(s)
	default:
		return false
	}
	return true
}

// plain judges statements that need nothing but their verb, and USE.
func (r *rights) plain(word string, s scanner, kind Kind) bool {
	switch word {
	case "show", "help", "commit", "rollback", "savepoint", "deallocate", "checksum":
	case "use":
		name, ok := UseTarget(s.sql, s.mode)
		r.database = database{name: name, lost: !ok}
	case "release":
		r.needIfNext(s, RightRead, "savepoint")
	case "begin", "start":
		if kind != Begin {
			r.need(RightAdmin)
		}
	default:
		return false
	}
	return true
}

// writing judges statements that write.
func (r *rights) writing(word string, s scanner, kind Kind) bool {
	switch word {
	case "insert", "replace", "update", "delete":
		r.changes(word, s)
	case "load":
		table, ok := LoadTarget(s.sql, s.mode)
		if !ok || kind != Load {
			r.need(RightAdmin)
		}
		r.write(table)
	case "do", "handler", "xa":
		r.need(RightWrite)
	case "lock", "unlock":
		r.needIfNext(s, RightWrite, "table", "tables")
	case "create":
		r.needIfNext(s, RightWrite, "temporary")
	case "drop":
		if behind := s; behind.is(behind.next(), "prepare") {
			return true
		}
		r.needIfNext(s, RightWrite, "temporary")
	case "kill":
		r.kill(s)
	default:
		return false
	}
	return true
}

// other judges statements that may have another in them.
func (r *rights) other(word string, s scanner, sql []byte, m Mode) {
	switch word {
	case "set":
		r.set(sql, s, m)
	case "prepare", "execute":
		r.dynamic(word, s, sql, m)
	case "explain", "describe", "desc", "analyze":
		r.explained(word, s)
	default:
		r.need(RightAdmin)
	}
}

// needIfNext notes the right if one of the words comes next, else RightAdmin.
func (r *rights) needIfNext(s scanner, right Right, words ...string) {
	if t := s.next(); t == tokenWord {
		for _, word := range words {
			if s.is(t, word) {
				r.need(right)
				return
			}
		}
	}
	r.need(RightAdmin)
}

// kill judges KILL of a connection or its statement, by a number. KILL USER and expressions need RightAdmin.
func (r *rights) kill(s scanner) {
	t := s.next()
	if s.is(t, "hard") || s.is(t, "soft") {
		t = s.next()
	}
	if s.is(t, "connection") || s.is(t, "query") {
		t = s.next()
	}
	if s.is(t, "id") { // MariaDB's, of a query
		t = s.next()
	}
	if t != tokenWord || !isDigits(s.text()) || !s.onlySemicolons() {
		r.need(RightAdmin)
	}
	r.need(RightWrite)
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) {
			return false
		}
	}
	return len(text) > 0
}

// dynamic judges PREPARE, EXECUTE and EXECUTE IMMEDIATE. A text that does not stand there as a literal is not known.
func (r *rights) dynamic(word string, s scanner, sql []byte, m Mode) {
	var p PrepareStmt
	var ok bool
	switch {
	case word == "prepare":
		p, ok = ParsePrepare(sql, m)
		r.needs.Prepares = true
	case s.is(s.next(), "immediate"):
		p, ok = ParseImmediate(sql, m)
	default:
		r.needs.Executes, r.database.lost = true, true
		if _, _, ok := ParseExecute(sql, m); !ok {
			r.need(RightAdmin)
		}
		return
	}
	if !ok || !p.IsText || r.carried {
		r.need(RightAdmin)
		return
	}
	r.carried = true
	r.text(p.Text, EveryReading(p.Text, m.MariaDB))
	r.carried = false
	r.database.lost = r.database.lost || word != "prepare"
}

// explained judges EXPLAIN and ANALYZE, of which the word was read: they need what the statement needs, as the servers
// have it, also where it is not executed.
func (r *rights) explained(word string, s scanner) {
	runs := word == "analyze"
	nested, first := false, true
	for t := s.next(); ; t = s.next() {
		var room [longestWord]byte
		verb := string(s.keyword(t, &room))
		switch {
		case t == tokenEOF && !runs && !nested:
			return // of a table or a connection
		case t == tokenEOF, t == tokenInvalid, t == tokenVersion,
			runs && first && (verb == "table" || verb == "local" || verb == "no_write_to_binlog"):
			r.need(RightAdmin)
			return
		case t == '(':
			nested = true
		case r.query(verb, &s):
			return
		case nested:
			r.need(RightAdmin)
			return
		case verb == "insert", verb == "replace", verb == "update", verb == "delete":
			r.changes(verb, s)
			return
		}
		first = false
	}
}
