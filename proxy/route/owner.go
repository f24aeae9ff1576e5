package route

import "github.com/seqgate/seqgate/parser"

// insertRoute is what find has to know of any INSERT. Nothing changes it.
var insertRoute = parser.Route{Kind: parser.RouteInsert}

// Owner returns the keyspace of the table that an INSERT or REPLACE names when current is the current keyspace: empty for
// the databases that each server has of its own. Its errors are *Error.
func (p *Planner) Owner(name parser.Table, current string) (keyspace string, err error) {
	s := statement{Route: &insertRoute, planner: p, current: current}
	t, err := s.find(name)
	return t.keyspace, err
}
