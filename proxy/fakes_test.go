package proxy

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// fakeClient is a client whose bytes are all there from the start. It comes to
// them in pieces, and leaves after them.
type fakeClient struct {
	net.Conn
	in    []byte
	piece int
	out   bytes.Buffer
}

func (c *fakeClient) Read(b []byte) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), c.piece)], c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *fakeClient) Write(b []byte) (int, error)    { return c.out.Write(b) }
func (*fakeClient) Close() error                     { return nil }
func (*fakeClient) SetDeadline(time.Time) error      { return nil }
func (*fakeClient) SetReadDeadline(time.Time) error  { return nil }
func (*fakeClient) SetWriteDeadline(time.Time) error { return nil }

// fakeBackend is a server that accepts everything, and whose table t has no
// AUTO_INCREMENT: it reports what a proxy must not send.
type fakeBackend struct {
	net.Conn
	tb      testing.TB
	session *session // whose capabilities it shares

	mu           sync.Mutex
	came         *sync.Cond
	in, out      []byte
	late         bool // a deadline for reading has passed
	closed       bool
	command      []byte // the packets of one that have come so far
	number       byte   // of the next packet
	file         bool   // it waits for a file
	full         bool   // the packet before fills, and is continued
	streamed     bool   // a binary log was read: acknowledgements may come
	noDatabase   bool   // the client's user has changed, and named none: there is no t
	prepared     map[uint32]string
	lastID       uint32 // of those
	acceptsClone bool
	ids          map[string]bool
}

func newFakeBackend(tb testing.TB) *fakeBackend {
	b := &fakeBackend{tb: tb, prepared: make(map[uint32]string), ids: make(map[string]bool)}
	b.came = sync.NewCond(&b.mu)
	return b
}

func (b *fakeBackend) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.out) == 0 && !b.late && !b.closed {
		b.came.Wait()
	}
	if b.late {
		return 0, os.ErrDeadlineExceeded
	}
	if len(b.out) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

func (b *fakeBackend) SetReadDeadline(at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late = !at.IsZero() && at.Before(time.Now())
	b.came.Broadcast()
	return nil
}

func (b *fakeBackend) SetDeadline(at time.Time) error { return b.SetReadDeadline(at) }
func (*fakeBackend) SetWriteDeadline(time.Time) error { return nil }
func (*fakeBackend) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*fakeBackend) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

func (b *fakeBackend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.came.Broadcast()
	return nil
}

func (b *fakeBackend) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.in = append(b.in, p...)
	for len(b.in) >= wire.HeaderSize {
		length := int(b.in[0]) | int(b.in[1])<<8 | int(b.in[2])<<16
		if len(b.in) < wire.HeaderSize+length {
			break
		}
		b.packet(b.in[3], b.in[wire.HeaderSize:wire.HeaderSize+length])
		b.in = b.in[wire.HeaderSize+length:]
	}
	b.came.Broadcast()
	return len(p), nil
}

// packet takes one packet: of a file, or of a command.
func (b *fakeBackend) packet(number byte, payload []byte) {
	if b.streamed && len(b.command) == 0 && wire.First(payload) == semiSyncAck && !b.session.busy.Load() {
		return // within the stream; behind its end it is a command that nobody knows
	}
	if number != b.number {
		b.tb.Errorf("packet numbered %d, want %d: %q", number, b.number, payload)
	}
	b.number++
	continues := b.full
	b.full = len(payload) == wire.MaxPayload
	switch {
	case b.file && (len(payload) > 0 || continues):
	case b.file:
		b.file = false
		b.answer(okEnd)
		b.number = 0
	default:
		b.command = append(b.command, payload...)
		if !b.full {
			b.run(b.command)
			b.command = nil
		}
	}
}

// answer sends packets, numbered on from what came.
func (b *fakeBackend) answer(payloads ...string) {
	for _, p := range payloads {
		b.out, b.number = wire.AppendPacket(b.out, b.number, []byte(p))
	}
}

// end ends rows.
func (b *fakeBackend) end() string {
	if b.session.DeprecateEOF() {
		return okAsEOF
	}
	return eof
}

// run answers a command.
func (b *fakeBackend) run(command []byte) {
	defer func() {
		if !b.file {
			b.number = 0
		}
	}()
	if len(command) == 0 {
		b.answer(errPacket)
		return
	}
	switch body := command[1:]; command[0] {
	case mysql.COM_QUIT:
		b.closed = true
	case mysql.COM_STMT_SEND_LONG_DATA:
	case mysql.COM_STMT_CLOSE:
		if len(body) >= 4 {
			delete(b.prepared, binary.LittleEndian.Uint32(body))
		}
	case comResetConnection:
		clear(b.prepared)
		b.answer(okEnd)
	case mysql.COM_CHANGE_USER:
		change, err := handshake.ParseChangeUser(command, b.session.Capabilities)
		b.noDatabase = err == nil && change.Database == ""
		clear(b.prepared)
		b.answer(okEnd)
	case mysql.COM_INIT_DB:
		b.noDatabase = false
		b.answer(okEnd)
	case mysql.COM_QUERY:
		b.query(command)
	case mysql.COM_STMT_PREPARE:
		b.prepare(string(body))
	case mysql.COM_STMT_EXECUTE:
		b.execute(body)
	case mysql.COM_STMT_FETCH:
		b.answer(row, b.end())
	case mysql.COM_FIELD_LIST:
		b.answer(definition, eof)
	case mysql.COM_BINLOG_DUMP, mysql.COM_BINLOG_DUMP_GTID:
		b.streamed = true
		b.answer("\x00event", "\x00\xef\x01event", eof)
	case comClone, comGroupReplStream:
		if b.acceptsClone {
			b.answer(okEnd)
			return
		}
		b.answer(errPacket)
	case mysql.COM_SHUTDOWN:
		b.tb.Errorf("a command that is refused was passed on: %q", command)
	default:
		b.answer(okEnd)
	}
}

// Statements on table t, whose ids seqgate gives.
var (
	unfilled    = regexp.MustCompile(`(?i)^\s*(insert|replace)\s+into\s+t\s*\(v\)\s*values\s*\((\d+|\?)\)\s*$`)
	useDatabase = regexp.MustCompile(`(?i)^\s*use\s+\S`)
	filledInto  = regexp.MustCompile(`(?i)^\s*(?:insert|replace)\s+into\s+t\s*\(v\s*,\s*.?id.?\)\s*values\s*\(\d+,\s*(?:LAST_INSERT_ID\()?(\d+)`)
)

func (b *fakeBackend) query(command []byte) {
	begin := b.session.TextBegin(command)
	if begin == 0 {
		b.tb.Errorf("a text whose attributes cannot be read was passed on: %q", command)
		return
	}
	text := string(command[begin:])
	statements := []string{text}
	if b.session.Has(mysql.CLIENT_MULTI_STATEMENTS) && !strings.ContainsAny(text, "'\"`#-/\\") {
		statements = strings.Split(text, ";")
	}
	for _, statement := range statements {
		if strings.TrimSpace(statement) == "" {
			break // an error of syntax, which ends the text
		}
		b.noDatabase = b.noDatabase && !useDatabase.MatchString(statement)
		if unfilled.MatchString(statement) && !b.noDatabase && !strings.Contains(statement, "?") {
			b.tb.Errorf("an INSERT reached the server without its id: %q", text)
		}
		if id := filledInto.FindStringSubmatch(statement); id != nil {
			if b.ids[id[1]] {
				b.tb.Errorf("id %s twice", id[1])
			}
			b.ids[id[1]] = true
		}
	}
	switch {
	case strings.Contains(text, "(@@sql_mode)"):
		b.rows("\x00", "\x07utf8mb4", "\x04main", "\x010", "\x011", "\x010")
	case strings.HasPrefix(text, "SHOW CREATE TABLE"):
		b.rows("\x01t", "\x0cCREATE TABLE")
	case strings.HasPrefix(strings.ToUpper(text), "LOAD DATA LOCAL"):
		b.answer("\xfbfile")
		b.file = true
	default:
		b.answer(okEnd)
	}
}

// rows answers with one row.
func (b *fakeBackend) rows(values ...string) {
	b.answer(string([]byte{byte(len(values))}))
	for range values {
		b.answer(definition)
	}
	if !b.session.DeprecateEOF() {
		b.answer(eof)
	}
	b.answer(strings.Join(values, ""), b.end())
}

func (b *fakeBackend) prepare(text string) {
	b.lastID++
	b.prepared[b.lastID] = text
	params := strings.Count(text, "?")
	b.answer(string(append(binary.LittleEndian.AppendUint32([]byte{0}, b.lastID), 0, 0, byte(params), byte(params>>8), 0, 0, 0)))
	for range params {
		b.answer(definition)
	}
	if params > 0 && !b.session.DeprecateEOF() {
		b.answer(eof)
	}
}

func (b *fakeBackend) execute(body []byte) {
	if len(body) >= 4 {
		id := binary.LittleEndian.Uint32(body)
		if id == lastPrepared && b.session.MariaDB {
			id = b.lastID
		}
		if text := b.prepared[id]; unfilled.MatchString(text) && !b.noDatabase {
			b.tb.Errorf("an INSERT without its id was executed: %q", text)
		}
	}
	b.answer(okEnd)
}

// fakeCatalog is a database in which table t (id, v) has a sequence.
type fakeCatalog struct{}

func (c fakeCatalog) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (fakeCatalog) Driver() driver.Driver                          { return nil }
func (fakeCatalog) Prepare(string) (driver.Stmt, error)            { return nil, errors.ErrUnsupported }
func (fakeCatalog) Begin() (driver.Tx, error)                      { return nil, errors.ErrUnsupported }
func (fakeCatalog) Close() error                                   { return nil }

func (fakeCatalog) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if strings.Contains(query, catalog.IncrementVariable) {
		return &fakeRows{[][]driver.Value{{int64(1)}}, 1}, nil
	}
	columns := map[string][][2]string{
		"t":     {{"id", "bigint"}, {"v", "int"}},
		"t_seq": {{"id", "int"}, {"next_id", "bigint"}, {"cache", "bigint"}},
	}
	if name, ok := strings.CutPrefix(query, "SHOW COLUMNS FROM `main`.`"); ok {
		name = strings.ToLower(strings.TrimSuffix(name, "`"))
		if columns[name] == nil {
			return nil, &mysqldriver.MySQLError{Number: 1146, Message: "Table 'main." + name + "' doesn't exist"}
		}
		rows := &fakeRows{columns: 6}
		for _, c := range columns[name] {
			rows.left = append(rows.left, []driver.Value{c[0], []byte(c[1]), nil, nil, nil, nil})
		}
		return rows, nil
	}
	if len(args) == 0 {
		return &fakeRows{[][]driver.Value{{int64(64 << 20)}}, 1}, nil // @@max_allowed_packet
	}
	table := fmt.Sprint(args[1].Value)
	rows := &fakeRows{columns: 8}
	for i, c := range columns[strings.ToLower(table)] {
		key := ""
		if i == 0 {
			key = "PRI"
			rows.left = append(rows.left, []driver.Value{int64(0), table, "BASE TABLE", "InnoDB", "", "", "", false})
		}
		rows.left = append(rows.left, []driver.Value{int64(i + 1), c[0], c[1], key, "", "", "", false})
	}
	return rows, nil
}

type fakeRows struct {
	left    [][]driver.Value
	columns int
}

func (r *fakeRows) Columns() []string { return make([]string, r.columns) }
func (*fakeRows) Close() error        { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	copy(dest, r.left[0])
	r.left = r.left[1:]
	return nil
}

// fakeServer makes a Server for sessions in front of fake backends.
func fakeServer(tb testing.TB) *Server {
	log := slog.New(slog.DiscardHandler)
	store := sequencetest.NewStore(1, 1000)
	sequences := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) { return sequence.Settings{Store: store}, nil },
		sequence.Config{Timeout: 5 * time.Second, Logger: log})
	keyspace := &catalog.Keyspace{Name: "main", Database: "main", DB: sql.OpenDB(fakeCatalog{}), Backend: &backend.Backend{}}
	tb.Cleanup(func() { _ = keyspace.DB.Close() })
	srv, err := New(Config{Keyspaces: map[string]*catalog.Keyspace{"main": keyspace}, Default: "main", Sequences: sequences, Logger: log})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return srv
}

// fakeSession makes a session for a client who sends these bytes.
func fakeSession(tb testing.TB, srv *Server, capabilities uint32, mariaDB bool, piece int, stream []byte) (*session, *fakeClient, *fakeBackend) {
	front, back := &fakeClient{in: stream, piece: piece}, newFakeBackend(tb)
	client := &clientConn{srv: srv, ctx: srv.ctx, log: srv.log, front: wire.NewConn(front), leave: func() {}}
	server := &serverConn{serverState: serverState{srv: srv, ctx: srv.ctx, log: srv.log, keyspace: srv.cfg.Keyspaces["main"],
		Session: backend.Session{Wire: wire.NewConn(back), Capabilities: uint64(capabilities), MariaDB: mariaDB, Boundary: true, Conn: &backend.Conn{Conn: back}}}}
	s := newSession(client, server)
	s.State = backend.State{Database: "main", DatabaseKnown: true, LastIDKnown: true}
	back.session = s
	return s, front, back
}
