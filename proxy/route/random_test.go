package route_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomTable is a table of the equivalence test: its key, and values of it that the rows have.
type randomTable struct {
	name, key, keyType string
	keys               []string // as literals
}

var numbers = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "0", "-1"}

var randomTables = []randomTable{
	{"users", "id", "BIGINT NOT NULL", numbers},
	{"orders", "user_id", "BIGINT NOT NULL", numbers},
	{"items", "user_id", "BIGINT NOT NULL", numbers},
	{"bigs", "id", "BIGINT NOT NULL", numbers},
	{"mails", "email", "VARCHAR(20) COLLATE utf8mb4_bin NOT NULL", []string{"'1'", "'2'", "'03'", "'a'", "'A'", "'5x'", "''"}},
	{"colors", "id", "BIGINT NOT NULL", numbers},
}

// randomQuery writes statements over randomTables of the forms that decide where a statement goes.
type randomQuery struct {
	*rand.Rand
	aliases []randomAlias // that a condition may name
	next    int
}

type randomAlias struct {
	name  string
	table randomTable
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// selects writes a SELECT of up to three tables.
func (q *randomQuery) selects() string {
	from := q.from(1 + q.IntN(3))
	var columns []string
	for _, a := range q.aliases {
		columns = append(columns, fmt.Sprintf("%s.%s, %[1]s.n", a.name, a.table.key))
	}
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if q.IntN(4) > 0 {
		sql += " WHERE " + q.conditions(2)
	}
	return sql
}

// writes writes an UPDATE or DELETE of one table.
func (q *randomQuery) writes() string {
	a := q.alias()
	if q.IntN(2) == 0 {
		return fmt.Sprintf("UPDATE %s %s SET n = n + 1 WHERE %s", a.table.name, a.name, q.conditions(2))
	}
	return fmt.Sprintf("DELETE %s FROM %s %[1]s WHERE %s", a.name, a.table.name, q.conditions(2))
}

// alias begins a new table, related to the others more often than not.
func (q *randomQuery) alias() randomAlias {
	t := pick(q.Rand, randomTables...)
	if q.IntN(3) > 0 {
		t = randomTables[q.IntN(3)]
	}
	a := randomAlias{fmt.Sprintf("t%d", q.next), t}
	q.next++
	q.aliases = append(q.aliases, a)
	return a
}

func (q *randomQuery) from(n int) string {
	a := q.alias()
	from := a.table.name + " " + a.name
	for range n - 1 {
		a = q.alias()
		join := pick(q.Rand, "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN")
		from += fmt.Sprintf(" %s %s %s ON %s", join, a.table.name, a.name, q.joining(a))
	}
	return from
}

// joining writes the condition of a join, which most often is about the keys.
func (q *randomQuery) joining(a randomAlias) string {
	condition := q.condition(1)
	if q.IntN(4) > 0 {
		b := q.aliases[q.IntN(len(q.aliases)-1)]
		condition = fmt.Sprintf("%s.%s = %s.%s", a.name, a.table.key, b.name, b.table.key)
	}
	if q.IntN(3) == 0 {
		condition += " AND " + q.condition(1)
	}
	return condition
}

func (q *randomQuery) conditions(depth int) string {
	all := q.condition(depth)
	for q.IntN(2) == 0 {
		all += pick(q.Rand, " AND ", " AND ", " AND ", " OR ") + q.condition(depth)
	}
	return all
}

// condition writes one condition about the tables that there are.
func (q *randomQuery) condition(depth int) string {
	a, b := pick(q.Rand, q.aliases...), pick(q.Rand, q.aliases...)
	key := a.name + "." + a.table.key
	switch q.IntN(14) {
	default:
		return key + " = " + q.literal(a)
	case 4:
		return q.literal(a) + " = " + key
	case 5:
		return fmt.Sprintf("%s IN (%s, %s)", key, q.literal(a), q.literal(a))
	case 6:
		return fmt.Sprintf("%s %s %s.%s", key, pick(q.Rand, "=", "=", "<=>", "<"), b.name, pick(q.Rand, b.table.key, "n"))
	case 7:
		return fmt.Sprintf("%s.n = %s", a.name, pick(q.Rand, "1", "2", "'3'"))
	case 8:
		return fmt.Sprintf("(%s, %s.n) = (%s, %s.n)", key, a.name, q.literal(a), b.name)
	case 9:
		return key + " <=> " + q.literal(a)
	case 10:
		return "NOT (" + q.condition(depth-1) + ")"
	case 11, 12, 13:
		if depth > 0 {
			return q.subquery(a, key, depth-1)
		}
		return fmt.Sprintf("(%s, %s.n) IN ((%s, 1), (%s, 2))", key, a.name, q.literal(a), q.literal(a))
	}
}

// subquery writes a condition on a with a query of its own.
func (q *randomQuery) subquery(a randomAlias, key string, depth int) string {
	n := len(q.aliases)
	s := q.alias()
	defer func() { q.aliases = q.aliases[:n] }()
	inner := s.name + "." + s.table.key
	where := q.condition(depth)
	if q.IntN(2) == 0 {
		where = fmt.Sprintf("%s = %s AND %s", inner, key, where)
	}
	switch q.IntN(4) {
	case 0:
		return fmt.Sprintf("%s %s (SELECT %s FROM %s %s WHERE %s)", key, pick(q.Rand, "IN", "NOT IN"), inner, s.table.name, s.name, where)
	case 1:
		return fmt.Sprintf("%s.n = (SELECT COUNT(*) FROM %s %s WHERE %s)", a.name, s.table.name, s.name, where)
	}
	return fmt.Sprintf("%s (SELECT 1 FROM %s %s WHERE %s)", pick(q.Rand, "EXISTS", "NOT EXISTS"), s.table.name, s.name, where)
}

// literal writes a value of the table's key, in any spelling.
func (q *randomQuery) literal(a randomAlias) string {
	v := pick(q.Rand, a.table.keys...)
	if strings.HasPrefix(v, "'") || q.IntN(3) > 0 {
		return v
	}
	return pick(q.Rand, "'"+v+"'", "'0"+v+"'", v+".0", "'"+v+"x'", "' "+v+"'", "NULL", "TRUE", "0x35", "x'35'", "'5' ''", "_utf8mb4'5'", "+"+v, "'a'")
}
