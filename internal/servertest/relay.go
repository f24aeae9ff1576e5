package servertest

import (
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
)

// FreeAddr returns an address of this machine that nobody listens on.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	port, err := freePort()
	if err != nil {
		tb.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// Relay listens on addr, and connects who comes with the server at to, until the end of the test: for servers that come
// later than their clients.
func Relay(tb testing.TB, addr, to string) {
	tb.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	r := relay{to: to, conns: map[net.Conn]bool{}}
	r.work.Go(func() { r.accept(l) })
	tb.Cleanup(func() {
		_ = l.Close() // ends accept
		r.end()
		r.work.Wait()
	})
}

type relay struct {
	to   string
	work sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]bool
	ended bool
}

func (r *relay) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = client.Close() // the client finds out
			continue
		}
		r.add(client, server)
		r.work.Go(func() { pour(client, server) })
		r.work.Go(func() { pour(server, client) })
	}
}

func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from) // until one of the two is closed
	_ = to.Close()
	_ = from.Close()
}

func (r *relay) add(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		r.conns[c] = true
		if r.ended {
			_ = c.Close()
		}
	}
}

func (r *relay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for c := range r.conns {
		_ = c.Close()
	}
}
