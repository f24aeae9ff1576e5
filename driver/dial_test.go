package driver_test

import (
	"context"
	"database/sql"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/driver"
	"github.com/seqgate/seqgate/internal/servertest"
)

// wrapped has nothing but a connection's own methods, as the end of a tunnel.
type wrapped struct{ net.Conn }

// All connections to the server go the way that Config.Dial makes; without it a network of another name is refused.
func TestDial(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		dsn, err := mysql.ParseDSN(s.DSN(p.database))
		if err != nil {
			t.Fatal(err)
		}
		network, addr := dsn.Net, dsn.Addr
		dsn.Net, dsn.Addr = "tunnel", "far"
		var dialled atomic.Int64
		dial := func(ctx context.Context, gotNetwork, gotAddr string) (net.Conn, error) {
			if gotNetwork != "tunnel" || gotAddr != "far" {
				t.Errorf("dial %s %s, want tunnel far", gotNetwork, gotAddr)
			}
			dialled.Add(1)
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return wrapped{c}, err
		}
		c, err := driver.NewConnector(dsn.FormatDSN(), driver.Config{Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(c)
		if id := insert(t, db, "INSERT INTO t (v) VALUES ('a')"); id != 1001 {
			t.Errorf("id %d, want 1001", id)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if n := dialled.Load(); n < 3 { // the statement's, the one that asks for tables, the refill's
			t.Errorf("%d connections, want 3 or more", n)
		}
		if _, err := driver.NewConnector(dsn.FormatDSN(), driver.Config{}); err == nil || !strings.Contains(err.Error(), "Config.Dial") {
			t.Errorf("without Config.Dial: %v", err)
		}
	})
}
