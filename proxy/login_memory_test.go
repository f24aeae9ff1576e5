package proxy_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// Logins that are sent but for their last byte take no more memory than all of them may, and leave room for one with long attributes.
func TestHalfSentLogins(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{configure: func(c *proxy.Config) { c.HandshakeTimeout = 5 * time.Minute }})
	g.connect(t)
	const clients, slack = 1000, 24 << 20
	size := handshake.MaxPayload
	packet := append([]byte{byte(size), byte(size >> 8), byte(size >> 16), 1}, make([]byte, size-1)...)
	before := heap()
	var sending sync.WaitGroup
	conns := make([]net.Conn, clients)
	const senders = 4
	for s := range senders {
		sending.Go(func() {
			for i := s; i < clients; i += senders {
				c, err := net.Dial("tcp", g.addr)
				if err != nil {
					t.Error(err)
					return
				}
				conns[i] = c
				if _, err := readRaw(c); err != nil {
					t.Error(err)
				}
				_, _ = c.Write(packet) // it may have to end before that
			}
		})
	}
	sending.Wait()
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	await(t, "the bytes to be read", func() bool { return g.proxy.HalfOpen() <= clients*3/4 })
	if taken := heap() - before; taken > proxy.MostLoginMemory+slack {
		t.Errorf("%d half-sent logins take %d bytes, want at most %d", clients, taken, proxy.MostLoginMemory+slack)
	}
	if err := conns[0].SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conns[0].Read(make([]byte, 1)); err != io.EOF && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the oldest login: %v, want it ended", err)
	}
	c := g.connect(t, func(c *client.Conn) error {
		c.SetAttributes(map[string]string{"long": strings.Repeat("x", 60<<10)})
		return nil
	})
	if _, err := c.Execute("SELECT 1"); err != nil {
		t.Error(err)
	}
}

// heap is how much of it is in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}
