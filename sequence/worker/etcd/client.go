package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/seqgate/seqgate/sequence/worker"
)

// Config says how to reach etcd. A zero field means its default.
type Config struct {
	// Endpoints are host:port or https://host:port each; one at least.
	Endpoints []string
	// Prefix begins all keys; a slash at its end may be left out. DefaultPrefix by default.
	Prefix string
	// Username and Password are for etcd's own authentication. No Username: the client says no name.
	Username, Password string
	// TLS encrypts the connections. nil: only https endpoints are encrypted, and verified by what the system trusts.
	TLS *tls.Config
}

// Client is a connection to etcd, for the leasers of several sets. It is made when the first call needs it, as etcd's own
// client begins with a login that has to succeed.
type Client struct {
	cfg    clientv3.Config
	prefix string
	turn   chan struct{} // holds one item, which is the right to use client
	client *clientv3.Client
	closed bool
}

// Connect returns a client, and does not wait for a connection: calls do. It returns an error when the configuration
// cannot be used.
func Connect(cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Client{prefix: strings.TrimRight(cmp.Or(cfg.Prefix, DefaultPrefix), "/") + "/", turn: make(chan struct{}, 1)}
	c.cfg = clientv3.Config{Endpoints: cfg.Endpoints, Username: cfg.Username, Password: cfg.Password, TLS: cfg.TLS,
		// So that a server which is cut off without a word is given up for another one, well before a lease ends.
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
		MaxUnaryRetries: 10, // a fraction of a second
		DialOptions:     []grpc.DialOption{grpc.WithConnectParams(reconnect), grpc.WithChainUnaryInterceptor(tell)},
		Logger:          zap.NewNop()}
	c.turn <- struct{}{}
	return c, nil
}

// reconnect is how often a server that is away is tried. By default gRPC waits for up to two minutes, and so long would ids
// stay away when etcd is back.
var reconnect = grpc.ConnectParams{MinConnectTimeout: 5 * time.Second,
	Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: 2 * time.Second}}

// tell has a call without a connection fail and say why there is none. By default etcd's client waits for one until the
// deadline, and then says just that. Holders try again by themselves.
func tell(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return call(ctx, method, request, answer, conn, append(opts, grpc.WaitForReady(false))...)
}

// check finds what etcd's client takes for something else than was meant: it encrypts to all endpoints or to none, as the
// first one says, and leaves a name out when there is no password.
func (cfg Config) check() error {
	if len(cfg.Endpoints) == 0 {
		return errors.New("etcd: no endpoint; give one at least, as host:2379")
	}
	if (cfg.Username == "") != (cfg.Password == "") {
		return errors.New("etcd: user and password are needed both, or none of them")
	}
	for _, e := range cfg.Endpoints {
		scheme, _, ok := strings.Cut(e, "://")
		encrypted := cfg.TLS != nil && !ok || scheme == "https"
		switch {
		case e == "":
			return errors.New("etcd: an endpoint is empty; write it as host:2379")
		case ok && scheme != "http" && scheme != "https":
			return fmt.Errorf("etcd: endpoint %s: write it as host:2379 or https://host:2379", e)
		case cfg.TLS != nil && !encrypted:
			return fmt.Errorf("etcd: endpoint %s is not encrypted, and TLS is configured; write it with https://", e)
		case encrypted != (cfg.TLS != nil || strings.HasPrefix(cfg.Endpoints[0], "https://")):
			return fmt.Errorf("etcd: endpoints %s and %s: either all are encrypted (https://), or none", cfg.Endpoints[0], e)
		}
	}
	return nil
}

// Leaser returns the worker ids 0 to most of a set. rivals is as in [worker.TableConfig].
func (c *Client) Leaser(set string, most int64, rivals func(set string) bool) worker.Leaser {
	return lazy{client: c, set: set, most: most, rivals: rivals}
}

// Close ends the connection, after [worker.Holder.Close]. Leases stay.
func (c *Client) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.closed = true
	if c.client == nil {
		return nil
	}
	client := c.client
	c.client = nil
	return client.Close()
}

// connected returns etcd's own client, which it makes if need be.
func (c *Client) connected(ctx context.Context) (*clientv3.Client, error) {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { c.turn <- struct{}{} }()
	if c.closed {
		return nil, context.Canceled
	}
	if c.client != nil {
		return c.client, nil
	}
	// The context in the configuration is that of the client's whole life: ctx ends it only while it is being made.
	life, end := context.WithCancel(context.Background())
	keep := context.AfterFunc(ctx, end)
	cfg := c.cfg
	cfg.Context = life
	client, err := clientv3.New(cfg)
	switch {
	case err != nil:
		keep()
		end()
		return nil, cmp.Or(ctx.Err(), err)
	case !keep(): // too late
		end()
		return nil, errors.Join(ctx.Err(), client.Close())
	}
	c.client = client // whose Close ends its life
	return client, nil
}
