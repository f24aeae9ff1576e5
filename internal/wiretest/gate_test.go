package wiretest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// startGate serves a seqgate in front of one database of s until the test's end, and gives its address. Without users
// clients log in with their own accounts.
func startGate(t *testing.T, s *servertest.Server, database string, users []proxy.User) string {
	t.Helper()
	pool := s.Open(t, database)
	log := slog.New(slog.DiscardHandler)
	sequences := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		store, err := sequence.NewStore(sequence.StrategyForUpdate, pool)
		return sequence.Settings{Store: store}, err
	}, sequence.Config{Timeout: 5 * time.Second, Logger: log})
	certificate, key := newKeys(t)
	p, err := proxy.New(proxy.Config{
		Keyspaces: map[string]*catalog.Keyspace{"main": {
			Name: "main", Database: database, DB: pool, Refills: pool,
			Backend: &backend.Backend{Network: "tcp", Addr: s.Addr, User: "app", Password: "app", TLS: backend.TLSAsClient},
		}},
		Default: "main", Users: users, IdleBackends: 10, Sequences: sequences, Logger: log, TLS: certificate, RSA: key,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			t.Logf("sessions that hang were cut off: %v", err) // their cases told
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := sequences.Close(context.Background()); err != nil {
			t.Errorf("close the sequences: %v", err)
		}
	})
	return l.Addr().String()
}

func newKeys(t *testing.T) (*tls.Config, *rsa.PrivateKey) {
	t.Helper()
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &signing.PublicKey, signing)
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: signing}}}, key
}
