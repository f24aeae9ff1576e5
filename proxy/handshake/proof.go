package handshake

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// First bytes of the packets of an authentication ("Authentication Phase Packets"
// of the MySQL manual), and of the second ones of caching_sha2_password and
// sha256_password.
const (
	OK         = mysql.OK_HEADER
	Err        = mysql.ERR_HEADER
	Switch     = mysql.EOF_HEADER       // AuthSwitchRequest
	More       = mysql.MORE_DATE_HEADER // AuthMoreData
	FastDone   = mysql.CACHE_SHA2_FAST_AUTH
	FullNeeded = mysql.CACHE_SHA2_FULL_AUTH

	requestKeyCaching = 2 // asks for the public key, in caching_sha2_password
	requestKeySHA256  = 1 // and in sha256_password
)

// NewSalt returns 20 random bytes that proofs begin with. None of them is a NUL or
// a '$', which end it for some clients and servers.
func NewSalt() []byte {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails, by its documentation
	for i, b := range salt {
		if b &= 0x7f; b == 0 || b == '$' {
			b++
		}
		salt[i] = b
	}
	return salt
}

// Prove gives a client's proof of a password for a plugin, by what it says in the
// first place. Over TLS some plugins send the password itself. A server that asks for it
// by mysql_clear_password gets it only where it is known to be that server: this plugin has
// no other protection, and any impostor can ask for it.
func Prove(plugin string, salt []byte, password string, over Channel) ([]byte, error) {
	switch plugin {
	case mysql.AUTH_NATIVE_PASSWORD:
		return mysql.CalcNativePassword(salt, []byte(password)), nil
	case mysql.AUTH_CACHING_SHA2_PASSWORD:
		return mysql.CalcCachingSha2Password(salt, []byte(password)), nil
	case mysql.AUTH_SHA256_PASSWORD:
		if password == "" || over >= Encrypted {
			return append([]byte(password), 0), nil
		}
		return []byte{requestKeySHA256}, nil
	case mysql.AUTH_MARIADB_ED25519:
		return mysql.CalcEd25519Password(salt, password)
	case mysql.AUTH_CLEAR_PASSWORD:
		if over < Verified {
			return nil, errors.New("the server asks for the password as it is (mysql_clear_password), which is sent only to a server that TLS has verified, " +
				"or over a socket: set tls.backend to verify_identity or verify_ca")
		}
		return append([]byte(password), 0), nil
	}
	return nil, fmt.Errorf("the server asks for the authentication plugin %q, which seqgate does not have", plugin)
}

// Verify reports whether proof is that of the password, for one of the two plugins
// whose proof tells it at once. An empty password has an empty proof.
func Verify(plugin string, salt, proof []byte, password string) bool {
	want := mysql.CalcCachingSha2Password(salt, []byte(password))
	if plugin == mysql.AUTH_NATIVE_PASSWORD {
		want = mysql.CalcNativePassword(salt, []byte(password))
	}
	if len(proof) == 1 && proof[0] == 0 {
		proof = nil // how some clients write an empty one
	}
	return subtle.ConstantTimeCompare(proof, want) == 1
}

// Encrypt returns a password as it is sent with the server's public key: that of its
// AuthMoreData packet, in PEM.
func Encrypt(password string, salt, key []byte) ([]byte, error) {
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, errors.New("the server's public key is no PEM")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the server's public key: %w", err)
	}
	rsaKey, ok := public.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the server's public key is a %T", public)
	}
	return mysql.EncryptPassword(password, salt, rsaKey)
}

// Decrypt returns the password that a client encrypted with a public key.
func Decrypt(b, salt []byte, key *rsa.PrivateKey) (string, error) {
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, key, b, nil)
	if err != nil {
		return "", fmt.Errorf("decrypt the password: %w", err)
	}
	for i := range plain {
		plain[i] ^= salt[i%len(salt)]
	}
	return Clear(plain), nil
}

// SendsPassword reports whether clients answer a plugin with the password itself
// where their connection is secure.
func SendsPassword(plugin string) bool {
	switch strings.ToLower(plugin) {
	case mysql.AUTH_CLEAR_PASSWORD, mysql.AUTH_SHA256_PASSWORD, "dialog":
		return true
	}
	return false
}

// ErrInsecureServer refuses to pass on a password that a client sends as it is,
// because its own connection is secure, over one that is not.
var ErrInsecureServer = mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR,
	"the client's password would go to the server without TLS; set tls.backend to required for seqgate, or connect to it without TLS")

// Clear returns the password of a packet that has it as it is, with a NUL behind.
func Clear(b []byte) string {
	if n := len(b); n > 0 && b[n-1] == 0 {
		b = b[:n-1]
	}
	return string(b)
}

// RequestsKey reports whether a client's packet asks for the public key, in the
// exchange of the given plugin.
func RequestsKey(plugin string, b []byte) bool {
	return len(b) == 1 && b[0] == keyRequest(plugin)
}

// KeyRequest returns the packet that asks for the server's public key.
func KeyRequest(plugin string) []byte { return []byte{keyRequest(plugin)} }

func keyRequest(plugin string) byte {
	if plugin == mysql.AUTH_SHA256_PASSWORD {
		return requestKeySHA256
	}
	return requestKeyCaching
}

// ParseSwitch reads an AuthSwitchRequest: another plugin, and its salt.
func ParseSwitch(b []byte) (plugin string, salt []byte, err error) {
	c := cursor{b: b, at: min(1, len(b))}
	plugin = c.terminated()
	if c.bad || len(b) < 1 || b[0] != Switch {
		return "", nil, ErrMalformed
	}
	if salt = append(salt, b[c.at:]...); len(salt) == saltSize+1 {
		salt = salt[:saltSize] // a NUL ends it
	}
	return plugin, salt, nil
}

// SwitchRequest returns the payload that asks a client for another plugin's proof.
func SwitchRequest(plugin string, salt []byte) []byte {
	b := append([]byte{Switch}, plugin...)
	return append(append(append(b, 0), salt...), 0)
}
