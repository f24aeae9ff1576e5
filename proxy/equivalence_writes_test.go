package proxy_test

import (
	"fmt"
	"strings"
)

func write(format string, args ...any) statement {
	return statement{sql: fmt.Sprintf(format, args...)}
}

// insert gives an INSERT whose ids may be open.
func insert(table, format string, args ...any) statement {
	s := write(format, args...)
	s.table = table
	return s
}

// row gives the values of these columns of a user.
func (g *grammar) row(of []userColumn) string {
	values := make([]string, len(of))
	for i, c := range of {
		values[i] = g.val(c.value(g))
	}
	return strings.Join(values, ", ")
}

// someColumns gives a few columns, each once, and their names.
func (g *grammar) someColumns() (of []userColumn, names string) {
	var all []string
	for _, i := range g.Perm(len(userColumns))[:1+g.IntN(4)] {
		of = append(of, userColumns[i])
		all = append(all, userColumns[i].name)
	}
	return of, strings.Join(all, ", ")
}

func (g *grammar) insertOpen() statement {
	of, names := g.someColumns()
	switch g.IntN(4) {
	case 0:
		return insert("user", "INSERT INTO user (%s) VALUES (%s)", names, g.row(of))
	case 1:
		return insert("user", "INSERT INTO user (%s) VALUES %s", names, some(2+g.IntN(6), func() string { return "(" + g.row(of) + ")" }))
	case 2:
		c := g.column()
		return insert("user", "INSERT user SET %s = %s", c.name, g.val(c.value(g)))
	}
	return insert("user", "INSERT INTO user (%s, id) VALUES %s", names,
		some(1+g.IntN(4), func() string { return "(" + g.row(of) + ", " + pick(g, "NULL", "0", "DEFAULT") + ")" }))
}

// free gives an id that an INSERT chooses: one that may be there already.
func (g *grammar) free() string { return g.val(50 + g.IntN(200)) }

func (g *grammar) insertOwn() statement {
	of, names := g.someColumns()
	if g.IntN(4) == 0 {
		return write("INSERT INTO user (id, n) VALUES (%s, %s) ON DUPLICATE KEY UPDATE n = n + %s", g.free(), g.val(1), g.val(g.IntN(2)))
	}
	return write("%s INTO user (id, %s) VALUES %s", pick(g, "INSERT", "INSERT", "INSERT IGNORE"), names,
		some(1+g.IntN(4), func() string { return "(" + g.free() + ", " + g.row(of) + ")" }))
}

// insertUnusual gives forms that mix ids, leave the columns to the table, or replace.
func (g *grammar) insertUnusual() statement {
	switch g.IntN(5) {
	case 0:
		return insert("user", "INSERT INTO user () VALUES ()")
	case 1:
		return insert("user", "INSERT INTO user (name, id) VALUES (%s, NULL), (%s, %s), (%s, 0)", g.val("mixed"), g.val("own"), g.free(), g.val("mixed"))
	case 2:
		return insert("user", "INSERT INTO user VALUES (DEFAULT, %s)", g.row(userColumns))
	case 3:
		return write("REPLACE INTO user (id, n) VALUES (%s, %s), (%s, %s)", g.free(), g.val(g.IntN(4)), g.free(), g.val(g.IntN(4)))
	}
	return write("INSERT INTO user (id, n) VALUES (%s, %s), (%s, %s) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1", g.free(), g.val(g.IntN(4)), g.free(), g.val(g.IntN(4)))
}

func (g *grammar) insertChild() statement {
	return insert("child", "INSERT INTO child (user_id, v, w) VALUES %s", some(1+g.IntN(4), func() string {
		return "(" + g.key() + ", " + g.val(pick(g, someNames...)) + ", " + g.val(g.IntN(9)) + ")"
	}))
}

func (g *grammar) insertText() statement {
	if g.IntN(3) == 0 {
		return write("DELETE FROM strkey WHERE email = %s", g.mail())
	}
	return insert("strkey", "INSERT INTO strkey (email, note) VALUES (%s, %s)", g.mail(), g.val(pick(g, someCodes...)))
}

func (g *grammar) insertSelect() statement {
	if g.IntN(2) == 0 {
		return insert("child", "INSERT INTO child (user_id, v) SELECT id, name FROM user WHERE id = %s", g.key())
	}
	return insert("user", "INSERT INTO user (name, age) SELECT name, age FROM user WHERE id = %s", g.key())
}

// set gives one assignment or two.
func (g *grammar) set() string {
	c := g.column()
	switch g.IntN(3) {
	case 0:
		return "n = n + " + g.val(1+g.IntN(2))
	case 1:
		return c.name + " = " + g.val(c.value(g)) + ", n = n + " + g.val(1)
	}
	return c.name + " = " + g.val(c.value(g))
}

func (g *grammar) updateByKey() statement {
	switch g.IntN(4) {
	case 0:
		return write("UPDATE user SET %s WHERE id IN (%s)", g.set(), g.keys())
	case 1:
		return write("UPDATE child SET w = w + %s WHERE user_id = %s", g.val(1), g.key())
	case 2:
		return write("UPDATE strkey SET note = %s WHERE email = %s", g.val(pick(g, someCodes...)), g.mail())
	}
	return write("UPDATE user SET %s WHERE id = %s%s", g.set(), g.key(), g.also())
}

func (g *grammar) updateAll() statement {
	return write("UPDATE user SET %s WHERE %s", g.set(), g.condition())
}

func (g *grammar) deleteByKey() statement {
	switch g.IntN(3) {
	case 0:
		return write("DELETE FROM user WHERE id IN (%s)", g.keys())
	case 1:
		return write("DELETE FROM child WHERE user_id = %s AND w > %s", g.key(), g.val(g.IntN(9)))
	}
	return write("DELETE FROM user WHERE id = %s%s", g.key(), g.also())
}

func (g *grammar) deleteAll() statement {
	return write("DELETE FROM user WHERE n > %s AND age = %s", g.val(1), g.val(20+g.IntN(5)))
}

func (g *grammar) transaction() statement {
	g.prepared = false
	if !g.in {
		g.in = true
		return write("%s", pick(g, "BEGIN", "START TRANSACTION", "BEGIN WORK"))
	}
	switch g.IntN(8) {
	case 0, 1:
		g.in = false
		return write("COMMIT")
	case 2:
		g.in = false
		return write("ROLLBACK")
	case 3, 4:
		return write("SAVEPOINT %s", pick(g, "a", "b", "`C`"))
	case 5, 6:
		return write("ROLLBACK TO %s%s", pick(g, "", "SAVEPOINT "), pick(g, "a", "b", "c"))
	}
	return write("RELEASE SAVEPOINT %s", pick(g, "a", "b"))
}

// session asks for what the statement before left behind.
func (g *grammar) session() statement {
	g.prepared = false
	return g.read(false, "SELECT %s", pick(g, "LAST_INSERT_ID()", "ROW_COUNT()", "@@last_insert_id", "@@autocommit", "LAST_INSERT_ID(), 5"))
}

// mistake is an error natively as through seqgate.
func (g *grammar) mistake() statement {
	switch g.IntN(6) {
	case 0:
		return g.read(false, "SELECT nosuch FROM user WHERE id = %s", g.key())
	case 1:
		return g.read(false, "SELECT id FROM user WHERE id = (SELECT user_id FROM child")
	case 2:
		return write("INSERT INTO user (nosuch) VALUES (%s)", g.val(1))
	case 3:
		return write("INSERT INTO user (id, age) VALUES (%s, 'x'), (%s, 1)", g.key(), g.val(5000+g.IntN(100))) // the other shard has no error
	case 4:
		return write("UPDATE user SET age = 'x' WHERE id = 7")
	}
	return write("INSERT INTO child (user_id, w) VALUES (%s, %s, 3)", g.key(), g.val(2))
}
