package proxy

import (
	"bytes"
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// planText judges one statement as plan does. One that is refused as it came is
// read again as this session's server reads its version comments: resolved says that
// sql, which has blanks in their place now, is what has to be sent. What seqgate read
// is so what the server reads, also when its version is not what its greeting says.
func (x *executor) planText(sql []byte) (p plan, resolved bool, err error) {
	if p, err = x.plan(sql); err != nil && x.resolveVersions(sql) {
		resolved = true
		p, err = x.plan(sql)
	}
	return p, resolved, x.serversError(err)
}

// planCallsText is planText for a text with calls of sequences, which may stand in
// version comments themselves.
func (x *executor) planCallsText(sql []byte) (*callPlan, error) {
	p, err := x.planCalls(sql)
	if p != nil || !parser.HasVersion(sql) {
		return p, err
	}
	resolved := bytes.Clone(sql)
	if !x.resolveVersions(resolved) {
		return p, err
	}
	if p, err = x.planCalls(resolved); p != nil {
		copy(sql, resolved)
	}
	return p, err
}

// planPrepareText is planText for a statement to prepare.
func (x *executor) planPrepareText(sql []byte) (st *statement, filled []byte, resolved bool, err error) {
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
	m, err := c.readable(sql)
	if err != nil {
		return false // the statement is refused already
	}
	resolved, ok := parser.ResolveVersions(sql, m, parser.ServerVersion(c.backend.Version))
	if ok {
		copy(sql, resolved)
	}
	return ok
}

// sendResolved sends a command with a text: as it stands at the front of the client's
// bytes, unless it was resolved.
func (x *executor) sendResolved(payload []byte, size int, resolved bool) error {
	if resolved {
		return x.send(payload)
	}
	return x.passPacket(payload, size)
}

// isMariaDB tells by the version in its greeting what a server is.
func isMariaDB(version string) bool { return strings.Contains(version, "MariaDB") }
