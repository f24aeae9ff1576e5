package parser

import "strings"

// Where in a statement a call is evaluated once at most, so that a value may
// stand in its place, is told by the clause that it is in: zones are the clauses
// of a statement, between keywords outside parentheses.

// zone is a clause.
type zone struct {
	after string // the keyword that begins it
	fault string // of the calls in it; "" for none
	// once: it begins only in the first zone, as VALUES( in ON DUPLICATE KEY UPDATE
	// is a function.
	once bool
	rows bool // it is values of an INSERT
}

// zones are those of a kind of statement. The first is the one it begins with.
type zones struct {
	// head: the first zone has names only, some of which may look like calls.
	head bool
	list []zone
}

const (
	faultSelect   = "the next value of a sequence for each row of a SELECT"
	faultClause   = "the next value of a sequence outside the columns of a SELECT"
	faultUnion    = "the next value of a sequence in a UNION"
	faultSubquery = "the next value of a sequence in a subquery"
	faultWith     = "the next value of a sequence in a statement that begins with WITH or a parenthesis"
	faultInsert   = "the next value of a sequence in INSERT ... SELECT"
	faultOn       = "the next value of a sequence in ON DUPLICATE KEY UPDATE"
	faultReturn   = "the next value of a sequence in RETURNING"
	faultUpdate   = "the next value of a sequence in an UPDATE of several tables, or without LIMIT 1"
	faultWhere    = "the next value of a sequence in WHERE, ORDER BY or LIMIT"
	faultUnread   = "the next value of a sequence in a statement that it cannot read whole (a version comment?)"
)

var (
	zonesSelect = &zones{list: []zone{
		{}, {after: "from", fault: faultClause}, {after: "into"}, {after: "where", fault: faultClause},
		{after: "group", fault: faultClause}, {after: "having", fault: faultClause}, {after: "window", fault: faultClause},
		{after: "order", fault: faultClause}, {after: "limit", fault: faultClause}, {after: "offset", fault: faultClause},
		{after: "fetch", fault: faultClause}, {after: "procedure", fault: faultClause}, {after: "for", fault: faultClause},
		{after: "lock", fault: faultClause}, {after: "union", fault: faultUnion}, {after: "except", fault: faultUnion},
		{after: "intersect", fault: faultUnion}, {after: "minus", fault: faultUnion},
	}}
	zonesInsert = &zones{head: true, list: []zone{
		{}, {after: "select", fault: faultInsert}, {after: "values", once: true, rows: true}, {after: "value", once: true, rows: true},
		{after: "set", once: true, rows: true}, {after: "on", fault: faultOn}, {after: "returning", fault: faultReturn},
	}}
	zonesUpdate = &zones{head: true, list: []zone{
		{}, {after: "set", fault: faultUpdate, once: true}, {after: "where", fault: faultWhere},
		{after: "order", fault: faultWhere}, {after: "limit", fault: faultWhere}, {after: "returning", fault: faultReturn},
	}}
	zonesDelete = &zones{list: []zone{{fault: faultWhere}}}
	zonesWith   = &zones{list: []zone{{fault: faultWith}}}
	zonesOnce   = &zones{list: []zone{{}}}
)

// zonesOf returns the zones of a statement, nil for one that has no calls.
func zonesOf(sql []byte) *zones {
	i := max(skipBlank(sql, 0), 0)
	switch Sniff(sql) {
	case Select, Next:
		if i < len(sql) && sql[i] == '(' {
			return zonesWith
		}
		return zonesSelect
	case Insert, Replace:
		return zonesInsert
	case Update:
		return zonesUpdate
	case Delete:
		return zonesDelete
	case With:
		return zonesWith
	case Set, Call:
		return zonesOnce
	case Other:
		var buf keyword
		if word, _ := buf.read(sql, i); string(word) == "do" {
			return zonesOnce
		}
	}
	return nil
}

type span struct{ start, end int }

// callFinder walks through the tokens of a statement.
type callFinder struct {
	scanner
	zones *zones
	stmt  CallStmt

	zone   int // index of the one that the walk is in
	depth  int // of parentheses
	sub    int // the depth of the outermost subquery; 0 outside of any
	before token
	names  []span // before the current token, with dots between
	room   [3]span
	list   listItem

	fromTable bool // the SELECT reads a table
	several   bool // the UPDATE may name more than one table
	listed    bool // the latest word in its first zone is one that a list of partitions or indexes follows
	limitOne  bool // ... or has LIMIT 1
}

// walk finds all calls.
func (f *callFinder) walk() {
	f.list.start = -1
	for {
		t := f.next()
		switch t {
		case tokenEOF, tokenInvalid, tokenVersion:
			f.finish(t)
			return
		case '(':
			f.depth++
			f.several = f.several || f.zone == 0 && !f.listed
		case ')':
			if f.depth--; f.depth < f.sub {
				f.sub = 0
			}
		case ',':
			f.several = f.several || f.zone == 0 && f.depth == 0
		case tokenWord:
			t = f.word()
		}
		f.listItem(t)
		f.follow(t)
	}
}

// follow notes the token t, behind which the walk goes on.
func (f *callFinder) follow(t token) {
	switch {
	case isName(t) && f.before == '.' && len(f.names) > 0 && len(f.names) < len(f.room),
		isName(t) && f.before != '.' && f.before != '@':
		if f.before != '.' {
			f.names = f.room[:0]
		}
		f.names = append(f.names, span{f.start, f.end})
	case t != '.':
		f.names = nil
	}
	f.before = t
}

// word handles a word: a keyword that begins a zone or a subquery, a call, or
// neither. It returns the token that stands for it.
func (f *callFinder) word() token {
	if f.before == '@' {
		return tokenWord
	}
	if f.before != '.' {
		if f.keyword() {
			return ';' // ends what was before
		}
		f.names = nil
	} else if len(f.names) == 0 {
		return tokenWord
	}
	if f.zones.head && f.zone == 0 {
		f.listed = f.isOneOf("partition", "index", "key", "by")
		return tokenWord
	}
	c, ok := f.readCall()
	if !ok {
		return tokenWord
	}
	if c.Fault == "" && f.sub > 0 {
		c.Fault = faultSubquery
	} else if c.Fault == "" {
		c.Fault = f.zones.list[f.zone].fault
	}
	c.whole = f.isWhole()
	f.stmt.Calls = append(f.stmt.Calls, c)
	f.list.calls = true
	f.start = c.Start
	return ')' // it ends as a function does
}

// isWhole reports whether the call just read is a whole value of an INSERT.
func (f *callFinder) isWhole() bool {
	if !f.zones.list[f.zone].rows {
		return false
	}
	ahead, before := f.scanner, f.before
	if len(f.names) > 0 {
		return false
	}
	t := ahead.next()
	if f.depth == 0 {
		return before == '=' && (t == ',' || t == ';' || t == tokenEOF || ahead.is(t, "on"))
	}
	return f.depth == 1 && (before == '(' || before == ',') && (t == ',' || t == ')')
}

// keyword moves on to the zone or the subquery that the current word begins. It
// reports whether it begins a zone.
func (f *callFinder) keyword() bool {
	if f.depth > 0 {
		if !f.is(tokenWord, "select") {
			return false
		}
		if f.zones == zonesInsert && f.zone == 0 {
			f.zone = 1
		} else if f.sub == 0 {
			f.sub = f.depth
		}
		return false
	}
	if f.zone == 0 && (f.is(tokenWord, "join") || f.is(tokenWord, "straight_join")) {
		f.several = true
	}
	for i, z := range f.zones.list {
		if i > 0 && f.is(tokenWord, z.after) && (!z.once || f.zone == 0) {
			f.endItem()
			f.zone = i
			f.enter(z.after)
			return true
		}
	}
	return false
}

// enter looks at what follows the keyword of a zone.
func (f *callFinder) enter(keyword string) {
	ahead := f.scanner
	t := ahead.next()
	switch {
	case keyword == "from" && !ahead.is(t, "dual"):
		f.fromTable = true
	case keyword == "from":
		t = ahead.next()
		f.fromTable = f.fromTable || t != tokenEOF && t != ';' && !f.beginsZone(&ahead, t)
	case keyword == "limit" && ahead.is(t, "1"):
		t = ahead.next()
		f.limitOne = t == ';' || t == tokenEOF
	}
}

func (f *callFinder) beginsZone(s *scanner, t token) bool {
	for _, z := range f.zones.list[1:] {
		if s.is(t, z.after) {
			return true
		}
	}
	return false
}

// finish checks the calls at the end of the statement, or of what can be read of it.
func (f *callFinder) finish(t token) {
	f.endItem()
	fault := ""
	switch {
	case t != tokenEOF:
		fault = faultUnread
	case f.zones == zonesSelect && f.zones.list[f.zone].fault == faultUnion:
		fault = faultUnion
	case f.zones == zonesSelect && f.fromTable:
		fault = faultSelect
	}
	for i := range f.stmt.Calls {
		c := &f.stmt.Calls[i]
		switch {
		case c.Fault == "":
			c.Fault = fault
		case c.Fault == faultUpdate && c.Dotted && f.namesTable(c.Sequence.Name):
			// a column of the table, as it seems
		case c.Fault == faultUpdate && f.limitOne && !f.several:
			c.Fault = fault
		}
	}
}

// namesTable reports whether a name stands between UPDATE and SET, perhaps as an
// alias, so that what it is put before is a column.
func (f *callFinder) namesTable(name string) bool {
	sc := newScanner(f.sql, f.mode)
	for t := sc.next(); isName(t) && !sc.is(t, "set") || t == '(' || t == ')' || t == ',' || t == '.'; t = sc.next() {
		if !isName(t) {
			continue
		}
		part, ok := sc.appendName(nil, t, f.mode.Charset)
		if ok && strings.EqualFold(string(part), name) {
			return true
		}
	}
	return false
}
