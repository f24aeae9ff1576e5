package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// ListenAll opens every address to listen on, or none.
func ListenAll(addrs []string) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, addr := range addrs {
		l, err := listen(addr, clientSocketMode)
		if err != nil {
			for _, open := range listeners {
				_ = open.Close() // the error that matters is the listen's
			}
			return nil, fmt.Errorf("listen on %s: %w", addr, err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// clientSocketMode has everybody connect, and log in, as with a MySQL server's socket.
const clientSocketMode = 0o777

// listen listens on host:port or unix:/path, whose file has that mode.
func listen(addr string, mode os.FileMode) (net.Listener, error) {
	path, ok := strings.CutPrefix(addr, "unix:")
	if !ok {
		return net.Listen("tcp", addr)
	}
	if err := removeStaleSocket(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStaleSocket removes a socket that a killed seqgate left behind; one that
// is listened on stays, and Listen tells.
func removeStaleSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return nil
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		return c.Close()
	}
	if errors.Is(err, syscall.ECONNREFUSED) { // any other error does not tell that nobody listens
		return os.Remove(path)
	}
	return nil
}
