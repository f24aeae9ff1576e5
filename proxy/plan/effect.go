package plan

import (
	"bytes"
	"slices"

	"github.com/seqgate/seqgate/parser"
)

// Effect is what a statement may do to the session's state.
type Effect uint16

const (
	MayLook           Effect = 1 << iota // at LAST_INSERT_ID()
	MayChangeLastID                      // of the session
	MayChangeSettings                    // sql_mode, character set
	MayChangeDatabase                    // the default one
	ChangesSchema                        // of tables or sequences
	MakesTemporary                       // tables, perhaps
	ChangesVariables                     // of the session, any
	KeepsSomething                       // a variable of the user's, or a lock
	MayChangeIDs                         // insert_id, auto_increment_increment
	ReadsRowCount                        // as the statement before has left it
)

// EffectOf returns what a statement may do, by its first keywords and, where those leave it
// open, by words in its text. What it does not know may do anything.
func EffectOf(kind parser.Kind, sql []byte) Effect {
	switch kind {
	case parser.Select, parser.Update, parser.Delete, parser.With, parser.Show:
		e := keptBy(sql)
		if parser.MentionsLastInsertID(sql) {
			e |= MayLook
			if setsLastID(sql) {
				e |= MayChangeLastID
			}
			if parser.ContainsWord(sql, "row_count") && !parser.ContainsWord(sql, "found_rows") {
				e |= ReadsRowCount
			}
		}
		return e
	case parser.Begin, parser.Commit, parser.Rollback:
		return 0
	case parser.Insert, parser.Replace, parser.Load:
		return MayLook | MayChangeLastID | keptByInsert(kind, sql)
	case parser.Use:
		return MayChangeDatabase
	case parser.Set:
		return effectOfSet(sql)
	case parser.DDL:
		e := UnknownEffect(sql)&^MayChangeIDs | ChangesSchema
		if mayMakeTemporary(sql) {
			e |= MakesTemporary
		}
		return e
	case parser.Call, parser.Execute, parser.DynamicSQL:
		return UnknownEffect(sql) | MakesTemporary
	}
	if kind == parser.Other && IsDiagnostics(sql) {
		return ChangesVariables
	}
	return MayLook | MayChangeLastID | MayChangeSettings | MayChangeIDs
}

// keptBy tells whether a statement may set a variable of the user's or take a
// lock.
func keptBy(sql []byte) Effect {
	for rest := sql; ; {
		i := bytes.IndexByte(rest, '@')
		switch {
		case i < 0 && parser.ContainsWord(sql, "get_lock"), i >= 0 && !bytes.HasPrefix(rest[i:], []byte("@@")):
			return KeepsSomething
		case i < 0:
			return 0
		}
		rest = rest[i+2:] // a system variable
	}
}

// keptByInsert is keptBy for a statement whose values may well have an @ in them: there only
// := sets a variable, and in LOAD DATA the list of columns.
func keptByInsert(kind parser.Kind, sql []byte) Effect {
	if kind != parser.Load && !bytes.Contains(sql, []byte(":=")) && !parser.ContainsWord(sql, "get_lock") {
		return 0
	}
	return keptBy(sql)
}

// UnknownEffect is that of a statement that seqgate knows nothing of. The default
// database changes by the words for it alone, and on MariaDB by what a routine, a
// prepared statement or a compound one does, which has an END.
func UnknownEffect(sql []byte) Effect {
	const e = MayLook | MayChangeLastID | MayChangeSettings | MayChangeIDs
	if ContainsAnyWord(sql, "use", "database", "schema", "call", "execute", "end") {
		return e | MayChangeDatabase
	}
	return e
}

// ContainsAnyWord reports whether one of these words stands in a text.
func ContainsAnyWord(sql []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return parser.ContainsWord(sql, word) })
}

func effectOfSet(sql []byte) Effect {
	e := ChangesVariables
	if parser.MentionsLastInsertID(sql) {
		e |= MayLook | MayChangeLastID
	}
	if ContainsAnyWord(sql, "sql_mode", "names", "character", "charset", "character_set_client") {
		e |= MayChangeSettings
	}
	if ContainsAnyWord(sql, "insert_id", "auto_increment_increment") {
		e |= MayChangeSettings | MayChangeIDs
	}
	return e
}

// mayMakeTemporary reports whether a statement may make or drop a temporary table, as far
// as its text tells. Such a table hides one of its name from the session that made it, and
// has no sequence.
func mayMakeTemporary(sql []byte) bool { return parser.ContainsWord(sql, "temporary") }

// setsLastID reports whether a text that names LAST_INSERT_ID may set it, by an argument: whether one of its places is
// neither a variable, nor a column behind a dot, nor the function without an argument.
func setsLastID(sql []byte) bool {
	const name = "last_insert_id"
	for rest := bytes.ToLower(sql); ; {
		before, behind, found := bytes.Cut(rest, []byte(name))
		if !found {
			return false
		}
		open := bytes.TrimLeft(behind, " \t\r\n`")
		inside, called := bytes.CutPrefix(open, []byte("("))
		switch {
		case called && !bytes.HasPrefix(bytes.TrimLeft(inside, " \t\r\n"), []byte(")")):
			return true
		case !called && !bytes.HasSuffix(before, []byte("@")) && !bytes.HasSuffix(before, []byte(".")):
			return true // a comment may stand in between
		}
		rest = behind
	}
}

// IsDiagnostics reports whether a statement is GET DIAGNOSTICS.
func IsDiagnostics(sql []byte) bool { return parser.Words(sql, 1)[0] == "GET" }

// ReadsDiagnostics reports whether a statement may read what the one before it
// left behind, which a question of seqgate's own would change.
func ReadsDiagnostics(sql []byte) bool {
	return ContainsAnyWord(sql, "row_count", "found_rows", "warning_count", "error_count")
}

// EffectOfExplicit: an INSERT with explicit ids leaves LAST_INSERT_ID() alone
// on a column without AUTO_INCREMENT.
func EffectOfExplicit(stmt *parser.InsertStmt) Effect {
	if stmt.UsesLastInsertID {
		return MayLook | MayChangeLastID
	}
	return 0
}
