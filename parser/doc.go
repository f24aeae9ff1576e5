// Package parser reads the client's SQL text as far as seqgate needs it and
// edits it at byte offsets.
//
// A statement is first sniffed ([Sniff]: its first keywords, no allocation).
// What may write to a table with a sequence is then read by a hand-written
// single-pass scanner: where the column list is, where each row begins and
// ends, what each row says of one column ([InsertStmt]). The edited text is
// the client's own, byte for byte, but for the ids put in. SQL is never
// restored from a syntax tree: restoring loses comments and changes data.
//
// The scanner follows the lexers of MySQL 9 and MariaDB 10.11 in what changes
// where a token ends: quotes, escapes, comments, sql_mode and the client's
// character set ([Mode]). Where it cannot be certain that the server reads the
// text as it does, it reports an error, and the caller refuses the statement
// if it touches a table with a sequence ([Writes] finds out which it may
// touch). The opposite mistake, an id not filled, cannot be undone.
//
// The package does no I/O. Values of its types may be used by one goroutine at
// a time; functions may be called from any.
package parser
