package zookeeper

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/seqgate/seqgate/sequence/worker"
)

// DefaultRoot is the node under which each set has its own.
const DefaultRoot = "/seqgate/workers"

// Config says how to reach ZooKeeper. A zero field means its default.
type Config struct {
	// Servers are host or host:port each, with port 2181 by default; one at least.
	Servers []string
	// Root is the node under which the sets are, which is made when it is missing: DefaultRoot by default.
	Root string
	// User and Password are for ZooKeeper's digest authentication. No User: the client says no name.
	User, Password string
	// ACL is that of the nodes that are made. By default they are the User's alone; without one everybody may do everything,
	// as is ZooKeeper's own default.
	ACL []zk.ACL
	// TLS encrypts the connections; nil: they are not. The servers' names are those in Servers.
	TLS *tls.Config
	// SessionTimeout is that of the connection, on which no lease depends: 10 seconds by default.
	SessionTimeout time.Duration
}

// Client is a connection to ZooKeeper, for the leasers of several sets.
type Client struct {
	conn *zk.Conn
	cfg  Config
	why  diary
	work sync.WaitGroup // requests whose callers may have gone

	login    sync.Mutex // held by the one that logs in; the others have to wait for that
	loggedIn bool
}

// Connect returns a client, and does not wait for a connection: calls do. It returns an error when the configuration
// cannot be used.
func Connect(cfg Config) (*Client, error) {
	cfg.Root = cmp.Or(cfg.Root, DefaultRoot)
	cfg.SessionTimeout = cmp.Or(cfg.SessionTimeout, 10*time.Second)
	switch {
	case len(cfg.Servers) == 0:
		return nil, errors.New("ZooKeeper: no server; give one at least, as host:2181")
	case !strings.HasPrefix(cfg.Root, "/") || path.Clean(cfg.Root) != cfg.Root || cfg.Root == "/":
		return nil, fmt.Errorf("ZooKeeper's node %q: write it as %s", cfg.Root, DefaultRoot)
	case strings.Contains(cfg.User, ":"):
		return nil, fmt.Errorf("ZooKeeper's user %q: a name with a colon cannot log in by digest", cfg.User)
	case cfg.ACL == nil && cfg.User != "":
		cfg.ACL = zk.AuthACL(zk.PermAll)
	case cfg.ACL == nil:
		cfg.ACL = zk.WorldACL(zk.PermAll)
	}
	c := &Client{cfg: cfg}
	conn, _, err := zk.Connect(cfg.Servers, cfg.SessionTimeout, zk.WithLogger(&c.why), zk.WithLogInfo(false),
		zk.WithEventCallback(c.why.event), zk.WithHostProvider(&hosts{}), zk.WithDialer(dialer(cfg.TLS)))
	if err != nil {
		return nil, fmt.Errorf("connect to ZooKeeper %v: %w", cfg.Servers, err)
	}
	c.conn = conn
	return c, nil
}

// dialer opens connections, encrypted by cfg unless that is nil.
func dialer(cfg *tls.Config) zk.Dialer {
	if cfg == nil {
		return net.DialTimeout
	}
	return func(network, address string, _ time.Duration) (net.Conn, error) {
		// The library allows a second, which is too short for the first handshakes of a Java that has just started.
		return tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, network, address, cfg)
	}
}

// Close ends the connection. Leases stay.
func (c *Client) Close() {
	c.conn.Close()
	c.work.Wait()
}

// logIn says who the user is, once: from then on the library does, whenever it has connected again.
func (c *Client) logIn() error {
	if c.cfg.User == "" {
		return nil
	}
	c.login.Lock()
	defer c.login.Unlock()
	if c.loggedIn {
		return nil
	}
	if err := c.conn.AddAuth("digest", []byte(c.cfg.User+":"+c.cfg.Password)); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	c.loggedIn = true
	return nil
}

// call runs requests, which know no context, until they are done or ctx is.
func call[T any](ctx context.Context, l *Leaser, act string, f func() (T, error)) (got T, err error) {
	type answer struct {
		got T
		err error
	}
	done := make(chan answer, 1)
	l.client.work.Go(func() {
		var a answer
		if a.err = l.client.logIn(); a.err == nil {
			a.got, a.err = f()
		}
		done <- a
	})
	select {
	case a := <-done:
		got, err = a.got, a.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	return got, l.failure(act, err)
}

func (l *Leaser) failure(act string, err error) error {
	var own *worker.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	err = fmt.Errorf("%s of the worker ids of %s in ZooKeeper: %w", act, l.set, err)
	if errors.Is(err, zk.ErrNoAuth) {
		return fmt.Errorf("%w (the nodes from %s on must let user %q read, write and create: see their ACLs)", err, l.client.cfg.Root, l.client.cfg.User)
	}
	if why := l.client.why.last(); why != "" {
		return fmt.Errorf("%w (%s)", err, why)
	}
	return err
}
