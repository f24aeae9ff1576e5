package proxy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// greeted connects to the gate and reads its greeting.
func greeted(t testing.TB, g *gate) net.Conn {
	t.Helper()
	c := dial(t, g.addr)
	if _, err := readRaw(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// readRaw reads one packet.
func readRaw(c io.Reader) (payload []byte, err error) {
	var h [4]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		return nil, err
	}
	payload = make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	_, err = io.ReadFull(c, payload)
	return payload, err
}

// A client that is not logged in yet is told that its packet is too large, by what its header announces.
func TestLargeLoginPacket(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, passThrough := range []bool{false, true} {
			g := newGate(t, s, gateOptions{passThrough: passThrough})
			for _, size := range []int{80<<10 + 1, 1<<24 - 1} {
				c := greeted(t, g)
				send(t, c, []byte{byte(size), byte(size >> 8), byte(size >> 16), 1})
				if got, want := said(t, c), "\xff\x81\x04Got a packet bigger than 'max_allowed_packet' bytes"; !strings.HasSuffix(got, want) || got[3] != 2 {
					t.Errorf("passThrough %v, %d bytes: the client is told %q, want packet 2 of %q", passThrough, size, got, want)
				}
			}
		}
	})
}

// Connection attributes as long as clients send them are taken.
func TestLongAttributes(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := g.connect(t, func(c *client.Conn) error {
			c.SetAttributes(map[string]string{"long": strings.Repeat("x", 63<<10)})
			return nil
		})
		if _, err := c.Execute("SELECT 1"); err != nil {
			t.Error(err)
		}
	})
}

// A login has its time in all, however busily a client sends it.
func TestLoginByteByByte(t *testing.T) {
	t.Parallel()
	s := servertest.First(t)
	const timeout = 3 * time.Second
	g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.HandshakeTimeout = timeout }})
	g.connect(t) // the first one has seqgate ask its server, which takes time
	begun := time.Now()
	c := greeted(t, g)
	packet := append([]byte{0, 4, 0, 1}, make([]byte, 1<<10)...)
	for _, b := range packet {
		if _, err := c.Write([]byte{b}); err != nil {
			if d := time.Since(begun); d < timeout {
				t.Errorf("ended after %v, want %v", d, timeout)
			}
			return
		}
		if time.Since(begun) > 5*timeout {
			break
		}
		time.Sleep(timeout / 30) // the client's pace
	}
	t.Error("the login goes on")
}

// A client that connects while others who say nothing have all places gets that of the one that has waited longest.
func TestPlaceOfHalfOpen(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, passThrough := range []bool{false, true} {
			g := newGate(t, s, gateOptions{passThrough: passThrough, configure: func(c *proxy.Config) { c.MaxConnections, c.HandshakeTimeout = 3, time.Minute }})
			open := g.connect(t)
			first := greeted(t, g)
			await(t, "the first client to be half open", func() bool { return g.proxy.HalfOpen() == 1 })
			second := greeted(t, g)
			await(t, "the second one to be too", func() bool { return g.proxy.HalfOpen() == 2 })
			time.Sleep(proxy.PlaceWait) // younger ones may still be about to answer
			begun := time.Now()
			g.connectInTime(t)
			soon := time.Since(begun) < proxy.PlaceWait
			said(t, first) // it has ended
			if _, err := open.Execute("SELECT 1"); err != nil {
				t.Errorf("a client that had logged in: %v", err)
			}
			if err := second.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if _, err := second.Read(make([]byte, 1)); errors.Is(err, io.EOF) && soon { // else its own time may have come
				t.Error("a second client lost its place, though one was wanted")
			}
		}
	})
}

// So does that of one that has named a user, and does not answer when it is asked for the password.
func TestPlaceOfUnproven(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, passThrough := range []bool{false, true} {
			g := newGate(t, s, gateOptions{passThrough: passThrough, configure: func(c *proxy.Config) { c.MaxConnections, c.HandshakeTimeout = 1, time.Minute }})
			silent := greeted(t, g)
			r := handshake.Response{Capabilities: handshake.Protocol41 | handshake.PluginAuth | handshake.SecureConnection,
				User: "nobody", Plugin: "none", Charset: 45}
			p := r.Append(nil)
			send(t, silent, append([]byte{byte(len(p)), 0, 0, 1}, p...))
			if asked, err := readRaw(silent); err != nil || asked[0] != handshake.Switch {
				t.Fatalf("passThrough %v: %q, %v, want to be asked for the proof of another plugin", passThrough, asked, err)
			}
			await(t, "its answer to be awaited", func() bool { return g.proxy.HalfOpen() == 1 })
			g.connectInTime(t) // it waits until the other was silent for long enough
			said(t, silent)    // that one has ended
		}
	})
}

// A session has as many prepared statements that seqgate answers by itself as the server lets it have of its own.
func TestPreparedStatementLimit(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "s", 1, 1000)
		c := rawClient(t, g.dsn(""))
		const most = 16382
		prepare := command("\x16SELECT NEXT VALUE FROM s")
		go func() { _, _ = c.Write(bytes.Repeat(prepare, most+1)) }()
		var ids []uint32
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		for n := 0; n <= most; {
			p, err := readRaw(c)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case p[0] == 0xff:
				want := fmt.Sprintf("\xff\xb5\x05#42000Can't create more than max_prepared_stmt_count statements (current value: %d)", most)
				if n != most || string(p) != want {
					t.Fatalf("statement %d: %q, want %q for %d", n+1, p, want, most+1)
				}
				n++
			case p[0] == 0 && len(p) >= 12:
				if n++; n > most {
					t.Fatalf("%d statements were prepared", n)
				}
				ids = append(ids, binary.LittleEndian.Uint32(p[1:]))
			}
		}
		send(t, c, command("\x19"+string(binary.LittleEndian.AppendUint32(nil, ids[0])))) // one that is closed makes room
		send(t, c, prepare)
		if p, err := readRaw(c); err != nil || p[0] != 0 {
			t.Errorf("after one was closed: %q, %v", p, err)
		}
	})
}
