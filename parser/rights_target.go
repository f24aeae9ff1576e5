package parser

import "slices"

// maxTargets bounds the tables that a text is looked up for.
const maxTargets = 64

// write notes that rows of a table may be changed.
func (r *rights) write(table Table) {
	r.need(RightWrite)
	if table.Schema == "" {
		table.Schema = r.database.name
		if r.database.lost {
			r.need(RightAdmin)
		}
	}
	switch {
	case table.Name == "" || slices.Contains(r.needs.Writes, table):
	case len(r.needs.Writes) == maxTargets:
		r.need(RightAdmin)
	default:
		r.needs.Writes = append(r.needs.Writes, table)
	}
}

// changes judges INSERT, REPLACE, UPDATE and DELETE, of which the verb was read. It takes each name for one of a table that
// stands where one may: behind words such as FROM, a comma, a parenthesis. What columns they are in lists counts too.
func (r *rights) changes(verb string, s scanner) {
	r.need(RightWrite)
	one := verb == "insert" || verb == "replace"
	w := wordScanner{scanner: s}
	depth, may := 0, true
	t := w.next()
	for {
		var room [longestWord]byte
		word := string(w.keyword(t, &room))
		switch {
		case t == tokenEOF:
			return
		case t == tokenInvalid, t == tokenVersion, one && !may:
			r.need(RightAdmin)
			return
		case depth == 0 && endsTargets(verb, word) && !w.qualifies():
			return
		case word == "select" && !w.qualifies():
			may, t = false, w.next()
		case leadsTarget(verb, word) && !w.qualifies():
			may, t = true, w.next()
		case may && (isName(t) || t == '.'):
			if t = r.target(&w, t); one {
				return
			}
			may = false
		default:
			depth += nesting(t)
			may, t = t == ',' || t == '(' || t == '{', w.next()
		}
	}
}

// endsTargets reports whether a word ends the part of a statement that names the tables which it changes.
func endsTargets(verb, word string) bool {
	switch word {
	case "set":
		return verb == "update"
	case "where", "order", "limit", "returning":
		return verb == "delete"
	}
	return false
}

// leadsTarget reports whether a table's name may follow a word.
func leadsTarget(verb, word string) bool {
	switch word {
	case "low_priority", "high_priority", "delayed", "ignore", "into":
		return true
	case "quick", "history":
		return verb == "delete"
	case "from", "using", "join", "straight_join", "oj", "lateral":
		return verb == "update" || verb == "delete"
	}
	return false
}

// target notes the table [schema .] table, of which t is the first token, and returns the one behind. MySQL's
// "DELETE t.* FROM" and MariaDB's ".t" are among its forms.
func (r *rights) target(w *wordScanner, t token) token {
	var table Table
	for {
		if isName(t) {
			w.start = w.begin
			name, ok := w.appendName(nil, t, w.mode.Charset)
			if !ok {
				r.need(RightAdmin)
			}
			table.Schema, table.Name = table.Name, string(name)
			t = w.next()
		}
		if t != '.' {
			r.write(table)
			return t
		}
		if t = w.next(); !isName(t) { // a *
			r.write(table)
			return t
		}
	}
}
