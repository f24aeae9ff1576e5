package proxy_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// bulkClient is a client that asks for MariaDB's bulk executions, which no library
// of Go does.
type bulkClient struct {
	testing.TB
	net.Conn
}

const (
	bulkOperations = 1 << 34
	extendedNames  = 1 << 35
	cachedNames    = 1 << 36
)

func dialBulk(t testing.TB, addr, database string, flags uint64) *bulkClient {
	t.Helper()
	b := &backend.Backend{Network: "tcp", Addr: addr}
	c, err := b.Dial(t.Context(), backend.Login{User: gateUser, Password: gatePassword, Database: database, Charset: 45,
		Capabilities: flags | uint64(protocol.CLIENT_DEPRECATE_EOF|protocol.CLIENT_TRANSACTIONS)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Quit() })
	return &bulkClient{t, c.Conn}
}

func (c *bulkClient) send(payload ...byte) {
	c.Helper()
	n := len(payload)
	if _, err := c.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}, payload...)); err != nil {
		c.Fatal(err)
	}
}

func (c *bulkClient) receive() []byte {
	c.Helper()
	var header [4]byte
	if _, err := io.ReadFull(c, header[:]); err != nil {
		c.Fatal(err)
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	if _, err := io.ReadFull(c, payload); err != nil {
		c.Fatal(err)
	}
	return payload
}

// prepare prepares a statement that has no result.
func (c *bulkClient) prepare(sql string) (id []byte) {
	c.Helper()
	c.send(append([]byte{protocol.COM_STMT_PREPARE}, sql...)...)
	ok := c.receive()
	if ok[0] != protocol.OK_HEADER {
		c.Fatalf("prepare %s: %q", sql, ok)
	}
	for range binary.LittleEndian.Uint16(ok[7:]) {
		c.receive()
	}
	return ok[1:5]
}

// bulk executes a statement once for rows of a BIGINT id and a text each. The id
// nil is sent as NULL.
func (c *bulkClient) bulk(stmt []byte, rows ...bulkRow) (affected, insertID uint64, errno uint16) {
	c.Helper()
	b := append(append([]byte{0xfa}, stmt...), 128, 0, protocol.MYSQL_TYPE_LONGLONG, 0, protocol.MYSQL_TYPE_VAR_STRING, 0)
	for _, r := range rows {
		if id, ok := r.id.(int); ok {
			b = binary.LittleEndian.AppendUint64(append(b, 0), uint64(id))
		} else {
			b = append(b, 1)
		}
		b = append(append(b, 0, byte(len(r.u))), r.u...)
	}
	c.send(b...)
	return okFields(c.receive())
}

func okFields(b []byte) (affected, insertID uint64, errno uint16) {
	if b[0] == protocol.ERR_HEADER {
		return 0, 0, binary.LittleEndian.Uint16(b[1:])
	}
	affected, _, n := protocol.LengthEncodedInt(b[1:])
	insertID, _, _ = protocol.LengthEncodedInt(b[1+n:])
	return affected, insertID, 0
}

// query gives the first column of a result's only row, as the server sends it to a
// client without definitions left out.
func (c *bulkClient) query(sql string) string {
	c.Helper()
	c.send(append([]byte{protocol.COM_QUERY}, sql...)...)
	first := c.receive()
	if first[0] == protocol.OK_HEADER {
		return ""
	}
	if first[0] == protocol.ERR_HEADER {
		c.Fatalf("%s: %q", sql, first)
	}
	c.receive() // the definition
	row := c.receive()
	c.receive() // the end
	n, _, size := protocol.LengthEncodedInt(row)
	return string(row[size : size+int(n)])
}

type bulkRow struct {
	id any
	u  string
}

// A bulk reports and leaves behind what it does on a native AUTO_INCREMENT column,
// also on a column without it.
func TestBulkInsertIDs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, verb, tail string
		setup            string
		rows             []bulkRow
	}{
		{name: "open", rows: []bulkRow{{nil, "a"}, {0, "b"}, {nil, "c"}}},
		{name: "explicit", rows: []bulkRow{{100, "a"}, {200, "b"}}},
		{name: "one explicit", rows: []bulkRow{{100, "a"}}},
		{name: "explicit, open", rows: []bulkRow{{100, "a"}, {nil, "b"}}},
		{name: "open, explicit", rows: []bulkRow{{nil, "a"}, {300, "b"}}},
		{name: "duplicate", setup: "(1, 'b')", rows: []bulkRow{{nil, "b"}, {nil, "a"}}},
		{name: "REPLACE", verb: "REPLACE", setup: "(1, 'b')", rows: []bulkRow{{nil, "a"}, {nil, "b"}}},
		{name: "IGNORE", verb: "INSERT IGNORE", setup: "(1, 'b')", rows: []bulkRow{{nil, "b"}, {nil, "c"}, {nil, "d"}}},
		{name: "IGNORE, none", verb: "INSERT IGNORE", setup: "(1, 'b'), (2, 'c')", rows: []bulkRow{{nil, "b"}, {nil, "c"}}},
		{name: "IGNORE, explicit last", verb: "INSERT IGNORE", setup: "(1, 'b')", rows: []bulkRow{{nil, "b"}, {70, "c"}}},
		{name: "upsert", tail: "ON DUPLICATE KEY UPDATE n = n + 1", setup: "(1, 'b')", rows: []bulkRow{{nil, "b"}, {nil, "c"}}},
		{name: "upsert, all there", tail: "ON DUPLICATE KEY UPDATE n = n + 1", setup: "(1, 'b'), (2, 'c')", rows: []bulkRow{{nil, "b"}, {nil, "c"}}},
		{name: "upsert, unchanged", tail: "ON DUPLICATE KEY UPDATE n = n", setup: "(1, 'b'), (2, 'c')", rows: []bulkRow{{nil, "b"}, {nil, "c"}}},
		{name: "upsert, one", tail: "ON DUPLICATE KEY UPDATE n = n + 1", setup: "(1, 'b')", rows: []bulkRow{{nil, "b"}}},
		{name: "upsert, explicit", tail: "ON DUPLICATE KEY UPDATE n = n + 1", rows: []bulkRow{{5, "b"}, {6, "c"}}},
		{name: "upsert, explicit one", tail: "ON DUPLICATE KEY UPDATE n = n + 1", rows: []bulkRow{{5, "b"}}},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MariaDB's command")
		}
		for _, column := range []string{"BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY AUTO_INCREMENT"} {
			g := newGate(t, s, gateOptions{passThrough: strings.Contains(column, "AUTO")})
			native := dialBulk(t, s.Addr, s.NewDatabase(t), bulkOperations)
			through := dialBulk(t, g.addr, g.database, bulkOperations)
			for i, tt := range tests {
				t.Run(tt.name+" "+column, func(t *testing.T) {
					outcome := func(c *bulkClient, column string) (o bulkOutcome) {
						table := fmt.Sprintf("t%d", i)
						c.query("CREATE TABLE " + table + " (id " + column + ", u VARCHAR(20) UNIQUE, n INT DEFAULT 0)")
						if tt.setup != "" {
							c.query("INSERT INTO " + table + " (id, u) VALUES " + tt.setup)
						}
						c.query("CREATE TABLE " + table + "_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'")
						c.query("INSERT INTO " + table + "_seq VALUES (0, 10, 100)")
						c.query(fmt.Sprintf("SELECT LAST_INSERT_ID(%d)", old))
						verb := tt.verb
						if verb == "" {
							verb = "INSERT"
						}
						affected, id, errno := c.bulk(c.prepare(verb+" INTO "+table+" (id, u) VALUES (?, ?) "+tt.tail), tt.rows...)
						row := func(id string) string {
							return c.query("SELECT COALESCE((SELECT CONCAT('id of row ', u) FROM " + table + " WHERE id = " + id + "), " + id + ")")
						}
						last := c.query("SELECT LAST_INSERT_ID()")
						return bulkOutcome{affected, errno, row(fmt.Sprint(id)), row(last),
							c.query("SELECT COALESCE(GROUP_CONCAT(CONCAT_WS('/', u, n) ORDER BY u), '') FROM " + table)}
					}
					want := outcome(native, "BIGINT PRIMARY KEY AUTO_INCREMENT")
					if diff := cmp.Diff(want, outcome(through, column)); diff != "" {
						t.Errorf("-native +seqgate:\n%s", diff)
					}
				})
			}
		}
	})
}

// bulkOutcome is what a client can see of a bulk.
type bulkOutcome struct {
	Affected uint64
	Errno    uint16
	InsertID string // this and the next: which row's id it is, or its value
	LastID   string
	Rows     string
}

// Ids of many bulks at once are unique, also beside ids of the clients' own.
func TestBulkIDsAreUnique(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MariaDB's command")
		}
		g := newGate(t, s, gateOptions{onExplicit: catalog.ExplicitAdvance})
		exec(t, g.direct, "CREATE TABLE users (id BIGINT PRIMARY KEY, u VARCHAR(20))")
		createSequence(t, g.direct, "users_seq", 1, 10)
		const clients, bulks, rows = 4, 20, 30
		done := make(chan uint16, clients)
		for range clients {
			c := dialBulk(t, g.addr, g.database, bulkOperations)
			stmt := c.prepare("INSERT INTO users (id, u) VALUES (?, ?)")
			go func() {
				var failed uint16
				for range bulks {
					all := make([]bulkRow, rows)
					for i := range all {
						all[i] = bulkRow{nil, "x"}
					}
					if _, _, errno := c.bulk(stmt, all...); errno != 0 {
						failed = errno
					}
				}
				done <- failed
			}()
		}
		for range clients {
			if errno := <-done; errno != 0 {
				t.Errorf("a bulk failed with error %d", errno)
			}
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM users WHERE id > 0"); got != clients*bulks*rows {
			t.Errorf("%d rows, want %d", got, clients*bulks*rows)
		}
		c := dialBulk(t, g.addr, g.database, bulkOperations)
		stmt := c.prepare("INSERT INTO users (id, u) VALUES (?, ?)")
		for _, r := range [][]bulkRow{{{500_000, "explicit"}, {400_000, "x"}}, {{nil, "next"}}} {
			if _, _, errno := c.bulk(stmt, r...); errno != 0 {
				t.Fatalf("error %d", errno)
			}
		}
		if got := value[int](t, g.direct, "SELECT id FROM users WHERE u = 'next'"); got != 500_001 {
			t.Errorf("the id after 500000 is %d", got)
		}
	})
}

// What cannot be judged row by row is refused, and nothing is written.
func TestBulkRefused(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MariaDB's command")
		}
		g := newKeyedGate(t, s, "BIGINT")
		c := dialBulk(t, g.addr, g.database, bulkOperations)
		stmt := c.prepare("INSERT INTO messages (user_id, body) VALUES (?, ?)")
		if _, _, errno := c.bulk(stmt, bulkRow{7, "a"}); errno != protocol.ER_NOT_SUPPORTED_YET {
			t.Errorf("keyed sequence: error %d, want %d", errno, protocol.ER_NOT_SUPPORTED_YET)
		}
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM messages"); n != 0 {
			t.Errorf("%d rows of a keyed sequence", n)
		}
		g = newUsersGate(t, s, gateOptions{})
		c = dialBulk(t, g.addr, g.database, bulkOperations)
		stmt = c.prepare("INSERT INTO users (id, u) VALUES (?, ?)")
		const double = "\x05\x00\xfd\x00"
		c.send(append(append([]byte{0xfa}, stmt...), "\x80\x00"+double+"\x00\x00\x00\x00\x00\x00\x00\x14\x40\x00\x01a\x01\x00\x01b"...)...)
		if _, _, errno := okFields(c.receive()); errno != protocol.ER_NOT_SUPPORTED_YET {
			t.Errorf("ids of a floating type, given and open: error %d, want %d", errno, protocol.ER_NOT_SUPPORTED_YET)
		}
		g.checkUsers(t, "")
	})
}

// What seqgate answers by itself has the form that the client's capabilities ask for.
func TestNextValueByCapabilities(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "s", 7, 10)
		flags, follow := uint64(protocol.CLIENT_OPTIONAL_RESULTSET_METADATA), "\x01"
		prepared := "\x00\x01\x00\x00\x80\x01\x00\x00\x00\x00\x00\x00"
		definition := "\x03def\x00\x00\x00\x07nextval\x00"
		if s.IsMariaDB() {
			flags = cachedNames | extendedNames
			definition += "\x00"
		} else {
			prepared += follow
		}
		definition += "\x0c\x3f\x00\x14\x00\x00\x00\x08\x81\x00\x00\x00\x00"
		c := dialBulk(t, g.addr, g.database, flags)
		for _, exchange := range []struct {
			command string
			want    []string
		}{
			{"\x03SELECT NEXT VALUE FROM s", []string{"\x01" + follow, definition, "\x017"}},
			{"\x16SELECT NEXT VALUE FROM s", []string{prepared, definition}},
			{"\x17\x01\x00\x00\x80\x00\x01\x00\x00\x00", []string{"\x01" + follow, definition, "\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00"}},
		} {
			c.send([]byte(exchange.command)...)
			for i, want := range exchange.want {
				if got := string(c.receive()); got != want {
					t.Fatalf("%q, packet %d: %q, want %q", exchange.command, i, got, want)
				}
			}
			if exchange.command[0] != protocol.COM_STMT_PREPARE {
				c.receive() // the end of the rows
			}
		}
	})
}

// The rows that RETURNING would answer a bulk with are not told of by MariaDB 10.11.
func TestBulkReturning(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MySQL has no bulk executions")
		}
		g := newUsersGate(t, s, gateOptions{})
		c := dialBulk(t, g.addr, g.database, bulkOperations)
		_, _, number := c.bulk(c.prepare("INSERT INTO users (id, u) VALUES (?, ?) RETURNING id"), bulkRow{nil, "a"}, bulkRow{nil, "b"})
		if number != protocol.ER_NOT_SUPPORTED_YET {
			t.Errorf("error %d, want %d", number, protocol.ER_NOT_SUPPORTED_YET)
		}
		g.checkUsers(t, "")
	})
}

// Ids that are no numbers fill the open ones of a bulk, beside ids of the rows' own that are sent as the column has them.
func TestBulkTextIDs(t *testing.T) {
	const text, blob, bigint = "\xfd\x00", "\xfc\x00", "\x08\x00"
	given := func(v string) string { return "\x00" + string(rune(len(v))) + v }
	const null = "\x01"
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MariaDB's command")
		}
		for _, tt := range []struct {
			column, own, ownType, otherType string
		}{
			{"CHAR(36) CHARACTER SET utf16", "mine", text, blob},
			{"BINARY(16)", "0123456789abcdef", blob, text},
		} {
			t.Run(tt.column, func(t *testing.T) {
				g := newGate(t, s, gateOptions{vschema: generatorSchema(`{"type": "uuid"}`, 0)})
				exec(t, g.direct, "CREATE TABLE t (id "+tt.column+" PRIMARY KEY, u VARCHAR(10))")
				c := dialBulk(t, g.addr, g.database, bulkOperations)
				both, alone := c.prepare("INSERT INTO t (id, u) VALUES (?, ?)"), c.prepare("INSERT INTO t (u) VALUES (?)")
				bulk := func(stmt []byte, types string, rows ...string) (affected, insertID uint64, errno uint16) {
					t.Helper()
					c.send(append(append([]byte{0xfa}, stmt...), "\x80\x00"+types+strings.Join(rows, "")...)...)
					return okFields(c.receive())
				}
				for _, run := range []struct {
					name     string
					stmt     []byte
					types    string
					rows     []string
					affected uint64
					errno    uint16
				}{
					{"without the column", alone, text, []string{given("a"), given("b")}, 2, 0},
					{"NULLs of a BIGINT", both, bigint + text, []string{null + given("c"), null + given("d")}, 2, 0},
					{"an own one among them", both, tt.ownType + text, []string{null + given("e"), given(tt.own) + given("own"), null + given("f")}, 3, 0},
					{"NULLs of the other type", both, tt.otherType + text, []string{null + given("g")}, 1, 0},
					{"an own one of the other type", both, tt.otherType + text, []string{null + given("h"), given(tt.own) + given("h")}, 0, protocol.ER_NOT_SUPPORTED_YET},
				} {
					if affected, id, errno := bulk(run.stmt, run.types, run.rows...); affected != run.affected || id != 0 || errno != run.errno {
						t.Errorf("%s: %d rows, insert id %d, error %d; want %d, 0, %d", run.name, affected, id, errno, run.affected, run.errno)
					}
				}
				const version = "SELECT COUNT(DISTINCT id) FROM t WHERE IF(LENGTH(id) = 16, HEX(id), REPLACE(CONVERT(id USING latin1), '-', '')) RLIKE '^[0-9A-F]{12}4[0-9A-F]{3}[89AB][0-9A-F]{15}$'"
				if n := value[int](t, g.direct, version); n != 7 {
					t.Errorf("%d rows have a UUID, want 7", n)
				}
				if u := value[string](t, g.direct, "SELECT u FROM t WHERE id = '"+tt.own+"'"); u != "own" {
					t.Errorf("row %s has the own id", u)
				}
			})
		}
	})
}
