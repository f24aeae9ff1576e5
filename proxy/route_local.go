package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// isLocal reports whether a statement has functions or variables of the session and no
// tables.
func isLocal(kind parser.Kind, sql []byte, found *parser.SessionStmt) bool {
	if found.Uses&(parser.ReadsTables|parser.Unread) != 0 {
		return false
	}
	return kind == parser.Select || kind == parser.Other && parser.Words(sql, 1)[0] == "DO"
}

// local runs a statement without tables on the connection that knows what it asks for.
func (r *router) local(attributes, sql []byte, found *parser.SessionStmt) error {
	conn, err := r.localConn(found)
	if err != nil {
		return err
	}
	if sql, err = r.replaceSession(conn, sql, found); err != nil {
		return err
	}
	r.assigned = found.Assigned
	return r.passTo(conn, attributes, sql)
}

// localConn gives that connection: for locks the one of all sessions' locks; for what the
// statement before has left, the one that ran it; else the current keyspace's.
func (r *router) localConn(found *parser.SessionStmt) (*executor, error) {
	const diagnostics = parser.ReadsRowCount | parser.ReadsFoundRows | parser.ReadsWarnings
	switch {
	case found.Uses&parser.TakesLocks != 0:
		return r.lockConn()
	case found.Uses&diagnostics != 0 && r.last != nil:
		return r.leftOn()
	case !r.sharded():
		return r.connectedConn(r.shards()[0])
	}
	return r.anyConn()
}

// leftOn gives the connection that has what the statement before has left.
func (r *router) leftOn() (*executor, error) {
	if r.last.hasEnded() {
		r.last = nil
		return nil, errLeftLost()
	}
	return r.connectedConn(r.last.keyspace)
}

// lockKeyspace is where locks of GET_LOCK() are: one server for all sessions, so that
// they exclude each other whatever keyspace is the current one.
func (r *router) lockKeyspace() *catalog.Keyspace {
	cfg := &r.s.srv.cfg
	return cfg.Keyspaces[cfg.Default].EachShard()[0]
}

// lockConn gives the connection that holds the session's locks.
func (r *router) lockConn() (*executor, error) {
	conn, err := r.connectedConn(r.lockKeyspace())
	if err == nil {
		conn.locked = true
	}
	return conn, err
}

// replaceSession writes what the session's functions give in their places, where the
// connection that runs the statement would not give it, or where it decides about the shard:
// then connection is nil.
func (r *router) replaceSession(conn *executor, sql []byte, found *parser.SessionStmt) ([]byte, error) {
	var uses parser.SessionUse
	for _, c := range found.Calls {
		uses |= c.Use
	}
	if uses == 0 {
		return sql, nil
	}
	if conn != nil && conn != r.last && found.Uses&parser.ReadsWarnings != 0 {
		return nil, r.unsupported("@@warning_count and @@error_count of a statement on several shards", "use SHOW WARNINGS")
	}
	n, err := r.diagnostics(conn, uses)
	if err != nil {
		return nil, err
	}
	lastID, err := r.lastIDBeside(conn, uses)
	if err != nil {
		return nil, err
	}
	return found.AppendReplaced(nil, sql, func(dst []byte, c parser.SessionCall) ([]byte, bool) {
		switch c.Use {
		case parser.ReadsDatabase:
			if r.database != "" || conn != nil && conn.keyspace.Database == r.keyspace.Name {
				return dst, false
			}
			return r.appendKeyspace(dst), true
		case parser.ReadsConnectionID:
			if found.Uses&parser.TakesLocks != 0 || containsAnyWord(sql, "processlist", "information_schema", "performance_schema") {
				return dst, false // it is compared with ids of the server's
			}
			return fmt.Appendf(dst, "CAST(%d AS UNSIGNED)", r.s.id), true
		case parser.ReadsRowCount:
			if n.known {
				return fmt.Appendf(dst, "CAST(%d AS SIGNED)", n.affected), true
			}
		case parser.ReadsFoundRows:
			if n.known {
				return fmt.Appendf(dst, "CAST(%d AS SIGNED)", n.found), true
			}
		case parser.ReadsLastID:
			if conn == nil && c.Plain && !c.Column {
				return strconv.AppendUint(dst, lastID, 10), true
			}
		}
		return dst, false
	}), nil
}

// appendKeyspace appends the current keyspace's name as an expression, which has the
// coercibility of DATABASE(): a literal's character set gives way to its.
func (r *router) appendKeyspace(dst []byte) []byte {
	return fmt.Appendf(dst, "CONCAT(LEFT(VERSION(), 0), %s)", quoteText(r.keyspace.Name))
}

// quoteText gives a text as a literal that reads alike in every sql_mode.
func quoteText(text string) string {
	if isPlainName(text) && !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return fmt.Sprintf("_utf8mb4 X'%x'", text)
}

// lastIDBeside gives LAST_INSERT_ID() for a statement that is routed by it.
func (r *router) lastIDBeside(conn *executor, uses parser.SessionUse) (uint64, error) {
	if conn != nil || uses&parser.ReadsLastID == 0 {
		return 0, nil
	}
	return r.knownLastID(r.lastIDConn())
}

// counts are what a statement leaves for ROW_COUNT() and FOUND_ROWS().
type counts struct {
	affected int64
	found    uint64
	known    bool
}

// diagnostics gives them for a statement that runs on the given connection. They are not
// known where that gives them itself.
func (r *router) diagnostics(conn *executor, uses parser.SessionUse) (counts, error) {
	switch {
	case uses&(parser.ReadsRowCount|parser.ReadsFoundRows) == 0, conn != nil && conn == r.last:
		return counts{}, nil
	case r.last == nil && r.counts.known:
		return r.counts, nil
	case r.last == nil || r.last.lost:
		return counts{}, r.unsupported("ROW_COUNT() and FOUND_ROWS() here", "ask for them right after the statement")
	}
	row, err := r.last.queryRow("SELECT CAST(CONVERT(CONCAT(ROW_COUNT()) USING utf8mb4) AS BINARY), CAST(CONVERT(CONCAT(FOUND_ROWS()) USING utf8mb4) AS BINARY) LIMIT 1", 2) // whatever sql_select_limit says
	if err != nil {
		return counts{}, err
	}
	c := counts{known: true}
	if c.affected, err = strconv.ParseInt(row[0], 10, 64); err != nil {
		return c, fmt.Errorf("read ROW_COUNT(): %w", err)
	}
	if c.found, err = strconv.ParseUint(row[1], 10, 64); err != nil {
		return c, fmt.Errorf("read FOUND_ROWS(): %w", err)
	}
	return c, nil
}

// forgetLast begins a statement of which it is not known yet which connections run it.
func (r *router) forgetLast() { r.last, r.several, r.counts, r.warned = nil, nil, counts{}, nil }

// answer answers with the OK packet of a statement that several connections ran.
func (r *router) answer(ok wire.OK) error {
	r.ran(int64(ok.AffectedRows), 0)
	return r.s.replyOK(ok)
}

// failed notes what a statement left that was answered with this error.
func (r *router) failed(number uint16, message string) {
	r.forgetLast()
	r.ran(-1, 0)
	r.warned = &warnings{rows: [][]string{{"Error", strconv.Itoa(int(number)), message}}}
}

// ran notes what a statement left that several connections ran, or none.
func (r *router) ran(affected int64, found uint64) {
	r.last, r.counts = nil, counts{affected: affected, found: found, known: true}
}
