package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// statement is one that is run on one unsharded database and on shards.
type statement struct {
	kind    string
	sql     string
	args    []any
	reads   bool
	ordered bool   // its rows have one order
	folded  bool   // which spelling of equal texts it gives is left to the server
	table   string // of an INSERT that may leave its id open
}

// production makes statements of one kind. At most the given share of them may be
// refused.
type production struct {
	kind   string
	weight int
	most   float64
	make   func(*grammar) statement
}

// productions are what one shard can answer, or what is merged from several.
var productions = []production{
	{"select by key", 10, 0, (*grammar).selectByKey},
	{"select by keys", 6, 0, (*grammar).selectByKeys},
	{"select all shards", 8, 0.05, (*grammar).selectAll},
	{"select, ordered", 10, 0.05, (*grammar).selectOrdered},
	{"aggregate", 8, 0.1, (*grammar).aggregate},
	{"group by", 8, 0.2, (*grammar).groupBy},
	{"distinct", 4, 0.1, (*grammar).distinct},
	{"join by key", 5, 0, (*grammar).joinByKey},
	{"join on the key", 5, 0.1, (*grammar).joinOnKey},
	{"join with a reference table", 4, 0.1, (*grammar).joinReference},
	{"subquery", 4, 0.2, (*grammar).subquery},
	{"union by key", 2, 0, (*grammar).unionByKey},
	{"select by text", 4, 0, (*grammar).selectByText},
	{"insert, open ids", 8, 0, (*grammar).insertOpen},
	{"insert, own ids", 6, 0, (*grammar).insertOwn},
	{"insert, unusual", 5, 0.1, (*grammar).insertUnusual},
	{"insert child", 6, 0, (*grammar).insertChild},
	{"insert text key", 4, 0, (*grammar).insertText},
	{"insert, select", 3, 0.5, (*grammar).insertSelect},
	{"update by key", 8, 0, (*grammar).updateByKey},
	{"update all shards", 5, 0.1, (*grammar).updateAll},
	{"delete by key", 4, 0, (*grammar).deleteByKey},
	{"delete all shards", 2, 0.1, (*grammar).deleteAll},
	{"transaction", 16, 0, (*grammar).transaction},
	{"session", 5, 0.1, (*grammar).session},
	{"error", 3, 0.3, (*grammar).mistake},
}

// grammar makes random statements.
type grammar struct {
	*rand.Rand
	prepared bool  // the values of the statement under way are parameters
	args     []any // they
	in       bool  // a transaction
}

// next gives a random statement.
func (g *grammar) next() statement {
	total := 0
	for _, p := range productions {
		total += p.weight
	}
	n := g.IntN(total)
	for _, p := range productions {
		if n -= p.weight; n < 0 {
			g.prepared, g.args = g.IntN(3) == 0 && *equivalencePrepared, nil
			s := p.make(g)
			s.kind, s.args = p.kind, g.args
			return s
		}
	}
	panic("unreachable: the weights do not sum up")
}

// val gives a value's place in the statement: itself, or a parameter. Nil is NULL.
func (g *grammar) val(v any) string {
	if g.prepared {
		g.args = append(g.args, v)
		return "?"
	}
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return quote(v)
	}
	return fmt.Sprint(v)
}

func pick[T any](g *grammar, of ...T) T { return of[g.IntN(len(of))] }

// some gives n texts, with a comma between.
func some(n int, of func() string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = of()
	}
	return strings.Join(all, ", ")
}

func (g *grammar) userID() any { return 1 + g.IntN(80) }
func (g *grammar) key() string { return g.val(g.userID()) }
func (g *grammar) keys() string {
	return some(1+g.IntN(5), g.key)
}

var (
	someNames = []any{"ann", "Ann", "ANN", "bob", "Bob", "eva", "éva", "Éva", "zoe", "", "a b", "naïve", "naive", "ß", "x_y%", nil}
	someCodes = []any{"a", "A", "b", "B", "aa", "é", "z", "Z", "", nil}
	dates     = []any{"2001-02-03", "1999-12-31", "2024-02-29", "2001-02-03", nil}
	times     = []any{"2020-01-01 00:00:00.001", "2020-01-01 00:00:00.000", "1988-07-06 05:04:03.020", nil}
	kinds     = []any{"low", "mid", "high", nil}
	mails     = []string{"ann@example.com", "Ann@Example.com", "bob@example.com", "BOB@example.COM", "eva@example.org", "zoe@example.org", "x@y.z", "X@Y.Z", "long.name@example.net"}
)

// userColumn is a column of a user: how its values are made, and whether texts of several
// spellings are equal.
type userColumn struct {
	name   string
	value  func(*grammar) any
	folded bool
	number bool
}

var userColumns = []userColumn{
	{"name", func(g *grammar) any { return pick(g, someNames...) }, true, false},
	{"code", func(g *grammar) any { return pick(g, someCodes...) }, false, false},
	{"age", func(g *grammar) any { return pick(g, nil, any(g.IntN(9)), any(20+g.IntN(5)), any(-g.IntN(3))) }, false, true},
	{"score", func(g *grammar) any { return pick(g, nil, any("10.25"), any("-3.10"), any("99999.99"), any("0.00")) }, false, true},
	{"ratio", func(g *grammar) any { return pick(g, nil, any(0.25), any(1.5), any(-2.75), any(100.0)) }, false, true},
	{"born", func(g *grammar) any { return pick(g, dates...) }, false, false},
	{"at", func(g *grammar) any { return pick(g, times...) }, false, false},
	{"kind", func(g *grammar) any { return pick(g, kinds...) }, false, false},
	{"flags", func(g *grammar) any { return pick(g, nil, any(0), any(uint64(1)<<63), any(7)) }, false, true},
	{"raw", func(g *grammar) any { return pick(g, nil, any("a"), any("A"), any("b")) }, false, false},
	{"n", func(g *grammar) any { return g.IntN(4) }, false, true},
}

func (g *grammar) column() userColumn { return pick(g, userColumns...) }

func (g *grammar) number() userColumn {
	for {
		if c := g.column(); c.number {
			return c
		}
	}
}

// list gives what a SELECT of users selects.
func (g *grammar) list() string {
	return pick(g, "*", "id", "id, name, age", "name, id + 1 AS next, CONCAT(code, '-', n) c", "score, ratio, born, at, kind, flags", "id, COALESCE(age, -1), UPPER(code)")
}

// condition gives one on the columns of users.
func (g *grammar) condition() string {
	c := g.column()
	switch g.IntN(7) {
	case 0:
		return c.name + " IS " + pick(g, "", "NOT ") + "NULL"
	case 1:
		return "name LIKE " + g.val(pick(g, "a%", "%o%", "É%", "x\\_%"))
	case 2:
		return "age BETWEEN " + g.val(g.IntN(5)) + " AND " + g.val(5+g.IntN(20))
	case 3:
		return "id " + pick(g, "<", ">", "<=", ">=", "<>") + " " + g.key()
	case 4:
		return "(" + c.name + " = " + g.val(c.value(g)) + " OR n = " + g.val(g.IntN(4)) + ")"
	case 5:
		return "NOT (n = " + g.val(g.IntN(4)) + " AND id > " + g.key() + ")"
	}
	return c.name + " " + pick(g, "=", "<", ">", "<>", "<=>") + " " + g.val(c.value(g))
}

// where gives a condition or none.
func (g *grammar) where() string {
	switch g.IntN(4) {
	case 0:
		return ""
	case 1:
		return " WHERE " + g.condition() + " AND " + g.condition()
	}
	return " WHERE " + g.condition()
}

// also gives one more condition, or none.
func (g *grammar) also() string {
	if g.IntN(2) == 0 {
		return ""
	}
	return " AND " + g.condition()
}

// limit gives one, or none.
func (g *grammar) limit() string {
	switch g.IntN(4) {
	case 0:
		return ""
	case 1:
		return " LIMIT " + g.val(g.IntN(12))
	case 2:
		return " LIMIT " + g.val(g.IntN(6)) + ", " + g.val(g.IntN(10))
	}
	return " LIMIT " + g.val(1+g.IntN(8)) + " OFFSET " + g.val(g.IntN(20))
}

func (g *grammar) direction() string { return pick(g, "", " ASC", " DESC") }

func (g *grammar) read(ordered bool, format string, args ...any) statement {
	return statement{sql: fmt.Sprintf(format, args...), reads: true, ordered: ordered}
}

func (g *grammar) selectByKey() statement {
	return g.read(false, "SELECT %s FROM user WHERE id = %s%s%s", g.list(), g.key(), g.also(), pick(g, "", "", " FOR UPDATE", " LIMIT 1"))
}

func (g *grammar) selectByKeys() statement {
	return g.read(true, "SELECT %s FROM user WHERE id IN (%s)%s ORDER BY id%s%s", g.list(), g.keys(), g.also(), g.direction(), g.limit())
}

func (g *grammar) selectAll() statement {
	return g.read(false, "SELECT %s FROM user%s", g.list(), g.where())
}

func (g *grammar) selectOrdered() statement {
	list, where := g.list(), g.where()
	var keys []string
	for range g.IntN(3) {
		keys = append(keys, g.column().name+g.direction())
	}
	keys = append(keys, "user.id"+g.direction())
	return g.read(true, "SELECT %s FROM user%s ORDER BY %s%s", list, where, strings.Join(keys, ", "), g.limit())
}

// aggregates gives some, and whether equal texts have several spellings in them.
func (g *grammar) aggregates() (list string, folded bool) {
	list = some(1+g.IntN(3), func() string {
		c, n := g.column(), g.number()
		switch g.IntN(6) {
		case 0:
			return "COUNT(*)"
		case 1:
			return "COUNT(" + c.name + ")"
		case 2:
			return "SUM(" + n.name + ")"
		case 3:
			return "AVG(" + n.name + ")"
		}
		folded = folded || c.folded
		return pick(g, "MIN", "MAX") + "(" + c.name + ")"
	})
	return list, folded
}

func (g *grammar) aggregate() statement {
	list, folded := g.aggregates()
	s := g.read(false, "SELECT %s FROM user%s", list, g.where())
	s.folded = folded
	return s
}

func (g *grammar) groupBy() statement {
	by := g.column()
	list, folded := g.aggregates()
	where, order, ordered := g.where(), "", false
	if g.IntN(2) == 0 {
		order, ordered = " ORDER BY "+by.name+g.direction()+g.limit(), true
	}
	s := g.read(ordered, "SELECT %s, %s FROM user%s GROUP BY %s%s", by.name, list, where, by.name, order)
	s.folded = folded || by.folded
	return s
}

func (g *grammar) distinct() statement {
	c := g.column()
	if g.IntN(2) == 0 {
		s := g.read(false, "SELECT DISTINCT %s FROM user%s", c.name, g.where())
		s.folded = c.folded
		return s
	}
	s := g.read(true, "SELECT DISTINCT %s FROM user%s ORDER BY %s%s%s", c.name, g.where(), c.name, g.direction(), g.limit())
	s.folded = c.folded
	return s
}

func (g *grammar) joinByKey() statement {
	how := pick(g, "JOIN", "LEFT JOIN")
	return g.read(false, "SELECT user.id, name, cid, v FROM user %s child ON child.user_id = user.id WHERE user.id = %s", how, g.key())
}

func (g *grammar) joinOnKey() statement {
	if g.IntN(2) == 0 {
		return g.read(true, "SELECT u.id, u.name, c.cid, c.v FROM user u %s child c ON u.id = c.user_id WHERE u.n = %s ORDER BY u.id, c.cid%s",
			pick(g, "JOIN", "LEFT JOIN"), g.val(g.IntN(4)), g.limit())
	}
	return g.read(false, "SELECT COUNT(*), SUM(c.w), MIN(c.cid) FROM child c JOIN user AS u ON u.id = c.user_id WHERE c.w > %s", g.val(g.IntN(5)))
}

func (g *grammar) joinReference() statement {
	if g.IntN(2) == 0 {
		return g.read(false, "SELECT user.id, ref.v FROM user JOIN ref ON ref.id = user.n WHERE user.id IN (%s)", g.keys())
	}
	return g.read(true, "SELECT user.id, ref.v FROM user %s ref ON ref.id = user.age ORDER BY user.id%s", pick(g, "JOIN", "LEFT JOIN"), g.limit())
}

func (g *grammar) subquery() statement {
	switch g.IntN(4) {
	case 0:
		return g.read(false, "SELECT id, name FROM user WHERE EXISTS (SELECT 1 FROM child WHERE child.user_id = user.id AND w > %s)", g.val(g.IntN(5)))
	case 1:
		k := g.userID()
		return g.read(false, "SELECT (SELECT COUNT(*) FROM child WHERE user_id = %s), name FROM user WHERE id = %s", g.val(k), g.val(k))
	case 2:
		return g.read(false, "SELECT id, (SELECT v FROM ref WHERE ref.id = user.n) FROM user WHERE id IN (%s)", g.keys())
	}
	return g.read(false, "SELECT id FROM user WHERE id = %s AND n < (SELECT MAX(id) FROM ref)", g.key())
}

func (g *grammar) unionByKey() statement {
	k := g.userID()
	return g.read(false, "SELECT id, name FROM user WHERE id = %s UNION %sSELECT cid, v FROM child WHERE user_id = %s", g.val(k), pick(g, "", "ALL "), g.val(k))
}

func (g *grammar) mail() string { return g.val(pick(g, mails...)) }

func (g *grammar) selectByText() statement {
	if g.IntN(2) == 0 {
		return g.read(false, "SELECT id, email, note FROM strkey WHERE email = %s", g.mail())
	}
	return g.read(false, "SELECT id, email, note FROM strkey WHERE email IN (%s, %s)", g.mail(), g.mail())
}
