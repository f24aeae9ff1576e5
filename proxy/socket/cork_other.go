//go:build !linux

package socket

import "net"

// Cork does nothing outside of Linux: an answer and the end of its session may
// reach the client one shortly after the other.
func Cork(net.Conn, bool) error { return nil }

// HasPending sees nothing outside of Linux: a statement that comes while its session
// is being ended gets error 1053.
func HasPending(net.Conn) bool { return false }
