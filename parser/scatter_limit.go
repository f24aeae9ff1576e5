package parser

import "strconv"

// readLimit reads the LIMIT clause.
func (r *scatterReader) readLimit() error {
	c := r.text.clause("limit")
	if (r.stmt.Limit != nil) != (c != nil) {
		return errUnsure
	}
	if c == nil {
		return nil
	}
	l := &Limit{Offset: LimitValue{Param: -1}, Count: LimitValue{Param: -1}, pushed: true}
	var values []LimitValue
	sc := newScanner(r.sql[:c.end], r.mode)
	sc.end = c.start
	sc.next() // LIMIT
	swap := true
	for t := sc.next(); t != tokenEOF; t = sc.next() {
		switch {
		case t == tokenParam:
			values = append(values, LimitValue{Param: c.params + sc.params - 1})
		case sc.is(t, "offset"):
			swap = false
		case t == ',':
		default:
			n, err := strconv.ParseUint(string(sc.text()), 10, 64)
			if err != nil {
				return errUnsure
			}
			values = append(values, LimitValue{Value: n, Param: -1})
		}
	}
	switch {
	case len(values) == 1 && r.stmt.Limit.Offset == nil:
		l.Count = values[0]
	case len(values) == 2 && r.stmt.Limit.Offset != nil && swap:
		l.Offset, l.Count = values[0], values[1]
	case len(values) == 2 && r.stmt.Limit.Offset != nil:
		l.Count, l.Offset = values[0], values[1]
	default:
		return errUnsure
	}
	r.scatter.Limit = l
	return nil
}
