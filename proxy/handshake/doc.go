// Package handshake has the packets of the MySQL protocol's connection phase
// (MySQL manual, "Connection Phase"), and the proofs of a password. It knows no
// sessions: package proxy passes these packets on or answers them itself, and
// package backend logs in with them.
package handshake
