package wire

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
	driver "github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// compressedRelay stands between clients and a server that both compress. It decompresses what comes from either side and
// compresses it anew, so that its one side is read by real clients, its other by the real server.
type compressedRelay struct {
	t      *testing.T
	server string
	net.Listener
	done sync.WaitGroup

	mu    sync.Mutex
	used  []Compression
	conns []net.Conn
}

func newCompressedRelay(t *testing.T, s *servertest.Server) *compressedRelay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &compressedRelay{t: t, server: s.Addr, Listener: l}
	r.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			r.done.Go(func() { r.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.done.Wait()
	})
	return r
}

func (r *compressedRelay) serve(front net.Conn) {
	defer front.Close()
	back, err := net.Dial("tcp", r.server)
	if err != nil {
		r.t.Errorf("dial: %v", err)
		return
	}
	defer back.Close()
	r.mu.Lock()
	r.conns = append(r.conns, front, back)
	r.mu.Unlock()
	a, err := relayLogin(front, back)
	if err != nil {
		r.t.Errorf("login: %v", err)
		return
	}
	r.mu.Lock()
	r.used = append(r.used, a)
	r.mu.Unlock()
	client, server := NewCompressed(front, a).(*Compressed), NewCompressed(back, a).(*Compressed)
	r.done.Go(func() {
		defer front.Close()
		r.check("answers", copyAnswers(client, server))
	})
	r.check("commands", copyCommands(server, client))
}

func (r *compressedRelay) check(what string, err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		r.t.Errorf("%s: %v", what, err)
	}
}

// copyCommands makes one compressed packet of one, for in their answers the servers count the packets inside from the
// number of compressed ones; and it restarts the numbers where the client restarted its own.
func copyCommands(server, client *Compressed) error {
	b := make([]byte, MaxPayload)
	for {
		begins := client.inside.between()
		n, err := client.Read(b)
		for err == nil && client.stored+len(client.rest) > 0 {
			var more int
			more, err = client.Read(b[n:])
			n += more
		}
		if err != nil {
			return err
		}
		if begins && n >= HeaderSize && b[HeaderSize-1] == 0 {
			server.sequence.Store(0)
		}
		if _, err := server.Write(b[:n]); err != nil {
			return err
		}
	}
}

func copyAnswers(client, server *Compressed) error {
	b := make([]byte, LargeBuffer)
	for {
		n, err := server.Read(b)
		if err != nil {
			return err
		}
		if _, err := client.Write(b[:n]); err != nil {
			return err
		}
	}
}

// relayLogin passes the handshake on, and tells what compression was agreed on.
func relayLogin(front, back net.Conn) (a Compression, err error) {
	f, b := NewConn(front), NewConn(back)
	pass := func(from, to *Conn) (payload []byte, err error) {
		payload, size, _, err := from.Packet(64 << 20)
		if err != nil {
			return nil, err
		}
		payload = bytes.Clone(payload)
		_, err = to.Write(from.Unread()[:size])
		from.Skip(size)
		return payload, err
	}
	if _, err := pass(b, f); err != nil {
		return a, err
	}
	response, err := pass(f, b)
	if err != nil {
		return a, err
	}
	flags := binary.LittleEndian.Uint32(response)
	a = Compression{Level: 6}
	if flags&mysql.CLIENT_COMPRESS == 0 {
		a = Compression{Zstd: flags&mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM != 0, Level: int(response[len(response)-1])}
		if !a.Zstd {
			return a, errors.New("no compression")
		}
	}
	for {
		p, err := pass(b, f)
		switch {
		case err != nil || First(p) == mysql.OK_HEADER:
			return a, err
		case First(p) == mysql.ERR_HEADER:
			return a, fmt.Errorf("refused: %q", p)
		case len(p) == 2 && p[0] == 1 && p[1] == 3: // of caching_sha2_password: OK follows
			continue
		}
		if _, err := pass(f, b); err != nil {
			return a, err
		}
	}
}

// compressedText is 17 MiB that can be compressed to about a half.
var compressedText = sync.OnceValue(func() string {
	var b strings.Builder
	for i := uint32(1); b.Len() < 17<<20; i++ {
		fmt.Fprintf(&b, "%08x-%08x,", i, i*2654435761)
	}
	return b.String()
})

// The server's clients and both drivers work through the relay, with statements and results of more than 16 MiB, many
// rows, local files and an error.
func TestCompressedClientsAndServers(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		r := newCompressedRelay(t, s)
		database := s.NewDatabase(t)
		t.Run("go-sql-driver zlib", func(t *testing.T) { compressedDriver(t, r, s, database) })
		t.Run("go-mysql zlib", func(t *testing.T) { compressedGoMySQL(t, r, s, mysql.CLIENT_COMPRESS) })
		if s.IsMariaDB() { // has no zstd
			t.Run("command line zlib", func(t *testing.T) { compressedCommandLine(t, r, s, "mariadb", "--compress") })
			return
		}
		t.Run("go-mysql zstd", func(t *testing.T) { compressedGoMySQL(t, r, s, mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM) })
		for _, want := range []Compression{{Level: 6}, {Zstd: true, Level: 1}, {Zstd: true, Level: 9}} {
			t.Run(fmt.Sprintf("command line %+v", want), func(t *testing.T) {
				algorithm := []string{"--compression-algorithms=zlib"}
				if want.Zstd {
					algorithm = []string{"--compression-algorithms=zstd", fmt.Sprint("--zstd-compression-level=", want.Level)}
				}
				tool := os.Getenv("SEQGATE_TEST_MYSQL97")
				compressedCommandLine(t, r, s, tool, append([]string{"client", "--ssl-mode=DISABLED"}, algorithm...)...)
				r.mu.Lock()
				defer r.mu.Unlock()
				if got := r.used[len(r.used)-1]; got != want {
					t.Errorf("it used %+v", got)
				}
			})
		}
	})
}

func compressedDriver(t *testing.T, r *compressedRelay, s *servertest.Server, database string) {
	dsn := fmt.Sprintf("%s:%s@tcp(%s)/%s?compress=true&maxAllowedPacket=0&multiStatements=true", s.User, s.Password, r.Addr(), database)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, query, args...); err != nil {
			t.Fatalf("%.80s: %v", query, err)
		}
	}
	check := func(want string, query string, args ...any) {
		t.Helper()
		var got string
		if err := db.QueryRowContext(ctx, query, args...).Scan(&got); err != nil {
			t.Fatalf("%.80s: %v", query, err)
		}
		if got != want {
			t.Errorf("%.80s: %d bytes, want %d: %.80q", query, len(got), len(want), got)
		}
	}
	text := compressedText()
	run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)")
	run("INSERT INTO t (v) VALUES ('" + text + "')")
	run("INSERT INTO t (v) VALUES (?)", text) // by COM_STMT_SEND_LONG_DATA: commands without an answer
	check(text, "SELECT v FROM t WHERE id = 1")
	check("1", "SELECT COUNT(DISTINCT SHA2(v, 256)) FROM t")
	check("6", "SELECT ? + ?", 2, 4)
	if _, err := db.ExecContext(ctx, "SELECT x FROM no_such_table"); !strings.Contains(fmt.Sprint(err), "Error 1146") {
		t.Errorf("got %v, want error 1146", err)
	}
	run("INSERT INTO t (v) VALUES ('a'); INSERT INTO t (v) VALUES ('b')")
	driver.RegisterReaderHandler(database, func() io.Reader { return strings.NewReader(strings.Repeat("a line of the file\n", 5_000)) })
	t.Cleanup(func() { driver.DeregisterReaderHandler(database) })
	run("LOAD DATA LOCAL INFILE 'Reader::" + database + "' INTO TABLE t (v)")
	check("5000", "SELECT COUNT(*) FROM t WHERE v = 'a line of the file'")
	rows, err := db.QueryContext(ctx, "SELECT v FROM t WHERE id > 2")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; rows.Next(); n++ {
	}
	if err := rows.Err(); err != nil || n != 5_002 {
		t.Errorf("%d rows: %v", n, err)
	}
}

func compressedGoMySQL(t *testing.T, r *compressedRelay, s *servertest.Server, algorithm uint32) {
	c, err := client.Connect(r.Addr().String(), s.User, s.Password, "", func(c *client.Conn) error { return c.SetCapability(algorithm) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text := compressedText()
	for _, n := range []int{1, 40, 60, 1000, 100_000, 3_000_000} {
		want := text[:n]
		got, err := c.Execute("SELECT '" + want + "'")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := got.GetString(0, 0); err != nil || text != want {
			t.Errorf("%d bytes, want %d: %v", len(text), n, err)
		}
	}
	got, err := c.Execute("SELECT ? + 1", 41)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := got.GetInt(0, 0); sum != 42 || err != nil {
		t.Errorf("sum %d: %v", sum, err)
	}
}

// compressedCommandLine runs a server's own client.
func compressedCommandLine(t *testing.T, r *compressedRelay, s *servertest.Server, tool string, args ...string) {
	if _, err := exec.LookPath(tool); err != nil {
		t.Skip(err)
	}
	host, port, err := net.SplitHostPort(r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	args = append(args, "-h"+host, "-P"+port, "-u"+s.User, "-p"+s.Password, "--batch", "--skip-column-names", "--max-allowed-packet=64M")
	cmd := exec.CommandContext(ctx, tool, args...)
	text := compressedText()
	cmd.Stdin = strings.NewReader("SELECT '" + text + "';\nSELECT 1;\nSHOW STATUS LIKE 'Compression';\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if want := text + "\n1\nCompression\tON\n"; out.String() != want {
		t.Errorf("%d bytes, want %d: ... %q", out.Len(), len(want), out.Bytes()[max(0, out.Len()-80):])
	}
}
