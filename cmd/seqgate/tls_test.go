package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// certificate is a certificate and its key, as a pair and as PEM.
type certificate struct {
	pair            tls.Certificate
	certPEM, keyPEM []byte
}

// newCertificate makes a certificate for a name, signed by a parent or, without one, by itself as an authority.
func newCertificate(t *testing.T, parent *certificate, name string) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: parent == nil, BasicConstraintsValid: true,
	}
	signer, signerKey := template, any(key)
	if parent != nil {
		if signer, err = x509.ParseCertificate(parent.pair.Certificate[0]); err != nil {
			t.Fatal(err)
		}
		signerKey = parent.pair.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, signerKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificate{
		pair:    tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		certPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
}

// handshake connects a client to a server with that certificate, and returns the client's error.
func handshake(t *testing.T, client *tls.Config, server *certificate) error {
	t.Helper()
	// A pipe in memory has no buffer: both sides would wait for each other to read an alert.
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{server.pair}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		// The client's error is the one that counts; the server's is its echo.
		_ = conn.(*tls.Conn).Handshake()
	}()
	defer func() {
		l.Close()
		<-served
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if err == nil {
		conn.Close()
	}
	return err
}
