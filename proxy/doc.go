// Package proxy is the MySQL-speaking part of seqgate: it accepts clients, logs
// them in at the backend with what they negotiated, fills the open ids of their
// INSERTs, answers SELECT NEXT VALUE, and relays everything else packet by
// packet, undecoded.
//
// The path of a statement: session.go reads a command, command.go tells commands
// apart, query.go and stmt.go plan texts and prepared statements, insert.go and
// nextval.go carry the plans out, response.go knows where an answer ends.
package proxy
