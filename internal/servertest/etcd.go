package servertest

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os/exec"
	"testing"
	"time"
)

// StartEtcd starts an etcd of the test's own and returns its address when it answers. With certificates it is reached by
// TLS only, by clients that show one. It skips the test where none is installed, except in CI.
func StartEtcd(tb testing.TB, certs ...Certificates) (addr string) {
	tb.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		lacks(tb, "no etcd is installed (Debian: apt-get install etcd-server)")
	}
	addr = FreeAddr(tb)
	url, peer := "http://"+addr, "http://"+FreeAddr(tb)
	var secure *tls.Config
	var options []string
	for _, c := range certs {
		url, secure = "https://"+addr, c.Client(tb)
		options = append(options, "--cert-file", c.Cert, "--key-file", c.Key, "--trusted-ca-file", c.CA, "--client-cert-auth")
	}
	dir := newFolder(tb, "etcd")
	cmd := exec.Command(program, append(options, "--data-dir", dir+"/data", "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--log-level", "error")...)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true}, Timeout: 5 * time.Second}
	startChild(tb, dir, cmd, func() error { return healthy(client, url+"/health") })
	return addr
}

// healthy asks a server whether it can serve.
func healthy(client *http.Client, url string) error {
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // read from only
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return nil
}
