package config

import (
	"bytes"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// sampleConfig is the commented configuration file, with every key and its default.
//
//go:embed seqgate.yaml
var sampleConfig []byte

func loadText(t *testing.T, text string, vars map[string]string) *Config {
	t.Helper()
	c, err := loader(env(vars)).Load(writeFile(t, "c.yaml", text))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

func TestLoadConfigErrors(t *testing.T) {
	paths, err := filepath.Glob("testdata/config/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata/config: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := loader(env(nil)).Load(path)
			if c != nil {
				t.Error("a configuration beside the error, want nil")
			}
			var errs vschema.Errors
			if !errors.As(err, &errs) {
				t.Fatalf("error %v, want an Errors", err)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a password: %v", err)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".golden", errs.Error()+"\n")
		})
	}
}

func TestLoadConfigNoFile(t *testing.T) {
	_, err := loader(env(nil)).Load("testdata/nowhere.yaml")
	if err == nil || err.Error() != "testdata/nowhere.yaml: no such file or directory" {
		t.Errorf("error %v, want that there is no such file", err)
	}
}

func TestLoadConfigValues(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pw", []byte("from file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("v.json", []byte(`{"keyspaces": {"a": {"tables": {"s": {"type": "sequence"}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `
listen: [127.0.0.1:1, "unix:/tmp/s"]
users:
  - {name: one, password: 0123}
  - {name: two, password_env: PW, plugin: mysql_native_password, require: tls, max_connections: 7}
  - {name: three, password_file: pw, vschema_ddl: true, account: {password_env: PW, user: at_server}}
vschema: v.json
keyspaces:
  b: {shards: {"-": "u:p@unix(/tmp/m)/db_b"}}
  a: {shards: {-: "u:p@tcp(h)/db_a?tls=skip-verify"}}
default_keyspace: a
sequences: {refill: cas, min_lifetime: 1m, max_step: 5, timeout: 1s, overrides: {a.s: {refill: increment}}}
admin: {listen: "127.0.0.1:9"}
drain_timeout: 0s
log: {level: debug, format: json, slow: 2s}
limits: {connections: 5, per_user: 3}
timeouts: {handshake: 1s, idle: 1m, read: 2s, write: 3s, pause: 4s}
proxy_protocol: {from: [10.0.0.0/8, 127.0.0.1, "fd00::/8"]}
tls: {required: true}
`
	if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loader(env(map[string]string{"PW": "from env"})).Load("c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("Listen", c.Listen, []string{"127.0.0.1:1", "unix:/tmp/s"})
	check("Users", c.Users, []User{
		{"one", "0123", "caching_sha2_password", "none", 0, false, nil}, {"two", "from env", "mysql_native_password", "tls", 7, false, nil},
		{"three", "from file", "caching_sha2_password", "none", 0, true, &catalog.Account{User: "at_server", Password: "from env"}}})
	check("Limits", c.Limits, Limits{Connections: 5, PerUser: 3, IdleBackends: 100})
	check("Timeouts", c.Timeouts, Timeouts{Handshake: time.Second, Idle: time.Minute, Read: 2 * time.Second, Write: 3 * time.Second, Pause: 4 * time.Second})
	check("ProxyProtocol", fmt.Sprint(c.ProxyProtocol.From), "[10.0.0.0/8 127.0.0.1/32 fd00::/8]")
	check("tls.required", c.TLS.Required, true)
	check("DefaultKeyspace", c.DefaultKeyspace, "a")
	check("Sequences", c.Sequences, Sequences{
		Refill: RefillCAS, MinLifetime: time.Minute, MaxStep: 5, MaxN: 10_000, Timeout: time.Second, Prefetch: 10, Lease: 5 * time.Second,
		Overrides: map[string]SequenceOverride{"a.s": {Refill: RefillIncrement, FailoverSkip: -1}},
	})
	check("refill of a.s", c.Sequences.Of("a", "s").Refill, RefillIncrement)
	check("refill of a.t", c.Sequences.Of("a", "t").Refill, RefillCAS)
	check("Admin", c.Admin, Admin{Listen: "127.0.0.1:9"})
	check("DrainTimeout", c.DrainTimeout, time.Duration(0))
	check("Log", c.Log, Log{slog.LevelDebug, "json", 2 * time.Second})
	check("keyspaces in order", []string{c.Keyspaces[0].Name, c.Keyspaces[1].Name}, []string{"b", "a"})
	a, ok := c.Keyspace("a")
	check("Keyspace a", ok, true)
	check("shard", a.Shards[0].Name, "-")
	check("DSN", []string{a.Shards[0].DSN.Net, a.Shards[0].DSN.Addr, a.Shards[0].DSN.User, a.Shards[0].DSN.DBName}, []string{"tcp", "h:3306", "u", "db_a"})
	if _, ok := c.Keyspace("c"); ok {
		t.Error("Keyspace c found")
	}
	if _, ok := c.VSchema.Keyspace("a"); !ok {
		t.Error("the vschema has no keyspace a")
	}
}

func TestDefaultKeyspace(t *testing.T) {
	if got := loadText(t, mainKeyspace, nil).DefaultKeyspace; got != "main" {
		t.Errorf("default keyspace %q, want main, the only one", got)
	}
	two := "keyspaces:\n  a: {shards: {\"-\": \"u:p@tcp(h)/a\"}}\n  b: {shards: {\"-\": \"u:p@tcp(h)/b\"}}\n"
	_, err := loader(env(nil)).Load(writeFile(t, "c.yaml", two))
	if err == nil || !strings.Contains(err.Error(), "more than one keyspace: write default_keyspace: a, or another") {
		t.Errorf("error %v, want that the default of two keyspaces is missing", err)
	}
	if got := loadText(t, two, map[string]string{"SEQGATE_DEFAULT_KEYSPACE": "b"}).DefaultKeyspace; got != "b" {
		t.Errorf("default keyspace %q, want b of the environment", got)
	}
}

func TestEnvironmentWins(t *testing.T) {
	vars := map[string]string{
		"SEQGATE_LISTEN": "127.0.0.1:5, unix:/x", "SEQGATE_SEQUENCES_REFILL": "increment", "SEQGATE_LOG_LEVEL": "warn",
		"SEQGATE_LOG_FORMAT": "", "SEQGATE_TLS_BACKEND": "required", "SEQGATE_ADMIN_LISTEN": ":1", "SEQGATE_KEYSPACES": "ignored",
		"SEQGATE_PROXY_PROTOCOL_FROM": "10.0.0.1, fd00::1", "SEQGATE_LIMITS_PER_USER": "2",
	}
	c := loadText(t, mainKeyspace+"listen: 127.0.0.1:4\nsequences: {refill: cas, max_step: 7}\nlog: {format: json}\n", vars)
	got := []any{c.Listen, c.Sequences.Refill, c.Sequences.MaxStep, c.Log, c.TLS.Backend, c.Admin.Listen, fmt.Sprint(c.ProxyProtocol.From), c.Limits.PerUser}
	want := []any{[]string{"127.0.0.1:5", "unix:/x"}, RefillIncrement, int64(7), Log{slog.LevelWarn, "json", 0}, TLSRequired, ":1", "[10.0.0.1/32 fd00::1/128]", 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestEnvironmentErrors(t *testing.T) {
	path := writeFile(t, "c.yaml", mainKeyspace)
	_, err := loader(env(map[string]string{"SEQGATE_SEQUENCES_MAX_STEP": "many", "SEQGATE_DEFAULT_KEYSPACE": "mian"})).Load(path)
	want := `environment: SEQGATE_SEQUENCES_MAX_STEP: "many" is no count: write a whole number from 1
environment: SEQGATE_DEFAULT_KEYSPACE: there is no keyspace "mian": did you mean "main"?`
	if err == nil || err.Error() != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
}

// TestSample holds that the sample parses, that each default it states is the default, that what it shows in comments
// is right too, and that it has every key.
func TestSample(t *testing.T) {
	path := writeFile(t, "seqgate.yaml", string(sampleConfig))
	got, err := loader(env(nil)).Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := loadText(t, "keyspaces: {main: {shards: {\"-\": \"app:app@tcp(127.0.0.1:3306)/main\"}}}\n", nil)
	want.Sequences.Overrides = map[string]SequenceOverride{}
	want.Tables.Overrides = map[string]TableOverride{}
	got.Keyspaces, want.Keyspaces = nil, nil
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "File", "Given")); diff != "" {
		t.Errorf("the sample states other than the defaults (-default +sample):\n%s", diff)
	}
	shown := regexp.MustCompile(`(?m)^( *)# ((?:users|vschema|advertise|worker_id|keyspace|dir|servers|path|user|password|password_env|password_file|default_keyspace|cert|key|client_ca|ca|tokens):.*|  - \{.*)$`).ReplaceAll(sampleConfig, []byte("$1$2"))
	r := newReader(loader(env(map[string]string{"REPORT_PASSWORD": "x", "ADMIN_PASSWORD": "x", "BATCH_TOKEN": "0123456789abcdef"})))
	r.readFile("seqgate.yaml", shown)
	for _, e := range r.errs {
		if !strings.Contains(e.Message, "no such file") {
			t.Errorf("with the comments taken off: %v", e)
		}
	}
	for key := range r.settings {
		if _, ok := r.set[key]; !ok {
			t.Errorf("the sample does not show the key %s", key)
		}
	}
	if n := bytes.Count(sampleConfig, []byte("eloadable")); n < 12 {
		t.Errorf("the sample says of %d keys whether they are reloadable, want all", n)
	}
}

// An empty file is a secret that was not written yet, not a user without a password.
func TestEmptyPasswordFile(t *testing.T) {
	dir := t.TempDir()
	secret, file := filepath.Join(dir, "secret"), filepath.Join(dir, "seqgate.yaml")
	for path, text := range map[string]string{secret: "\n", file: "users: [{name: a, password_file: secret}]\nkeyspaces: {main: {shards: {\"-\": \"a:b@tcp(h:1)/main\"}}}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := loader(env(nil)).Load(file); err == nil || !strings.Contains(err.Error(), "secret is empty") {
		t.Errorf("got %v", err)
	}
}

func TestUpstreamConfig(t *testing.T) {
	c, err := loader(env(map[string]string{"SEQGATE_LISTEN": ":1"})).Upstream("app:s3cret@unix(/run/m.sock)/shop")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.Keyspaces[0].Name, c.Keyspaces[0].Shards[0].DSN.DBName, c.DefaultKeyspace, c.Users, c.Listen, c.VSchema == nil}
	want := []any{"shop", "shop", "shop", []User(nil), []string{":1"}, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	tests := []struct{ name, dsn, want string }{
		{"no database", "app:s3cret@tcp(h:1)/", "--upstream: the DSN names no database: write it after the last slash, user:password@tcp(host:port)/database"},
		{"empty", "", "--upstream: the DSN is missing: write user:password@tcp(host:port)/database or user:password@unix(/path)/database"},
		{"no DSN", "s3cret", "--upstream: invalid DSN: missing the slash separating the database name: write user:password@tcp(host:port)/database or user:password@unix(/path)/database"},
		{"no user", "/db", "--upstream: the DSN names no user: write user:password@tcp(host:port)/database or user:password@unix(/path)/database"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loader(env(nil)).Upstream(tt.dsn)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error:\n%v\nwant:\n%s", err, tt.want)
			}
		})
	}
}

func TestShardTLS(t *testing.T) {
	tests := []struct {
		name, dsn, mode string
		want            TLSMode
		encrypted       bool
	}{
		{"default", "u:p@tcp(h)/d", "", TLSAsClient, true},
		{"preferred", "u:p@tcp(h)/d", "preferred", TLSPreferred, true},
		{"disabled", "u:p@tcp(h)/d", "disabled", TLSDisabled, false},
		{"DSN true", "u:p@tcp(h)/d?tls=true", "disabled", TLSVerifyIdentity, true},
		{"DSN false", "u:p@tcp(h)/d?tls=false", "required", TLSDisabled, false},
		{"DSN preferred", "u:p@tcp(h)/d?tls=preferred", "required", TLSPreferred, true},
		{"DSN skip-verify", "u:p@tcp(h)/d?tls=skip-verify", "disabled", TLSRequired, true},
		{"socket as client", "u:p@unix(/s)/d", "", TLSDisabled, false},
		{"socket preferred", "u:p@unix(/s)/d", "preferred", TLSDisabled, false},
		{"socket required", "u:p@unix(/s)/d", "required", TLSRequired, true},
		{"verify_ca", "u:p@tcp(h)/d", "verify_ca", TLSVerifyCA, true},
		{"verify_identity", "u:p@tcp(h:1)/d", "verify_identity", TLSVerifyIdentity, true},
		{"the password as it is, unverified", "u:p@tcp(h)/d?allowCleartextPasswords=true", "required", TLSRequired, true},
		{"the password as it is, verified", "u:p@tcp(h)/d?allowCleartextPasswords=true", "verify_ca", TLSVerifyCA, true},
		{"the password as it is, socket", "u:p@unix(/s)/d?allowCleartextPasswords=true", "", TLSDisabled, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := loader(env(map[string]string{"SEQGATE_TLS_BACKEND": tt.mode})).Upstream(tt.dsn)
			if err != nil {
				t.Fatal(err)
			}
			s := c.Keyspaces[0].Shards[0]
			if s.Mode != tt.want || (s.DSN.TLS != nil) != tt.encrypted {
				t.Errorf("mode %s, TLS %v, want %s, encrypted %v", s.Mode, s.DSN.TLS, tt.want, tt.encrypted)
			}
			if got, want := s.DSN.AllowFallbackToPlaintext, s.Mode == TLSPreferred || s.Mode == TLSAsClient; got != want {
				t.Errorf("fallback to plaintext %v, want %v", got, want)
			}
			own := s.Mode == TLSVerifyCA || s.Mode == TLSVerifyIdentity || s.DSN.Net == "unix"
			if got, want := s.DSN.AllowCleartextPasswords, own && strings.Contains(tt.dsn, "allowCleartext"); got != want {
				t.Errorf("the password as it is %v, want %v", got, want)
			}
			if s.DSN.TLS != nil {
				verified := !s.DSN.TLS.InsecureSkipVerify || s.DSN.TLS.VerifyConnection != nil
				if want := s.Mode == TLSVerifyCA || s.Mode == TLSVerifyIdentity; verified != want {
					t.Errorf("server verified %v, want %v", verified, want)
				}
				if s.Mode == TLSVerifyIdentity && s.DSN.TLS.ServerName != "h" {
					t.Errorf("verified for %q, want h", s.DSN.TLS.ServerName)
				}
			}
		})
	}
}

// TestBackendTLSHandshake holds each mode against servers with a certificate of ours for 127.0.0.1, and of nobody's.
func TestBackendTLSHandshake(t *testing.T) {
	files := servertest.NewCertificates(t)
	good, stranger := loadPair(t, files), loadPair(t, servertest.NewCertificates(t))
	tests := []struct {
		name   string
		mode   TLSMode
		host   string
		server tls.Certificate
		ok     bool
	}{
		{"required takes anyone", TLSRequired, "127.0.0.1", stranger, true},
		{"verify_ca takes ours", TLSVerifyCA, "127.0.0.1", good, true},
		{"verify_ca takes any name", TLSVerifyCA, "elsewhere", good, true},
		{"verify_ca refuses a stranger", TLSVerifyCA, "127.0.0.1", stranger, false},
		{"verify_identity takes ours", TLSVerifyIdentity, "127.0.0.1", good, true},
		{"verify_identity refuses another name", TLSVerifyIdentity, "elsewhere", good, false},
		{"verify_identity refuses a stranger", TLSVerifyIdentity, "127.0.0.1", stranger, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := loadText(t, mainKeyspace+"tls: {ca: "+files.CA+"}\n", nil)
			err := handshake(t, backendTLS(tt.mode, tt.host+":1", c.TLS.RootCAs), tt.server)
			if (err == nil) != tt.ok {
				t.Errorf("handshake: %v, want ok %v", err, tt.ok)
			}
		})
	}
}

// loadPair reads a certificate and its key.
func loadPair(t *testing.T, files servertest.Certificates) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// handshake connects a client to a server with that certificate, and returns the client's error.
func handshake(t *testing.T, client *tls.Config, server tls.Certificate) error {
	t.Helper()
	// A pipe in memory has no buffer: both sides would wait for each other to read an alert.
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{server}})
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

func TestServerCertificate(t *testing.T) {
	files := servertest.NewCertificates(t)
	cert, key := files.Cert, files.Key
	loaded := loadText(t, mainKeyspace+"tls: {cert: "+cert+", key: "+key+"}\n", nil)
	if want := (CertificateFiles{Cert: cert, Key: key}); loaded.TLS.Clients != want {
		t.Errorf("files %+v, want %+v", loaded.TLS.Clients, want)
	}
	_, err := loader(env(nil)).Load(writeFile(t, "c.yaml", mainKeyspace+"tls: {cert: "+cert+", key: "+cert+"}\n"))
	if err == nil || !strings.Contains(err.Error(), "tls.cert") {
		t.Errorf("error %v for a key file without a key, want one of tls.cert", err)
	}
}

// FuzzLoadConfig holds that no bytes make the reader panic, and that its errors are a list.
func FuzzLoadConfig(f *testing.F) {
	f.Add(sampleConfig)
	paths, err := filepath.Glob("testdata/config/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newReader(loader(env(nil)))
		r.readFile("c.yaml", data)
		r.checkKeyspaces()
		r.checkOverrides()
		if len(r.errs) > 0 {
			return
		}
		if len(r.cfg.Keyspaces) == 0 || len(r.cfg.Listen) == 0 || r.cfg.Sequences.MaxStep < 1 || r.cfg.Sequences.Timeout <= 0 {
			t.Errorf("no error, but not usable: %+v", r.cfg)
		}
		for _, k := range r.cfg.Keyspaces {
			if len(k.Shards) != 1 || k.Shards[0].DSN.DBName == "" {
				t.Errorf("no error, but keyspace %q is not usable: %+v", k.Name, k)
			}
		}
	})
}
