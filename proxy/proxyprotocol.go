package proxy

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/seqgate/seqgate/proxy/proxyprotocol"
)

// proxyHeaderError is a failure to read the header of an address that must send
// one: most likely either side is configured wrongly.
type proxyHeaderError struct{ err error }

func (e *proxyHeaderError) Error() string { return "PROXY protocol header: " + e.err.Error() }
func (e *proxyHeaderError) Unwrap() error { return e.err }

// proxiedConn is a proxy's connection, with the address of the client for which
// it is made.
type proxiedConn struct {
	*net.TCPConn
	client net.Addr
}

// RemoteAddr is the client's address.
func (c proxiedConn) RemoteAddr() net.Addr { return c.client }

// behindProxy returns the client's connection. That of an address in
// Config.ProxyFrom must begin with a header; nobody else's is looked at.
func (s *logins) behindProxy(c net.Conn) (net.Conn, error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok || !s.isProxy(tcp.RemoteAddr()) {
		return c, nil
	}
	if err := tcp.SetReadDeadline(time.Now().Add(s.settings().HandshakeTimeout)); err != nil {
		return nil, err
	}
	client, err := proxyprotocol.Read(tcp)
	switch {
	case err == io.EOF, errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
		return nil, err // without a byte, or reset: a check of the proxy's, whether the port is open; or Shutdown has closed it
	case err != nil:
		return nil, &proxyHeaderError{err}
	case !client.IsValid():
		return c, tcp.SetReadDeadline(time.Time{})
	}
	return proxiedConn{tcp, net.TCPAddrFromAddrPort(client)}, tcp.SetReadDeadline(time.Time{})
}

func (s *logins) isProxy(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return false
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	return slices.ContainsFunc(s.cfg.ProxyFrom, func(p netip.Prefix) bool { return p.Contains(addr) })
}
