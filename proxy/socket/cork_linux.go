package socket

import (
	"net"

	"github.com/seqgate/seqgate/proxy/backend"
	"golang.org/x/sys/unix"
)

// Cork sets or takes back TCP_CORK (tcp(7)). What is no TCP connection has none.
func Cork(c net.Conn, on bool) error {
	raw := backend.SocketOf(c)
	if _, ok := c.RemoteAddr().(*net.TCPAddr); !ok || raw == nil {
		return nil
	}
	value := 0
	if on {
		value = 1
	}
	return onDescriptor(raw, func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_CORK, value) })
}

// HasPending reports whether a socket has received bytes that nobody has read.
func HasPending(c net.Conn) bool {
	raw := backend.SocketOf(c)
	if raw == nil {
		return false
	}
	var b [1]byte
	n := 0
	err := onDescriptor(raw, func(fd int) (err error) {
		n, _, err = unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		return err
	})
	return err == nil && n > 0
}
