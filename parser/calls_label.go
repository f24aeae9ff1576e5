package parser

// listItem is an expression of a SELECT's list, as far as it was read.
type listItem struct {
	start, end int  // start is -1 before the first token
	calls      bool // there is a call in it
	// The last token outside parentheses and the one before, as far as they tell
	// whether the item ends with an alias.
	last, beforeLast ending
}

// ending is what a token may be at the end of an expression.
type ending uint8

const (
	endsNothing ending = iota // an operator, or a word that an operand follows
	endsOperand               // the end of an operand, or else an alias
	endsAlways                // the end of an operand that is no alias
	endsString                // a string, which is an alias behind endsAlways
	isAS
)

// listItem notes the token t, which begins at f.start, for the SELECT's list.
func (f *callFinder) listItem(t token) {
	if f.zones != zonesSelect || f.zone != 0 {
		return
	}
	l := &f.list
	switch {
	case f.depth == 0 && (t == ',' || t == ';'):
		f.endItem()
		return
	case l.start < 0 && t == tokenWord && f.isSelectOption():
		return
	case l.start < 0:
		l.start = f.start
	}
	l.end = f.end
	if f.depth == 0 {
		l.beforeLast, l.last = l.last, f.ending(t)
	}
}

// ending returns what the current token t may be at the end of an expression.
func (f *callFinder) ending(t token) ending {
	switch t {
	case ')', tokenParam:
		return endsAlways
	case tokenName:
		return endsOperand
	case tokenString:
		return endsString
	case tokenWord:
		switch {
		case f.is(t, "as"):
			return isAS
		case f.isOneOf("end", "null", "true", "false"), isDigit(f.sql[f.start]):
			return endsAlways
		case f.isOneOf("and", "or", "xor", "not", "is", "in", "like", "rlike", "regexp", "between", "div", "mod",
			"collate", "binary", "interval", "case", "when", "then", "else", "escape", "distinct", "sounds"):
			return endsNothing
		}
		return endsOperand
	}
	return endsNothing
}

// isOneOf reports whether the current word is one of these.
func (s *scanner) isOneOf(words ...string) bool {
	for _, word := range words {
		if equalFold(s.text(), word) {
			return true
		}
	}
	return false
}

// isSelectOption reports whether the current word stands before a SELECT's list.
func (f *callFinder) isSelectOption() bool {
	return f.isOneOf("select", "all", "distinct", "distinctrow", "high_priority", "straight_join", "sql_small_result",
		"sql_big_result", "sql_buffer_result", "sql_cache", "sql_no_cache", "sql_calc_found_rows")
}

// endItem ends an item of the SELECT's list: one that has calls and no alias is
// kept, to be named as the server would name it.
func (f *callFinder) endItem() {
	if l := &f.list; l.start >= 0 && l.calls && !l.hasAlias() {
		f.stmt.items = append(f.stmt.items, span{l.start, l.end})
	}
	f.list = listItem{start: -1}
}

func (l *listItem) hasAlias() bool {
	switch l.last {
	case endsOperand:
		return l.beforeLast >= endsOperand
	case endsString:
		return l.beforeLast == endsAlways || l.beforeLast == isAS
	}
	return l.beforeLast == isAS
}
