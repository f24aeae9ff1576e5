package proxy_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// seqgateHost is the address from which the gate reaches its server here: the servers count the errors of hosts, and
// 127.0.0.1 is none to them.
const seqgateHost = "127.0.0.2"

// fromSeqgateHost reaches a server from that address.
func fromSeqgateHost(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(seqgateHost)}}).DialContext(ctx, network, addr)
}

// stranger is a client without a login.
type stranger struct {
	net.Conn
	t      *testing.T
	plugin string // of the account that it tries
}

// packet sends one packet.
func (s *stranger) packet(sequence byte, payload []byte) {
	n := len(payload)
	s.raw(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), sequence}, payload...))
}

func (s *stranger) raw(b []byte) { _, _ = s.Write(b) } // the gate may have ended the connection

// hears reads a packet, nil when the connection has ended.
func (s *stranger) hears() []byte {
	b, err := readRaw(s.Conn)
	if err != nil {
		return nil
	}
	return b
}

// response is one that a proper client sends.
func (s *stranger) response() *handshake.Response {
	return &handshake.Response{Capabilities: handshake.Protocol41 | handshake.PluginAuth | handshake.SecureConnection | handshake.LongPassword,
		MaxPacket: 1 << 24, User: gateUser, Plugin: s.plugin, Charset: 45, Proof: make([]byte, 20)}
}

// asked sends a response that has the server ask for another plugin's proof.
func (s *stranger) asked() {
	r := s.response()
	r.Plugin = "none"
	s.packet(1, r.Append(nil))
	s.hears() // the question
}

// with sends a response that differs.
func with(change func(*handshake.Response)) func(*stranger) {
	return func(s *stranger) {
		r := s.response()
		change(r)
		s.packet(1, r.Append(nil))
		s.hears()
	}
}

// strangers are ways not to log in.
var strangers = map[string]func(*stranger){
	"leaves after the greeting":   func(s *stranger) {},
	"says nothing":                func(s *stranger) { _, _ = io.Copy(io.Discard, s) },
	"part of a header":            func(s *stranger) { s.raw([]byte{1}) },
	"part of a response":          func(s *stranger) { s.raw([]byte{40, 0, 0, 1, 2}) },
	"too long":                    func(s *stranger) { s.raw([]byte{0xff, 0xff, 0xff, 1}); s.hears() },
	"nothing":                     func(s *stranger) { s.packet(1, nil); s.hears() },
	"garbage":                     func(s *stranger) { s.packet(1, []byte(strings.Repeat("\xff", 50))); s.hears() },
	"HTTP":                        func(s *stranger) { s.raw([]byte("GET / HTTP/1.1\r\n\r\n")) },
	"garbage of the new protocol": func(s *stranger) { s.packet(1, append(s.response().Append(nil)[:32], 'x')); s.hears() },
	"the old protocol":            func(s *stranger) { s.packet(1, []byte("\x05\x00\x00\x00\x00user\x00\x00")); s.hears() },
	"leaves before TLS":           func(s *stranger) { s.raw(sslRequest()) },
	"garbage in place of TLS":     func(s *stranger) { s.raw(sslRequest()); s.raw([]byte(strings.Repeat("x", 100))); s.hears() },
	"leaves in TLS": func(s *stranger) {
		s.raw(sslRequest())
		if err := tls.Client(s.Conn, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
			s.t.Error(err)
		}
	},
	"another number":    func(s *stranger) { s.packet(77, s.response().Append(nil)); s.hears() },
	"number 0":          func(s *stranger) { s.packet(0, s.response().Append(nil)); s.hears() },
	"nobody":            with(func(r *handshake.Response) { r.User = "nobody" }),
	"nameless":          with(func(r *handshake.Response) { r.User = "" }),
	"short proof":       with(func(r *handshake.Response) { r.Proof = r.Proof[:7] }),
	"long proof":        with(func(r *handshake.Response) { r.Proof = make([]byte, 200) }),
	"one byte of proof": with(func(r *handshake.Response) { r.Proof = []byte{7} }),
	"no proof":          with(func(r *handshake.Response) { r.Proof = nil }),
	"long user":         with(func(r *handshake.Response) { r.User = strings.Repeat("u", 2000) }),
	"long database": with(func(r *handshake.Response) {
		r.Capabilities |= handshake.ConnectWithDB
		r.Database = strings.Repeat("d", 2000)
	}),
	"unknown database":    with(func(r *handshake.Response) { r.Capabilities |= handshake.ConnectWithDB; r.Database = "nowhere" }),
	"collation 0":         with(func(r *handshake.Response) { r.Charset = 0 }),
	"collation 255":       with(func(r *handshake.Response) { r.Charset = 255 }),
	"all flags":           with(func(r *handshake.Response) { r.Capabilities = (1<<32 - 1) &^ handshake.SSL }),
	"all flags of both":   with(func(r *handshake.Response) { r.Capabilities = ^uint64(0) &^ handshake.SSL }),
	"attributes left out": func(s *stranger) { s.attributes(nil) },
	"attributes cut":      func(s *stranger) { s.attributes([]byte{0xfc, 1}) },
	"attributes longer":   func(s *stranger) { s.attributes([]byte{200, 1, 'a'}) },
	"attributes of 64 K":  func(s *stranger) { s.attributes(append([]byte{0xfd, 0, 0, 1}, make([]byte, 1<<16)...)) },
	"attributes of 65 K":  func(s *stranger) { s.attributes(append([]byte{0xfd, 0, 4, 1}, make([]byte, 65<<10)...)) },
	"attributes garbled":  func(s *stranger) { s.attributes([]byte{3, 0xfc, 1, 1}) },
	"more than said":      func(s *stranger) { s.packet(1, append(s.response().Append(nil), "more"...)); s.hears() },
	"plugin not ended":    func(s *stranger) { b := s.response().Append(nil); s.packet(1, b[:len(b)-1]); s.hears() },
	"no plugins":          with(func(r *handshake.Response) { r.Capabilities &^= handshake.PluginAuth }),
	"no plugins, nobody":  with(func(r *handshake.Response) { r.Capabilities &^= handshake.PluginAuth; r.User = "nobody" }),
	"older proofs": func(s *stranger) {
		r := s.response()
		r.Capabilities &^= handshake.SecureConnection
		r.Proof = nil
		s.packet(1, r.Append(nil))
		s.hears()
	},
	"leaves when asked":           func(s *stranger) { s.asked() },
	"says nothing when asked":     func(s *stranger) { s.asked(); _, _ = io.Copy(io.Discard, s) },
	"part of an answer":           func(s *stranger) { s.asked(); s.raw([]byte{20, 0, 0, 3, 1}) },
	"too long an answer":          func(s *stranger) { s.asked(); s.raw([]byte{0xff, 0xff, 0xff, 3}); s.hears() },
	"an answer of another number": func(s *stranger) { s.asked(); s.packet(9, make([]byte, 20)); s.hears() },
	"an answer of number 0":       func(s *stranger) { s.asked(); s.packet(0, make([]byte, 20)); s.hears() },
	"no answer":                   func(s *stranger) { s.asked(); s.packet(3, nil); s.hears() },
	"a short answer":              func(s *stranger) { s.asked(); s.packet(3, []byte("short")); s.hears() },
	"a long answer":               func(s *stranger) { s.asked(); s.packet(3, make([]byte, 4000)); s.hears() },
	"a wrong answer":              func(s *stranger) { s.asked(); s.packet(3, make([]byte, 20)); s.hears(); s.hears() },
	"leaves when asked for all":   func(s *stranger) { s.asked(); s.packet(3, []byte(strings.Repeat("p", 32))); s.hears() },
	"asks for the key and leaves": func(s *stranger) {
		s.asked()
		s.packet(3, []byte(strings.Repeat("p", 32)))
		s.hears()
		s.packet(5, []byte{2})
		s.hears()
	},
	"garbage for a password": func(s *stranger) {
		s.asked()
		s.packet(3, []byte(strings.Repeat("p", 32)))
		s.hears()
		s.packet(5, []byte{2})
		s.hears()
		s.packet(7, []byte(strings.Repeat("p", 100)))
		s.hears()
	},
}

func (s *stranger) attributes(b []byte) {
	r := s.response()
	r.Capabilities |= handshake.ConnectAttrs
	whole := r.Append(nil)
	s.packet(1, append(whole[:len(whole)-1], b...))
	s.hears()
}

func sslRequest() []byte {
	b := make([]byte, 36)
	b[0], b[3] = 32, 1
	binary.LittleEndian.PutUint32(b[4:], uint32(handshake.Protocol41|handshake.SSL|handshake.SecureConnection|handshake.PluginAuth|handshake.LongPassword))
	return b
}

// silent are those of strangers that say no more until their time is over.
var silent = map[string]bool{"says nothing": true, "says nothing when asked": true}

// strangerAt connects to a gate and does that.
func strangerAt(t *testing.T, g *gate, name string) {
	c := dial(t, g.addr)
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Error(err)
	}
	if b, err := readRaw(c); err != nil || b[0] == 0xff {
		t.Errorf("%s: in place of a greeting there is %q, %v", name, b, err)
		return
	}
	plugin := "caching_sha2_password"
	if g.server.IsMariaDB() {
		plugin = "mysql_native_password"
	}
	strangers[name](&stranger{Conn: c, t: t, plugin: plugin})
}

// However a client without a login ends, the server does not count it as an error of seqgate's host, for which it would
// refuse all others (error 1129).
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		fromHost := func(c *proxy.Config) { c.Keyspaces["main"].Backend.DialFunc = fromSeqgateHost }
		g := newGate(t, s, gateOptions{passThrough: true, configure: func(c *proxy.Config) { c.HandshakeTimeout = time.Minute; fromHost(c) }})
		short := newGate(t, s, gateOptions{passThrough: true, configure: func(c *proxy.Config) { c.HandshakeTimeout = time.Second; fromHost(c) }})
		gateFor := func(name string) *gate {
			if silent[name] {
				return short
			}
			return g
		}
		for name := range strangers {
			before := connectErrors(t, g)
			strangerAt(t, gateFor(name), name)
			await(t, "the login's end", func() bool {
				return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE USER IN ('unauthenticated user', 'connecting host')") == 0
			})
			outdated := strings.HasPrefix(name, "no plugins") && !s.IsMariaDB() // the server counts it, and a good login sets that back
			if n := connectErrors(t, g) - before; n != 0 && !outdated {
				t.Errorf("%s: %d errors are counted", name, n)
			}
		}
		var all sync.WaitGroup
		for range 3 {
			for name := range strangers {
				all.Go(func() { strangerAt(t, gateFor(name), name) })
			}
		}
		all.Wait()
		connect(t, g.open(t, ""))
	}, "--skip-name-resolve=OFF", "--performance-schema=ON", "--max-connect-errors=20")
}

// connectErrors is how many errors of seqgate's host the server has counted for which it may block it.
func connectErrors(t *testing.T, g *gate) int {
	t.Helper()
	return value[int](t, g.direct, "SELECT COALESCE(SUM(COUNT_HANDSHAKE_ERRORS), 0) FROM performance_schema.host_cache WHERE IP = '"+seqgateHost+"'")
}

// A client has no longer to say who it is than the server would wait, which counts one that says nothing.
func TestStrangersAreNotAwaitedForLongerThanByTheServer(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true, configure: func(c *proxy.Config) {
			c.HandshakeTimeout = time.Minute
			c.Keyspaces["main"].Backend.DialFunc = fromSeqgateHost
		}})
		connect(t, g.open(t, ""))
		await(t, "it to be known", func() bool { return g.proxy.ServerWait() == 5*time.Second })
		counted := 1
		for range 3 { // a machine that stalls for half a second just then may be too late
			before := connectErrors(t, g)
			strangerAt(t, g, "says nothing")
			if counted = min(counted, connectErrors(t, g)-before); counted == 0 {
				return
			}
		}
		t.Error("each client that says nothing is counted")
	}, "--skip-name-resolve=OFF", "--performance-schema=ON", "--connect-timeout=5")
}
