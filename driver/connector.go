package driver

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/sessionvars"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

// Config says how a [Connector] fills ids. A zero field means its default.
type Config struct {
	// Keyspace is the name that the vschema has for the database; that of the DSN's database by default.
	Keyspace string
	// VSchema says which columns are filled. When nil, a table t is filled when the sequence table t_seq stands beside it.
	VSchema *vschema.VSchema
	// Dial connects to the server in place of [net.Dialer], such as through a tunnel: for the statements, and for what this
	// package itself asks. It gets the DSN's network, which may have any name then, and address.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Refill is the strategy by which blocks are reserved, [sequence.StrategyForUpdate] by default. All strategies go
	// together.
	Refill string
	// Sequences says how long blocks last, how long a statement waits for ids, and so on.
	Sequences sequence.Config
	// WorkerID is the worker id in the ids of snowflakes whose params name none, another one for each Connector of every
	// process: two with the same one give the same ids. When nil, worker ids are leased by the table seqgate_workers in the database, which is made when it is missing.
	WorkerID *int64
	// OnExplicitID says what an id does that a statement writes itself; [catalog.ExplicitAdvance] by default.
	OnExplicitID catalog.ExplicitPolicy
	// CloseTimeout bounds the end: how long statements under way may take, and giving back unused ids. 10 seconds by default.
	CloseTimeout time.Duration
	// Logger is told of outages. Nothing is logged by default.
	Logger *slog.Logger
}

// Connector opens connections to a server, whose statements get their ids on the way. [sql.OpenDB] takes it, and closes it
// with the [sql.DB].
type Connector struct {
	client    driver.Connector // of go-sql-driver/mysql, to the proxy
	server    *proxy.Server
	sequences *sequence.Registry
	generate  *generate.Set
	listener  *listener
	pools     []*sql.DB
	timeout   time.Duration
	served    chan error
	close     func() error
}

var _ driver.Connector = (*Connector)(nil)

// user is who logs in within the process. The server sees the user of the DSN.
const user = "seqgate"

// networks are those that need no Config.Dial.
var networks = []string{"tcp", "tcp4", "tcp6", "unix"}

// NewConnector prepares connections to the server of a data source name as go-sql-driver/mysql writes it. The user needs
// SELECT and UPDATE on the sequence tables. It does not connect yet. It returns an error for a DSN or a Config that is
// wrong, and a [vschema.Errors] for a vschema that needs other servers.
func NewConnector(dsn string, cfg Config) (*Connector, error) {
	parsed, err := mysql.ParseDSN(dsn)
	switch {
	case err != nil:
		return nil, fmt.Errorf("data source name: %w", err)
	case parsed.DBName == "":
		return nil, errors.New("the data source name has no database: write user:password@tcp(host:port)/database")
	case cfg.Dial == nil && !slices.Contains(networks, parsed.Net):
		return nil, fmt.Errorf("the data source name has the network %q, not %s: go-sql-driver/mysql gives nobody the functions that are registered with it, so set Config.Dial to yours",
			parsed.Net, strings.Join(networks, " or "))
	}
	parsed.DialFunc = cfg.Dial
	cfg.Keyspace = cmp.Or(cfg.Keyspace, parsed.DBName)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Sequences.Logger = cmp.Or(cfg.Sequences.Logger, cfg.Logger)
	cfg.OnExplicitID = cmp.Or(cfg.OnExplicitID, catalog.ExplicitAdvance)

	c := &Connector{listener: newListener(), timeout: cmp.Or(cfg.CloseTimeout, 10*time.Second), served: make(chan error, 1)}
	password := rand.Text()
	if c.client, err = c.clientOf(parsed, password); err != nil {
		return nil, err
	}
	if err := c.open(parsed, cfg, password); err != nil {
		return nil, errors.Join(err, c.closePools())
	}
	c.close = sync.OnceValue(c.end)
	go func() { c.served <- c.server.Serve(c.listener) }()
	return c, nil
}

// clientOf makes what speaks to the proxy: as the DSN wants it, but for who and where.
func (c *Connector) clientOf(dsn *mysql.Config, password string) (driver.Connector, error) {
	own := dsn.Clone()
	own.User, own.Passwd, own.AllowNativePasswords = user, password, true
	own.TLS, own.TLSConfig = nil, ""      // the way to the server is encrypted: see open
	own.Net, own.Addr = "unix", "seqgate" // names in errors
	own.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return c.listener.dial(ctx) }
	return mysql.NewConnector(own)
}

// open makes the proxy and what it needs.
func (c *Connector) open(dsn *mysql.Config, cfg Config, password string) error {
	tables, err := openTables(dsn)
	if err != nil {
		return err
	}
	c.pools = append(c.pools, tables)
	refills, err := sequence.NewPool(dsn)
	if err != nil {
		return err
	}
	c.pools = append(c.pools, refills)
	k := &catalog.Keyspace{Name: cfg.Keyspace, Database: dsn.DBName, DB: tables, Refills: refills, Backend: backendOf(dsn)}
	if c.generate, err = c.generators(dsn, cfg); err != nil {
		return err
	}
	stores := &stores{cfg: cfg, keyspace: k}
	if _, err := stores.row(); err != nil {
		return err
	}
	c.sequences = sequence.NewRegistry(stores.open, cfg.Sequences)
	c.server, err = proxy.New(proxy.Config{
		Keyspaces: map[string]*catalog.Keyspace{k.Name: k}, Default: k.Name,
		Users:     []proxy.User{{Name: user, Password: password, Plugin: "mysql_native_password"}},
		Sequences: c.sequences, VSchema: cfg.VSchema, Generators: c.generate,
		OnExplicitID: func(string, string) catalog.ExplicitPolicy { return cfg.OnExplicitID },
		FirstFree: func(context.Context, sequence.Name) (int64, error) {
			return 0, errors.New("which ids are free is not looked up in this process: create sequences through seqgate, or by seqgate init")
		},
		Logger: cfg.Logger, HandshakeTimeout: dsn.Timeout,
	})
	if err != nil || cfg.VSchema == nil {
		return err
	}
	if err := c.server.CheckVSchema(cfg.VSchema); err != nil {
		return errors.Join(err, c.server.Shutdown(context.Background()))
	}
	return nil
}

// generators makes what gives ids without a sequence. Its leases have connections of their own, that no refill keeps waiting.
func (c *Connector) generators(dsn *mysql.Config, cfg Config) (*generate.Set, error) {
	lease := worker.Config{Logger: cfg.Logger, Generator: snowflake.Config{Timeout: cfg.Sequences.Timeout}}
	if cfg.WorkerID != nil {
		return generate.New(generate.Config{Workers: generate.StaticWorkers(*cfg.WorkerID, "", lease), Lease: lease}), nil
	}
	pool, err := sequence.NewPool(dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(2)
	c.pools = append(c.pools, pool)
	return generate.New(generate.Config{Lease: lease, Workers: &generate.Workers{
		From: "table " + cfg.Keyspace + "." + worker.TableName, Lease: lease,
		Leaser: func(ids generate.WorkerIDs) (worker.Leaser, error) {
			return worker.NewTable(pool, dsn.DBName, ids.Set, ids.Last, worker.TableConfig{}), nil
		},
	}}), nil
}

// openTables opens the connections with which the server is asked about tables.
func openTables(dsn *mysql.Config) (*sql.DB, error) {
	dsn = dsn.Clone()
	dsn.Timeout, dsn.ReadTimeout, dsn.WriteTimeout = 5*time.Second, 10*time.Second, 10*time.Second
	dsn.InterpolateParams = true
	dsn.Logger = &mysql.NopLogger{} // errors are returned
	connector, err := mysql.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(sessionvars.Connector{Connector: connector, Statement: sessionvars.OwnTransactions})
	db.SetMaxOpenConns(2)
	db.SetMaxIdleConns(1)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

// backendOf is the server of a DSN, for the statements themselves.
func backendOf(dsn *mysql.Config) *backend.Backend {
	mode := backend.TLSRequired
	switch {
	case dsn.TLS == nil:
		mode = backend.TLSDisabled
	case dsn.TLSConfig == "preferred":
		mode = backend.TLSPreferred
	}
	return &backend.Backend{Network: dsn.Net, Addr: dsn.Addr, DialFunc: dsn.DialFunc, User: dsn.User, Password: dsn.Passwd, TLS: mode, TLSConfig: dsn.TLS}
}

// Connect implements [driver.Connector].
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) { return c.client.Connect(ctx) }

// Driver implements [driver.Connector].
func (c *Connector) Driver() driver.Driver { return Driver{} }

// Sequences returns the state of each sequence that was used.
func (c *Connector) Sequences() []sequence.Status { return c.sequences.Snapshot() }

// Close waits for Config.CloseTimeout at most until statements and transactions under way have ended, ends the connections,
// and gives unused ids and worker ids back. [sql.DB.Close] calls it. The error says what was left open or not given back.
func (c *Connector) Close() error { return c.close() }

func (c *Connector) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	err := c.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("a transaction, or rows that nobody has read, were still open after %v and are ended now: end them before Close (%w)", c.timeout, err)
	}
	return errors.Join(err, <-c.served, c.sequences.Close(ctx), c.generate.Close(ctx), c.closePools())
}

func (c *Connector) closePools() error {
	var errs []error
	for _, pool := range c.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}
