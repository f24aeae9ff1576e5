package plan

import "github.com/seqgate/seqgate/parser"

// What a statement takes from its session, or leaves there, is one server's. Here it is seen to that a session in front of several
// has one of each: variables are set on each connection that is used, LAST_INSERT_ID() goes with the client, functions of the
// session are answered from the connection that ran the statement before, or are replaced by what seqgate knows.

// planInSession plans a statement by what it has to do with its session. done says that this is all of it; else it is still to
// be routed.
func (r *Router) planInSession(p *Routed, kind parser.Kind) (done bool, err error) {
	verb := parser.SniffCommand(p.SQL)
	if verb != parser.NoCommand || kind == parser.Next || parser.MayCall(p.SQL) {
		if done, err := r.planSequences(p, kind, verb); done || err != nil {
			return true, err
		}
	}
	if kind == parser.Show && r.showsSession(p.SQL) {
		p.Kind = RoutedShow
		return true, nil
	}
	if parser.MayUseSession(p.SQL) {
		return r.planUses(p, kind)
	}
	if r.Stays(p.SQL, p.Mode) {
		p.Kind = RoutedCurrent
		return true, nil
	}
	return false, r.refuseOneServer(kind, p.SQL, p.Mode)
}

// showsSession reports whether a SHOW is of the session, or of all keyspaces.
func (r *Router) showsSession(sql []byte) bool {
	switch parser.Words(sql, 2)[1] {
	case "WARNINGS", "ERRORS", "COUNT":
		return true
	case "DATABASES", "SCHEMAS":
		return r.Sharded()
	}
	return false
}

// planUses is planInSession for a statement with functions or variables of the session.
func (r *Router) planUses(p *Routed, kind parser.Kind) (done bool, err error) {
	found := parser.FindSession(p.SQL, p.Mode)
	if r.Opaque && !r.Fetched.Noted {
		return true, &Missing{Fact: NeedsVariablesSet, Found: &found}
	}
	p.Assigned = found.Assigned
	stays := r.Stays(p.SQL, p.Mode)
	if IsLocal(kind, p.SQL, &found) {
		p.Kind, p.Found = RoutedLocal, &found
		return true, nil
	}
	if kind == parser.Call || kind == parser.Execute || kind == parser.DynamicSQL {
		p.Assigned = found.Variables // as OUT parameters
	}
	if stays {
		p.Kind, p.Found = RoutedCurrent, &found
		return true, nil
	}
	if err := r.refuseOneServer(kind, p.SQL, p.Mode); err != nil {
		return true, err
	}
	if err := r.RefuseUses(&found); err != nil {
		return true, err
	}
	p.SQL, err = r.sessionText(p.SQL, &found)
	return err != nil, err
}

// sessionText returns a text with what the session's functions give in their places.
func (r *Router) sessionText(sql []byte, found *parser.SessionStmt) ([]byte, error) {
	switch {
	case len(found.Calls) == 0:
		return sql, nil
	case r.Fetched.Text == nil:
		return sql, &Missing{Fact: NeedsSessionText, SQL: sql, Found: found}
	}
	return r.Fetched.Text, nil
}
