package admin

import (
	"slices"

	"github.com/seqgate/seqgate/sequence"
)

// sequenceName is what a sequence is called everywhere: keyspace.sequence, as in the vschema, in commands and in the API. One
// beside a table of another database of the server's has that in between; where the keyspace has no name, as it has none that
// serves all databases, it is database.sequence.
func (c *Config) sequenceName(n sequence.Name) string {
	isOwn := func(s Server) bool { return s.Keyspace == n.Keyspace && (s.Database == n.Database || s.Database == "") }
	isKnown := func(s Server) bool { return s.Keyspace == n.Keyspace }
	switch {
	case n.Keyspace == "":
		return n.String()
	case slices.ContainsFunc(c.Servers, isKnown) && !slices.ContainsFunc(c.Servers, isOwn):
		return n.Keyspace + "." + n.String()
	}
	return n.Keyspace + "." + n.Table
}
