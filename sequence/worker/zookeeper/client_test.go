package zookeeper_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/sequence/worker/zookeeper"
)

func TestConnectRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  zookeeper.Config
		want string // "" for a configuration that can be used
	}{
		{"nothing", zookeeper.Config{}, "no server; give one"},
		{"a node", zookeeper.Config{Servers: []string{"127.0.0.1:1"}, Root: "/a/b"}, ""},
		{"no root node", zookeeper.Config{Servers: []string{"127.0.0.1:1"}, Root: "a"}, `node "a"`},
		{"a slash too much", zookeeper.Config{Servers: []string{"127.0.0.1:1"}, Root: "/a/"}, `node "/a/"`},
		{"everything", zookeeper.Config{Servers: []string{"127.0.0.1:1"}, Root: "/"}, `node "/"`},
		{"a colon", zookeeper.Config{Servers: []string{"127.0.0.1:1"}, User: "a:b"}, `user "a:b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, err := zookeeper.Connect(tt.cfg)
			if err == nil {
				defer client.Close()
			}
			if got := err == nil; got != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got the error %v, want %q", err, tt.want)
			}
		})
	}
}

func newClaim() worker.Claim {
	now := time.Now()
	return worker.Claim{Token: rand.Text(), Address: "here", Until: now.Add(time.Minute), Lease: 10 * time.Minute, MaxSkew: time.Second, Clock: now}
}

// wantFailure has calls fail until the error says what is wanted: at first a client may not yet have tried to connect.
func wantFailure(t *testing.T, l worker.Leaser, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := l.Acquire(ctx, newClaim())
		cancel()
		if err == nil || time.Now().After(end) {
			t.Fatalf("got the error %v, want %q", err, want)
		}
		if strings.Contains(err.Error(), want) {
			return
		}
	}
}

func wantLease(t *testing.T, l worker.Leaser, ids ...int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := newClaim()
	for {
		got, err := l.Acquire(ctx, c)
		if err == nil {
			if !slices.Contains(ids, got.Worker) {
				t.Errorf("got worker id %d, want one of %d", got.Worker, ids)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestLogin has a user make nodes, which are then that user's alone.
func TestLogin(t *testing.T) {
	addr := servertest.StartZooKeeper(t)
	cfg := zookeeper.Config{Servers: []string{addr}, Root: "/deep/down/ids", User: "seqgate", Password: "secret"}
	client := connect(t, cfg)
	wantLease(t, zookeeper.New(client, "a", 7, nil), 0)
	wantLease(t, zookeeper.New(client, "b", 7, nil), 0)
	wantLease(t, zookeeper.New(connect(t, cfg), "a", 7, nil), 1)
	for _, other := range [][2]string{{}, {"seqgate", "wrong"}, {"other", "secret"}} {
		cfg.User, cfg.Password = other[0], other[1]
		wantFailure(t, zookeeper.New(connect(t, cfg), "a", 7, nil), "the nodes from /deep/down/ids on must let user \""+other[0]+"\" read")
	}
}

// TestForeignParent has nodes of the user's below one of somebody else's, who lets users see it only.
func TestForeignParent(t *testing.T) {
	addr := servertest.StartZooKeeper(t)
	admin, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	_, err1 := admin.Create("/closed", nil, 0, zk.WorldACL(zk.PermAll))
	_, err2 := admin.Create("/closed/ids", nil, 0, zk.DigestACL(zk.PermAll, "seqgate", "secret"))
	_, err3 := admin.SetACL("/closed", zk.WorldACL(zk.PermRead), -1)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	client := connect(t, zookeeper.Config{Servers: []string{addr}, Root: "/closed/ids", User: "seqgate", Password: "secret"})
	wantLease(t, zookeeper.New(client, "a", 7, nil), 0)
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func TestTLS(t *testing.T) {
	certs := servertest.NewCertificates(t)
	addr := servertest.StartZooKeeper(t, certs)
	secure := certs.Client(t)
	at := []string{addr}
	wantLease(t, zookeeper.New(connect(t, zookeeper.Config{Servers: at, TLS: secure}), "a", 7, nil), 0)
	wantLease(t, zookeeper.New(connect(t, zookeeper.Config{Servers: at, TLS: secure, User: "u", Password: "p"}), "b", 7, nil), 0)
	wantFailure(t, zookeeper.New(connect(t, zookeeper.Config{Servers: at, TLS: &tls.Config{}}), "a", 7, nil), "unknown authority")
	wantFailure(t, zookeeper.New(connect(t, zookeeper.Config{Servers: at, TLS: &tls.Config{RootCAs: secure.RootCAs}}), "a", 7, nil), "remote error: tls")
	wantFailure(t, zookeeper.New(connect(t, zookeeper.Config{Servers: at}), "a", 7, nil), "authentication failed")
}

// TestServerComesLater has clients begin without a server: one that is to log in, and one that is not.
func TestServerComesLater(t *testing.T) {
	server, addr := servertest.StartZooKeeper(t), servertest.FreeAddr(t)
	anybody := zookeeper.New(connect(t, zookeeper.Config{Servers: []string{addr}, Root: "/a"}), "a", 7, nil)
	user := zookeeper.New(connect(t, zookeeper.Config{Servers: []string{addr}, Root: "/u", User: "u", Password: "p"}), "a", 7, nil)
	wantFailure(t, anybody, "connection refused")
	wantFailure(t, user, "connection refused")
	servertest.Relay(t, addr, server)
	// What was given up without a server may have been sent when it came: then it has the first worker ids.
	wantLease(t, anybody, 0, 1, 2, 3, 4, 5, 6, 7)
	wantLease(t, user, 0, 1, 2, 3, 4, 5, 6, 7)
}

// TestSecondServer has the first of two servers be away. The library begins with one of them, at random.
func TestSecondServer(t *testing.T) {
	addr := servertest.StartZooKeeper(t)
	for id := range int64(8) {
		l := zookeeper.New(connect(t, zookeeper.Config{Servers: []string{servertest.FreeAddr(t), addr}}), "a", 7, nil)
		wantLease(t, l, id)
	}
}
