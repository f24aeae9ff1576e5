package handshake

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

var keys = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func publicPEM(tb testing.TB, key *rsa.PrivateKey) []byte {
	tb.Helper()
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// strictConn is a connection whose packets have to be numbered one after the other.
type strictConn struct {
	Conn
	next byte
}

func (c *strictConn) Receive() (Packet, error) {
	p, err := c.Conn.Receive()
	if err == nil && p.Sequence != c.next {
		err = fmt.Errorf("packet number %d, want %d", p.Sequence, c.next)
	}
	c.next = p.Sequence + 1
	return p, err
}

func (c *strictConn) Send(packets ...Packet) error {
	for _, p := range packets {
		if p.Sequence != c.next {
			return fmt.Errorf("sends packet number %d, want %d", p.Sequence, c.next)
		}
		c.next++
	}
	return c.Conn.Send(packets...)
}

// fakeServer is the server's side of an authentication that needs the password
// itself. It gives the password that it got.
type fakeServer struct {
	plugin string
	salt   []byte
	secure bool
	key    *rsa.PrivateKey
	public []byte
}

func (s fakeServer) serve(c *strictConn, refuse bool) (string, error) {
	ask := []byte{More, FullNeeded}
	if s.plugin == mysql.AUTH_SHA256_PASSWORD {
		ask = SwitchRequest(s.plugin, s.salt)
	}
	if err := c.Send(Packet{c.next, ask}); err != nil {
		return "", err
	}
	p, err := c.Receive()
	if err != nil {
		return "", err
	}
	password := Clear(p.Payload)
	if !s.secure {
		if !RequestsKey(s.plugin, p.Payload) {
			return "", fmt.Errorf("%q instead of a request for the key", p.Payload)
		}
		if err := c.Send(Packet{c.next, append([]byte{More}, s.public...)}); err != nil {
			return "", err
		}
		if p, err = c.Receive(); err != nil {
			return "", err
		}
		if password, err = Decrypt(p.Payload, s.salt, s.key); err != nil {
			return "", err
		}
	}
	verdict := []byte{OK, 0, 0, 2, 0, 0, 0}
	if refuse {
		verdict = []byte("\xff\x15\x04#28000no")
	}
	return password, c.Send(Packet{c.next, verdict})
}

// The server gets the client's password whichever of both connections are secure,
// and all sequence numbers are right.
func TestRelayOfPassword(t *testing.T) {
	const secret = "s3cret, of more than one block: 0123456789"
	for _, plugin := range []string{mysql.AUTH_CACHING_SHA2_PASSWORD, mysql.AUTH_SHA256_PASSWORD} {
		for _, secure := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			for _, refuse := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/front %t, back %t, refused %t", plugin, secure[0], secure[1], refuse), func(t *testing.T) {
					relayPassword(t, plugin, secret, secure[0], secure[1], refuse)
				})
			}
		}
	}
}

func relayPassword(t *testing.T, plugin, secret string, frontSecure, backSecure, refuse bool) {
	own := keys() // takes long the first time
	client, front := net.Pipe()
	back, server := net.Pipe()
	for _, c := range []net.Conn{client, front, back, server} {
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	const clientNext, serverNext = 3, 2 // the client has TLS, say, the server not
	salt := NewSalt()
	fake := fakeServer{plugin: plugin, salt: salt, secure: backSecure, key: own, public: publicPEM(t, own)}
	type result struct {
		password string
		err      error
	}
	served, asked := make(chan result, 1), make(chan error, 1)
	go func() {
		password, err := fake.serve(&strictConn{Conn{server}, serverNext}, refuse)
		served <- result{password, err}
	}()
	go func() {
		over := Plain
		if frontSecure {
			over = Verified
		}
		_, err := Authenticate(&strictConn{Conn{client}, clientNext}, plugin, salt, secret, over)
		asked <- err
	}()
	r := Relay{Front: &Conn{front}, Back: &Conn{back}, FrontSecure: frontSecure, BackSecure: backSecure, Shift: 0xff,
		Plugin: plugin, Salt: salt, Key: own, PublicKey: publicPEM(t, own)}
	ok, err := r.Run()
	if err == nil {
		err = (&Conn{front}).Send(ok)
	}
	clientErr := <-asked
	var refused *Refused
	switch got := <-served; {
	case got.err != nil:
		t.Errorf("the server: %v", got.err)
	case got.password != secret:
		t.Errorf("the server got %q", got.password)
	case refuse && (!errors.As(err, &refused) || !errors.As(clientErr, &refused) || refused.MySQL().Code != 1045):
		t.Errorf("relay: %v; client: %v; want error 1045", err, clientErr)
	case !refuse && (err != nil || clientErr != nil):
		t.Errorf("relay: %v; client: %v", err, clientErr)
	}
}

func TestVerify(t *testing.T) {
	salt := NewSalt()
	for _, plugin := range []string{mysql.AUTH_CACHING_SHA2_PASSWORD, mysql.AUTH_NATIVE_PASSWORD} {
		for _, test := range []struct {
			name, claimed, password string
			want                    bool
		}{
			{"right", "a", "a", true}, {"wrong", "a", "b", false}, {"none", "", "", true},
			{"none where one is due", "", "a", false}, {"one where none is due", "a", "", false},
		} {
			proof, err := Prove(plugin, salt, test.claimed, Plain)
			if err != nil {
				t.Fatal(err)
			}
			if got := Verify(plugin, salt, proof, test.password); got != test.want {
				t.Errorf("%s, %s: %t", plugin, test.name, got)
			}
		}
		if Verify(plugin, salt, []byte("short"), "a") {
			t.Errorf("%s: a short proof is right", plugin)
		}
	}
}

// scripted is a peer that says what it is given, and keeps what it is sent.
type scripted struct {
	says []Packet
	sent []Packet
}

func (s *scripted) Receive() (Packet, error) {
	if len(s.says) == 0 {
		return Packet{}, errors.New("it has nothing more to say")
	}
	p := s.says[0]
	s.says = s.says[1:]
	return p, nil
}

func (s *scripted) Send(packets ...Packet) error {
	s.sent = append(s.sent, packets...)
	return nil
}

// What a client must not reach by a relay: a server that has let it in already, and
// one to which its password would go as it is.
func TestRelayRefuses(t *testing.T) {
	t.Run("command to a server that is content", func(t *testing.T) {
		front := &scripted{says: []Packet{{0, []byte("\x03INSERT INTO t VALUES (1)")}}}
		back := &scripted{says: []Packet{{2, SwitchRequest("some_plugin", NewSalt())}, {4, []byte{OK}}}}
		r := Relay{Front: front, Back: back, Plugin: "x"}
		var malformed *FrontError
		if _, err := r.Run(); !errors.As(err, &malformed) || len(back.sent) != 0 {
			t.Errorf("%v; the server got %d packets", err, len(back.sent))
		}
	})
	t.Run("plugin in capitals", func(t *testing.T) {
		back := &scripted{says: []Packet{{2, []byte{More, FastDone}}, {3, []byte{OK}}}}
		r := Relay{Front: &scripted{}, Back: back, Plugin: "CACHING_SHA2_PASSWORD"}
		if _, err := r.Run(); err != nil {
			t.Errorf("the client was waited for: %v", err)
		}
	})
	for _, plugin := range []string{mysql.AUTH_CLEAR_PASSWORD, "dialog"} {
		t.Run(plugin+" out of TLS", func(t *testing.T) {
			front := &scripted{says: []Packet{{3, []byte("secret\x00")}}}
			back := &scripted{says: []Packet{{2, SwitchRequest(plugin, nil)}}}
			r := Relay{Front: front, Back: back, FrontSecure: true, Plugin: "x"}
			if _, err := r.Run(); !errors.Is(err, ErrInsecureServer) || len(back.sent)+len(front.sent) != 0 {
				t.Errorf("%v; the server got %d packets, the client %d", err, len(back.sent), len(front.sent))
			}
		})
	}
}
