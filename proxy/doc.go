// Package proxy is the MySQL-speaking part of seqgate: it accepts clients, logs
// them in at the backend with what they negotiated, fills the open ids of their
// INSERTs, answers SELECT NEXT VALUE, and relays everything else packet by
// packet, undecoded.
//
// A session is one client's: it has a clientConn, and an executor, which runs
// statements on a server, for each server in use. An executor has a filler, which
// takes ids for INSERTs, and that a serverConn, the session at the server.
// docs/internals/architecture.md has the path of a statement, and the parts that
// each of these is made of.
package proxy
