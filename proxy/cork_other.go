//go:build !linux

package proxy

import "net"

// corkSocket does nothing outside of Linux: an answer and the end of its session may
// reach the client one shortly after the other.
func corkSocket(net.Conn, bool) error { return nil }

// hasPending sees nothing outside of Linux: a statement that comes while its session
// is being ended gets error 1053.
func hasPending(net.Conn) bool { return false }
