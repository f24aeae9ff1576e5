package proxy

import (
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/variables"
)

// A server gives a result up that nobody reads for net_write_timeout, 60 s by default.
// Of several results that are merged one waits while another is read, however steadily
// the client reads. So connections that merge have the longest timeout there is; a client that
// stops reading is ended by seqgate's own (Config.WriteTimeout). The client does not see
// that: a statement that may look at the variable finds its own value.

const longestWrites = "SET SESSION net_write_timeout = 31536000" // both servers' largest

// raiseTimeouts has connections wait for as long as the others are read.
func raiseTimeouts(conns []*executor) error {
	var hasty []*executor
	for _, conn := range conns {
		if !conn.State.Waits {
			hasty = append(hasty, conn)
		}
	}
	if err := everywhere(hasty, always(longestWrites)); err != nil {
		return err
	}
	for _, conn := range hasty {
		conn.State.Waits = true
	}
	return nil
}

// showTimeouts undoes raiseTimeouts before a statement that may look at the variable.
func (r *sessionRouter) showTimeouts(kind parser.Kind, sql []byte) error {
	waits := func(conn *executor) bool { return conn.State.Waits && !conn.HasEnded() }
	if !slices.ContainsFunc(r.conns.all, waits) || !looksAtTimeouts(kind, sql) {
		return nil
	}
	text := "SESSION net_write_timeout = DEFAULT" // the server's own, as at the login
	if held, set := r.settings.Assignment(variables.WriteTimeout); set {
		text = held
	}
	var conns []*executor
	for _, conn := range r.conns.all {
		if waits(conn) {
			conns = append(conns, conn)
		}
	}
	if err := everywhere(conns, always("SET "+text)); err != nil {
		return err
	}
	for _, conn := range conns {
		conn.State.Waits = false
	}
	return nil
}

// looksAtTimeouts reports whether a statement may look at net_write_timeout, by its name
// or among all variables. A program, or what SQL's PREPARE has prepared, may look at any.
func looksAtTimeouts(kind parser.Kind, sql []byte) bool {
	switch kind {
	case parser.Call, parser.Execute, parser.DynamicSQL:
		return true
	}
	return slices.ContainsFunc(variableNames, func(name string) bool { return parser.ContainsWord(sql, name) })
}

// variableNames are those of the variable, and of what lists the session's.
var variableNames = []string{variables.WriteTimeout, "variables", "session_variables", "variables_info", "system_variables"}
