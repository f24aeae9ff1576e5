package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/plan"
)

// sessionRouter runs what is about the session itself and has no tables: SET, USE, SHOW, functions of the session, locks.
type sessionRouter struct{ shardedConn }

// local runs a statement without tables on the connection that knows what it asks for.
func (r *sessionRouter) local(attributes, sql []byte, found *parser.SessionStmt) error {
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

// replaceSession writes what the session's functions give in their places, where the
// connection that runs the statement would not give it, or where it decides about the shard:
// then connection is nil.
func (r *sessionRouter) replaceSession(conn *executor, sql []byte, found *parser.SessionStmt) ([]byte, error) {
	var uses parser.SessionUse
	for _, c := range found.Calls {
		uses |= c.Use
	}
	if uses == 0 {
		return sql, nil
	}
	if conn != nil && conn != r.last && found.Uses&parser.ReadsWarnings != 0 {
		return nil, r.Unsupported("@@warning_count and @@error_count of a statement on several shards", "use SHOW WARNINGS")
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
			if r.database != "" || conn != nil && conn.keyspace.Database == r.Keyspace.Name {
				return dst, false
			}
			return r.appendKeyspace(dst), true
		case parser.ReadsConnectionID:
			if found.Uses&parser.TakesLocks != 0 || plan.ContainsAnyWord(sql, "processlist", "information_schema", "performance_schema") {
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

// quoteText returns a text as a literal that reads alike in every sql_mode.
func quoteText(text string) string {
	if backend.IsPlainName(text) && !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return fmt.Sprintf("_utf8mb4 X'%x'", text)
}

// counts are what a statement leaves for ROW_COUNT() and FOUND_ROWS().
type counts struct {
	affected int64
	found    uint64
	known    bool
}

// diagnostics returns them for a statement that runs on the given connection. They are not
// known where that gives them itself.
func (r *sessionRouter) diagnostics(conn *executor, uses parser.SessionUse) (counts, error) {
	switch {
	case uses&(parser.ReadsRowCount|parser.ReadsFoundRows) == 0, conn != nil && conn == r.last:
		return counts{}, nil
	case r.last == nil && r.counts.known:
		return r.counts, nil
	case r.last == nil || r.last.Lost:
		return counts{}, r.Unsupported("ROW_COUNT() and FOUND_ROWS() here", "ask for them right after the statement")
	}
	row, err := r.last.QueryRow("SELECT CAST(CONVERT(CONCAT(ROW_COUNT()) USING utf8mb4) AS BINARY), CAST(CONVERT(CONCAT(FOUND_ROWS()) USING utf8mb4) AS BINARY) LIMIT 1", 2) // whatever sql_select_limit says
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
