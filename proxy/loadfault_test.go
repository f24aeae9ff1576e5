package proxy_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// newLoadGate starts a seqgate for a table t (id, v) with a sequence whose next
// value is given.
func newLoadGate(t testing.TB, s *servertest.Server, next int64) *gate {
	g := newGate(t, s, gateOptions{})
	exec(t, g.direct, "SET GLOBAL local_infile = 1", "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(50)) ENGINE=InnoDB")
	createSequence(t, g.direct, "t_seq", next, 1000)
	return g
}

// filePacket makes a packet of a file.
func filePacket(number byte, payload string) string {
	n := len(payload)
	return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), number}) + payload
}

const loadV = "LOAD DATA LOCAL INFILE '%s' INTO TABLE t (v)"

// lines gives n lines of a file.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a line of the file, number %d\n", i)
	}
	return b.String()
}

// Files of random text are loaded as into a native column, however rows and fields
// are told apart.
func TestLoadDataRandom(t *testing.T) {
	t.Parallel()
	formats := []string{
		"FIELDS TERMINATED BY ','", "FIELDS TERMINATED BY ',' ENCLOSED BY '\"'", "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ESCAPED BY '\"'",
		"FIELDS TERMINATED BY ',x' LINES TERMINATED BY 'x\\n'", "FIELDS TERMINATED BY 'ab' LINES TERMINATED BY 'aab' STARTING BY 'x'",
		"FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\r\\n'", "FIELDS TERMINATED BY ',' LINES TERMINATED BY ''",
		"FIELDS TERMINATED BY ',' LINES TERMINATED BY ','", "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' IGNORE 1 LINES", "FIELDS TERMINATED BY 'aa' ESCAPED BY 'b'",
	}
	parts := []string{"a", "b", ",", "\"", "\\", "\n", "\r\n", "x", "aa", "ä", "N", "\\N", ",\"", "\",", "\"\n", "€", "é"}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "SET GLOBAL local_infile = 1")
		database := s.NewDatabase(t)
		native, through := conn(t, s.Open(t, database)), conn(t, g.open(t, ""))
		const table = "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20), n VARCHAR(20)) CHARACTER SET utf8mb4"
		exec(t, native, table)
		exec(t, through, table)
		createSequence(t, through, "t_seq", 1, 1000)
		random := rand.New(rand.NewPCG(5, 2))
		for i := range 150 {
			var file strings.Builder
			for range random.IntN(40) {
				file.WriteString(parts[random.IntN(len(parts))])
			}
			list := []string{"(u, n)", "(u)", "(@x, u)", "(u, @x, n, @y) SET n = CONCAT(COALESCE(@x, '-'), COALESCE(@y, '-'))"}[random.IntN(4)]
			tt := loadCase{gaps: true, file: file.String(),
				stmt: "LOAD DATA LOCAL INFILE '{f}' INTO TABLE {t} CHARACTER SET utf8mb4 " + formats[i%len(formats)] + " " + list}
			exec(t, native, "DELETE FROM t")
			exec(t, through, "DELETE FROM t")
			want, got := tt.run(t, native, database, "t"), tt.run(t, through, g.database, "t")
			if got.Errno == 1235 && strings.Contains(got.Error, "broken character") && got.Rows == "" {
				continue
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %q (-native +seqgate):\n%s", tt.stmt, tt.file, diff)
			}
		}
	})
}

// A file of more rows than the sequence has ids fails as a whole, and the session
// goes on, in its transaction.
func TestLoadDataWithoutIDs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, math.MaxInt64-5000)
		exec(t, g.direct, "CREATE TABLE other (v INT)")
		c := conn(t, g.open(t, ""))
		exec(t, c, "BEGIN", "INSERT INTO other VALUES (1)")
		id := value[int](t, c, "SELECT CONNECTION_ID()")
		_, err := c.ExecContext(t.Context(), fmt.Sprintf(loadV, readerFor(t, strings.NewReader(lines(20_000)))))
		checkErrno(t, err, protocol.ER_AUTOINC_READ_FAILED)
		exec(t, c, "INSERT INTO other VALUES (2)", "COMMIT")
		if got := value[int](t, c, "SELECT CONNECTION_ID()"); got != id {
			t.Errorf("connection %d, want %d still", got, id)
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows of a LOAD DATA that failed", got)
		}
		if got := value[int](t, g.direct, "SELECT SUM(v) FROM other"); got != 3 {
			t.Errorf("the transaction's other rows: sum %d, want 3", got)
		}
	})
}

// So does one with an id that seqgate does not take, in its middle.
func TestLoadDataOfFaultyIDs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		c := conn(t, g.open(t, ""))
		for _, fault := range []string{"x\tlast", "\tlast", "1.5\tlast", "99999999999999999999\tlast"} {
			file := strings.ReplaceAll(lines(5000), "a line", "\\N\ta line") + fault + "\n" + strings.ReplaceAll(lines(5000), "a line", "\\N\ta line")
			_, err := c.ExecContext(t.Context(), "LOAD DATA LOCAL INFILE '"+readerFor(t, strings.NewReader(file))+"' INTO TABLE t")
			if errno(err) != protocol.ER_NOT_SUPPORTED_YET || !strings.Contains(err.Error(), "row 5001 ") {
				t.Errorf("%q: got %v, want error 1235 that names row 5001", fault, err)
			}
			if got := value[int](t, c, "SELECT COUNT(*) FROM t"); got != 0 {
				t.Errorf("%q: %d rows", fault, got)
			}
		}
	})
}

// What can only be loaded without certainty is refused, and passes where the table
// has no sequence.
func TestLoadDataRefused(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		exec(t, g.direct, "CREATE TABLE plain (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(50))", "CREATE VIEW view_of_t AS SELECT * FROM t")
		c := conn(t, g.open(t, ""))
		for _, tt := range []struct {
			form  string
			plain bool // the server takes it on a table without a sequence
		}{
			{"LOAD DATA INFILE '/nosuch/file' INTO TABLE %s (v)", false},
			{"LOAD XML LOCAL INFILE '{f}' INTO TABLE %s ROWS IDENTIFIED BY '<r>'", true},
			{"LOAD DATA LOCAL INFILE '{f}' INTO TABLE %s FIELDS TERMINATED BY '' ENCLOSED BY '' LINES TERMINATED BY '' (v)", true},
			{"LOAD DATA LOCAL INFILE '{f}' INTO TABLE %s FIELDS TERMINATED BY '|' LINES TERMINATED BY '|\n' (v)", true},
			{"LOAD DATA LOCAL INFILE '{f}' INTO TABLE %s CHARACTER SET gbk (v)", true},
			{"LOAD DATA LOCAL INFILE '{f}' INTO TABLE %s (@a) SET id = @a, v = 'x'", true},
			{"LOAD DATA LOCAL INFILE '{f}' INTO TABLE view_of_%s (v)", false},
		} {
			file := func() io.Reader { return strings.NewReader("7\n") }
			sql := func(table string) string {
				return strings.ReplaceAll(fmt.Sprintf(tt.form, table), "{f}", readerFor(t, file()))
			}
			if _, err := c.ExecContext(t.Context(), sql("t")); errno(err) != 1235 || !strings.Contains(err.Error(), "'t'") {
				t.Errorf("%s: got %v, want error 1235 that names the table", tt.form, err)
			}
			if _, err := c.ExecContext(t.Context(), sql("plain")); tt.plain && err != nil {
				t.Errorf("%s of a table without a sequence: %v", tt.form, err)
			}
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows were written by refused statements", got)
		}
		exec(t, c, "SET character_set_database = gbk")
		_, err := c.ExecContext(t.Context(), fmt.Sprintf(loadV, readerFor(t, strings.NewReader("a\n"))))
		checkErrno(t, err, protocol.ER_NOT_SUPPORTED_YET)
		exec(t, c, "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(50))",
			strings.ReplaceAll(fmt.Sprintf("LOAD DATA LOCAL INFILE '{f}' INTO TABLE %s CHARACTER SET gbk (v)", "t"), "{f}", readerFor(t, strings.NewReader("a\n"))))
		if got := value[int](t, c, "SELECT id FROM t"); got != 1 {
			t.Errorf("the temporary table's row got id %d, want 1", got)
		}
	})
}

// LOAD DATA with a keyed sequence is refused.
func TestLoadDataKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BIGINT")
		_, err := g.open(t, "").ExecContext(t.Context(), "LOAD DATA LOCAL INFILE '"+readerFor(t, strings.NewReader("1\ta\n"))+"' INTO TABLE messages (user_id, body)")
		checkErrno(t, err, protocol.ER_NOT_SUPPORTED_YET)
	})
}

// A prepared LOAD DATA reaches no server, if only MariaDB would take it.
func TestLoadDataPrepared(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		c := conn(t, g.open(t, ""))
		load := "LOAD DATA LOCAL INFILE '" + readerFor(t, strings.NewReader("a\n")) + "' INTO TABLE t (v)"
		if stmt, err := c.PrepareContext(t.Context(), load); err == nil {
			_ = stmt.Close()
			t.Error("LOAD DATA was prepared")
		}
		if _, err := c.ExecContext(t.Context(), `PREPARE p FROM "`+load+`"`); err == nil {
			t.Error("LOAD DATA was prepared by PREPARE")
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows", got)
		}
	})
}

// A client that keeps its file back loads nothing, and its session goes on.
func TestLoadDataOfNoFile(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		c := conn(t, g.open(t, ""))
		if _, err := c.ExecContext(t.Context(), fmt.Sprintf(loadV, "Reader::nosuch")); err == nil {
			t.Error("an unknown reader was loaded")
		}
		exec(t, c, "INSERT INTO t (v) VALUES ('a')")
		if got := value[int](t, c, "SELECT id FROM t"); got != 1 {
			t.Errorf("the first row got id %d, want 1", got)
		}
	})
}

// loadingClient gives a client that was asked for its file.
func loadingClient(t *testing.T, s *servertest.Server, g *gate) net.Conn {
	t.Helper()
	c := rawClient(t, g.dsn(""), func(c *client.Conn) error { return c.SetCapability(protocol.CLIENT_LOCAL_FILES) })
	if b := answerOf(t, c, queryPacket(s, fmt.Sprintf(loadV, "x"))); !bytes.Equal(b, []byte{2, 0, 0, 1, 0xfb, 'x'}) {
		t.Fatalf("the client is asked %q", b)
	}
	return c
}

// A client that goes away within its file leaves nothing behind.
func TestLoadDataOfALostClient(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		for _, sent := range []string{"", filePacket(2, lines(100)), filePacket(2, lines(100))[:50], filePacket(2, lines(2000)) + filePacket(3, "half a li")} {
			c := loadingClient(t, s, g)
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			awaitWithin(t, untimely, "the end of the server's statement", func() bool { return g.threads(t, "INFO LIKE 'LOAD%'") == 0 })
			if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 0 {
				t.Errorf("%d rows of a file that was cut", got)
			}
		}
	})
}

// A statement that is killed within its file ends the session with the server's
// own error, as it does without seqgate, or with the connection.
func TestLoadDataKilled(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		c := loadingClient(t, s, g)
		if _, err := io.WriteString(c, filePacket(2, lines(100))); err != nil {
			t.Fatal(err)
		}
		id := value[int](t, g.direct, "SELECT ID FROM "+servertest.Processlist+" WHERE INFO LIKE 'LOAD%' AND DB = DATABASE()")
		exec(t, g.direct, fmt.Sprintf("KILL %d", id))
		if err := c.SetReadDeadline(time.Now().Add(untimely)); err != nil {
			t.Fatal(err)
		}
		switch _, err := io.Copy(io.Discard, c); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Error("the session goes on")
		case err != nil:
			t.Logf("the session ends with %v", err)
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows of a statement that was killed", got)
		}
	})
}

// Packets of 2^24-1 bytes are continued by the next one, of any length, and a file
// may come in packets of one byte.
func TestLoadDataPackets(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		const full = 1<<24 - 1
		row := strings.Repeat("r", 50) + strings.Repeat(" ", 949) + "\n"
		long := strings.Repeat(row, full/len(row)+1)
		for _, tt := range []struct {
			name, sent string
			rows       int
		}{
			{"full and rest", filePacket(2, long[:full]) + filePacket(3, long[full:]) + filePacket(4, ""), full/len(row) + 1},
			{"full and empty", filePacket(2, long[:full]) + filePacket(3, "") + filePacket(4, ""), full/len(row) + 1},
			{"single bytes", filePacket(2, "a") + filePacket(3, "\n") + filePacket(4, "b") + filePacket(5, "\\") + filePacket(6, "\n") + filePacket(7, "c") + filePacket(8, ""), 2},
		} {
			t.Run(tt.name, func(t *testing.T) {
				exec(t, g.direct, "DELETE FROM t")
				c := loadingClient(t, s, g)
				if _, err := io.WriteString(c, tt.sent); err != nil {
					t.Fatal(err)
				}
				b := make([]byte, 1000)
				if n, err := c.Read(b); err != nil || n < 5 || b[4] != 0 {
					t.Fatalf("answer %q, %v, want OK", b[:n], err)
				}
				if want := tt.sent[len(tt.sent)-1] + 1; b[3] != want {
					t.Errorf("the answer has number %d, want %d", b[3], want)
				}
				if got := value[int](t, g.direct, "SELECT COUNT(DISTINCT id) FROM t"); got != tt.rows {
					t.Errorf("%d rows, want %d", got, tt.rows)
				}
			})
		}
	})
}

// LOAD DATA beside other statements in a text, over TLS and with compression.
func TestLoadDataInTexts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		next := 1
		for _, params := range []string{"multiStatements=true", "multiStatements=true&tls=skip-verify", "multiStatements=true&compress=true"} {
			c := conn(t, g.open(t, params))
			file := func() string { return fmt.Sprintf(loadV, readerFor(t, strings.NewReader(lines(3000)))) }
			exec(t, c, "SET @a = 1; "+file()+"; SET @id = LAST_INSERT_ID(); "+file()+"; SET @b = LAST_INSERT_ID()")
			if a, b := value[int](t, c, "SELECT @id"), value[int](t, c, "SELECT @b"); a != next || b != next+3000 {
				t.Errorf("%s: LAST_INSERT_ID() %d and %d, want %d and %d", params, a, b, next, next+3000)
			}
			next += 6000
			if got := value[int](t, c, "SELECT COUNT(*) FROM t WHERE v LIKE 'a line of the file, number %'"); got != next-1 {
				t.Errorf("%s: %d rows, want %d", params, got, next-1)
			}
		}
	})
}

// The command line clients load files.
func TestLoadDataByClients(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newLoadGate(t, s, 1)
		const text = "v\na,1\nb,2,3\n\"c\nd\"\n"
		file := filepath.Join(t.TempDir(), "file.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sql := "LOAD DATA LOCAL INFILE '" + file + "' INTO TABLE t FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES (v, @x); SHOW WARNINGS; SELECT LAST_INSERT_ID() AS l"
		clients := map[string][]string{"mariadb": {"mariadb", "--skip-ssl"}, "mariadb, compressed": {"mariadb", "--skip-ssl", "--compress"}}
		if tool := os.Getenv("SEQGATE_TEST_MYSQL97"); tool != "" && writeAt(t, mysql97Root()+file, text) {
			clients["mysql 9.7"] = []string{tool, "client", "--ssl-mode=PREFERRED"}
		}
		for name, command := range clients {
			t.Run(name, func(t *testing.T) {
				before := value[int](t, g.direct, "SELECT COALESCE(MAX(id), 0) FROM t")
				host, port, _ := strings.Cut(g.addr, ":")
				args := append(command[1:], "-h", host, "-P", port, "--protocol=tcp", "-u", gateUser, "-p"+gatePassword, "--local-infile=1", "-vv", "-e", sql, g.database)
				out, err := osexec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for _, want := range []string{"Records: 3  Deleted: 0  Skipped: 0  Warnings: 1", fmt.Sprint(before + 1), "1262"} {
					if !strings.Contains(string(out), want) {
						t.Errorf("the client does not say %q:\n%s", want, out)
					}
				}
				if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t WHERE id > ?", before); got != 3 {
					t.Errorf("%d rows, want 3", got)
				}
			})
		}
	})
}

// mysql97Root is the root directory that the 9.7 client runs in.
func mysql97Root() string { return cmp.Or(os.Getenv("MYSQL97_ROOT"), "/opt/mysql97") }

// writeAt writes a file, with the directories above it, until the test's end. It
// reports false where there is no such root.
func writeAt(t *testing.T, name, text string) bool {
	t.Helper()
	if _, err := os.Stat(mysql97Root()); err != nil {
		return false
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(name)) })
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}

// endless gives a file of size bytes, and looks at the heap now and then.
type endless struct {
	line       []byte
	left       int
	reads      int
	heap, most int64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for len(b)-n >= len(e.line) && e.left > 0 {
		n += copy(b[n:], e.line)
		e.left -= len(e.line)
	}
	if e.reads++; e.reads%200 == 0 {
		e.most = max(e.most, heapInUse()-e.heap)
	}
	return n, nil
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A file of any size takes a bounded part of the heap.
func TestLoadDataMemory(t *testing.T) {
	g := newLoadGate(t, servertest.First(t), 1)
	const size = 112 << 20
	e := &endless{line: []byte(strings.Repeat("m", 2047) + "\n"), left: size, heap: heapInUse()}
	exec(t, g.open(t, ""), "LOAD DATA LOCAL INFILE '"+readerFor(t, e)+"' INTO TABLE t (@x) SET v = LEFT(@x, 3)")
	if e.most > 8<<20 {
		t.Errorf("the heap grew by %d KiB", e.most>>10)
	}
	if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != size/2048 {
		t.Errorf("%d rows, want %d", got, size/2048)
	}
}

// BenchmarkLoadData loads files of 200000 rows into native AUTO_INCREMENT tables,
// directly and relayed, and into a table with a sequence.
func BenchmarkLoadData(b *testing.B) {
	g := newLoadGate(b, servertest.First(b), 1)
	exec(b, g.direct, "CREATE TABLE n (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(50)) ENGINE=InnoDB", "UPDATE t_seq SET cache = 100000")
	file := lines(200_000)
	through := g.open(b, "")
	for _, bench := range []struct {
		name, table string
		db          execer
	}{{"direct", "n", g.direct}, {"relayed", "n", through}, {"filled", "t", through}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				b.StopTimer()
				exec(b, g.direct, "TRUNCATE TABLE "+bench.table)
				sql := "LOAD DATA LOCAL INFILE '" + readerFor(b, strings.NewReader(file)) + "' INTO TABLE " + bench.table + " (v)"
				b.StartTimer()
				exec(b, bench.db, sql)
			}
		})
	}
}
