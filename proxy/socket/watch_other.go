//go:build !linux

package socket

import "net"

// Watcher tells of peers that close their side of a connection. Outside of Linux
// it tells of none: an end of the server's side is noticed with the client's next
// command, and one of the client's when its statement has ended.
type Watcher struct{}

func NewWatcher() (*Watcher, error) { return &Watcher{}, nil }

func (*Watcher) Close() error { return nil }

func (*Watcher) Watch(net.Conn, func()) (stop func(), err error) { return func() {}, nil }
