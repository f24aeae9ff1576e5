package app

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy/admin"
)

// certificates is TLS towards clients. Its files are read again while seqgate
// runs, so that certificates can be renewed without a restart.
type certificates struct {
	files   config.CertificateFiles
	log     *slog.Logger
	current atomic.Pointer[tls.Config]
	tried   [3][]byte // what the files held when they were read last

	loaded, failed atomic.Int64 // reloads
}

// newCertificates reads the files; key is that of a generated certificate.
func newCertificates(files config.CertificateFiles, key *rsa.PrivateKey, log *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, log: log}
	var err error
	if c.tried, err = readCertificates(files); err != nil {
		return nil, err
	}
	config, err := parseCertificates(files, c.tried)
	if err != nil {
		return nil, err
	}
	if files.Cert == "" {
		generated, err := selfSigned(key)
		if err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{*generated}
	}
	c.current.Store(config)
	return c, nil
}

// newAdminCertificates reads the files for the admin address; nil for plain HTTP.
func newAdminCertificates(cfg config.Admin, log *slog.Logger) (*certificates, error) {
	if cfg.Listen == "" || cfg.TLS == (config.CertificateFiles{}) {
		return nil, nil
	}
	return newCertificates(cfg.TLS, nil, log.With("for", "admin"))
}

// config is what a TLS server uses: each handshake with what was read last.
func (c *certificates) config() *tls.Config {
	config := c.current.Load().Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil }
	return config
}

// counts returns how often the files were read again.
func (c *certificates) counts() admin.Reloads {
	if c == nil {
		return admin.Reloads{}
	}
	return admin.Reloads{OK: c.loaded.Load(), Failed: c.failed.Load()}
}

// bothCounts adds up the counts of two.
func bothCounts(a, b *certificates) func() admin.Reloads {
	return func() admin.Reloads {
		x, y := a.counts(), b.counts()
		return admin.Reloads{OK: x.OK + y.OK, Failed: x.Failed + y.Failed}
	}
}

// reload takes files that have changed. Those that are broken, or of which one
// is still to follow, change nothing; it is told once.
func (c *certificates) reload(asked bool) {
	if c == nil || c.files == (config.CertificateFiles{}) {
		return
	}
	read, err := readCertificates(c.files)
	if !asked && sameFiles(read, c.tried) {
		return
	}
	c.tried = read
	var config *tls.Config
	if err == nil {
		config, err = parseCertificates(c.files, read)
	}
	if err != nil {
		c.failed.Add(1)
		c.log.Error("certificates not loaded, the old ones stay", "err", err)
		return
	}
	if c.files.Cert == "" {
		config.Certificates = c.current.Load().Certificates // the generated one
	}
	c.current.Store(config)
	c.loaded.Add(1)
	shown := config.Certificates[0].Leaf
	c.log.Info("certificates loaded", "serial", shown.SerialNumber.Text(16), "until", shown.NotAfter)
}

// readCertificates reads the files; one that cannot be read is empty.
func readCertificates(f config.CertificateFiles) (read [3][]byte, err error) {
	for i, path := range []string{f.Cert, f.Key, f.ClientCA} {
		if path == "" {
			continue
		}
		var readErr error
		read[i], readErr = os.ReadFile(path)
		err = errors.Join(err, readErr)
	}
	return read, err
}

func sameFiles(a, b [3][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// parseCertificates makes the configuration of what the files hold.
func parseCertificates(f config.CertificateFiles, read [3][]byte) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.Cert != "" {
		pair, err := tls.X509KeyPair(read[0], read[1])
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", f.Cert, f.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if f.ClientCA != "" {
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
		config.SessionTicketsDisabled = true // a resumed session would not be checked with the file of now
		if !config.ClientCAs.AppendCertsFromPEM(read[2]) {
			return nil, fmt.Errorf("%s: no certificate in it", f.ClientCA)
		}
	}
	return config, nil
}

// selfSigned makes the certificate that clients see when none is configured:
// enough for encryption, which MySQL's clients ask for before they send a
// password; not for verifying whom they talk to.
func selfSigned(key *rsa.PrivateKey) (*tls.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "seqgate generated certificate"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
