package main

import (
	"net"
	"sync"
)

// limitedListener accepts so many connections at once, and closes those beyond: they do not wait, since who holds the
// others may hold them for long.
type limitedListener struct {
	net.Listener
	places chan struct{} // as many as there may be
}

// limitListener limits the connections of l to most at once; 0 is any number.
func limitListener(l net.Listener, most int) net.Listener {
	if most == 0 {
		return l
	}
	return &limitedListener{l, make(chan struct{}, most)}
}

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.places <- struct{}{}:
			return &placedConn{c, sync.OnceFunc(func() { <-l.places })}, nil
		default:
			_ = c.Close() // its client is told nothing else either
		}
	}
}

// placedConn is one of those of a limitedListener.
type placedConn struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *placedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
