// Package backend reaches the MySQL servers behind seqgate. It dials them with exactly what a client negotiated, so that
// packets fit both ways without translation, keeps warm connections (Pool), and knows of each session on a server what
// is needed to put another connection in its place (Session).
package backend
