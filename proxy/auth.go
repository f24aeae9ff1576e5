package proxy

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/server"
)

// authenticator holds what clients are authenticated with.
type authenticator struct {
	cfg       Config
	users     map[string]User
	publicKey []byte // PEM

	mu      sync.Mutex
	servers map[serverKey]*server.Server // go-mysql keeps its password cache there
}

type serverKey struct {
	version string
	charset uint8
}

func newAuthenticator(cfg Config) *authenticator {
	a := &authenticator{cfg: cfg, users: make(map[string]User), servers: make(map[serverKey]*server.Server)}
	for _, u := range cfg.Users {
		a.users[u.Name] = u
	}
	if cfg.RSA != nil {
		der, err := x509.MarshalPKIXPublicKey(&cfg.RSA.PublicKey)
		if err == nil {
			a.publicKey = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}
	}
	return a
}

// serverFor gives go-mysql's server for a backend of the given version. With a
// list of users it is shared, with its cache of passwords; without one each
// client has its own, since its provider knows the client.
func (a *authenticator) serverFor(version string, charset uint8, front *frontConn) *server.Server {
	if a.cfg.Users == nil {
		return server.NewServerWithAuth(version, charset, mysql.AUTH_CACHING_SHA2_PASSWORD, a.cfg.RSA, a.cfg.TLS,
			&passThrough{auth: a, front: front})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := serverKey{version, charset}
	if a.servers[key] == nil {
		a.servers[key] = server.NewServer(version, charset, mysql.AUTH_CACHING_SHA2_PASSWORD, a.cfg.RSA, a.cfg.TLS)
	}
	return a.servers[key]
}

// credential gives what a user's password is compared with. A user that does
// not exist has a password that nobody knows, so that it is refused as a wrong
// password is.
func (a *authenticator) credential(name string) server.Credential {
	c := server.Credential{AuthPluginName: mysql.AUTH_CACHING_SHA2_PASSWORD, Passwords: []string{unguessable()}}
	u, ok := a.users[name]
	if !ok {
		return c
	}
	c.Passwords[0] = u.Password
	if u.Plugin != "" {
		c.AuthPluginName = u.Plugin
	}
	return c
}

func unguessable() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, by its documentation
	return hex.EncodeToString(b)
}

// passThrough learns the client's password by caching_sha2_password's full
// authentication, for the login at the backend, which alone can tell whether it
// is right ("Caching SHA-2 Pluggable Authentication" in the MySQL manual).
type passThrough struct {
	auth  *authenticator
	front *frontConn
}

// Validate accepts the one plugin.
func (p *passThrough) Validate(plugin string) bool { return plugin == mysql.AUTH_CACHING_SHA2_PASSWORD }

// Authenticate asks for the password: in clear over TLS, encrypted with the
// public key else.
func (p *passThrough) Authenticate(c *server.Conn, _ string, scramble []byte) error {
	if len(scramble) == 0 || len(scramble) == 1 && scramble[0] == 0 {
		return nil // an empty password
	}
	if err := c.WritePacket([]byte{0, 0, 0, 0, mysql.MORE_DATE_HEADER, mysql.CACHE_SHA2_FULL_AUTH}); err != nil {
		return err
	}
	b, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if _, encrypted := c.Conn.Conn.(*tls.Conn); !encrypted {
		if b, err = p.decrypt(c, b); err != nil {
			return err
		}
	}
	p.front.password = trimNUL(b)
	return nil
}

// decrypt sends the public key when the client asks for it, and decrypts its
// answer.
func (p *passThrough) decrypt(c *server.Conn, b []byte) ([]byte, error) {
	const requestPublicKey = 2
	if p.auth.cfg.RSA == nil || p.auth.publicKey == nil {
		return nil, mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, "seqgate has no RSA key; connect with TLS")
	}
	if len(b) == 1 && b[0] == requestPublicKey {
		if err := c.WritePacket(append([]byte{0, 0, 0, 0, mysql.MORE_DATE_HEADER}, p.auth.publicKey...)); err != nil {
			return nil, err
		}
		var err error
		if b, err = c.ReadPacket(); err != nil {
			return nil, err
		}
	}
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, p.auth.cfg.RSA, b, nil)
	if err != nil {
		return nil, fmt.Errorf("decrypt the password: %w", err)
	}
	for i := range plain {
		plain[i] ^= p.front.salt[i%len(p.front.salt)]
	}
	return plain, nil
}

func trimNUL(b []byte) string {
	if n := len(b); n > 0 && b[n-1] == 0 {
		b = b[:n-1]
	}
	return string(b)
}
