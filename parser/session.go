package parser

import (
	"bytes"
	"slices"
)

// SessionUse is what a statement takes from its session or leaves there, beside rows
// of tables: what is of one server's connection, where several make one session.
type SessionUse uint32

const (
	// ReadsTables: there may be tables in it.
	ReadsTables SessionUse = 1 << iota
	// TakesLocks: GET_LOCK() and its like.
	TakesLocks
	// ReadsDatabase: DATABASE(), SCHEMA().
	ReadsDatabase
	// ReadsConnectionID: CONNECTION_ID(), @@pseudo_thread_id.
	ReadsConnectionID
	// ReadsLastID: LAST_INSERT_ID(), @@last_insert_id, @@identity.
	ReadsLastID
	// SetsLastID: LAST_INSERT_ID(expr).
	SetsLastID
	// ReadsRowCount: ROW_COUNT().
	ReadsRowCount
	// ReadsFoundRows: FOUND_ROWS().
	ReadsFoundRows
	// ReadsWarnings: @@warning_count, @@error_count.
	ReadsWarnings
	// ReadsVariables: user variables.
	ReadsVariables
	// SetsVariables: user variables, by := or INTO.
	SetsVariables
	// Unread: the text cannot be read to its end.
	Unread
)

// SessionCall is one place in a text where a value of the session stands.
type SessionCall struct {
	Use        SessionUse // one of ReadsDatabase, ReadsConnectionID, ReadsLastID, ReadsRowCount, ReadsFoundRows
	Start, End int
	// Plain: it is a value of its own, as between commas and in comparisons, not
	// part of arithmetic: there a literal of the same number is the same value.
	Plain bool
	// Column: it stands in the list of a SELECT.
	Column bool
}

// SessionStmt is what FindSession finds.
type SessionStmt struct {
	Uses  SessionUse
	Calls []SessionCall // in order of appearance
	// Assigned are the user variables that the text assigns, Variables all that it
	// names: in lower case, unquoted. Names outside ASCII are Unread.
	Assigned, Variables []string

	items []span // of lists of SELECTs, without an alias, that have calls in them
	mode  Mode
}

// MayUseSession reports whether FindSession may find something in a text beside
// tables. It is quick, and may say true for a word in a literal.
func MayUseSession(sql []byte) bool {
	if bytes.IndexByte(sql, '@') >= 0 {
		return true
	}
	if bytes.IndexByte(sql, '#') >= 0 || bytes.Contains(sql, []byte("--")) || bytes.Contains(sql, []byte("/*")) {
		return slices.ContainsFunc(sessionNeedles, func(n needle) bool { return n.in(sql) })
	}
	for at := bytes.IndexByte(sql, '('); at >= 0; {
		if isSessionCall(sql[:at]) {
			return true
		}
		next := bytes.IndexByte(sql[at+1:], '(')
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// isSessionCall reports whether a text ends with the name of a function of the session.
func isSessionCall(before []byte) bool {
	end := len(before)
	for end > 0 && isSpace(before[end-1]) {
		end--
	}
	begin := end
	for begin > 0 && isWordByte(before[begin-1]) {
		begin--
	}
	var buf keyword
	word, _ := buf.read(before[:end], begin)
	return sessionFunctions[string(word)] != 0
}

// sessionFunctions are the functions of the session, without arguments but for locks.
var sessionFunctions = map[string]SessionUse{
	"database": ReadsDatabase, "schema": ReadsDatabase, "connection_id": ReadsConnectionID,
	"last_insert_id": ReadsLastID, "row_count": ReadsRowCount, "found_rows": ReadsFoundRows,
	"get_lock": TakesLocks, "release_lock": TakesLocks, "release_all_locks": TakesLocks,
	"is_free_lock": TakesLocks, "is_used_lock": TakesLocks,
}

// sessionVariables are system variables that are like them.
var sessionVariables = map[string]SessionUse{
	"last_insert_id": ReadsLastID, "identity": ReadsLastID, "pseudo_thread_id": ReadsConnectionID,
	"warning_count": ReadsWarnings, "error_count": ReadsWarnings,
}

var sessionNeedles = func() []needle {
	needles := make([]needle, 0, len(sessionFunctions))
	for name := range sessionFunctions {
		needles = append(needles, newNeedle(name))
	}
	return needles
}()

// FindSession finds what a statement has to do with its session.
func FindSession(sql []byte, m Mode) SessionStmt {
	f := sessionFinder{callFinder: callFinder{scanner: newScanner(sql, m)}}
	f.found.mode = m
	f.find()
	return f.found
}

// AppendReplaced appends the statement to dst with what value appends in the place of
// the calls for which it reports true. A column of a SELECT keeps its
// name, by an alias.
func (s *SessionStmt) AppendReplaced(dst, sql []byte, value func(dst []byte, call SessionCall) ([]byte, bool)) []byte {
	calls := CallStmt{items: s.items, mode: s.mode}
	e := editor{dst: dst, sql: sql}
	item := 0
	for _, c := range s.Calls {
		item = calls.nameItems(&e, item, c.Start)
		e.copyTo(c.Start)
		if b, ok := value(e.dst, c); ok { // else what it may have appended is dropped
			e.dst = b
			e.at = c.End
			e.endWord()
		}
	}
	calls.nameItems(&e, item, len(sql))
	e.copyTo(len(sql))
	return e.dst
}
