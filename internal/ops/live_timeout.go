package ops

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// Silence is how long a server may say nothing before it is asked whether it still answers, and how long it may take for
// that: a frozen one is given up after twice as long.
const Silence = 5 * time.Second

// errSilent is that of a server that takes connections and does not answer.
var errSilent = fmt.Errorf("it gave no answer in %v", 2*Silence)

// liveTimeout has the connections to a server wait for as long as it answers, so that a search in a large table is told
// from a frozen server: while nothing comes on a connection, another one is opened and pinged.
type liveTimeout struct {
	dsn  *mysql.Config // for the pings
	gone atomic.Bool   // a ping had no answer: no connection waits any more
}

// waitWhileAlive returns dsn with connections of a new liveTimeout. The readTimeout of a DSN that has one holds instead.
func waitWhileAlive(dsn *mysql.Config) (*mysql.Config, *liveTimeout) {
	p := &liveTimeout{dsn: dsn}
	if dsn.ReadTimeout > 0 {
		return dsn, p
	}
	dsn = dsn.Clone()
	dsn.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if p.gone.Load() {
			return nil, errSilent
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return liveConn{conn, p}, nil
	}
	return dsn, p
}

// explain names the silence that is behind an error: the driver says of every connection that broke that it is invalid.
func (p *liveTimeout) explain(err error) error {
	if err != nil && p.gone.Load() {
		return errSilent
	}
	return err
}

// answers reports whether the server answers a new connection; an answer that refuses it counts.
func (p *liveTimeout) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), Silence)
	defer cancel()
	db, err := sequence.NewPool(p.dsn)
	if err != nil {
		return false
	}
	defer db.Close() // the ping has said all
	err = db.PingContext(ctx)
	var refused *mysql.MySQLError
	return err == nil || errors.As(err, &refused)
}

type liveConn struct {
	net.Conn
	*liveTimeout
}

// Read implements [net.Conn].
func (c liveConn) Read(p []byte) (int, error) {
	for {
		if err := c.SetReadDeadline(time.Now().Add(Silence)); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if c.gone.Load() || !c.answers() {
			c.gone.Store(true)
			return 0, errSilent
		}
	}
}
