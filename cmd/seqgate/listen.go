package main

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// listenAll opens every address to listen on, or none.
func listenAll(addrs []string) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, addr := range addrs {
		network := "tcp"
		if path, ok := strings.CutPrefix(addr, "unix:"); ok {
			network, addr = "unix", path
			if err := removeStaleSocket(path); err != nil {
				return nil, err
			}
		}
		l, err := net.Listen(network, addr)
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

// removeStaleSocket removes a socket that a killed seqgate left behind; one that
// is listened on stays, and Listen tells.
func removeStaleSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		return c.Close()
	}
	return os.Remove(path)
}
