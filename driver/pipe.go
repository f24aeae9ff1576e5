package driver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// pipe makes both ends of a connection within the process. It is a socket pair and no [net.Pipe], so that both sides may
// write at the same time, as on a connection over the network.
func pipe() (client, server net.Conn, err error) {
	syscall.ForkLock.RLock() // no program that is started meanwhile inherits them
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	client, err = connOf(fds[0])
	server, serverErr := connOf(fds[1])
	if err = errors.Join(err, serverErr); err == nil {
		return client, server, nil
	}
	for _, c := range []net.Conn{client, server} {
		if c != nil {
			_ = c.Close() // nothing was sent
		}
	}
	return nil, nil, err
}

// connOf takes over a descriptor.
func connOf(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "seqgate")
	defer f.Close() // FileConn has one of its own
	return net.FileConn(f)
}
