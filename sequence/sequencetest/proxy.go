package sequencetest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Cut says when a [Proxy] cuts a connection.
type Cut int

// The ways in which the outcome of a statement can become unknown to its client.
const (
	CutUnsent     Cut = iota // the statement does not reach the server
	CutUnanswered            // the server has run the statement, and its answer does not reach the client
	CutLate                  // the server runs the statement some time after the client was cut off
	CutSilent                // the statement does not reach the server, which is not told that the client has gone
)

// late is how long after [CutLate] a statement reaches the server: that a client has asked again meanwhile.
const late = 20 * time.Millisecond

// Proxy is a TCP proxy in front of a MySQL server that cuts connections at chosen statements.
type Proxy struct {
	listener net.Listener
	running  sync.WaitGroup
	late     sync.WaitGroup // statements that are to reach the server

	mu         sync.Mutex
	server     string
	queries    int
	conns      map[net.Conn]bool
	armed      bool
	when       Cut
	statements []string
	cuts       int
}

// NewProxy starts a proxy to the server at addr, on a port of 127.0.0.1. It ends with the test.
func NewProxy(tb testing.TB, addr string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: l, server: addr, conns: map[net.Conn]bool{}}
	p.running.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Addr returns the proxy's own address.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// CutNext cuts the connection of the next text statement that begins with one of the prefixes, written as the client
// writes them.
func (p *Proxy) CutNext(when Cut, prefixes ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed, p.when, p.statements = true, when, prefixes
}

// Settle waits until the statements that were cut off with [CutLate] have been run.
func (p *Proxy) Settle() { p.underWay().Wait() }

// underWay returns those statements, with all that were counted up to now.
func (p *Proxy) underWay() *sync.WaitGroup {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &p.late
}

// Switch has connections that are opened from now on lead to the server at addr, as after a failover.
func (p *Proxy) Switch(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = addr
}

func (p *Proxy) target() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server
}

// Queries returns how many text statements have come from clients.
func (p *Proxy) Queries() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queries
}

// Cuts returns how many connections were cut at a statement.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *Proxy) isArmed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.armed
}

// CutAll cuts every connection there is.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // its relay notices
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close() // accept ends
	p.CutAll()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target())
		if err != nil {
			_ = client.Close() // a server that is away looks like that
			continue
		}
		p.keep(client, server)
		pending := cutting{answered: make(chan struct{})}
		p.running.Go(func() {
			p.forward(client, server, &pending)
			p.drop(client, server)
		})
		p.running.Go(func() {
			p.answer(client, server, &pending)
			close(pending.answered)
			p.drop(client, server)
		})
	}
}

func (p *Proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
}

func (p *Proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // the other direction may have done so
		delete(p.conns, c)
	}
}

// cutting is set when the next answer on a connection is to be lost.
type cutting struct {
	answered chan struct{} // closed when no more answers are relayed

	mu  sync.Mutex
	yes bool
}

func (c *cutting) set() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.yes = true
}

func (c *cutting) isSet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.yes
}

// forward relays packets from the client until one is to be cut.
func (p *Proxy) forward(client, server net.Conn, pending *cutting) {
	r := bufio.NewReader(client)
	for {
		packet, err := readPacket(r)
		if err != nil {
			return
		}
		if when, ok := p.cut(packet); ok {
			switch when {
			case CutUnsent:
				return
			case CutSilent:
				<-pending.answered // the server has ended its session
				return
			}
			pending.set()
			if when == CutLate {
				defer p.late.Done()
				_ = client.Close() // the client may have gone
				time.Sleep(late)
			}
		}
		if _, err := server.Write(packet); err != nil {
			return
		}
		if pending.isSet() {
			<-pending.answered // so that the server has run it
			return
		}
	}
}

// answer relays bytes from the server until an answer is to be lost: it has come then, so the statement has been run.
func (p *Proxy) answer(client, server net.Conn, pending *cutting) {
	buf := make([]byte, 16<<10)
	for {
		n, err := server.Read(buf)
		if err != nil || pending.isSet() {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut reports whether the connection is to be cut at that packet.
func (p *Proxy) cut(packet []byte) (Cut, bool) {
	const header, comQuery = 4, 3
	if len(packet) <= header || packet[header] != comQuery {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queries++
	for _, statement := range p.statements {
		if p.armed && strings.HasPrefix(string(packet[header+1:]), statement) {
			p.armed = false
			p.cuts++
			if p.when == CutLate {
				p.late.Add(1)
			}
			return p.when, true
		}
	}
	return 0, false
}

// readPacket reads one packet of the MySQL protocol with its header: three bytes of length, one of sequence.
func readPacket(r io.Reader) ([]byte, error) {
	packet := make([]byte, 4)
	if _, err := io.ReadFull(r, packet); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(packet) & 0xffffff)
	packet = append(packet, make([]byte, n)...)
	if _, err := io.ReadFull(r, packet[4:]); err != nil {
		return nil, errors.Join(errors.New("packet cut short"), err)
	}
	return packet, nil
}
