package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/sequence"
)

// runServe is `seqgate serve`.
func runServe(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var from source
	var listen string
	fs := newFlags("serve", "--config FILE | --upstream DSN [--listen ADDR]", "Runs the proxy.", stdout)
	from.flags(fs)
	fs.StringVar(&listen, "listen", "", "`ADDR` to listen on, host:port or unix:/path; wins over the file")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	cfg, err := from.load()
	if err != nil {
		return err
	}
	if listen != "" {
		cfg.Listen = strings.Split(listen, ",")
	}
	return serve(ctx, cfg, stderr, func(string) {})
}

// serve wires everything, runs it until ctx is done, and takes it apart in
// reverse: no new clients, statements in flight end, unused ids go back, pools
// close. It calls ready with each address that accepts clients.
func serve(ctx context.Context, cfg *Config, stderr io.Writer, ready func(addr string)) (err error) {
	log := newLogger(cfg.Log, stderr)
	keyspaces, err := openKeyspaces(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeKeyspaces(keyspaces)) }()

	sequences := sequence.NewRegistry(storeOpener(cfg, keyspaces), sequence.Config{
		MinLifetime: cfg.Sequences.MinLifetime, MaxStep: cfg.Sequences.MaxStep,
		Timeout: cfg.Sequences.Timeout, Logger: log,
	})
	server, err := newServer(cfg, keyspaces, sequences, log)
	if err != nil {
		return err
	}
	listeners, err := listenAll(cfg.Listen)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, l := range listeners {
		group.Go(func() error { return server.Serve(l) })
		ready(l.Addr().String())
		log.Info("ready", "addr", l.Addr().String())
	}
	failed := make(chan error, 1)
	go func() { failed <- group.Wait() }()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}

	log.Info("stopping", "drain_timeout", cfg.DrainTimeout)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.DrainTimeout)
	defer cancel()
	if drainErr := server.Shutdown(drain); drainErr != nil {
		log.Warn("sessions cut off", "err", drainErr)
	}
	handBack, cancelHandBack := context.WithTimeout(context.WithoutCancel(ctx), handBackTimeout)
	defer cancelHandBack()
	if closeErr := sequences.Close(handBack); closeErr != nil {
		log.Warn("unused ids not handed back; they are a gap", "err", closeErr)
	}
	log.Info("stopped")
	return err
}

// handBackTimeout bounds giving unused ids back at the end: a gap is harmless, a
// stop that hangs is not.
const handBackTimeout = 2 * time.Second

func newLogger(cfg Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.Level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// openKeyspaces prepares the connections to each keyspace's server. None is
// opened yet: a server that is away now may be there later.
func openKeyspaces(cfg *Config) (map[string]*proxy.Keyspace, error) {
	keyspaces := make(map[string]*proxy.Keyspace)
	for _, k := range cfg.Keyspaces {
		shard := k.Shards[0]
		db, err := openPool(shard)
		if err != nil {
			return nil, fmt.Errorf("keyspace %s: %w", k.Name, err)
		}
		keyspaces[k.Name] = &proxy.Keyspace{
			Name: k.Name, Database: shard.DSN.DBName, DB: db,
			Backend: &backend.Backend{
				Network: shard.DSN.Net, Addr: shard.DSN.Addr, User: shard.DSN.User, Password: shard.DSN.Passwd,
				TLS: backendMode(shard.Mode), TLSConfig: shard.DSN.TLS,
			},
		}
		if shard.SessionUser != "" {
			keyspaces[k.Name].Backend.User, keyspaces[k.Name].Backend.Password = shard.SessionUser, ""
		}
	}
	return keyspaces, nil
}

func backendMode(m TLSMode) backend.TLSMode {
	switch m {
	case TLSDisabled:
		return backend.TLSDisabled
	case TLSAsClient:
		return backend.TLSAsClient
	case TLSPreferred:
		return backend.TLSPreferred
	}
	return backend.TLSRequired
}

const (
	poolSize = 8 // connections of seqgate's own to one server
	// lockWait bounds how long a refill waits for a row lock that a frozen client
	// holds; the server's default is 50 s.
	lockWait = "2"
)

// openPool opens seqgate's own connections to a server, for refills and for
// questions about tables: never a client's connection.
func openPool(shard Shard) (*sql.DB, error) {
	dsn := shard.DSN.Clone()
	if dsn.Params == nil {
		dsn.Params = make(map[string]string)
	}
	dsn.Params["innodb_lock_wait_timeout"] = lockWait
	dsn.Params["autocommit"] = "1"
	dsn.Timeout, dsn.ReadTimeout, dsn.WriteTimeout = 5*time.Second, 10*time.Second, 10*time.Second
	dsn.ClientFoundRows = false
	dsn.InterpolateParams = true
	connector, err := mysql.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(poolSize)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

func closeKeyspaces(keyspaces map[string]*proxy.Keyspace) error {
	var errs []error
	for _, k := range keyspaces {
		errs = append(errs, k.DB.Close())
	}
	return errors.Join(errs...)
}

// storeOpener makes the store of a sequence by the strategy that is configured
// for it.
func storeOpener(cfg *Config, keyspaces map[string]*proxy.Keyspace) func(sequence.Name) (sequence.Store, error) {
	return func(name sequence.Name) (sequence.Store, error) {
		k, ok := keyspaces[name.Keyspace]
		if !ok {
			return nil, fmt.Errorf("sequence %s: keyspace %q is not configured", name, name.Keyspace)
		}
		return sequence.NewStore(string(cfg.Sequences.RefillOf(name.Keyspace, name.Table)), k.DB)
	}
}

func newServer(cfg *Config, keyspaces map[string]*proxy.Keyspace, sequences *sequence.Registry, log *slog.Logger) (*proxy.Server, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the RSA key: %w", err)
	}
	certificate := cfg.TLS.Certificate
	if certificate == nil {
		if certificate, err = selfSigned(key); err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
	}
	users := make([]proxy.User, 0, len(cfg.Users))
	for _, u := range cfg.Users {
		users = append(users, proxy.User{Name: u.Name, Password: u.Password, Plugin: u.Plugin})
	}
	if cfg.Users == nil {
		users = nil
	}
	return proxy.New(proxy.Config{
		Keyspaces: keyspaces, Default: cfg.DefaultKeyspace, Users: users,
		TLS: &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12},
		RSA: key, Sequences: sequences, VSchema: cfg.VSchema, Logger: log,
	})
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
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// listenAll opens every address to listen on, or none.
func listenAll(addrs []string) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, addr := range addrs {
		network := "tcp"
		if path, ok := strings.CutPrefix(addr, "unix:"); ok {
			network, addr = "unix", path
			if err := removeStaleSocket(path); err != nil {
				return nil, err
			}
		}
		l, err := net.Listen(network, addr)
		if err != nil {
			for _, open := range listeners {
				_ = open.Close() // the error that matters is the listen's
			}
			return nil, fmt.Errorf("listen on %s: %w", addr, err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// removeStaleSocket removes a socket that a killed seqgate left behind; one that
// is listened on stays, and Listen tells.
func removeStaleSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		return c.Close()
	}
	return os.Remove(path)
}
