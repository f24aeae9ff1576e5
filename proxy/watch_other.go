//go:build !linux

package proxy

import "net"

// hangups tells of peers that close their side of a connection. Outside of Linux
// it tells of none: an end of the server's side is noticed with the client's next
// command, and one of the client's when its statement has ended.
type hangups struct{}

func newHangups() (*hangups, error) { return &hangups{}, nil }

func (*hangups) close() error { return nil }

func (*hangups) watch(net.Conn, func()) (stop func(), err error) { return func() {}, nil }
