package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
)

// TLSMode is how much encryption a connection to a backend needs: --ssl-mode of MySQL's own client, in small letters
// (MySQL manual, "Command Options for Encrypted Connections"), and as_client of MySQL Router's server_ssl_mode.
type TLSMode string

// The modes, each stricter than the one before.
const (
	TLSDisabled       TLSMode = "disabled"
	TLSAsClient       TLSMode = "as_client"       // preferred for a client that is encrypted itself; seqgate's own connections: preferred
	TLSPreferred      TLSMode = "preferred"       // encrypted when the server can; nobody is verified
	TLSRequired       TLSMode = "required"        // encrypted; nobody is verified
	TLSVerifyCA       TLSMode = "verify_ca"       // the certificate must be signed by tls.ca, for any name
	TLSVerifyIdentity TLSMode = "verify_identity" // and be the server's by its name
)

var tlsModes = []string{
	string(TLSDisabled), string(TLSAsClient), string(TLSPreferred), string(TLSRequired), string(TLSVerifyCA), string(TLSVerifyIdentity),
}

// dsnMode is what the tls parameter of a DSN asks for in the driver's words; without one the file's mode counts. Sockets
// are not encrypted unless that is required, as in MySQL's client.
func (s Shard) dsnMode(fallback TLSMode) TLSMode {
	switch s.DSN.TLSConfig {
	case "true":
		return TLSVerifyIdentity
	case "false":
		return TLSDisabled
	case "skip-verify":
		return TLSRequired
	case "preferred":
		return TLSPreferred
	}
	if s.DSN.Net == "unix" && (fallback == TLSPreferred || fallback == TLSAsClient) {
		return TLSDisabled
	}
	return fallback
}

// secure sets the shard's mode, and what the driver needs for it.
func (s *Shard) secure(t TLS) {
	s.Mode = s.dsnMode(t.Backend)
	s.DSN.TLS = backendTLS(s.Mode, s.DSN.Addr, t.RootCAs)
	s.DSN.AllowFallbackToPlaintext = s.Mode == TLSPreferred || s.Mode == TLSAsClient
	if s.Mode != TLSVerifyCA && s.Mode != TLSVerifyIdentity && s.DSN.Net != "unix" {
		s.DSN.AllowCleartextPasswords = false // the password as it is, to whoever answers
	}
}

// backendTLS is the client side of TLS to a backend at addr, nil when disabled. A nil roots is the system's.
func backendTLS(mode TLSMode, addr string, roots *x509.CertPool) *tls.Config {
	host, _, err := net.SplitHostPort(addr)
	if err != nil { // a socket has no host
		host = ""
	}
	switch mode {
	case TLSDisabled:
		return nil
	case TLSVerifyIdentity:
		return &tls.Config{ServerName: host, RootCAs: roots}
	case TLSVerifyCA:
		return &tls.Config{ServerName: host, InsecureSkipVerify: true, VerifyConnection: verifyChain(roots)}
	}
	return &tls.Config{ServerName: host, InsecureSkipVerify: true}
}

// verifyChain checks who signed a certificate and not for which name, which crypto/tls has no setting for.
func verifyChain(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return errors.New("verify the server's certificate: it shows none")
		}
		intermediates := x509.NewCertPool()
		for _, c := range state.PeerCertificates[1:] {
			intermediates.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates})
		return err
	}
}

// loadCertificates reads the files of the tls section, and sets up TLS for each shard.
func (r *reader) loadCertificates() {
	r.checkClientTLS()
	if r.caFile != "" {
		r.cfg.TLS.RootCAs = r.readCA(r.set["tls.ca"], r.caFile)
	}
	for _, k := range r.cfg.Keyspaces {
		for i := range k.Shards {
			k.Shards[i].secure(r.cfg.TLS)
		}
	}
	for _, o := range r.cfg.Sequences.Overrides {
		for i := range o.Stores {
			o.Stores[i].secure(r.cfg.TLS)
		}
	}
}

// checkClientTLS tries the files that are used towards clients, as they are now.
func (r *reader) checkClientTLS() {
	files := r.cfg.TLS.Clients
	r.checkPair("tls.", files, "a generated certificate")
	if files.ClientCA != "" {
		r.readCA(r.set["tls.client_ca"], files.ClientCA)
		return
	}
	for _, v := range r.needClientCA {
		r.fail(v, "x509 needs the authority that signs the clients' certificates: write its file as client_ca below tls")
	}
}

// checkPair tries the files of a certificate and its key, which are the keys cert and key of a section; without is what there is
// without them.
func (r *reader) checkPair(section string, files CertificateFiles, without string) {
	switch {
	case files.Cert != "" && files.Key != "":
		if _, err := tls.LoadX509KeyPair(files.Cert, files.Key); err != nil {
			r.fail(r.set[section+"cert"], "%s with %s: %v", files.Cert, filepath.Base(files.Key), err)
		}
	case files.Cert != "":
		r.fail(r.set[section+"cert"], "cert without key: write the key's file too, or neither for %s", without)
	case files.Key != "":
		r.fail(r.set[section+"key"], "key without cert: write the certificate's file too, or neither for %s", without)
	}
}

// readCA reads the certificates of authorities; nil when it failed.
func (r *reader) readCA(v value, path string) *x509.CertPool {
	pem, err := os.ReadFile(path)
	if err != nil {
		r.fail(v, "%s: %s", path, readError(err))
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		r.fail(v, "%s: no certificate in it: write a file in PEM format", path)
		return nil
	}
	return pool
}

// CertificateFiles are PEM files that are used towards clients, or whoever comes to the admin address; "" for none.
type CertificateFiles struct {
	Cert, Key string // what clients are shown; a certificate is generated without
	ClientCA  string // who signs the clients' certificates; they are not asked for any without
}
