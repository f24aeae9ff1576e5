package etcd_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/sequence/worker/etcd"
)

func TestConnectRefuses(t *testing.T) {
	secure := &tls.Config{RootCAs: x509.NewCertPool()}
	for _, tt := range []struct {
		name string
		cfg  etcd.Config
		want string // "" for a configuration that can be used
	}{
		{"nothing", etcd.Config{}, "no endpoint"},
		{"an address", etcd.Config{Endpoints: []string{"a:2379"}}, ""},
		{"empty", etcd.Config{Endpoints: []string{""}}, "is empty"},
		{"another scheme", etcd.Config{Endpoints: []string{"ftp://a:2379"}}, "ftp://a:2379"},
		{"no password", etcd.Config{Endpoints: []string{"a:2379"}, Username: "x"}, "user and password"},
		{"no user", etcd.Config{Endpoints: []string{"a:2379"}, Password: "x"}, "user and password"},
		{"TLS", etcd.Config{Endpoints: []string{"https://a:2379", "b:2379"}, TLS: secure}, ""},
		{"TLS that would not be used", etcd.Config{Endpoints: []string{"b:2379", "http://a:2379"}, TLS: secure}, "http://a:2379 is not encrypted"},
		{"TLS of the system", etcd.Config{Endpoints: []string{"https://a:2379", "https://b:2379"}}, ""},
		{"one in clear", etcd.Config{Endpoints: []string{"https://a:2379", "b:2379"}}, "all are encrypted"},
		{"the first in clear", etcd.Config{Endpoints: []string{"a:2379", "https://b:2379"}}, "all are encrypted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, err := etcd.Connect(tt.cfg)
			if err == nil {
				defer client.Close() // nothing was opened
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

// wantFailure has a call fail and say why before its deadline.
func wantFailure(t *testing.T, l worker.Leaser, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := l.Acquire(ctx, newClaim())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}

func wantLease(t *testing.T, l worker.Leaser, id int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := newClaim()
	for {
		got, err := l.Acquire(ctx, c)
		if err == nil {
			if got.Worker != id {
				t.Errorf("got worker id %d, want %d", got.Worker, id)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestLogin has etcd ask for users, and let one of them at keys of a prefix only.
func TestLogin(t *testing.T) {
	addr := servertest.StartEtcd(t)
	enableUsers(t, addr)
	at := []string{addr}
	right := connect(t, etcd.Config{Endpoints: at, Prefix: "/ids", Username: "seqgate", Password: "secret"})
	wantLease(t, right.Leaser("a", 7, nil), 0)
	wantLease(t, right.Leaser("a", 7, nil), 1)
	wantLease(t, right.Leaser("b", 7, nil), 0)
	wantFailure(t, connect(t, etcd.Config{Endpoints: at, Prefix: "/ids"}).Leaser("a", 7, nil), "user name is empty")
	wantFailure(t, connect(t, etcd.Config{Endpoints: at, Prefix: "/ids", Username: "seqgate", Password: "wrong"}).Leaser("a", 7, nil), "invalid user ID or password")
	wantFailure(t, connect(t, etcd.Config{Endpoints: at, Username: "seqgate", Password: "secret"}).Leaser("a", 7, nil), "permission denied")
}

func enableUsers(t *testing.T, addr string) {
	t.Helper()
	admin, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close() // has nothing to tell
	ctx := t.Context()
	_, err1 := admin.UserAdd(ctx, "root", "root")
	_, err2 := admin.UserGrantRole(ctx, "root", "root")
	_, err3 := admin.UserAdd(ctx, "seqgate", "secret")
	_, err4 := admin.RoleAdd(ctx, "ids")
	_, err5 := admin.RoleGrantPermission(ctx, "ids", "/ids/", clientv3.GetPrefixRangeEnd("/ids/"), clientv3.PermissionType(clientv3.PermReadWrite))
	_, err6 := admin.UserGrantRole(ctx, "seqgate", "ids")
	_, err7 := admin.AuthEnable(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		t.Fatal(err)
	}
}

func TestTLS(t *testing.T) {
	certs := servertest.NewCertificates(t)
	addr := servertest.StartEtcd(t, certs)
	secure := certs.Client(t)
	wantLease(t, connect(t, etcd.Config{Endpoints: []string{addr}, TLS: secure}).Leaser("a", 7, nil), 0)
	wantLease(t, connect(t, etcd.Config{Endpoints: []string{"https://" + addr}, TLS: secure}).Leaser("a", 7, nil), 1)
	wantFailure(t, connect(t, etcd.Config{Endpoints: []string{"https://" + addr}}).Leaser("a", 7, nil), "unknown authority")
	wantFailure(t, connect(t, etcd.Config{Endpoints: []string{addr}, TLS: &tls.Config{RootCAs: secure.RootCAs}}).Leaser("a", 7, nil), "Unavailable") // the reason is told as the connection happens to end
	wantFailure(t, connect(t, etcd.Config{Endpoints: []string{addr}}).Leaser("a", 7, nil), "Unavailable")
}

// TestServerComesLater has a client that is to log in begin without a server.
func TestServerComesLater(t *testing.T) {
	server := servertest.StartEtcd(t)
	enableUsers(t, server)
	addr := servertest.FreeAddr(t)
	client := connect(t, etcd.Config{Endpoints: []string{addr}, Prefix: "/ids", Username: "seqgate", Password: "secret"})
	l := client.Leaser("a", 7, nil)
	wantFailure(t, l, "connect to etcd ["+addr+"] for the worker ids of a")
	wantFailure(t, l, "connection refused")
	servertest.Relay(t, addr, server)
	wantLease(t, l, 0)
}

func TestClosedClient(t *testing.T) {
	client, err := etcd.Connect(etcd.Config{Endpoints: []string{servertest.FreeAddr(t)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Leaser("a", 7, nil).Look(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want one that says that the client is closed", err)
	}
}
