package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The admin address speaks HTTPS with its own certificate, which is renewed while seqgate runs; commands want the certificate of
// the configuration, or one that they trust.
func TestAdminTLS(t *testing.T) {
	s := servertest.First(t)
	_, database, _ := sequencedTable(t, s)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	show := func(c *certificate) {
		t.Helper()
		for path, data := range map[string][]byte{certFile: c.certPEM, keyFile: c.keyPEM} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, second := newCertificate(t, nil, "localhost"), newCertificate(t, nil, "localhost")
	show(first)
	addr, _ := freeAddr(t)
	file := writeFile(t, "seqgate.yaml", "listen: 127.0.0.1:0\nadmin: {listen: '"+addr+"', password: secret-word, cert: '"+certFile+"', key: '"+keyFile+"'}\nkeyspaces: {main: {shards: {\"-\": \""+
		s.DSN(database)+"\"}}}\n")
	p := start(t, "serve", "--config", file)

	shown := func() *x509.Certificate {
		t.Helper()
		c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0]
	}
	if got, err := readCertificate(certFile); err != nil || !got.Equal(shown()) {
		t.Errorf("another certificate is shown: %v", err)
	}
	if r, err := http.Get("http://" + addr + "/readyz"); err == nil {
		if r.Body.Close(); r.StatusCode == http.StatusOK {
			t.Error("plain HTTP is answered")
		}
	}
	for _, args := range [][]string{{"health", "--config", file}, {"health", "--admin", "https://" + addr}, {"status", "--config", file}} {
		if code, text := runCommand(t, append(args, "--timeout", "60s")...); code != 0 {
			t.Errorf("%s: %d, %s", args, code, text)
		}
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(addr, ":")
	status := exec.Command(path, "status", "--admin", "https://localhost:"+port, "--timeout", "60s")
	status.Env = append(os.Environ(), "SSL_CERT_FILE="+certFile, "SEQGATE_ADMIN_PASSWORD=secret-word")
	if out, err := status.CombinedOutput(); err != nil {
		t.Errorf("with an authority that is trusted: %v\n%s", err, out)
	}
	if code, text := runCommand(t, "status", "--admin", "https://"+addr, "--timeout", "60s"); code != 1 || !strings.Contains(text, "certificate") {
		t.Errorf("with one that nobody trusts: %d, %s", code, text)
	}

	other := filepath.Join(dir, "other.pem")
	if err := os.WriteFile(other, second.certPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := writeFile(t, "other.yaml", "admin: {listen: '"+addr+"', password: secret-word, cert: '"+other+"', key: '"+keyFile+"'}\n")
	if code, text := runCommand(t, "status", "--config", elsewhere, "--timeout", "60s"); code != 1 || !strings.Contains(text, "another certificate") {
		t.Errorf("with the certificate of another configuration: %d, %s", code, text)
	}
	show(second)
	awaitThat(t, "the renewed certificate", func() bool { return shown().Equal(mustParse(t, second)) })
	if !p.Logged("for=admin") {
		t.Error("the log does not say which certificates were loaded")
	}
}

func mustParse(t *testing.T, c *certificate) *x509.Certificate {
	t.Helper()
	parsed, err := x509.ParseCertificate(c.pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
