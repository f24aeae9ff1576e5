package main

import (
	"bytes"
	"crypto/tls"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/servertest"
)

// serveFile runs seqgate in front of a server with a configuration file that has
// this text besides the keyspaces.
func serveFile(t *testing.T, s *servertest.Server, text string) *process {
	t.Helper()
	keyspaces := fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\n", s.DSN(s.NewDatabase(t)))
	return start(t, "serve", "--config", writeFile(t, "seqgate.yaml", keyspaces+text))
}

// replace writes a file as certificate managers do: the new one takes its place.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// login opens a session over TLS, which shows a certificate if it has one.
func login(t *testing.T, addr string, config *tls.Config) *sql.DB {
	t.Helper()
	config.InsecureSkipVerify = true
	config.ServerName = "seqgate"
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.TLS = "tcp", addr, "app", "p", config
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// shows reports whether a new client is shown a certificate, and can log in.
func (p *process) shows(t *testing.T, c *certificate) bool {
	t.Helper()
	var shown []byte
	db := login(t, p.addr, &tls.Config{VerifyConnection: func(state tls.ConnectionState) error {
		shown = state.PeerCertificates[0].Raw
		return nil
	}})
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(shown, c.pair.Certificate[0])
}

// awaitThat waits for a condition.
func awaitThat(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: still waiting after 30 s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Certificates that are renewed are shown to new clients, without a restart and
// without an end of the sessions; broken ones change nothing.
func TestCertificateReload(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		dir := t.TempDir()
		cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		install := func(c *certificate) {
			replace(t, cert, c.certPEM)
			replace(t, key, c.keyPEM)
		}
		first, second, third := newCertificate(t, nil, "first"), newCertificate(t, nil, "second"), newCertificate(t, nil, "third")
		install(first)
		p := serveFile(t, s, fmt.Sprintf("listen: 127.0.0.1:0\nusers: [{name: app, password: p, require: tls}]\ntls: {cert: %s, key: %s}\n", cert, key))
		if !p.shows(t, first) {
			t.Fatal("the first certificate is not shown")
		}
		session := login(t, p.addr, &tls.Config{})
		id := query1[int](t, session, "SELECT CONNECTION_ID()")

		install(second)
		awaitThat(t, "the second certificate, by its file", func() bool { return p.shows(t, second) })
		replace(t, key, first.keyPEM)
		p.signal(t, syscall.SIGHUP)
		awaitThat(t, "an error for a key that does not fit", func() bool { return p.Logged("certificates not loaded") })
		if !p.shows(t, second) {
			t.Error("the second certificate is not shown any more, beside a key that does not fit")
		}
		install(third)
		p.signal(t, syscall.SIGHUP)
		awaitThat(t, "the third certificate", func() bool { return p.shows(t, third) })
		if got := query1[int](t, session, "SELECT CONNECTION_ID()"); got != id {
			t.Errorf("the session of before has the connection %d, had %d", got, id)
		}
	})
}

// Clients are checked with the authority that is in the file now, also those that
// could resume a TLS session of before.
func TestClientCAReload(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		former, later := newCertificate(t, nil, "former"), newCertificate(t, nil, "later")
		file := writeFile(t, "ca.pem", string(former.certPEM))
		p := serveFile(t, s, "listen: 127.0.0.1:0\nusers: [{name: app, password: p, require: x509}]\ntls: {client_ca: "+file+"}\n")
		as := func(authority *certificate) func() error {
			own := newCertificate(t, authority, "app").pair
			config := &tls.Config{Certificates: []tls.Certificate{own}, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
			return func() error {
				db := login(t, p.addr, config)
				defer db.Close()
				return db.PingContext(t.Context())
			}
		}
		nobody := login(t, p.addr, &tls.Config{})
		if err := nobody.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "1045") {
			t.Errorf("without a certificate: %v, want 1045", err)
		}
		formers, laters := as(former), as(later)
		for range 2 {
			if err := formers(); err != nil {
				t.Fatal(err)
			}
		}
		if err := laters(); err == nil {
			t.Error("a client that a stranger certifies logs in")
		}
		replace(t, file, later.certPEM)
		awaitThat(t, "the new authority", func() bool { return laters() == nil })
		if err := formers(); err == nil {
			t.Error("a client of the former authority logs in")
		}
	})
}

// Real clients reach every kind of address; a socket that a killed seqgate left
// is replaced, one in use is not.
func TestListenAddresses(t *testing.T) {
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("the client mariadb is not installed")
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		path := filepath.Join(t.TempDir(), "seqgate.sock")
		config := fmt.Sprintf("listen: [\"unix:%s\", \"[::1]:0\", 127.0.0.1:0]\nusers: [{name: app, password: p}]\n", path)
		ask := func(args ...string) {
			t.Helper()
			args = append([]string{"--no-defaults", "--user=app", "--password=p", "--batch", "--skip-column-names"}, args...)
			out, err := exec.Command(client, append(args, "--execute=SELECT 6 * 7")...).CombinedOutput()
			if err != nil || string(out) != "42\n" {
				t.Errorf("%v: %v: %s", args, err, out)
			}
		}
		p := serveFile(t, s, config)
		awaitThat(t, "all addresses", func() bool { return len(p.Addrs()) == 3 })
		for _, addr := range p.Addrs()[1:] {
			host, port, err := net.SplitHostPort(addr)
			if err != nil {
				t.Fatal(err)
			}
			ask("--host="+host, "--port="+port)
		}
		ask("--socket=" + path)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o777 {
			t.Errorf("the socket is %v (%v), want one for everybody", info.Mode(), err)
		}
		out, err := exec.Command(client, "--no-defaults", "--user=app", "--password=wrong", "--socket="+path).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "'app'@'localhost'") {
			t.Errorf("a wrong password over the socket: %s, want error 1045 that names localhost", out)
		}

		if _, err := app.ListenAll([]string{"127.0.0.1:0", "unix:" + path}); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("listening on a socket in use: %v, want an error", err)
		}
		ask("--socket=" + path)
		p.signal(t, syscall.SIGKILL)
		<-p.Ended
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("a killed seqgate leaves no socket: %v", err)
		}
		serveFile(t, s, config)
		ask("--socket=" + path)
	})
}
