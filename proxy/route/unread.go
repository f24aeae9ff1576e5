package route

import (
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// unread plans a statement that could not be read: it goes to the server of the current unsharded keyspace, unless it
// names a sharded keyspace anywhere. In a sharded keyspace only what can need no table goes on.
func (p *Planner) unread(sql []byte, keyspace string, m parser.Mode, cause *parser.UnreadableError) (*Plan, error) {
	name := parser.StatementName(sql, m)
	for _, k := range p.vschema.Keyspaces() {
		if k.Sharded && (k.Name == keyspace || parser.ContainsWord(sql, k.Name)) {
			return p.unreadSharded(sql, name, k.Name, cause)
		}
	}
	if keyspace != "" {
		return &Plan{Kind: Unsharded, ownText: true, Keyspace: keyspace, Write: !isReading(name), Select: isReading(name)}, nil
	}
	if parser.ContainsWord(sql, "from") || !isReading(name) || p.mentionedTable(sql) != "" {
		return nil, errorf(errUnsupported, "seqgate could not read this %s (%s), and there is no current keyspace to send it to: choose one "+
			"with USE, or write it in MySQL's plain form", name, cause.Reason)
	}
	return &Plan{Kind: Local, ownText: true, Select: isReading(name)}, nil
}

// unreadSharded is unread where a sharded keyspace may be meant.
func (p *Planner) unreadSharded(sql []byte, name, keyspace string, cause *parser.UnreadableError) (*Plan, error) {
	if isReading(name) && parser.ContainsWord(sql, "into") {
		return nil, refuse("SELECT ... INTO in the sharded keyspace "+keyspace, "read the rows and store them with a second statement")
	}
	if isReading(name) && !parser.ContainsWord(sql, "from") && !parser.ContainsWord(sql, "table") && p.mentionedTable(sql) == "" {
		return &Plan{Kind: Local, ownText: true, Select: true}, nil
	}
	switch {
	case isProgram(name):
		return nil, refuse(name+" in the sharded keyspace "+keyspace+": stored programs see the rows of one shard only",
			"connect to the database \""+keyspace+":shard\" to run it on one shard")
	case strings.HasPrefix(name, "HANDLER"):
		return nil, refuse(name+" in the sharded keyspace "+keyspace, "use SELECT")
	}
	return nil, errorf(errUnsupported, "%s (%s), so it cannot be routed to the shards of %s; write it in MySQL's plain form, or %s",
		"seqgate could not read this "+name, cause.Reason, keyspace, engine)
}

// mentionedTable returns a table of a sharded keyspace whose name is a word of the text, or "".
func (p *Planner) mentionedTable(sql []byte) string {
	for _, k := range p.vschema.Keyspaces() {
		if !k.Sharded {
			continue
		}
		for _, t := range k.Tables() {
			if parser.ContainsWord(sql, t.Name) {
				return t.Name
			}
		}
	}
	return ""
}

func isReading(name string) bool {
	return name == "SELECT" || name == "WITH" || name == "VALUES" || strings.HasPrefix(name, "SHOW") || name == "DO"
}

// isProgram reports whether the statement defines or runs a stored program.
func isProgram(name string) bool {
	for _, word := range [...]string{"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "DEFINER", "OR", "AGGREGATE"} {
		if strings.HasSuffix(name, " "+word) {
			return true
		}
	}
	return name == "CALL" || name == "BEGIN"
}
