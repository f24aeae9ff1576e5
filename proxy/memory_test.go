package proxy_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// longSize is the size of a long command.
const longSize = 32 << 20

// A longCommand is made while it is sent: the client of a test takes no memory.
type longCommand struct {
	name    string
	parts   []any // strings, and repeats of them
	inserts int
	bound   float64 // the most that it may take in seqgate, in times of its size
}

// repeated is a text that is repeated up to a size, with the number of the
// repetition in the place of a %d.
type repeated struct {
	text string
	size int
}

func (r repeated) writeTo(w *bufio.Writer) {
	before, after, numbered := strings.Cut(r.text, "%d")
	var number [20]byte
	for n, written := 0, 0; written < r.size; n++ {
		if !numbered {
			before = before[:min(len(before), r.size-written)]
		}
		size, _ := w.WriteString(before) // Flush tells the error
		written += size
		if numbered {
			size, _ = w.Write(strconv.AppendInt(number[:0], int64(n), 10))
			rest, _ := w.WriteString(after)
			written += size + rest
		}
	}
}

func (l longCommand) writeTo(to io.Writer) error {
	w := bufio.NewWriterSize(to, 64<<10)
	for _, part := range l.parts {
		switch part := part.(type) {
		case string:
			if _, err := w.WriteString(part); err != nil {
				return err
			}
		case repeated:
			part.writeTo(w)
		}
	}
	return w.Flush()
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// packets puts what is written into packets.
type packets struct {
	net.Conn
	left, room int
	sequence   byte
}

func (p *packets) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		if p.room == 0 {
			p.room = min(p.left, 1<<24-1)
			p.left -= p.room
			if _, err := p.Conn.Write([]byte{byte(p.room), byte(p.room >> 8), byte(p.room >> 16), p.sequence}); err != nil {
				return written, err
			}
			p.sequence++
		}
		n, err := p.Conn.Write(b[written:min(len(b), written+p.room)])
		written += n
		p.room -= n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// send sends the command, reads its answers and gives its size.
func (l longCommand) send(t *testing.T, c net.Conn) (size counter) {
	t.Helper()
	if err := l.writeTo(&size); err != nil {
		t.Fatal(err)
	}
	if err := l.writeTo(&packets{Conn: c, left: int(size)}); err != nil {
		t.Fatal(err)
	}
	for range l.inserts {
		if answer := readPacket(t, c); answer[0] != mysql.OK_HEADER {
			t.Fatalf("%s: the answer is %q", l.name, answer)
		}
	}
	return size
}

func readPacket(t *testing.T, c net.Conn) []byte {
	t.Helper()
	header := make([]byte, 4)
	if _, err := io.ReadFull(c, header); err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	if _, err := io.ReadFull(c, payload); err != nil {
		t.Fatal(err)
	}
	return payload
}

// allocated gives how many bytes f took from the heap in all, which is the most that
// there can have been at once, and how many are left once that is no more than most, or
// will not be. The time of collections changes neither.
func allocated(most int, f func()) (total, left int) {
	var before, after, collected runtime.MemStats
	debug.FreeOSMemory()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // the session lets go of a statement after its answer
		debug.FreeOSMemory()
		runtime.ReadMemStats(&collected)
		if left = int(collected.HeapAlloc) - int(before.HeapAlloc); left <= most || time.Since(begun) > 30*time.Second {
			return int(after.TotalAlloc - before.TotalAlloc), left
		}
	}
}

// Statements of 32 MiB into a table with a sequence take about twice their size, and
// nothing is left of them.
func TestLongInsertMemory(t *testing.T) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		exec(t, s.Open(t, ""), "SET GLOBAL max_allowed_packet = 268435456")
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "t_seq", 1000, 1000000)
		query, counted, count, named := "\x03\x00\x01", "\x08", "\x01", "\x00"
		if s.IsMariaDB() { // has no query attributes
			query, counted, count, named = "\x03", "\x00", "", ""
		}
		row := "(NULL,%d,'customer','someone@example.com','2024-05-06 07:08:09', '" + strings.Repeat("x", 200) + "'),"
		blob := repeated{"a blob of some words, ", longSize}
		half := repeated{"a blob of some words, ", 17 << 20}
		execute := "\x17\x01\x00\x00\x00" + counted + "\x01\x00\x00\x00" + count + "\x00\x01\xfc\x00" + named + "\xfe" +
			string(binary.LittleEndian.AppendUint64(nil, longSize))
		for _, test := range []longCommand{
			{"one value", []any{query + "INSERT INTO t (e) VALUES ('", blob, "')"}, 1, 2.1},
			{"rows", []any{query + "INSERT INTO t (id,a,b,c,d,e) VALUES ", repeated{row, longSize / 2}, "(NULL,1,2,3,4,5)"}, 1, 2.4},
			{"two statements", []any{query + "INSERT INTO t (e) VALUES ('", half, "');INSERT INTO t (e) VALUES ('", half, "')"}, 2, 2.1},
			{"a parameter", []any{execute, blob}, 1, 2.1},
		} {
			t.Run(test.name, func(t *testing.T) { testLongMemory(t, g, test) })
		}
	})
}

func testLongMemory(t *testing.T, g *gate, l longCommand) {
	exec(t, g.direct, "DROP TABLE IF EXISTS t", "CREATE TABLE t (id BIGINT PRIMARY KEY, a INT, b VARCHAR(20), c VARCHAR(20), d VARCHAR(20), e LONGBLOB) ENGINE=MyISAM")
	c := rawClient(t, g.dsn(""), func(c *client.Conn) error {
		c.SetCapability(mysql.CLIENT_MULTI_STATEMENTS)
		return nil
	})
	if strings.HasPrefix(l.parts[0].(string), "\x17") {
		if _, err := c.Write(command("\x16INSERT INTO t (e) VALUES (?)")); err != nil {
			t.Fatal(err)
		}
		answer := readPacket(t, c)
		readPacket(t, c) // the parameter's definition
		l.parts[0] = "\x17" + string(answer[1:5]) + l.parts[0].(string)[5:]
	}
	var size counter
	const mayBeLeft = 1 << 20
	total, left := allocated(mayBeLeft, func() { size = l.send(t, c) })
	times := float64(total) / float64(size)
	t.Logf("%.2f times its size, %d bytes are left", times, left)
	if raceEnabled {
		l.bound += 0.5 // pools of buffers forget at random
	}
	if times > l.bound {
		t.Errorf("a statement of %d bytes takes %.2f times its size, want at most %.2f", size, times, l.bound)
	}
	if left > mayBeLeft {
		t.Errorf("%d bytes are left of it", left)
	}
	rows, first, last := value[int](t, g.direct, "SELECT COUNT(*) FROM t"), value[int](t, g.direct, "SELECT MIN(id) FROM t"), value[int](t, g.direct, "SELECT MAX(id) FROM t")
	if rows == 0 || first < 1000 || last-first+1 != rows {
		t.Errorf("%d rows with ids %d to %d", rows, first, last)
	}
}
