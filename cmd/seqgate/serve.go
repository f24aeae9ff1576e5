package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/admin"
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
		for _, addr := range cfg.Listen {
			if reason := badListen(addr); reason != "" {
				return usagef("--listen %s: %s", addr, reason)
			}
		}
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	return serve(ctx, cfg, reload, stderr, func(string) {})
}

// serve wires everything, runs it until ctx is done, and takes it apart in
// reverse: no new clients, statements in flight end, unused ids go back, pools
// close. It calls ready with each address that accepts clients, and reads the files
// of certificates again at each signal of reload.
func serve(ctx context.Context, cfg *Config, reload <-chan os.Signal, stderr io.Writer, ready func(addr string)) (err error) {
	log := newLogger(cfg.Log, stderr)
	keyspaces, err := openKeyspaces(cfg)
	if err != nil {
		return err
	}
	defer closeKeyspaces(keyspaces, log)

	stores := &stores{cfg: cfg, keyspaces: keyspaces, log: log}
	defer func() { err = errors.Join(err, stores.close()) }()
	sequences := sequence.NewRegistry(stores.open, sequence.Config{
		MinLifetime: cfg.Sequences.MinLifetime, MaxStep: cfg.Sequences.MaxStep,
		PrefetchShare: float64(cfg.Sequences.Prefetch) / 100,
		Timeout:       cfg.Sequences.Timeout, Logger: log,
	})
	stores.dropped = sequences.Dropped
	keyedSequences := newKeyedSequences(cfg, keyspaces, log)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("make the RSA key: %w", err)
	}
	certificates, err := newCertificates(cfg.TLS.Clients, key, log)
	if err != nil {
		return err
	}
	server, err := newServer(cfg, keyspaces, sequences, keyedSequences, certificates.config(), key, log)
	if err != nil {
		return err
	}
	stopAdmin, err := serveAdmin(cfg.Admin, admin.New(server.Ready, sequences.Snapshot, keyedSequences.snapshot), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAdmin()) }()
	listeners, err := listenAll(cfg.Listen)
	if err != nil {
		return err
	}
	if keyedSequences.address = cfg.advertised(listeners); keyedSequences.address == "" && cfg.hasKeyed() {
		log.Warn("no other seqgate can ask this one for values of keyed sequences, and gets none of the keys that this one counts: set advertise to the address at which they reach it")
	}
	defer certificates.watch(ctx, reload)()
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
	if closeErr := errors.Join(sequences.Close(handBack), keyedSequences.close(handBack)); closeErr != nil {
		log.Warn("unused ids not handed back; they are a gap", "err", closeErr)
	}
	log.Info("stopped")
	return err
}

// serveAdmin serves health and the state of sequences over HTTP, if that is
// configured. It goes on while sessions drain, so that /readyz can tell.
func serveAdmin(cfg Admin, handler http.Handler, log *slog.Logger) (stop func() error, err error) {
	if cfg.Listen == "" {
		return func() error { return nil }, nil
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for admin on %s: %w", cfg.Listen, err)
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: adminTimeout, IdleTimeout: time.Minute}
	var group errgroup.Group
	group.Go(func() error {
		if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve admin on %s: %w", cfg.Listen, err)
		}
		return nil
	})
	log.Info("admin", "addr", l.Addr().String())
	return func() error { return errors.Join(h.Close(), group.Wait()) }, nil
}

// adminTimeout bounds how long an HTTP client may take for its request's header.
const adminTimeout = 5 * time.Second

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
		db, err := openPool(shard.DSN)
		if err != nil {
			return nil, fmt.Errorf("keyspace %s: %w", k.Name, err)
		}
		refills, err := sequence.NewPool(shard.DSN)
		if err != nil {
			return nil, fmt.Errorf("keyspace %s: %w", k.Name, err)
		}
		keyspaces[k.Name] = &proxy.Keyspace{
			Name: k.Name, Database: shard.DSN.DBName, DB: db, Refills: refills,
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

// poolSize is how many connections ask a server about tables at once.
const poolSize = 4

// openPool opens the connections with which seqgate asks a server about its
// tables. Refills have a pool of their own, so that neither waits for the other.
func openPool(dsn *mysql.Config) (*sql.DB, error) {
	dsn = dsn.Clone()
	dsn.Timeout, dsn.ReadTimeout, dsn.WriteTimeout = 5*time.Second, 10*time.Second, 10*time.Second
	dsn.InterpolateParams = true
	dsn.Logger = &mysql.NopLogger{} // errors are returned
	connector, err := mysql.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(time.Second) // who counts the server's sessions soon finds the clients' alone
	return db, nil
}

// closeKeyspaces closes the pools. A server that went away before is told of, and
// no reason to fail.
func closeKeyspaces(keyspaces map[string]*proxy.Keyspace, log *slog.Logger) {
	for name, k := range keyspaces {
		if err := errors.Join(k.DB.Close(), k.Refills.Close()); err != nil {
			log.Info("connections to a server not closed in order", "keyspace", name, "err", err)
		}
	}
}

func newServer(cfg *Config, keyspaces map[string]*proxy.Keyspace, sequences *sequence.Registry, keyed *keyedSequences,
	clientTLS *tls.Config, key *rsa.PrivateKey, log *slog.Logger) (*proxy.Server, error) {
	return proxy.New(proxy.Config{
		Keyspaces: keyspaces, Default: cfg.DefaultKeyspace, Users: proxyUsers(cfg.Users),
		TLS: clientTLS, RequireTLS: cfg.TLS.Required, RSA: key,
		Sequences: sequences, Keyed: keyed.get, VSchema: cfg.VSchema, OnExplicitID: cfg.Tables.OnExplicitIDOf,
		FirstFree: func(ctx context.Context, name sequence.Name) (int64, error) { return firstFree(ctx, cfg, name) }, Logger: log, Version: version(),
		MaxConnections: cfg.Limits.Connections, MaxUserConnections: cfg.Limits.PerUser, IdleBackends: cfg.Limits.IdleBackends,
		ProxyFrom:        cfg.ProxyProtocol.From,
		HandshakeTimeout: cfg.Timeouts.Handshake, IdleTimeout: cfg.Timeouts.Idle,
		ReadTimeout: cfg.Timeouts.Read, WriteTimeout: cfg.Timeouts.Write,
	})
}

// proxyUsers gives the users of the file; nil, and not an empty list, for none.
func proxyUsers(users []User) []proxy.User {
	var list []proxy.User
	for _, u := range users {
		list = append(list, proxy.User{
			Name: u.Name, Password: u.Password, Plugin: u.Plugin, RequireTLS: u.Require, MaxConnections: u.MaxConnections,
		})
	}
	return list
}
