package parser

import "slices"

// selectText is where the clauses of a SELECT are in its text.
type selectText struct{ clauses []clause }

// clause is a clause from its keyword to its last token, with its parts between
// commas.
type clause struct {
	word       string
	start, end int
	items      []Span
	params     int // placeholders before it
}

// selectClauses are the clauses in the order that they have.
var selectClauses = []string{"select", "from", "where", "group", "having", "window", "order", "limit", "for", "lock"}

// otherClauses are those that are not supported.
var otherClauses = []string{"into", "union", "except", "intersect", "fetch", "procedure"}

// readSelectText finds the clauses of the outermost SELECT.
func readSelectText(sql []byte, m Mode) (*selectText, error) {
	w := selectWalker{scanner: newScanner(sql, m)}
	for {
		t := w.next()
		switch {
		case t == tokenInvalid || t == tokenVersion:
			return nil, unsupportedSelect("a SELECT that cannot be read with certainty (a version comment?)")
		case t == tokenEOF, t == ';' && w.depth == 0:
			return w.finish()
		}
		w.token(t)
	}
}

// selectWalker walks through the tokens of a SELECT.
type selectWalker struct {
	scanner
	text   selectText
	depth  int
	before token
	by     bool // BY is to follow
	list   bool // the select list has begun
	item   Span // the item being read; its start is -1 before its first token
	failed bool
}

// finish checks the clauses.
func (w *selectWalker) finish() (*selectText, error) {
	w.endItem()
	rank := -1
	for _, c := range w.text.clauses {
		next := slices.Index(selectClauses, c.word)
		if next <= rank || slices.Contains(otherClauses, c.word) {
			w.failed = true
		}
		rank = next
	}
	if w.failed || w.depth != 0 || w.by || len(w.text.clauses) < 2 || w.text.clauses[1].word != "from" {
		return nil, unsupportedSelect("a SELECT of which the clauses cannot be told apart (INTO? an index hint with FOR?)")
	}
	return &w.text, nil
}

// token handles the token t.
func (w *selectWalker) token(t token) {
	switch {
	case t == tokenWord && w.depth == 0 && w.before != '.' && w.before != '@' && w.keyword():
	case len(w.text.clauses) == 0: // WITH
		w.depth += nesting(t)
	case w.by:
		w.failed = w.failed || !w.is(t, "by")
		w.by = false
	case t == ',' && w.depth == 0:
		w.endItem()
	case !w.list && t == tokenWord && w.isOneOf(selectOptions...):
		w.text.clauses[0].end = w.end
	default:
		w.list = true
		w.depth += nesting(t)
		w.failed = w.failed || w.depth < 0
		if w.item.Start < 0 {
			w.item.Start = w.start
		}
		w.item.End = w.end
	}
	w.before = t
}

// selectOptions are the words that may stand before a select list.
var selectOptions = []string{"all", "distinct", "distinctrow", "high_priority", "straight_join", "sql_small_result",
	"sql_big_result", "sql_buffer_result", "sql_cache", "sql_no_cache", "sql_calc_found_rows"}

// keyword begins the clause of the current word, if it begins one.
func (w *selectWalker) keyword() bool {
	if len(w.text.clauses) == 0 && !w.is(tokenWord, "select") {
		return false
	}
	for _, words := range [...][]string{selectClauses, otherClauses} {
		for _, word := range words {
			if !w.is(tokenWord, word) {
				continue
			}
			w.endItem()
			w.text.clauses = append(w.text.clauses, clause{word: word, start: w.start, end: w.end, params: w.params})
			w.by = word == "group" || word == "order"
			return true
		}
	}
	return false
}

// endItem ends an item of the clause at hand.
func (w *selectWalker) endItem() {
	if n := len(w.text.clauses); n > 0 && w.item.Start >= 0 {
		c := &w.text.clauses[n-1]
		c.items = append(c.items, w.item)
		c.end = w.item.End
	}
	w.item = Span{Start: -1}
}

// clause returns the clause that begins with the word, nil when there is none.
func (t *selectText) clause(word string) *clause {
	for i := range t.clauses {
		if t.clauses[i].word == word {
			return &t.clauses[i]
		}
	}
	return nil
}

// items returns the parts of a clause.
func (t *selectText) items(word string) []Span {
	if c := t.clause(word); c != nil {
		return c.items
	}
	return nil
}

// list returns the items of the select list.
func (t *selectText) list() []Span { return t.items("select") }

// beforeLimit returns where an ORDER BY clause would stand: the end of the last clause
// that can come before it.
func (t *selectText) beforeLimit() int {
	end := 0
	for _, c := range t.clauses {
		if slices.Index(selectClauses, c.word) < slices.Index(selectClauses, "order") {
			end = c.end
		}
	}
	return end
}

// withoutLast cuts the last token off a text when that is one of these words, or any
// name for none.
func withoutLast(sql []byte, m Mode, s Span, words ...string) (Span, bool) {
	sc := newScanner(sql[:s.End], m)
	sc.end = s.Start
	before, last := s.Start, s.Start
	t, kind := sc.next(), tokenEOF
	for t != tokenEOF && t != tokenInvalid && t != tokenVersion {
		before, last, kind = last, sc.end, t
		t = sc.next()
	}
	sc.end = before
	sc.next()
	if last != s.End || before == s.Start || len(words) > 0 && (kind != tokenWord || !sc.isOneOf(words...)) ||
		len(words) == 0 && !isName(kind) && kind != tokenString {
		return s, false
	}
	return Span{s.Start, before}, true
}

// countParams returns the number of placeholders in a part of the text.
func countParams(sql []byte, m Mode, s Span) int {
	sc := newScanner(sql[:s.End], m)
	sc.end = s.Start
	for {
		if t := sc.next(); t == tokenEOF || t == tokenInvalid || t == tokenVersion {
			return sc.params
		}
	}
}
