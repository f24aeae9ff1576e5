package catalog

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
func (c *Cache) bindView(ctx context.Context, e *Entry, k *Keyspace, schema, view string) error {
	var definition string
	var updatable bool
	err := k.DB.QueryRowContext(ctx, "SELECT COALESCE(VIEW_DEFINITION, ''), IS_UPDATABLE = 'YES' FROM information_schema.VIEWS"+
		" WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?", schema, view).Scan(&definition, &updatable)
	if errors.Is(err, sql.ErrNoRows) {
		return errReplaced
	}
	if err != nil || !updatable { // the server refuses to insert into one that is not
		return err
	}
	if definition == "" {
		e.Err = Unsupported("an INSERT through a view whose definition it may not see (SHOW VIEW)", view, "insert into the table itself")
		return nil
	}
	return c.bindUnder(ctx, e, k, tablesOf(definition), "the view '"+view+"'")
}

// bindUnder refuses INSERTs through something that stands for other tables, where one of them has a sequence.
func (c *Cache) bindUnder(ctx context.Context, e *Entry, k *Keyspace, tables []TableName, through string) error {
	for _, t := range tables {
		owner, err := c.Owner(ctx, k, t.Schema)
		if err != nil {
			return err
		}
		under, err := c.Find(ctx, owner, t.Schema, t.Table, true)
		if err != nil {
			return err
		}
		if under.Binding == nil && under.Err == nil || e.Binding != nil && under.Binding != nil && under.Binding.Sequence == e.Binding.Sequence {
			continue
		}
		if e.Err == nil {
			e.Err = Unsupported("an INSERT through "+through, t.Table, "insert into the table itself")
		}
		e.Unsharded = e.Unsharded || under.ofUnsharded()
	}
	return nil
}

// errReplaced says that a view or a table was another one by the time that its definition was asked for.
var errReplaced = errors.New("it was replaced between two questions")

// qualifiedName is how both servers write a table in VIEW_DEFINITION.
var qualifiedName = regexp.MustCompile("`((?:[^`]|``)+)`\\.`((?:[^`]|``)+)`")

// tablesOf returns all that may be a table in a view's definition.
func tablesOf(definition string) []TableName {
	seen := make(map[TableName]bool)
	var tables []TableName
	unquote := func(s string) string { return strings.ReplaceAll(s, "``", "`") }
	for _, m := range qualifiedName.FindAllStringSubmatch(definition, -1) {
		t := TableName{unquote(m[1]), unquote(m[2])}
		if !seen[t] {
			seen[t] = true
			tables = append(tables, t)
		}
	}
	return tables
}
