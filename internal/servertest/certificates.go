package servertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates are the paths of PEM files: who signs, and a certificate with its key, for 127.0.0.1 and for clients.
type Certificates struct{ CA, Cert, Key string }

// NewCertificates makes certificates that nobody else trusts. Their files are gone at the end of the test.
func NewCertificates(tb testing.TB) Certificates {
	tb.Helper()
	caKey, key := newKey(tb), newKey(tb)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "seqgate test CA"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "seqgate test"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	return Certificates{
		CA:   writePEM(tb, filepath.Join(dir, "ca.pem"), "CERTIFICATE", sign(tb, ca, ca, caKey, caKey)),
		Cert: writePEM(tb, filepath.Join(dir, "cert.pem"), "CERTIFICATE", sign(tb, leaf, ca, key, caKey)),
		Key:  writePEM(tb, filepath.Join(dir, "key.pem"), "PRIVATE KEY", keyBytes),
	}
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func sign(tb testing.TB, cert, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) []byte {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, by, &key.PublicKey, byKey)
	if err != nil {
		tb.Fatal(err)
	}
	return der
}

func writePEM(tb testing.TB, path, kind string, der []byte) string {
	tb.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Client is the configuration of a client that trusts who signed, and shows the certificate.
func (c Certificates) Client(tb testing.TB) *tls.Config {
	tb.Helper()
	pool := x509.NewCertPool()
	ca, err := os.ReadFile(c.CA)
	if err != nil || !pool.AppendCertsFromPEM(ca) {
		tb.Fatalf("read %s: %v", c.CA, err)
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		tb.Fatal(err)
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
}
