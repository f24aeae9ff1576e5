package proxy

import (
	"crypto/tls"
	"net"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// UserTLS is what a user's connection must have: the REQUIRE clause of MySQL's
// CREATE USER.
type UserTLS string

// The requirements. The empty one is UserTLSNone.
const (
	UserTLSNone UserTLS = "none"
	UserTLSAny  UserTLS = "tls"  // encryption; a Unix socket does not do, as with REQUIRE SSL
	UserTLSX509 UserTLS = "x509" // and a client certificate that one of Config.TLS.ClientCAs signed
)

// admits reports whether a connection has what the user requires; state is nil
// for one that is not encrypted. A client that is not admitted gets error 1045,
// as with a wrong password.
func (u User) admits(state *tls.ConnectionState) bool {
	switch u.RequireTLS {
	case UserTLSAny:
		return state != nil
	case UserTLSX509:
		return state != nil && len(state.VerifiedChains) > 0
	}
	return true
}

// encryptionOf is nil for a connection that is not encrypted.
func encryptionOf(c net.Conn) *tls.ConnectionState {
	for {
		if encrypted, ok := c.(*tls.Conn); ok {
			state := encrypted.ConnectionState()
			return &state
		}
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = outer.NetConn()
	}
}

// erSecureTransportRequired is MySQL's number for what require_secure_transport
// refuses. It is not in go-mysql's list.
const erSecureTransportRequired = 3159

// checkTransport refuses a client that is not encrypted where Config.RequireTLS
// asks for that. A Unix socket counts as secure, as it does for MySQL.
func (s *logins) checkTransport(c net.Conn, state *tls.ConnectionState) error {
	if !s.cfg.RequireTLS || state != nil || c.LocalAddr().Network() == "unix" {
		return nil
	}
	return &mysql.MyError{Code: erSecureTransportRequired, State: mysql.DEFAULT_MYSQL_STATE,
		Message: "Connections using insecure transport are prohibited while --require_secure_transport=ON."}
}
