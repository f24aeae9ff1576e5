package soak

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// relay is a faulty network in front of a server: it cuts connections after any number of bytes, delays what it carries and
// refuses new connections.
type relay struct {
	addr    string
	running sync.WaitGroup
	delay   atomic.Int64 // of each piece, at most, in nanoseconds
	counts  relayCounts

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	to       string
	links    map[*link]bool
	ended    bool
}

// relayCounts says what a relay did.
type relayCounts struct {
	cuts, within  atomic.Int64 // connections cut, and those in the middle of a packet
	delayed       atomic.Int64 // pieces
	refused, lost atomic.Int64 // times that it took no connections, and connections that its server did not take
}

// packets follows the packets of one direction, each a length of 3 bytes, a number, and that many bytes (MySQL internals
// manual, "Protocol Basics").
type packets struct {
	header [4]byte
	have   int // of header
	left   int // of the payload
}

// follow takes in what was sent.
func (p *packets) follow(b []byte) {
	for len(b) > 0 {
		if p.have < len(p.header) {
			n := copy(p.header[p.have:], b)
			p.have, b = p.have+n, b[n:]
			p.left = int(p.header[0]) | int(p.header[1])<<8 | int(p.header[2])<<16
		} else {
			n := min(p.left, len(b))
			p.left, b = p.left-n, b[n:]
		}
		if p.have == len(p.header) && p.left == 0 {
			p.have = 0
		}
	}
}

// within reports whether a packet has begun and not ended.
func (p *packets) within() bool { return p.have > 0 }

// link is one connection that is relayed.
type link struct {
	ends [2]net.Conn     // the client's and the server's
	left [2]atomic.Int64 // bytes that each end may still send before the link is cut; negative: any number
}

const unlimited = -1

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	r := &relay{addr: servertest.FreeAddr(t), to: to, links: map[*link]bool{}}
	if err := r.listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// listen takes connections again.
func (r *relay) listen() error {
	l, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener = l
	r.running.Go(func() { r.accept(l) })
	return nil
}

// refuse takes no new connections.
func (r *relay) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		_ = r.listener.Close() // ends accept
		r.listener = nil
		r.counts.refused.Add(1)
	}
}

func (r *relay) close() {
	r.refuse()
	r.mu.Lock()
	r.ended = true
	for l := range r.links {
		l.close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

// lead has new connections go to another server.
func (r *relay) lead(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// cut cuts some of the connections after up to most bytes more, from either end, in the middle of whatever that is.
func (r *relay) cut(rng *rand.Rand, most int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		if rng.IntN(2) == 0 {
			l.left[rng.IntN(2)].Store(rng.Int64N(most))
		}
	}
}

// endCuts cuts those at once that fewer bytes have passed since: they are not to break when the faults are over.
func (r *relay) endCuts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		if l.left[0].Load() >= 0 || l.left[1].Load() >= 0 {
			l.close()
		}
	}
}

func (r *relay) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		to := r.to
		r.mu.Unlock()
		server, err := net.DialTimeout("tcp", to, patience)
		if err != nil {
			_ = client.Close() // a server that is away looks like that
			r.counts.lost.Add(1)
			continue
		}
		r.carry(client, server)
	}
}

func (r *relay) carry(client, server net.Conn) {
	l := &link{ends: [2]net.Conn{client, server}}
	l.left[0].Store(unlimited)
	l.left[1].Store(unlimited)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		l.close()
		return
	}
	r.links[l] = true
	for from := range l.ends {
		r.running.Go(func() {
			r.pour(l, from)
			l.close()
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.links, l)
		})
	}
}

// pour relays what one end sends until the link is cut or closed.
func (r *relay) pour(l *link, from int) {
	buf := make([]byte, 16<<10)
	var sent packets
	for {
		n, err := l.ends[from].Read(buf)
		if d := r.delay.Load(); d > 0 && n > 0 {
			time.Sleep(time.Duration(rand.Int64N(d))) // that is the fault
			r.counts.delayed.Add(1)
		}
		left := l.left[from].Load()
		cut := left >= 0 && left <= int64(n)
		if cut {
			n = int(left)
		} else if left >= 0 {
			l.left[from].CompareAndSwap(left, left-int64(n))
		}
		if sent.follow(buf[:n]); cut {
			r.counts.cuts.Add(1)
			if sent.within() {
				r.counts.within.Add(1)
			}
		}
		if _, failed := l.ends[1-from].Write(buf[:n]); failed != nil || err != nil || cut {
			return
		}
	}
}

func (l *link) close() {
	for _, c := range l.ends {
		_ = c.Close() // the other direction may have done so
	}
}

// A connection is cut after just as many bytes as it was to be; new ones are refused and taken again.
func TestRelay(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { defer c.Close(); _, _ = io.Copy(c, c) })
		}
	})
	t.Cleanup(func() { _ = echo.Close(); serving.Wait() })
	r := newRelay(t, echo.Addr().String())
	c := dial(t, r.addr)
	exchange(t, c, "before")
	leave(r, 1, 3)
	if _, err := c.Write([]byte("after")); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(c); string(got) != "aft" {
		t.Errorf("got %q of a connection that is cut after 3 bytes", got)
	}
	idle := dial(t, r.addr)
	exchange(t, idle, "idle")
	leave(r, 0, 5)
	spared := dial(t, r.addr)
	exchange(t, spared, "spared")
	r.endCuts()
	if got, err := io.ReadAll(idle); len(got) > 0 || err != nil {
		t.Errorf("got %q, %v of an idle connection that was to be cut, want its end", got, err)
	}
	exchange(t, spared, "still")
	r.refuse()
	if _, err := net.Dial("tcp", r.addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want a refused connection", err)
	}
	if err := r.listen(); err != nil {
		t.Fatal(err)
	}
	exchange(t, dial(t, r.addr), "again")
}

// leave has all connections be cut after n bytes more from an end.
func leave(r *relay, from int, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.left[from].Store(n)
	}
}

// The middle of a packet is told from its end, however the bytes come.
func TestPackets(t *testing.T) {
	stream := []byte("\x02\x00\x00\x00ab\x00\x00\x00\x01\x01\x00\x00\x02c")
	ends := map[int]bool{6: true, 10: true, 15: true}
	for step := 1; step <= len(stream); step++ {
		var p packets
		for at := 0; at < len(stream); at += step {
			end := min(at+step, len(stream))
			p.follow(stream[at:end])
			if p.within() == ends[end] {
				t.Errorf("after %d bytes, %d at a time: within a packet is %v", end, step, p.within())
			}
		}
	}
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func exchange(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("got %q, %v, want %q", got, err, text)
	}
}
