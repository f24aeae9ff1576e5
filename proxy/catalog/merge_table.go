package catalog

import (
	"context"
	"regexp"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// A MERGE table stands for MyISAM tables: an INSERT into it puts its rows into the first or the last of them.

// mergeMembers is how both servers show the tables of a MERGE table.
var mergeMembers = regexp.MustCompile("UNION=\\(((?:`(?:[^`]|``)+`[.,]?)+)\\)")

// memberName is one of them, with its database or in that of the MERGE table.
var memberName = regexp.MustCompile("(?:`((?:[^`]|``)+)`\\.)?`((?:[^`]|``)+)`")

// bindMerge refuses INSERTs through a MERGE table of a sequenced one: they would get ids that its sequence knows nothing of,
// unless the vschema fills both from one.
func (c *Cache) bindMerge(ctx context.Context, e *Entry, k *Keyspace, schema, table string) error {
	var name, text string
	err := k.DB.QueryRowContext(ctx, "SHOW CREATE TABLE "+Quote(schema)+"."+Quote(table)).Scan(&name, &text)
	if IsServerError(err, mysql.ER_NO_SUCH_TABLE) {
		return errReplaced
	}
	if err != nil || !strings.Contains(text, "INSERT_METHOD=") { // the server inserts nothing through one without
		return err
	}
	err = c.bindUnder(ctx, e, k, membersOf(text, schema), "the MERGE table '"+table+"'")
	if e.Err != nil {
		e.Binding = nil
	}
	return err
}

// membersOf returns all that may be a member of the MERGE table with this definition.
func membersOf(definition, schema string) []TableName {
	var members []TableName
	unquote := func(s string) string { return strings.ReplaceAll(s, "``", "`") }
	for _, list := range mergeMembers.FindAllStringSubmatch(definition, -1) {
		for _, m := range memberName.FindAllStringSubmatch(list[1], -1) {
			t := TableName{unquote(m[1]), unquote(m[2])}
			if t.Schema == "" {
				t.Schema = schema
			}
			members = append(members, t)
		}
	}
	return members
}
