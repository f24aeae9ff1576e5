package backend

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/handshake"
)

func TestMain(m *testing.M) {
	resetTimeout = patience
	servertest.Main(m)
}

// patience is more than any step takes on a loaded machine.
const patience = time.Minute

// newBackend is server s with the account that the tests share.
func newBackend(s *servertest.Server) *Backend {
	return &Backend{Network: "tcp", Addr: s.Addr, User: s.User, Password: s.Password}
}

// common are the flags of most clients, without the EOF packets and with
// session tracking.
const common = mysql.CLIENT_MULTI_STATEMENTS | mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS |
	mysql.CLIENT_SESSION_TRACK | mysql.CLIENT_DEPRECATE_EOF | mysql.CLIENT_QUERY_ATTRIBUTES

func newLogin(s *servertest.Server, database string) Login {
	return Login{User: s.User, Password: s.Password, Database: database, Capabilities: uint64(common), Charset: utf8mb4}
}

// rawClient speaks the protocol over a connection as a client does.
type rawClient struct {
	tb testing.TB
	c  *Conn
}

// newRaw is a client on c, which has to answer within the tests' patience.
func newRaw(tb testing.TB, c *Conn) *rawClient {
	tb.Helper()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return &rawClient{tb, c}
}

// done takes the deadline away and gives the connection for others to use.
func (r *rawClient) done() *Conn {
	r.tb.Helper()
	if err := r.c.SetDeadline(time.Time{}); err != nil {
		r.tb.Fatal(err)
	}
	return r.c
}

func (r *rawClient) send(command byte, text string) {
	r.tb.Helper()
	if _, err := r.c.Write(appendCommand(nil, command, text)); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *rawClient) packet() []byte {
	r.tb.Helper()
	var header [4]byte
	if _, err := io.ReadFull(r.c, header[:]); err != nil {
		r.tb.Fatalf("read an answer: %v", err)
	}
	p := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	if _, err := io.ReadFull(r.c, p); err != nil {
		r.tb.Fatalf("read an answer: %v", err)
	}
	return p
}

// command sends a command whose answer is one packet.
func (r *rawClient) command(command byte, text string) []byte {
	r.tb.Helper()
	r.send(command, text)
	return r.packet()
}

// try runs a statement and gives its rows, the columns joined by tabs; the
// error is the server's. Of several results it gives the last.
func (r *rawClient) try(sql string) ([]string, error) {
	r.tb.Helper()
	if r.c.has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		sql = "\x00\x01" + sql
	}
	r.send(mysql.COM_QUERY, sql)
	for {
		p := r.packet()
		switch p[0] {
		case mysql.ERR_HEADER:
			return nil, (&handshake.Refused{Packet: p}).MySQL()
		case mysql.OK_HEADER:
			if okStatus(r.tb, p)&mysql.SERVER_MORE_RESULTS_EXISTS == 0 {
				return nil, nil
			}
			continue
		}
		rows, status, err := r.rows(int(p[0]))
		if err != nil || status&mysql.SERVER_MORE_RESULTS_EXISTS == 0 {
			return rows, err
		}
	}
}

func (r *rawClient) rows(columns int) (rows []string, status uint16, err error) {
	r.tb.Helper()
	for range columns {
		r.packet()
	}
	for {
		p := r.packet()
		switch {
		case p[0] == mysql.ERR_HEADER:
			return nil, 0, (&handshake.Refused{Packet: p}).MySQL()
		case p[0] == mysql.EOF_HEADER && len(p) < 1<<16:
			return rows, okStatus(r.tb, p), nil
		}
		values := make([]string, columns)
		for i := range values {
			v, null, n, err := mysql.LengthEncodedString(p)
			if err != nil {
				r.tb.Fatal(err)
			}
			if values[i], p = string(v), p[n:]; null {
				values[i] = "NULL"
			}
		}
		rows = append(rows, strings.Join(values, "\t"))
	}
}

// query is try for a statement that has to work.
func (r *rawClient) query(sql string) []string {
	r.tb.Helper()
	rows, err := r.try(sql)
	if err != nil {
		r.tb.Fatalf("%s: %v", sql, err)
	}
	return rows
}

// value is that of a query with one row.
func (r *rawClient) value(sql string) string {
	r.tb.Helper()
	rows := r.query(sql)
	if len(rows) != 1 {
		r.tb.Fatalf("%s gave %d rows, want 1", sql, len(rows))
	}
	return rows[0]
}

func okStatus(tb testing.TB, p []byte) uint16 {
	tb.Helper()
	p[0] = mysql.OK_HEADER // an OK in the place of an EOF is like one
	_, status, ok := parseOK(p)
	if !ok {
		tb.Fatalf("an OK of %x", p)
	}
	return status
}

func dial(tb testing.TB, b *Backend, login Login) *rawClient {
	tb.Helper()
	c, err := b.Dial(context.Background(), login)
	if err != nil {
		tb.Fatal(err)
	}
	return newRaw(tb, c)
}
