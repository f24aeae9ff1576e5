package proxy

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/wire"
)

// knockingClient is one that has not logged in.
type knockingClient struct{ fakeClient }

// RemoteAddr is another one each time: wrong passwords from one wait.
func (*knockingClient) RemoteAddr() net.Addr {
	n := knocks.Add(1)
	return &net.TCPAddr{IP: net.IPv4(127, byte(n>>16), byte(n>>8), byte(n)), Port: 4711}
}

var knocks atomic.Uint32

// knockers may log in; the last one only with TLS, which the clients of FuzzLogin do not have.
var knockers = []User{
	{Name: "app", Password: "of the app"}, {Name: "old", Password: "of the old", Plugin: mysql.AUTH_NATIVE_PASSWORD},
	{Name: "far", Password: "of the far", RequireTLS: UserTLSAny},
}

// Whatever a client sends before it is let in: it is let in only as a listed user by the proof of that user's password, and
// each packet that it gets is whole.
func FuzzLogin(f *testing.F) {
	salt := []byte("ABCDEFGHIJKLMNOPQRST")
	for _, u := range append([]User{{Name: "nobody", Password: "x"}, {Name: "app", Password: "wrong"}, {}}, knockers...) {
		for _, plugin := range []string{mysql.AUTH_CACHING_SHA2_PASSWORD, mysql.AUTH_NATIVE_PASSWORD, "mysql_clear_password", ""} {
			f.Add(knock(f, u, plugin, salt))
		}
	}
	f.Add([]byte("\x01\x00\x00\x01\x00"))
	f.Add([]byte("\xff\xff\xff\x01"))
	f.Add([]byte("\x20\x00\x00\x01\x00\x0a\x00\x00\x00\x00\x00\x01\x2d" + string(make([]byte, 23)))) // asks for TLS
	srv, err := New(Config{Keyspaces: map[string]*catalog.Keyspace{"main": {Name: "main", Backend: &backend.Backend{}}}, Default: "main", Users: knockers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	f.Fuzz(func(t *testing.T, stream []byte) {
		client := &knockingClient{fakeClient{in: stream, piece: 7}}
		l := &login{srv: srv, ctx: t.Context(), front: handshake.Conn{Conn: client}, leave: func() {}, announced: 0x0fffffff,
			greeting: handshake.Greeting{Salt: salt}}
		if l.receive() != nil || l.malformed != nil {
			return
		}
		err := l.check()
		checkWhole(t, client.out.Bytes())
		if err != nil {
			return
		}
		for _, u := range knockers[:2] {
			proof, err := handshake.Prove(srv.user(u.Name).Plugin, salt, u.Password, handshake.Plain)
			if err != nil {
				t.Fatal(err)
			}
			if l.response.User == u.Name && bytes.Contains(stream, proof) {
				return
			}
		}
		t.Errorf("let in as %q without the proof of a password: %q", l.response.User, stream)
	})
}

// knock is what a client sends who proves the password by the plugin, and again by the others when it is asked to.
func knock(f *testing.F, u User, plugin string, salt []byte) (stream []byte) {
	f.Helper()
	r := handshake.Response{Capabilities: 0x0fffffff &^ handshake.SSL &^ handshake.Zstd, MaxPacket: 1 << 24, Charset: 45, User: u.Name, Database: "main", Plugin: plugin}
	prove := func(plugin string) []byte {
		proof, err := handshake.Prove(plugin, salt, u.Password, handshake.Plain)
		if err != nil {
			return []byte(u.Password + "\x00")
		}
		return proof
	}
	r.Proof = prove(plugin)
	stream, _ = wire.AppendPacket(nil, 1, r.Append(nil))
	other := mysql.AUTH_NATIVE_PASSWORD
	if plugin == other || u.Plugin == "" {
		other = mysql.AUTH_CACHING_SHA2_PASSWORD
	}
	stream, _ = wire.AppendPacket(stream, 3, prove(other))
	return stream
}

// checkWhole holds that b is of whole packets.
func checkWhole(t *testing.T, b []byte) {
	t.Helper()
	for len(b) > 0 {
		if len(b) < wire.HeaderSize || len(b) < wire.HeaderSize+(int(b[0])|int(b[1])<<8|int(b[2])<<16) {
			t.Fatalf("the client was left with a part of a packet: %q", b)
		}
		b = b[wire.HeaderSize+(int(b[0])|int(b[1])<<8|int(b[2])<<16):]
	}
}
