package driver

import (
	"context"
	"errors"
	"net"
	"sync"
)

// listener returns the proxy connections from within the process.
type listener struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

var errClosed = errors.New("the connector is closed")

func newListener() *listener {
	l := &listener{accepted: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// dial makes a connection to the proxy.
func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	client, server, err := pipe()
	if err != nil {
		return nil, err
	}
	select {
	case l.accepted <- server:
		return client, nil
	case <-l.closed:
		err = errClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, client.Close(), server.Close())
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.close()
	return nil
}

// Addr implements [net.Listener].
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "seqgate", Net: "unix"} }
