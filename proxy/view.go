package proxy

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strings"
)

// kindView is information_schema's TABLE_TYPE of a view.
const kindView = "VIEW"

// bindView refuses INSERTs through a view of a sequenced table: the view's
// columns say nothing of where the id is.
func (c *catalog) bindView(ctx context.Context, e *catalogEntry, k *Keyspace, schema, view string) error {
	var definition string
	err := k.DB.QueryRowContext(ctx, "SELECT VIEW_DEFINITION FROM information_schema.VIEWS"+
		" WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND IS_UPDATABLE = 'YES'", schema, view).Scan(&definition)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // the server refuses to insert into it
	}
	if err != nil {
		return err
	}
	if definition == "" {
		e.err = unsupported("an INSERT through a view whose definition it may not see (SHOW VIEW)", view, "insert into the table itself")
		return nil
	}
	for _, t := range tablesOf(definition) {
		under, err := c.lookup(ctx, k, t.schema, t.table)
		if err != nil {
			return err
		}
		if under.binding != nil || under.err != nil {
			e.err = unsupported("an INSERT through the view '"+view+"'", t.table, "insert into the table itself")
			return nil
		}
	}
	return nil
}

// qualifiedName is how both servers write a table in VIEW_DEFINITION.
var qualifiedName = regexp.MustCompile("`((?:[^`]|``)+)`\\.`((?:[^`]|``)+)`")

// tablesOf gives all that may be a table in a view's definition.
func tablesOf(definition string) []target {
	seen := make(map[target]bool)
	var tables []target
	unquote := func(s string) string { return strings.ReplaceAll(s, "``", "`") }
	for _, m := range qualifiedName.FindAllStringSubmatch(definition, -1) {
		t := target{unquote(m[1]), unquote(m[2])}
		if !seen[t] {
			seen[t] = true
			tables = append(tables, t)
		}
	}
	return tables
}
