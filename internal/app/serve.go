package app

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
	"net/http"
	"os"
	"time"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/generators"
	"github.com/seqgate/seqgate/internal/ops"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/internal/loglimit"
	"github.com/seqgate/seqgate/internal/sessionvars"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Serve wires everything, runs it until ctx is done, and takes it apart in
// reverse: no new clients, statements in flight end, unused ids go back, pools
// close. It calls ready with each address that accepts clients, and reads the vschema
// and the files of certificates again at each signal of reload.
func Serve(ctx context.Context, cfg *config.Config, reload <-chan os.Signal, stderr io.Writer, ready func(addr string)) (err error) {
	if err := config.CheckCounters(cfg.VSchema); err != nil {
		return inFile(cfg.VSchemaFile, err)
	}
	level := &slog.LevelVar{}
	limited := loglimit.New(newLogger(cfg.Log, level, stderr).Handler(), "login ended", "session ended", "table not described", "PROXY header refused")
	defer limited.Close() // last: what is counted is logged
	log := slog.New(limited)
	spans, endTracing, err := openTracing(ctx, cfg.Tracing, log)
	if err != nil {
		return err
	}
	defer endTracing()
	keyspaces, err := OpenKeyspaces(cfg)
	if err != nil {
		return err
	}
	defer CloseKeyspaces(keyspaces, log)

	schema := newVSchemaFile(cfg, log)
	stores := &stores{vschema: schema, keyspaces: keyspaces, log: log}
	defer func() { err = errors.Join(err, stores.close()) }()
	sequences := sequence.NewRegistry(stores.open, SequenceConfig(cfg, spans, log))
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
	adminCertificates, err := newAdminCertificates(cfg.Admin, log)
	if err != nil {
		return err
	}
	numbers, endWorkers, err := generators.Open(cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endWorkers()) }()
	defer generators.Close(ctx, numbers, log)
	listeners, err := ListenAll(cfg.Listen)
	if err != nil {
		return err
	}
	asked, err := healthServers(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = closeServers(asked) }() // of what went away before, there is nothing to tell
	servers := health.New(asked, log)
	server, err := newServer(schema, keyspaces, servers, sequences, keyedSequences, numbers, certificates.config(), key, spans, log)
	if err != nil {
		return err
	}
	schema.takes = server
	file := &reloadedConfig{cfg: cfg, running: cfg.Given, log: log, level: level, server: server, sequences: sequences, peers: keyedSequences.peers, files: []reloader{certificates, adminCertificates, schema}}
	warnOfEnds(cfg.VSchema, time.Now(), log)
	if keyedSequences.address = advertised(cfg, listeners); keyedSequences.address == "" && cfg.HasKeyed() {
		log.Warn("no other seqgate can ask this one for values of keyed sequences, and gets none of the keys that this one counts: set advertise to the address at which they reach it")
	}
	api, err := serveAPI(cfg, server, certificates.config(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, api.close()) }()
	file.api = api
	history, stopHistory := keepHistory(ctx, cfg.Admin, server, sequences)
	defer stopHistory()
	stopAdmin, err := serveAdmin(cfg.Admin, admin.New(admin.Config{
		Ready: server.Ready, Sequences: sequences.Snapshot, Keyed: keyedSequences.snapshot, Reloads: schema.counts, Certificates: bothCounts(certificates, adminCertificates),
		ConfigReloads: file.counts, Traffic: server.Traffic, Statements: server.Statements, ColumnMax: server.ColumnMax, Generators: generatorStatuses(numbers), Version: Version(),
		API: api.counts, Reload: file.reloadAll, Kill: server.Kill, Pause: server.Pause, Resume: server.Resume,
		History: history, Sessions: sessionStatuses(server), VSchema: server.VSchema, Servers: adminServers(cfg), Health: servers.Statuses,
	}), adminCertificates, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAdmin()) }()
	if err := generators.Use(ctx, numbers, cfg.VSchema, log); err != nil { // last: a start that fails takes no worker ids
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return errors.Join(err, server.Shutdown(ctx))
	}
	defer watchFiles(context.WithoutCancel(ctx), reload, log, file)() // also while seqgate stops
	log.Info("starting", "version", Version(), "keyspaces", len(cfg.Keyspaces))
	defer watchServers(ctx, servers)()
	var group errgroup.Group
	for _, l := range listeners {
		group.Go(func() error { return server.Serve(l) })
		ready(l.Addr().String())
		log.Info("ready", "addr", l.Addr().String())
	}
	if err := NotifySystemd("READY=1"); err != nil {
		log.Warn("the service's state is not known to systemd", "err", err)
	}
	failed := make(chan error, 1)
	go func() { failed <- group.Wait() }()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}

	cfg = file.config()
	log.Info("stopping", "lameduck_period", cfg.LameduckPeriod, "drain_timeout", cfg.DrainTimeout)
	if err := NotifySystemd("STOPPING=1"); err != nil {
		log.Warn("the service's state is not known to systemd", "err", err)
	}
	server.Retire()
	if err == nil {
		lameduck(cfg.LameduckPeriod, failed)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), file.config().DrainTimeout) // it may have been reloaded
	defer cancel()
	if drainErr := server.Shutdown(drain); drainErr != nil {
		log.Warn("sessions cut off", "err", drainErr)
	}
	if drainErr := api.drain(drain); drainErr != nil {
		log.Warn("requests of the API cut off", "err", drainErr)
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
func serveAdmin(cfg config.Admin, handler http.Handler, shown *certificates, log *slog.Logger) (stop func() error, err error) {
	if cfg.Listen == "" {
		return func() error { return nil }, nil
	}
	l, err := listen(cfg.Listen, AdminSocketMode)
	if err != nil {
		return nil, fmt.Errorf("listen for admin on %s: %w", cfg.Listen, err)
	}
	h := &http.Server{Handler: admin.Guard(cfg.Password, handler), ReadHeaderTimeout: adminTimeout, IdleTimeout: time.Minute}
	limited := limitListener(l, adminConnections, h)
	if shown != nil {
		limited = tls.NewListener(limited, shown.config())
		h.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug) // of clients that break off in a handshake
	}
	var group errgroup.Group
	group.Go(func() error {
		if err := h.Serve(limited); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve admin on %s: %w", cfg.Listen, err)
		}
		return nil
	})
	log.Info("admin", "addr", l.Addr().String())
	warnOfOpen(cfg, log)
	return func() error { return errors.Join(h.Close(), group.Wait()) }, nil
}

// adminConnections is how many HTTP clients there may be at once: some probes, a Prometheus and a few who look. More of
// them would take descriptors that clients need.
const adminConnections = 64

// AdminSocketMode has seqgate's own user and group come by a socket, which are taken for clients on this machine.
const AdminSocketMode = 0o660

// adminTimeout bounds how long an HTTP client may take for its request's header.
const adminTimeout = 5 * time.Second

// handBackTimeout bounds giving unused ids back at the end: a gap is harmless, a
// stop that hangs is not.
const handBackTimeout = 2 * time.Second

// newLogger returns the log, whose level may change.
func newLogger(cfg config.Log, level *slog.LevelVar, w io.Writer) *slog.Logger {
	level.Set(cfg.Level)
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: durationsAsText}
	if cfg.Format == "json" || cfg.Format == "auto" && !isTerminal(w) {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// durationsAsText has JSON say "1.5s" as the text does, where it would be a number of nanoseconds.
func durationsAsText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// isTerminal reports whether somebody reads what is written there as it comes.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// OpenKeyspaces prepares the connections to each keyspace's server. None is
// opened yet: a server that is away now may be there later.
func OpenKeyspaces(cfg *config.Config) (map[string]*catalog.Keyspace, error) {
	keyspaces := make(map[string]*catalog.Keyspace)
	for _, k := range cfg.Keyspaces {
		shards := make([]*catalog.Keyspace, len(k.Shards))
		for i, shard := range k.Shards {
			opened, err := openShard(k.Name, shard)
			if err != nil {
				return nil, fmt.Errorf("keyspace %s: %w", k.Name, err)
			}
			shards[i] = opened
		}
		if k.Sharded() {
			keyspaces[k.Name] = catalog.Sharded(k.Layout, shards)
			continue
		}
		keyspaces[k.Name], shards[0].Shard = shards[0], ""
	}
	return keyspaces, nil
}

// openShard prepares the connections to one shard's server.
func openShard(keyspace string, shard config.Shard) (*catalog.Keyspace, error) {
	db, err := openPool(shard.DSN)
	if err != nil {
		return nil, err
	}
	refills, err := sequence.NewPool(shard.DSN)
	if err != nil {
		return nil, err
	}
	k := &catalog.Keyspace{
		Name: keyspace, Shard: shard.Name, Database: shard.DSN.DBName, DB: db, Refills: refills,
		Backend: &backend.Backend{
			Network: shard.DSN.Net, Addr: shard.DSN.Addr, User: shard.DSN.User, Password: shard.DSN.Passwd,
			TLS: backendMode(shard.Mode), TLSConfig: shard.DSN.TLS,
		},
		OpenAs: func(a catalog.Account) (*sql.DB, error) {
			dsn := shard.DSN.Clone()
			dsn.User, dsn.Passwd, dsn.DBName = a.User, a.Password, ""
			return openPool(dsn)
		},
	}
	if shard.SessionUser != "" {
		k.Backend.User, k.Backend.Password = shard.SessionUser, ""
	}
	return k, nil
}

func backendMode(m config.TLSMode) backend.TLSMode {
	switch m {
	case config.TLSDisabled:
		return backend.TLSDisabled
	case config.TLSAsClient:
		return backend.TLSAsClient
	case config.TLSPreferred:
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
	db := sql.OpenDB(sessionvars.Connector{Connector: connector, Statement: sessionvars.OwnTransactions}) // decisions on XA transactions last
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(time.Second) // who counts the server's sessions soon finds the clients' alone
	return db, nil
}

// CloseKeyspaces closes the pools. A server that went away before is told of, and
// no reason to fail.
func CloseKeyspaces(keyspaces map[string]*catalog.Keyspace, log *slog.Logger) {
	for name, k := range keyspaces {
		for _, shard := range k.EachShard() {
			if err := errors.Join(shard.DB.Close(), shard.Refills.Close()); err != nil {
				log.Info("connections to a server not closed in order", "keyspace", name, "shard", shard.Shard, "err", err)
			}
		}
	}
}

func newServer(schema *VSchemaFile, keyspaces map[string]*catalog.Keyspace, servers *health.Checker, sequences *sequence.Registry, keyed *keyedSequences,
	generators *generate.Set, clientTLS *tls.Config, key *rsa.PrivateKey, spans tracer, log *slog.Logger) (*proxy.Server, error) {
	cfg := schema.config()
	var alter func(context.Context, vschema.Edit) error
	if cfg.VSchemaFile != "" {
		alter = schema.alter
	}
	return proxy.New(proxy.Config{
		Keyspaces: keyspaces, Default: cfg.DefaultKeyspace, Users: proxyUsers(cfg.Users),
		TLS: clientTLS, RequireTLS: cfg.TLS.Required, RSA: key,
		Sequences: sequences, Keyed: keyed.get, Generators: generators, VSchema: cfg.VSchema, AlterVSchema: alter, OnExplicitID: cfg.Tables.OnExplicitIDOf,
		FirstFree: func(ctx context.Context, name sequence.Name) (int64, error) {
			return ops.FirstFree(ctx, schema.config(), name)
		},
		Logger: log, Tracer: spans, Version: Version(), Health: servers.Statuses,
		XA:             decisionsAt(cfg, keyspaces),
		MaxConnections: cfg.Limits.Connections, MaxUserConnections: cfg.Limits.PerUser, IdleBackends: cfg.Limits.IdleBackends,
		ProxyFrom:        cfg.ProxyProtocol.From,
		HandshakeTimeout: cfg.Timeouts.Handshake, IdleTimeout: cfg.Timeouts.Idle,
		ReadTimeout: cfg.Timeouts.Read, WriteTimeout: cfg.Timeouts.Write,
		Quiet: min(cfg.LameduckPeriod, quiet), SlowStatement: cfg.Log.Slow, MaxValues: cfg.Sequences.MaxN, PauseTimeout: cfg.Timeouts.Pause, StatementShapes: cfg.StatementShapes,
	})
}

// quiet is how long a session is silent before a stop ends it out of the blue. Clients
// that speak more seldom than that are the least likely to speak in the instant.
const quiet = time.Second

// lameduck goes on as before while load balancers notice that seqgate is not ready any
// more, unless accepting fails.
func lameduck(period time.Duration, failed <-chan error) {
	select {
	case <-time.After(period):
	case <-failed: // nobody comes any more
	}
}

// SequenceConfig returns how sequences behave.
func SequenceConfig(cfg *config.Config, spans tracer, log *slog.Logger) sequence.Config {
	return sequence.Config{
		MinLifetime: cfg.Sequences.MinLifetime, MaxStep: cfg.Sequences.MaxStep,
		PrefetchShare: float64(cfg.Sequences.Prefetch) / 100,
		Timeout:       cfg.Sequences.Timeout, Logger: log, Tracer: spans,
	}
}

// decisionsAt returns the keyspace whose server keeps the decisions on XA transactions, nil without those.
func decisionsAt(cfg *config.Config, keyspaces map[string]*catalog.Keyspace) *catalog.Keyspace {
	if cfg.Transactions != config.TransactionsXA {
		return nil
	}
	if k, ok := cfg.CentralKeyspace(); ok {
		return keyspaces[k.Name]
	}
	return nil
}

// proxyUsers returns the users of the file; nil, and not an empty list, for none.
func proxyUsers(users []config.User) []proxy.User {
	var list []proxy.User
	for _, u := range users {
		list = append(list, proxy.User{
			Name: u.Name, Password: u.Password, Plugin: u.Plugin, RequireTLS: u.Require, MaxConnections: u.MaxConnections,
			VSchemaDDL: u.VSchemaDDL, Account: u.Account,
		})
	}
	return list
}
