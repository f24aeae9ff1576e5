package proxy

import (
	"errors"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A temporary table hides a table of its name from the session that made it, and
// has no sequence.

// mayMakeTemporary reports whether a statement may make or drop a temporary
// table, as far as its text tells.
func mayMakeTemporary(sql []byte) bool { return parser.Mentions(sql, "temporary") }

// noteTemporary has the session ask, from now on, which of its tables are
// temporary. Any further DDL makes it ask anew.
func (c *serverConn) noteTemporary() { c.temporary = make(map[string]bool) }

// isTemporary reports whether the session's own temporary table hides a table.
// That it does is asked each time: a stored function or a trigger may drop it
// within any statement. One that such a statement makes gets ids like the table
// that it hides.
func (c *serverConn) isTemporary(schema, table string) (bool, error) {
	if c.temporary == nil {
		return false, nil
	}
	name := quoteIdentifier(schema) + "." + quoteIdentifier(table)
	if c.temporary[name] {
		return false, nil
	}
	row, err := c.queryRow("SHOW CREATE TABLE "+name, 2)
	var refused *wire.ServerError
	if err != nil && !errors.As(err, &refused) {
		return false, err
	}
	hidden := err == nil && strings.HasPrefix(row[1], "CREATE TEMPORARY")
	c.temporary[name] = !hidden
	return hidden, nil
}
