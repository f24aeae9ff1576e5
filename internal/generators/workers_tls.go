//go:build etcd || zookeeper

package generators

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/seqgate/seqgate/internal/config"
)

// workerTLS is the client's side of TLS to where worker ids are kept, nil when no file is given for it. Without CA the servers'
// certificates must be signed by somebody whom the system trusts.
func workerTLS(s config.WorkerStore) (*tls.Config, error) {
	switch {
	case s.CA == "" && s.Cert == "" && s.Key == "":
		return nil, nil
	case (s.Cert == "") != (s.Key == ""):
		return nil, errors.New("cert and key belong together: write both files, or neither")
	}
	cfg := &tls.Config{}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", s.Cert, s.Key, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if s.CA != "" {
		pem, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("read who signs: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in it: write a file in PEM format", s.CA)
		}
	}
	return cfg, nil
}
