package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// A limit gives each key its places and no more, waits a moment for one, and
// keeps nothing of keys that have none.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limit
		ctx := context.Background()
		for range 2 {
			if !l.take(ctx, "a", 2) {
				t.Fatal("no place of 2 for a")
			}
		}
		if !l.take(ctx, "b", 1) {
			t.Error("no place for b beside those of a")
		}
		begun := time.Now()
		if l.take(ctx, "a", 2) {
			t.Error("a third place of 2")
		}
		if d := time.Since(begun); d != placeWait {
			t.Errorf("waited %v, want %v", d, placeWait)
		}
		go func() {
			time.Sleep(placeWait / 2)
			l.free("b") // which is none of a's
			l.free("a")
		}()
		if !l.take(ctx, "a", 2) {
			t.Error("no place, though one was freed in time")
		}
		l.free("a")
		l.free("a")
		if len(l.taken) != 0 {
			t.Errorf("places taken at the end: %v", l.taken)
		}
	})
}

func TestAdmitUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{MaxUserConnections: 1, Users: []User{{Name: "many", MaxConnections: 2}, {Name: "one"}}}
		s := new(Server)
		s.cfg, s.ctx = cfg, t.Context()
		for _, tt := range []struct {
			user, refused string
			places        int
		}{
			{"many", "User 'many' has exceeded the 'max_user_connections' resource (current value: 2)", 2},
			{"one", "User 'one' has exceeded the 'max_user_connections' resource (current value: 1)", 1},
			{"not listed", "User 'not listed' has exceeded the 'max_user_connections' resource (current value: 1)", 1},
		} {
			var releases []func()
			for range tt.places {
				release, err := s.admitUser(tt.user)
				if err != nil {
					t.Fatalf("%s: %v", tt.user, err)
				}
				releases = append(releases, release)
			}
			_, err := s.admitUser(tt.user)
			var refused *mysql.MyError
			if !errors.As(err, &refused) || refused.Code != 1226 || refused.State != "42000" || refused.Message != tt.refused {
				t.Errorf("%s: error %v, want 1226 (42000): %s", tt.user, err, tt.refused)
			}
			releases[0]()
			if _, err := s.admitUser(tt.user); err != nil {
				t.Errorf("%s, after one left: %v", tt.user, err)
			}
		}
	})
}

func TestUserAdmits(t *testing.T) {
	plain := (*tls.ConnectionState)(nil)
	encrypted := &tls.ConnectionState{}
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}
	shown := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
	for _, tt := range []struct {
		require UserTLS
		state   *tls.ConnectionState
		want    bool
	}{
		{"", plain, true}, {UserTLSNone, plain, true}, {UserTLSNone, verified, true},
		{UserTLSAny, plain, false}, {UserTLSAny, encrypted, true}, {UserTLSAny, verified, true},
		{UserTLSX509, plain, false}, {UserTLSX509, encrypted, false}, {UserTLSX509, shown, false}, {UserTLSX509, verified, true},
	} {
		if got := (User{RequireTLS: tt.require}).admits(tt.state); got != tt.want {
			t.Errorf("require %q admits %+v: %v, want %v", tt.require, tt.state, got, tt.want)
		}
	}
}
