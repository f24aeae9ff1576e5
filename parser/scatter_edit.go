package parser

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// edit replaces sql[start:end].
type edit struct {
	start, end int
	parts      []part
}

// part is text, or a copy of sql[start:end].
type part struct {
	text       string
	start, end int
}

func literal(text string) part { return part{text: text} }
func copied(s Span) part       { return part{start: s.Start, end: s.End} }

// call returns the parts of an expression with %s for the text e.
func call(format string, e []part) []part {
	var parts []part
	begin := 0
	for i := 0; i+1 < len(format); i++ {
		if format[i] == '%' && format[i+1] == 's' {
			if begin < i {
				parts = append(parts, literal(format[begin:i]))
			}
			parts = append(parts, e...)
			begin = i + 2
		}
	}
	if begin < len(format) {
		parts = append(parts, literal(format[begin:]))
	}
	return parts
}

// hide returns the index among all columns of one at the end of the select list, which
// it adds where there is none such.
func (r *scatterReader) hide(expression []part) int {
	same := func(column []part) bool { return slices.Equal(column, expression) }
	n := slices.IndexFunc(r.hidden, same)
	if n < 0 {
		n = len(r.hidden)
		r.hidden = append(r.hidden, expression)
	}
	return len(r.text.list()) + n
}

// hiddenEdit adds the hidden columns, under names that no ORDER BY or HAVING finds.
func (r *scatterReader) hiddenEdit() edit {
	at := r.text.clause("select").end
	e := edit{start: at, end: at}
	for i, expression := range r.hidden {
		e.parts = append(e.parts, literal(", "))
		e.parts = append(e.parts, expression...)
		e.parts = append(e.parts, literal(" AS "+hiddenName(i)))
	}
	return e
}

// hiddenName is the name of the hidden column with that number.
func hiddenName(i int) string { return "_seqgate_" + strconv.Itoa(i) }

// finish makes the edits of the text and settles the numbers of columns.
func (r *scatterReader) finish() (*Scatter, error) {
	s := r.scatter
	s.Hidden = len(r.hidden)
	if s.Hidden > 0 {
		s.edits = append(s.edits, r.hiddenEdit())
	}
	if len(r.orderBy) > 0 {
		s.edits = append(s.edits, r.orderEdit())
	}
	if e, ok := r.limitEdit(); ok {
		s.edits = append(s.edits, e)
	}
	for i := range s.Order {
		r.number(&s.Order[i])
	}
	for i := range s.Sort {
		r.number(&s.Sort[i])
	}
	for i := range s.Aggregates {
		a := &s.Aggregates[i]
		r.number(&a.Key)
		a.Sum, a.Count = r.ref(a.Sum), r.ref(a.Count)
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, r.verifyShards()
}

// verifyShards reads the shards' text: it has to have all columns in its list.
func (r *scatterReader) verifyShards() error {
	stmt, err := parseTree(string(r.scatter.AppendSQL(nil, r.sql)), r.mode)
	if err != nil {
		return errUnsure
	}
	query, ok := stmt.(*ast.SelectStmt)
	if !ok || len(query.Fields.Fields) != len(r.list)+len(r.hidden) ||
		(query.OrderBy != nil) != (r.stmt.OrderBy != nil || r.orderBy != nil) ||
		restoredText(query.From) != restoredText(r.stmt.From) {
		return errUnsure
	}
	return nil
}

func (r *scatterReader) number(k *SortKey) {
	k.Column, k.Weight, k.Pad = r.ref(k.Column), r.ref(k.Weight), r.ref(k.Pad)
}

// ref returns the number of the column at index i of the list with the hidden ones. Those
// behind a * are counted from the end.
func (r *scatterReader) ref(i int) int {
	switch {
	case i == NoColumn:
		return NoColumn
	case i < len(r.text.list()) && (r.firstStar < 0 || i < r.firstStar):
		return i
	case i < r.lastStar: // and it has no number
		r.err = unsupportedSelect("a column between two * that the rows are merged by")
	}
	return i - len(r.text.list()) - len(r.hidden)
}

// orderEdit puts r.orderBy in place of the ORDER BY clause, or adds it.
func (r *scatterReader) orderEdit() edit {
	e := edit{parts: []part{literal(" ORDER BY ")}}
	if c := r.text.clause("order"); c != nil {
		e.start, e.end = c.start, c.end
		e.parts[0] = literal("ORDER BY ")
	} else {
		e.start = r.text.beforeLimit()
		e.end = e.start
	}
	for i, parts := range r.orderBy {
		if i > 0 {
			e.parts = append(e.parts, literal(", "))
		}
		e.parts = append(e.parts, parts...)
	}
	return e
}

// limitEdit makes a LIMIT clause of which the shards' rows are enough to skip the
// offset after the merge. It leaves the parameters where they are.
func (r *scatterReader) limitEdit() (e edit, ok bool) {
	l, c := r.scatter.Limit, r.text.clause("limit")
	if l == nil || l.pushed && l.Offset == (LimitValue{Param: -1}) {
		return edit{}, false
	}
	e.start, e.end = c.start, c.end
	text := "LIMIT ?"
	switch {
	case l.Offset.Param >= 0 && l.Count.Param >= 0:
		text = "LIMIT ?, ?"
		if l.Count.Param < l.Offset.Param {
			text = "LIMIT ? OFFSET ?"
		}
	case l.Offset.Param >= 0 || l.Count.Param >= 0:
	case l.pushed:
		text = "LIMIT " + strconv.FormatUint(saturated(l.Offset.Value, l.Count.Value), 10)
	default:
		return e, true // none
	}
	e.parts = []part{literal(text)}
	return e, true
}
