package app

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/proxy/catalog"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// keyedSequences holds the keyed sequences of the process, each made on its first use.
type keyedSequences struct {
	cfg       *config.Config
	keyspaces map[string]*catalog.Keyspace
	log       *slog.Logger
	peers     *peers
	address   string // where other seqgates reach this one; set before the first get

	mu     sync.Mutex // guards what follows
	open   map[sequence.Name]*keyed.Sequence
	closed bool
}

func newKeyedSequences(cfg *config.Config, keyspaces map[string]*catalog.Keyspace, log *slog.Logger) *keyedSequences {
	return &keyedSequences{cfg: cfg, keyspaces: keyspaces, log: log, peers: newPeers(cfg),
		open: map[sequence.Name]*keyed.Sequence{}}
}

// get returns the sequence of that name.
func (k *keyedSequences) get(name sequence.Name) (*keyed.Sequence, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.open[name]; s != nil {
		return s, nil
	}
	keyspace, ok := k.keyspaces[name.Keyspace]
	switch {
	case !ok:
		return nil, fmt.Errorf("sequence %s: keyspace %q is not configured", name, name.Keyspace)
	case k.closed:
		return nil, fmt.Errorf("sequence %s: %w", name, sequence.ErrClosed)
	}
	s := keyed.Open(keyspace.Refills, name, keyed.Config{
		Address: k.address, Forward: k.peers.ask, Lease: k.cfg.Sequences.Lease,
		Timeout: max(k.cfg.Sequences.Timeout, 2*k.cfg.Sequences.Lease), Logger: k.log,
		Declared: k.cfg.IsKeyed(name.Keyspace, name.Table), Ended: func(s *keyed.Sequence) { k.forget(name, s) }})
	k.open[name] = s
	return s, nil
}

// forget has the next get of that name open it anew: s has ended, as whatever is asked for a key and counts by none.
func (k *keyedSequences) forget(name sequence.Name, s *keyed.Sequence) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed && k.open[name] == s {
		delete(k.open, name)
	}
}

// snapshot returns the status of every sequence, by its name.
func (k *keyedSequences) snapshot() []keyed.Status {
	k.mu.Lock()
	open := slices.Collect(maps.Values(k.open))
	k.mu.Unlock()
	all := make([]keyed.Status, 0, len(open))
	for _, s := range open {
		all = append(all, s.Status())
	}
	slices.SortFunc(all, func(a, b keyed.Status) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	return all
}

// close releases all leases, so that other seqgates go on at once.
func (k *keyedSequences) close(ctx context.Context) error {
	k.mu.Lock()
	k.closed = true
	open := k.open
	k.mu.Unlock()
	errs := make(chan error, len(open))
	for _, s := range open {
		go func() { errs <- s.Close(ctx) }()
	}
	var all []error
	for range open {
		all = append(all, <-errs)
	}
	return errors.Join(append(all, k.peers.close())...)
}

// advertised is where other seqgates reach this one; empty when they cannot.
func advertised(c *config.Config, listeners []net.Listener) string {
	if c.Advertise != "" {
		return c.Advertise
	}
	for _, l := range listeners {
		if addr, ok := l.Addr().(*net.TCPAddr); ok && !addr.IP.IsUnspecified() {
			return addr.String()
		}
	}
	return ""
}

// peers are the other seqgates, which hold the leases of other sections of keyed sequences. They are asked as by any
// MySQL client, and known by proxy.PeerAttribute.
type peers struct {
	cfg *config.Config

	mu    sync.Mutex   // guards what follows
	first *config.User // of the users; nil without any
	open  map[peer]*peerPool
}

func newPeers(cfg *config.Config) *peers {
	p := &peers{cfg: cfg, open: map[peer]*peerPool{}}
	if len(cfg.Users) > 0 {
		p.first = &cfg.Users[0]
	}
	return p
}

// peerPool is the connections to one of them.
type peerPool struct {
	*sql.DB
	asking int  // requests under way
	left   bool // it is closed when the last of them has ended
}

type peer struct{ addr, keyspace string }

// peerConnections bounds the connections to each of the others.
const peerConnections = 8

// ask implements [keyed.Forward] by SELECT NEXT n VALUES ... FOR KEY, all in one text.
func (p *peers) ask(ctx context.Context, addr string, name sequence.Name, wants []keyed.Want) (got []sequence.Range, err error) {
	db, err := p.pool(addr, name.Keyspace)
	if err != nil {
		return nil, err
	}
	defer p.giveBack(db)
	rows, err := db.QueryContext(ctx, nextOfKeys(name, wants))
	if err != nil {
		return nil, peerError(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for _, w := range wants {
		var first int64
		for rows.Next() {
			if err := rows.Scan(&first); err != nil {
				return nil, err
			}
		}
		if err := rows.Err(); err != nil {
			return nil, peerError(err)
		}
		got = append(got, sequence.Range{First: first, N: w.N})
		rows.NextResultSet()
	}
	return got, peerError(rows.Err())
}

// nextOfKeys is the text that asks for values. The keys are written so that no sql_mode and no character set reads them
// in another way.
func nextOfKeys(name sequence.Name, wants []keyed.Want) string {
	var b strings.Builder
	for i, w := range wants {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "SELECT NEXT %d VALUES FROM %s.%s FOR KEY X'%s'", w.N, ops.Quote(name.Database), ops.Quote(name.Table), hex.EncodeToString(w.Key))
	}
	return b.String()
}

// peerError tells what asking again cannot mend.
func peerError(err error) error {
	const exhausted = 1467 // ER_AUTOINC_READ_FAILED
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == exhausted {
		return fmt.Errorf("%w: %w", sequence.ErrExhausted, err)
	}
	return err
}

// pool returns the connections to another seqgate. They log in as the first of the users, who are the same in all seqgates,
// or as the keyspace's own user. The caller gives the pool back.
func (p *peers) pool(addr, keyspace string) (*peerPool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := peer{addr, keyspace}
	if db := p.open[key]; db != nil {
		db.asking++
		return db, nil
	}
	k, ok := p.cfg.Keyspace(keyspace)
	if !ok {
		return nil, fmt.Errorf("keyspace %q is not configured", keyspace)
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", addr, keyspace
	cfg.User, cfg.Passwd = k.Shards[0].DSN.User, k.Shards[0].DSN.Passwd
	if p.first != nil {
		cfg.User, cfg.Passwd = p.first.Name, p.first.Password
	}
	cfg.TLSConfig, cfg.MultiStatements = "preferred", true // each seqgate has a certificate of its own
	cfg.ConnectionAttributes = proxy.PeerAttribute + ":" + proxy.PeerProof(k.Shards[0].DSN.Passwd)
	cfg.Timeout, cfg.Logger = time.Second, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("reach the seqgate at %s: %w", addr, err)
	}
	db := &peerPool{DB: sql.OpenDB(connector), asking: 1}
	db.SetMaxOpenConns(peerConnections)
	db.SetMaxIdleConns(peerConnections)
	db.SetConnMaxIdleTime(time.Minute)
	p.open[key] = db
	return db, nil
}

// giveBack ends the use of a pool.
func (p *peers) giveBack(db *peerPool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	db.asking--
	if db.left && db.asking == 0 {
		_ = db.Close() // what was asked over it has been answered
	}
}

// changeUsers has the peers asked as the first of these users from now on. Connections of another login are left: the
// user may be gone from the others, too.
func (p *peers) changeUsers(users []config.User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil || len(users) == 0 || p.first.Name == users[0].Name && p.first.Password == users[0].Password {
		return
	}
	p.first = &users[0]
	for key, db := range p.open {
		delete(p.open, key)
		if db.left = true; db.asking == 0 {
			_ = db.Close() // as in giveBack
		}
	}
}

func (p *peers) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, db := range p.open {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}
