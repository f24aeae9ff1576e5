package proxy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
)

// planText plans one statement as plan does. One that is refused as it came is
// read again as this session's server reads its version comments: resolved says that
// sql, which has blanks in their place now, is what has to be sent. What seqgate read
// is so what the server reads, also when its version is not what its greeting says.
func (x *textRunner) planText(sql []byte) (p textPlan, resolved bool, err error) {
	if p, err = x.plan(sql); err != nil && x.resolveVersions(sql) {
		resolved = true
		p, err = x.plan(sql)
	}
	return p, resolved, x.serversError(err)
}

// planCallsText is planText for a text with calls of sequences, which may stand in
// version comments themselves.
func (x *textRunner) planCallsText(sql []byte) (*plan.Calls, error) {
	p, err := x.planCalls(sql)
	if p == nil && parser.HasVersion(sql) {
		if resolved := bytes.Clone(sql); x.resolveVersions(resolved) {
			if p, err = x.planCalls(resolved); p != nil {
				copy(sql, resolved)
			}
		}
	}
	if err != nil {
		x.noteKind(kindOf(parser.Sniff(sql))) // else who runs them does
	}
	return p, err
}

// planPrepareText is planText for a statement to prepare.
func (x *textRunner) planPrepareText(sql []byte) (st *statement, filled []byte, resolved bool, err error) {
	if st, filled, err = x.planPrepare(sql); err != nil && x.resolveVersions(sql) {
		resolved = true
		st, filled, err = x.planPrepare(sql)
	}
	return st, filled, resolved, x.serversError(err)
}

// resolveVersions writes blanks over the version comments of a text, where that is
// what the session's server makes of them.
func (c *serverConn) resolveVersions(sql []byte) bool {
	if !parser.HasVersion(sql) {
		return false
	}
	m, err := c.Readable(sql)
	if err != nil {
		return false // the statement is refused already
	}
	resolved, ok := parser.ResolveVersions(sql, m, parser.ServerVersion(c.Conn.Version))
	if ok {
		copy(sql, resolved)
	}
	return ok
}

// sendResolved sends a command with a text: as it stands at the front of the client's
// bytes, unless it was resolved.
func (x *textRunner) sendResolved(payload []byte, size int, resolved bool) error {
	if resolved {
		return x.Send(payload)
	}
	return x.passPacket(payload, size)
}

// isMariaDB tells by the version in its greeting what a server is.
func isMariaDB(version string) bool { return strings.Contains(version, "MariaDB") }

// planPrepare plans the text of a statement to prepare. filled is the second
// text to prepare, nil for none.
func (x *textRunner) planPrepare(sql []byte) (st *statement, filled []byte, err error) {
	if parser.MayCall(sql) {
		if st, filled, err = x.planPrepareCalls(sql); st != nil || err != nil {
			return st, filled, err
		}
	}
	return x.planPrepared(sql)
}

// planPrepared is planPrepare for a text without calls of sequences.
func (x *textRunner) planPrepared(sql []byte) (st *statement, filled []byte, err error) {
	kind := parser.Sniff(sql)
	x.noteKind(kindOf(kind))
	st = &statement{effect: x.effectOf(kind, sql)}
	if kind == parser.Select && parser.SniffCommand(sql) == parser.SelectDecode {
		st, err = x.planPrepareDecode(sql)
		return st, nil, err
	}
	if kind == parser.Kill || kind == parser.Select {
		return st, nil, nil // executed, it is the server's, with the server's ids
	}
	if kind != parser.Insert && kind != parser.Replace {
		p, err := x.plan(sql)
		switch p.kind {
		case plan.Next:
			st.next = &p.next
		case plan.Command:
			return st, nil, mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS) // as both servers say
		}
		return st, nil, err
	}
	st.writes = true
	p, err := x.planInsert(textPlan{effect: st.effect}, sql, true)
	st.schema, st.table = x.planner.Schema(), x.planner.Stmt.Table
	if err != nil || p.fill.Binding == nil {
		return st, nil, err
	}
	st.fill, st.slots = &p.fill, slices.Clone(x.planner.Slots)
	st.ascii = parser.IsASCII(sql)
	st.mode, st.listed = x.State.Mode, x.planner.Stmt.HasColumns && len(x.planner.Stmt.Columns) > 0
	switch p.kind {
	case plan.Filled:
		st.fill.Repeatable = x.repeats(sql, &p.fill)
		filled = x.parameterText(sql, &p.fill)
	case plan.Query:
		st.query, st.database = slices.Clone(sql), x.State.Database
	}
	return st, filled, nil
}
